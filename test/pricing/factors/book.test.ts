/** Trades in several factors through the book: sensitivities, barriers, dividends, scenarios, what is refused. */
import { afterAll, describe, expect, test } from "vitest";
import { type BookInput, type PricedTrade, priceBook, readBook } from "../../../src/index.ts";
import { isPositiveSemidefinite } from "../../../src/numerics/linalg/index.ts";
import { createCpuDevice } from "../../../src/device/cpu/index.ts";
import { normalCdf } from "../../support/normal.ts";

const device = createCpuDevice({ threads: 1 });
afterAll(() => {
  expect(device.liveBuffers).toBe(0);
  device[Symbol.dispose]();
});

const heston = { v0: 0.04, kappa: 1.5, theta: 0.06, sigma: 0.5, rho: -0.7 };
const market = {
  rates: {
    EUR: 0.03,
    USD: {
      hullWhite: {
        meanReversion: 0.05,
        volatility: 0.01,
        curve: [
          { date: 1, zero: 0.02 },
          { date: 5, zero: 0.03 },
        ],
      },
    },
  },
  underlyings: {
    A: { spot: 100, currency: "EUR", dividends: { yield: 0.01 }, volatility: 0.3 },
    B: { spot: 90, currency: "EUR", dividends: { yield: 0.02 }, volatility: 0.2 },
    C: { spot: 80, currency: "EUR", volatility: 0.25 },
    H: { spot: 100, currency: "EUR", volatility: { heston } },
    U: { spot: 100, currency: "USD", volatility: 0.2 },
  },
  correlations: [
    ["A", "B", 0.5],
    ["U", "USD", 0.3],
  ] as const,
};
type Trades = BookInput["trades"];

/** What asks for values alone. */
const VALUES = { greeks: "none" } as const;

async function price(
  trades: Trades,
  rest: Partial<BookInput> = {},
  options: { method?: "adi" | "auto" | "montecarlo"; accuracy?: { relative: number }; greeks?: "none" } = {},
): Promise<PricedTrade[]> {
  const book = readBook({ asOf: "2026-01-01", market, trades, ...rest });
  const { results } = await priceBook(book, { device, ...options });
  return results.map((result) => {
    if (result.status === "error") throw new Error(result.error.message);
    return result;
  });
}

async function refusal(trade: Trades[number], rest: Partial<BookInput> = {}, method?: "adi"): Promise<string> {
  const book = readBook({ asOf: "2026-01-01", market, trades: [trade], ...rest });
  const { results } = await priceBook(book, { device, ...(method === undefined ? {} : { method }) });
  const [result] = results;
  return result.status === "error" ? result.error.message : `priced at ${result.value}`;
}

/** Margrabe's formula (1978) for one year. */
function exchange(a: number, b: number, sa: number, sb: number, rho: number): number {
  const sigma = Math.sqrt(sa * sa + sb * sb - 2 * rho * sa * sb);
  const d = (Math.log(a / b) + 0.02 - 0.01) / sigma + 0.5 * sigma;
  return a * Math.exp(-0.01) * normalCdf(d) - b * Math.exp(-0.02) * normalCdf(d - sigma);
}

test("an exchange option has Margrabe's value and sensitivities", async () => {
  const [result] = await price([
    { id: "1", underlyings: ["A", "B"], payoff: { spread: "call" }, strike: 0, expiry: 1 },
  ]);
  const slope = (f: (h: number) => number, h: number): number => (f(h) - f(-h)) / (2 * h);
  const at = (a = 0, b = 0, sa = 0, sb = 0, rho = 0): number =>
    exchange(100 + a, 90 + b, 0.3 + sa, 0.2 + sb, 0.5 + rho);
  const { A, B } = result.sensitivities!;
  expect(Math.abs(result.value - at())).toBeLessThan(1e-3);
  expect(A.delta).toBeCloseTo(
    slope((h) => at(h), 1e-3),
    4,
  );
  expect(B.delta).toBeCloseTo(
    slope((h) => at(0, h), 1e-3),
    4,
  );
  const curvature = (f: (h: number) => number): number => (f(0.1) - 2 * f(0) + f(-0.1)) / 0.01;
  expect(A.gamma).toBeCloseTo(
    curvature((h) => at(h)),
    5,
  );
  expect(B.gamma).toBeCloseTo(
    curvature((h) => at(0, h)),
    5,
  );
  expect(A.vega).toBeCloseTo(
    slope((h) => at(0, 0, h), 1e-4),
    2,
  );
  expect(B.vega).toBeCloseTo(
    slope((h) => at(0, 0, 0, h), 1e-4),
    2,
  );
  const cross = slope((h) => slope((k) => at(h, k), 0.1), 0.1);
  expect(result.crossGamma).toEqual([["A", "B", expect.closeTo(cross, 5)]]);
  expect(result.correlation).toEqual([
    [
      "A",
      "B",
      expect.closeTo(
        slope((h) => at(0, 0, 0, 0, h), 1e-4),
        2,
      ),
    ],
  ]);
  // A rate that discounts and drifts alike does nothing; a move of all spots by 1 is the sum.
  expect(Math.abs(result.rho!)).toBeLessThan(1e-2);
  expect(result.delta).toBeCloseTo(A.delta! + B.delta!, 12);
  expect(result.gamma).toBeCloseTo(A.gamma! + B.gamma! + 2 * cross, 5);
  expect(result.vega).toBeCloseTo(A.vega! + B.vega!, 12);
});

test("Heston's closed form and finite differences agree, with all sensitivities", async () => {
  const trades: Trades = [
    { id: "call", underlying: "H", payoff: "call", strike: 105, expiry: 1 },
    { id: "put", underlying: "H", payoff: "put", strike: 90, expiry: 0.5 },
    { id: "digital", underlying: "H", payoff: { digital: "put", cash: 10 }, strike: 100, expiry: 1 },
  ];
  const exact = await price(trades);
  const found = await price(trades, {}, { method: "adi", accuracy: { relative: 1e-5 } });
  for (const [i, one] of exact.entries()) {
    expect([one.method, found[i].method]).toEqual(["heston", "adi"]);
    expect(Math.abs(found[i].value - one.value)).toBeLessThan(found[i].errorEstimate + one.errorEstimate + 1e-4);
    for (const greek of ["delta", "gamma"] as const)
      expect(Math.abs(found[i][greek]! - one[greek]!)).toBeLessThan(3e-4);
    for (const greek of ["theta", "vega", "rho"] as const)
      expect(Math.abs(found[i][greek]! - one[greek]!)).toBeLessThan(2e-3 * Math.abs(one[greek]!) + 1e-3);
  }
});

test("theta and rho of the closed form are differences of its values", async () => {
  const at = async (expiry: number, rate = 0.03): Promise<PricedTrade> => {
    const [one] = await price([{ id: "1", underlying: "H", payoff: "call", strike: 105, expiry }], {
      market: { ...market, rates: { EUR: rate, USD: 0.02 } },
    });
    return one;
  };
  const h = 1e-4;
  const one = await at(1);
  expect(one.theta).toBeCloseTo(((await at(1 - h)).value - (await at(1 + h)).value) / (2 * h), 5);
  expect(one.rho).toBeCloseTo(((await at(1, 0.03 + h)).value - (await at(1, 0.03 - h)).value) / (2 * h), 4);
});

describe("barriers", () => {
  const plain = { underlyings: ["A", "B"], payoff: { bestOf: "call" }, strike: 100, expiry: 1 } as const;

  test("in and out are the option without a barrier", async () => {
    const [whole, up, out] = await price(
      [
        { id: "1", ...plain },
        { id: "2", ...plain, barriers: [{ type: "up-and-in", level: 130 }] },
        { id: "3", ...plain, barriers: [{ type: "up-and-out", level: 130 }] },
      ],
      {},
      VALUES,
    );
    expect(out.value).toBeGreaterThan(1);
    expect(Math.abs(up.value + out.value - whole.value)).toBeLessThan(
      up.errorEstimate + out.errorEstimate + whole.errorEstimate,
    );
  });

  test("one that names its underlying is of that one; one beyond reach is none", async () => {
    const [whole, far, own, each] = await price(
      [
        { id: "1", ...plain },
        { id: "2", ...plain, barriers: [{ type: "up-and-out", level: 2000, underlying: "B" }] },
        { id: "3", ...plain, barriers: [{ type: "up-and-out", level: 140, underlying: "B" }] },
        { id: "4", ...plain, barriers: [{ type: "up-and-out", level: 140 }] },
      ],
      {},
      VALUES,
    );
    expect(Math.abs(far.value - whole.value)).toBeLessThan(far.errorEstimate + whole.errorEstimate);
    expect(own.value).toBeLessThan(whole.value - 0.1);
    expect(each.value).toBeLessThan(own.value - 1);
  });

  test("a date of today asks for today's spot alone", async () => {
    const on = (monitoring: readonly number[]) =>
      ({ barriers: [{ type: "up-and-out", level: 130, monitoring }] }) as const;
    const [whole, today, last, both] = await price(
      [
        { id: "1", ...plain },
        { id: "2", ...plain, ...on([0]) },
        { id: "3", ...plain, ...on([1]) },
        { id: "4", ...plain, ...on([0, 1]) },
      ],
      {},
      VALUES,
    );
    expect(Math.abs(today.value - whole.value)).toBeLessThan(today.errorEstimate + whole.errorEstimate);
    expect(Math.abs(both.value - last.value)).toBeLessThan(both.errorEstimate + last.errorEstimate);
  });

  test("on dates, the last of them expiry, and in a window", async () => {
    const [whole, dates, window, always, never] = await price(
      [
        { id: "1", ...plain },
        { id: "2", ...plain, barriers: [{ type: "up-and-out", level: 130, monitoring: [0.5, 1] }] },
        { id: "3", ...plain, barriers: [{ type: "up-and-out", level: 130, from: 0.25, to: 0.75 }] },
        { id: "4", ...plain, barriers: [{ type: "up-and-out", level: 130 }] },
        { id: "5", ...plain, barriers: [{ type: "up-and-out", level: 1e6, monitoring: [0.5, 1] }] },
      ],
      {},
      VALUES,
    );
    // Nothing above 130 is paid at expiry: the largest of two spots is worth less than 30.
    expect(dates.value).toBeLessThan(0.5 * whole.value);
    expect(always.value).toBeLessThan(dates.value - 0.3);
    expect(window.value).toBeGreaterThan(dates.value);
    expect(window.value).toBeLessThan(whole.value - 1);
    expect(Math.abs(never.value - whole.value)).toBeLessThan(never.errorEstimate + whole.errorEstimate);
  });

  test("scenarios bring a spot back that has hit one", async () => {
    const barriers = [{ type: "up-and-out" as const, level: 99 }];
    const trade = { id: "1", underlyings: ["A", "B"], payoff: { bestOf: "put" as const }, strike: 100, expiry: 1 };
    const [{ value, scenarios }] = await price([{ ...trade, barriers }], { scenarios: { spot: [-0.2, 0] } }, VALUES);
    const { A, B } = market.underlyings;
    const underlyings = { ...market.underlyings, A: { ...A, spot: 80 }, B: { ...B, spot: 72 } };
    const [there] = await price([{ ...trade, barriers }], { market: { ...market, underlyings } }, VALUES);
    expect([value, scenarios![0][1][0][0]]).toEqual([0, 0]);
    expect(Math.abs(scenarios![0][0][0][0]! - there.value)).toBeLessThan(2 * there.errorEstimate);
  });

  test("a spot beyond a barrier has hit it", async () => {
    const [out, later, into] = await price([
      { id: "1", ...plain, barriers: [{ type: "up-and-out", level: 95, rebate: 3 }] },
      { id: "2", ...plain, barriers: [{ type: "up-and-out", level: 95, rebate: 3, rebateAt: "expiry" }] },
      { id: "3", ...plain, barriers: [{ type: "up-and-in", level: 95 }] },
    ]);
    expect([out.method, out.value, out.delta]).toEqual(["knocked-out", 3, 0]);
    expect(later.value).toBeCloseTo(3 * Math.exp(-0.03), 12);
    expect(later.rho).toBeCloseTo(-later.value, 12);
    const [whole] = await price([{ id: "1", ...plain }]);
    expect(into.value).toBe(whole.value);
  });
});

test("a basket of weight 1 and 0 is the option on one underlying, dividends included", async () => {
  const dividends = {
    yield: 0.01,
    discrete: [
      { date: 0.4, cash: 3 },
      { date: 1, proportional: 0.02 },
    ],
  };
  const with_ = { ...market, underlyings: { ...market.underlyings, A: { ...market.underlyings.A, dividends } } };
  for (const exercise of ["european", "american"] as const) {
    const terms = { strike: 100, expiry: 1, exercise };
    const [basket, single] = await price(
      [
        { id: "1", underlyings: ["A", "C"], payoff: { basket: "put", weights: [1, 0] }, ...terms },
        { id: "2", underlying: "A", payoff: "put", ...terms },
      ],
      { market: with_ },
    );
    expect(Math.abs(basket.value - single.value)).toBeLessThan(basket.errorEstimate + single.errorEstimate);
    expect(basket.sensitivities!["A"].delta).toBeCloseTo(single.delta!, 2);
    expect(basket.sensitivities!["C"].delta).toBeCloseTo(0, 6);
    expect(basket.warnings).toEqual(['market.correlations does not have ["A","C"]: they are taken to be independent']);
  }
});

test("a local volatility formula of a basket is that of its underlying", async () => {
  const volatility = { local: "0.2 + 0.1*exp(-S/100) + 0.02*t" };
  const local = { ...market, underlyings: { ...market.underlyings, A: { ...market.underlyings.A, volatility } } };
  const terms = { strike: 100, expiry: 1 };
  const [basket, single] = await price(
    [
      { id: "1", underlyings: ["B", "A"], payoff: { expression: "max(S2 - 100, 0)" }, expiry: 1 },
      { id: "2", underlying: "A", payoff: "call", ...terms },
    ],
    { market: local },
    VALUES,
  );
  expect(Math.abs(basket.value - single.value)).toBeLessThan(basket.errorEstimate + single.errorEstimate);
});

test("scenarios are prices in the markets that they say", async () => {
  const trade = { id: "1", underlyings: ["A", "B"], payoff: { worstOf: "put" }, strike: 90, expiry: 1 } as const;
  const scenarios = { time: [0, 0.5, 2], spot: [-0.1, 0, 0.1], volatility: [0, 0.02], rate: [0, 0.01] };
  const [{ value, scenarios: ladder, scenarioErrorEstimates: errors }] = await price([trade], { scenarios }, VALUES);
  expect(Math.abs(ladder![0][1][0][0]! - value)).toBeLessThan(1e-12);
  expect(ladder![2].flat(2)).toEqual(Array(12).fill(0));
  for (const [t, years] of [0, 0.5].entries())
    for (const [s, move] of [-0.1, 0.1].entries()) {
      const { A, B } = market.underlyings;
      const underlyings = {
        A: { ...A, spot: 100 * (1 + move), volatility: 0.32 },
        B: { ...B, spot: 90 * (1 + move), volatility: 0.22 },
      };
      const moved = { ...market, rates: { EUR: 0.04 }, underlyings, correlations: [["A", "B", 0.5]] as const };
      const [expected] = await price([{ ...trade, expiry: 1 - years }], { market: moved }, VALUES);
      const error = errors![t][1][1]! + expected.errorEstimate;
      expect(Math.abs(ladder![t][2 * s][1][1]! - expected.value)).toBeLessThan(error);
    }
});

test("scenarios move underlyings by their names", async () => {
  const trades: Trades = [
    { id: "1", underlyings: ["A", "B"], payoff: { spread: "call" }, strike: 0, expiry: 1 },
    { id: "2", underlying: "B", payoff: "call", strike: 90, expiry: 1 },
  ];
  const [spread, call] = await price(trades, { scenarios: { spot: { A: [0, 0.1], B: [-0.1, 0, 0.1] } } }, VALUES);
  const at = (result: PricedTrade): number[] => result.scenarios![0].map((plane) => plane[0][0]!);
  const moves = [0, 0.1].flatMap((a) => [-0.1, 0, 0.1].map((b) => [a, b] as const));
  moves.forEach(([a, b], k) =>
    expect(Math.abs(at(spread)[k] - exchange(100 * (1 + a), 90 * (1 + b), 0.3, 0.2, 0.5))).toBeLessThan(
      spread.scenarioErrorEstimates![0][0][0]!,
    ),
  );
  expect(at(call)[1]).toBeCloseTo(call.value, 12);
  expect(at(call).slice(3)).toEqual(at(call).slice(0, 3));
});

test("a stochastic short rate without volatility to speak of is its curve", async () => {
  const rates = (volatility: number): BookInput["market"]["rates"] => ({
    ...market.rates,
    USD: { hullWhite: { ...market.rates.USD.hullWhite, volatility } },
  });
  const trade = { id: "1", underlying: "U", payoff: "put", strike: 100, expiry: 3, exercise: "american" } as const;
  const [none] = await price([trade], { market: { ...market, rates: rates(0) } }, VALUES);
  const [little] = await price([trade], { market: { ...market, rates: rates(1e-5) } }, VALUES);
  expect([none.method, little.method]).toEqual(["fdm", "adi"]);
  expect(Math.abs(none.value - little.value)).toBeLessThan(none.errorEstimate + little.errorEstimate + 1e-3);
});

test("at expiry a trade is worth its payoff", async () => {
  const [now] = await price([{ id: "1", underlyings: ["A", "B"], payoff: { bestOf: "call" }, strike: 95, expiry: 0 }]);
  expect([now.method, now.value, now.gamma, now.theta]).toEqual(["payoff", 5, 0, 0]);
  expect(now.sensitivities!["A"].delta).toBeCloseTo(1, 8);
});

describe("what cannot be priced says why", () => {
  const basket = { id: "1", underlyings: ["A", "B"], payoff: { bestOf: "call" }, strike: 100, expiry: 1 } as const;

  test("correlations that no prices have, and the nearest", async () => {
    const correlations = [
      ["A", "B", 0.9],
      ["B", "C", 0.9],
      ["A", "C", -0.9],
    ] as const;
    const message = await refusal({ ...basket, underlyings: ["A", "B", "C"] }, { market: { ...market, correlations } });
    expect(message).toMatch(/^market\.correlations: .*not positive semi-definite.*nearest.*\["A","B",0\.\d+\]/);
    const nearest = JSON.parse(`[${message.slice(message.indexOf("have: [") + 6)}]`) as [string, string, number][];
    const [[, , ab], [, , ac], [, , bc]] = nearest;
    // The nearest that is not singular after its digits have been cut.
    expect(isPositiveSemidefinite([1, ab, ac, ab, 1, bc, ac, bc, 1])).toBe(true);
    expect(Math.min(ab, -ac, bc)).toBeGreaterThan(0.3);
  });

  test.each([
    [
      { ...basket, underlyings: ["A", "U"] },
      /trades\[0\]\.underlyings\[1\]: "U" is in "USD", and "A" in "EUR"; write "quanto" or "composite" with the currency of payment/,
    ],
    [{ ...basket, underlyings: ["A", "A"] }, /trades\[0\]\.underlyings\[1\]: "A" is there twice/],
    [{ ...basket, underlyings: ["A", "X"] }, /trades\[0\]\.underlyings\[1\]: unknown underlying "X"/],
    [{ ...basket, strike: 0 }, /trades\[0\]\.strike: expected a positive number, got 0/],
    [
      { ...basket, payoff: { basket: "call", weights: [1] } },
      /trades\[0\]\.payoff\.weights: expected 2 weights, one for each underlying, got 1/,
    ],
    [
      { ...basket, underlyings: ["A", "B", "C"], payoff: { spread: "call" } },
      /trades\[0\]\.payoff: a spread is of two underlyings, got 3/,
    ],
    [{ ...basket, payoff: { expression: "S1 - S3" }, strike: undefined }, /trades\[0\]\.payoff\.expression: .*S3/],
    [
      { ...basket, barriers: [{ type: "up-and-out", level: 120, underlying: "C" }] },
      /barriers\[0\]\.underlying: expected one of the trade's own, "A" or "B", got "C"/,
    ],
    [
      { ...basket, underlyings: ["A", "B", "C", "H"] },
      /trades\[0\]: it has several underlyings and a volatility with a factor of its own.*"adi": it has 5 factors/,
    ],
    [
      { ...basket, exercise: "american", barriers: [{ type: "up-and-in", level: 120 }] },
      /early exercise after a knock-in/,
    ],
  ])("%j", async (trade, message) => {
    expect(await refusal(trade as unknown as Trades[number])).toMatch(message);
  });

  test("scenarios of an underlying that there is not", () => {
    const scenarios = { spot: { X: [0.1] } };
    expect(() => readBook({ asOf: "2026-01-01", market, trades: [basket], scenarios })).toThrow(
      'scenarios.spot.X: unknown underlying "X"',
    );
  });

  test("one factor is not for the method of several", async () => {
    const message = await refusal({ id: "1", underlying: "A", payoff: "call", strike: 100, expiry: 1 }, {}, "adi");
    expect(message).toMatch(/it has one factor; expected method "auto" or "closed-form" or "fdm"/);
  });
});

test("long options stay stable where a variance reverts fast beside a strong correlation", async () => {
  // Modified Craig–Sneyd steps, 12 at level 0, are off by 1e10 and by half of the spot.
  const cases = [
    { v0: 0.1665, kappa: 2.375, theta: 0.123, sigma: 1.112, rho: 0.69, expiry: 20 },
    { v0: 0.1537, kappa: 5.489, theta: 0.1082, sigma: 0.632, rho: 0.87, expiry: 10 },
  ];
  const trades: Trades = cases.map(({ expiry, ...one }, i) => ({
    id: `${i}`,
    underlying: "H",
    payoff: "put",
    strike: 100,
    expiry,
    volatility: { heston: one },
  }));
  const exact = await price(trades, {}, VALUES);
  const found = await price(trades, {}, { method: "adi", ...VALUES });
  for (const [i, one] of exact.entries()) {
    expect([one.method, found[i].method]).toEqual(["heston", "adi"]);
    expect(Math.abs(found[i].value - one.value)).toBeLessThan(1e-4 * 100);
    expect(found[i].errorEstimate).toBeLessThan(5e-4 * 100);
  }
});

test("an option under Heston's model with a barrier and a long life has the value of Monte Carlo", async () => {
  const heston = { v0: 0.1893, kappa: 3.902, theta: 0.1645, sigma: 0.901, rho: -0.842 };
  const trades: Trades = [
    {
      id: "out",
      underlying: "H",
      payoff: "put",
      strike: 95.8,
      expiry: 4.11,
      volatility: { heston },
      barriers: [{ type: "down-and-out", level: 80 }],
    },
  ];
  const [grid] = await price(trades, {}, VALUES);
  const [paths] = await price(trades, {}, { method: "montecarlo", ...VALUES });
  expect([grid.method, paths.method]).toEqual(["adi", "montecarlo"]);
  expect(Math.abs(grid.value - paths.value)).toBeLessThan(2 * paths.errorEstimate);
  expect(grid.errorEstimate).toBeLessThan(1e-2);
});

test("a result says where its accuracy was not reached", async () => {
  const trade: Trades = [{ id: "T", underlying: "H", payoff: "put", strike: 100, expiry: 1, exercise: "american" }];
  const [fine] = await price(trade, {}, { accuracy: { relative: 1e-8 }, ...VALUES });
  expect(fine.errorEstimate).toBeGreaterThan(1e-6);
  expect(fine.warnings).toEqual([
    "the finest grid was reached before the accuracy: see errorEstimate",
    "the accuracy that was asked for is not reached: errorEstimate is larger",
  ]);
  const [usual] = await price(trade);
  expect(usual.warnings).toEqual([]);
});
