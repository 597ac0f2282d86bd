/** Convertible bonds: estimates on random trades, limits, parities, scenarios, what is refused. */
import { afterAll, describe, expect, test } from "vitest";
import { type BookInput, type ConvertibleInput, type CreditInput, parseBook } from "../../../src/book/index.ts";
import { createCpuDevice } from "../../../src/device/cpu/index.ts";
import { priceBook, type PricingOptions } from "../../../src/pricing/index.ts";
import { normalCdf } from "../../support/normal.ts";
import { openWebGpuForTests } from "../../support/webgpu.ts";

const device = createCpuDevice({ threads: 1 });
afterAll(() => device[Symbol.dispose]());

interface Trade {
  readonly terms: Partial<ConvertibleInput["convertible"]>;
  readonly credit?: CreditInput | undefined;
  readonly spot?: number;
  readonly rate?: number;
  readonly dividendYield?: number;
  readonly volatility?: number;
}

/** A book with an underlying and a currency for each trade. */
function bookOf(trades: readonly Trade[], rest: Partial<BookInput> = {}): BookInput {
  const named = <T>(value: (trade: Trade) => T): Record<string, T> =>
    Object.fromEntries(trades.map((trade, i) => [`N${i}`, value(trade)]));
  const credit = named(({ credit: own }) => own);
  return {
    asOf: "2026-11-20",
    market: {
      rates: named(({ rate = 0.04 }) => rate),
      underlyings: Object.fromEntries(
        trades.map(({ spot = 100, dividendYield = 0, volatility = 0.3 }, i) => [
          `N${i}`,
          { spot, currency: `N${i}`, volatility, dividends: { yield: dividendYield } },
        ]),
      ),
      credit: Object.fromEntries(Object.entries(credit).filter(([, own]) => own !== undefined)) as {
        readonly [name: string]: CreditInput;
      },
    },
    trades: trades.map(({ terms }, i) => ({
      id: `${i}`,
      underlying: `N${i}`,
      convertible: { maturity: 5, notional: 100, ratio: 1, ...terms },
    })),
    ...rest,
  };
}

async function priced(book: BookInput, options: Partial<PricingOptions> = {}) {
  const { results } = await priceBook(parseBook(book), { device, ...options });
  return results.map((result) => {
    if (result.status === "error") throw new Error(result.error.message);
    return result;
  });
}

/** The same numbers on every run: a linear congruential generator. */
function uniforms(seed: number): (low: number, high: number) => number {
  let state = seed;
  return (low, high) => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return low + ((high - low) * state) / 2 ** 31;
  };
}

function randomTrades(count: number): readonly Trade[] {
  const between = uniforms(20_261_126);
  return Array.from({ length: count }, (_, k) => {
    const isExtreme = k % 4 === 3;
    const credit: CreditInput =
      k % 2 === 0
        ? { spread: between(0, isExtreme ? 0.3 : 0.06) }
        : { hazard: between(0, isExtreme ? 0.3 : 0.06), recovery: between(0, 0.6), jump: between(0, 1) };
    return {
      terms: {
        maturity: isExtreme ? Math.exp(between(-4, 3)) : between(0.5, 8),
        coupon: between(0, 0.08),
        frequency: [1, 2, 4][k % 3],
        ratio: Math.exp(between(-1, 0.7)),
        conversion: "european",
      },
      credit,
      spot: 100 * Math.exp(between(-0.7, 0.5)),
      rate: between(-0.01, 0.08),
      dividendYield: between(0, 0.05),
      volatility: isExtreme ? Math.exp(between(-3, 0)) : between(0.15, 0.5),
    };
  });
}

/** Figures with estimates, without theta: that of the closed form is a difference of first order. */
const SENSITIVITIES = ["delta", "gamma", "vega", "rho", "creditSensitivity"] as const;

test("estimates of finite differences cover the distance from closed forms", async () => {
  const book = bookOf(randomTrades(100));
  const exact = await priced(book);
  for (const accuracy of [1e-4, 1e-5]) {
    const found = await priced(book, {
      method: "fdm",
      accuracy: { relative: accuracy },
      sensitivityErrorEstimates: true,
    });
    const share = (isCovered: (i: number) => boolean): number => found.filter((_, i) => isCovered(i)).length / 100;
    expect(share((i) => Math.abs(found[i].value - exact[i].value) <= found[i].errorEstimate)).toBeGreaterThan(0.985);
    for (const name of SENSITIVITIES) {
      const error = (i: number): number => Math.abs(found[i][name]! - exact[i][name]!);
      const covered = share((i) => error(i) <= found[i].sensitivityErrorEstimates![name]! + 1e-9);
      expect(covered, `${name} at ${accuracy}`).toBeGreaterThan(0.985);
    }
  }
});

describe("limits", () => {
  const spread = { spread: 0.03 };

  test("without dividends, coupons and credit nobody converts early", async () => {
    const [american, european] = await priced(bookOf([{ terms: {} }, { terms: { conversion: "european" } }]));
    expect(american.value).toBeCloseTo(european.value, 2);
    expect(Math.abs(american.value - european.value)).toBeLessThanOrEqual(american.errorEstimate);
    expect(american.delta).toBeCloseTo(european.delta!, 4);
    expect(american.gamma).toBeCloseTo(european.gamma!, 5);
    expect(american.theta).toBeCloseTo(european.theta!, 2);
    expect(american.vega! / european.vega!).toBeCloseTo(1, 2);
    expect(american.rho! / european.rho!).toBeCloseTo(1, 2);
    expect(american.method).toBe("fdm");
    expect(european.method).toBe("closed-form");
    expect(american.warnings[0]).toContain("without credit risk");
  });

  test("no volatility: the better of the bond and the shares at maturity", async () => {
    const quiet = { terms: { conversion: "european" as const }, credit: spread, volatility: 0 };
    const [bond, shares] = await priced(
      bookOf([
        { ...quiet, spot: 60 },
        { ...quiet, spot: 150 },
      ]),
      { method: "fdm" },
    );
    expect(bond.value).toBeCloseTo(100 * Math.exp(-0.35), 2);
    expect(shares.value).toBeCloseTo(150, 2);
  });

  test("a call, a put and conversion at once, and a day to maturity", async () => {
    const always = { from: 0, to: 5 };
    const [called, put, converted, day] = await priced(
      bookOf([
        { terms: { calls: [{ ...always, price: 90 }] }, credit: spread, spot: 100 },
        { terms: { puts: [{ ...always, price: 110 }] }, credit: spread, spot: 50, rate: 0.08 },
        { terms: {}, credit: spread, spot: 500, dividendYield: 0.05 },
        { terms: { maturity: 1 / 365 }, credit: spread, spot: 110 },
      ]),
    );
    expect(called.value).toBeCloseTo(100, 6);
    expect(put.value).toBeCloseTo(110, 3);
    expect(converted.value).toBeCloseTo(500, 3);
    expect(day.value).toBeCloseTo(110, 2);
  });

  test("a convertible is worth its parity and the bond at least, and more volatility makes it dearer", async () => {
    const spots = [20, 60, 100, 140, 200];
    const coupons = { coupon: 0.03, frequency: 2 };
    const all = await priced(
      bookOf(spots.map((spot) => ({ terms: coupons, credit: spread, spot, dividendYield: 0.02 }))),
    );
    for (const { value, parity, bondFloor, errorEstimate, vega, clean, accrued } of all) {
      expect(value + errorEstimate).toBeGreaterThanOrEqual(Math.max(parity!, bondFloor!));
      expect(vega!).toBeGreaterThan(-0.01);
      expect(clean! + accrued!).toBeCloseTo(value, 10);
    }
  });
});

test("scenarios are the values of moved books, local volatility of a constant is that constant", async () => {
  const trade: Trade = {
    terms: { coupon: 0.04, frequency: 2, calls: [{ from: 2, to: 5, price: 110, trigger: 130 }] },
    credit: { spread: 0.02 },
    dividendYield: 0.01,
  };
  const scenarios = { time: [0, 0.5], spot: [-0.1, 0], volatility: [0, 0.05], rate: [0, 0.01] };
  const [{ scenarios: values, value }] = await priced(bookOf([trade], { scenarios }));
  const [moved] = await priced(bookOf([{ ...trade, spot: 90, volatility: 0.35, rate: 0.05 }]));
  const [later] = await priced(
    bookOf([
      { ...trade, terms: { ...trade.terms, maturity: 4.5, calls: [{ from: 1.5, to: 4.5, price: 110, trigger: 130 }] } },
    ]),
  );
  expect(values![0][1][0][0]).toBeCloseTo(value, 2);
  expect(values![0][0][1][1]).toBeCloseTo(moved.value, 2);
  expect(values![1][1][0][0]).toBeCloseTo(later.value, 2);
  const book = bookOf([trade]);
  const local = { ...book, trades: book.trades.map((one) => ({ ...one, volatility: { local: "0.3 + 0 * S" } })) };
  expect((await priced(local as BookInput))[0].value).toBeCloseTo(value, 2);
});

test("volatility has its time: a formula of t is its term structure, and a later date begins within it", async () => {
  const terms = { maturity: 3, conversion: "american" } as const;
  const trade: Trade = { terms, credit: { spread: 0.02 }, dividendYield: 0.03 };
  const scenarios = { time: [0, 1], spot: [0], volatility: [0], rate: [0] };
  const under = (volatility: object, { terms: own = terms, ...rest }: Partial<Trade & BookInput> = {}) => {
    const book = bookOf([{ ...trade, terms: own }], rest);
    return priced({ ...book, trades: book.trades.map((one) => ({ ...one, volatility })) } as BookInput, {
      greeks: "none",
      accuracy: { relative: 1e-3 },
    });
  };
  // The implied volatility to T of 0.1 + 0.2·t is √(∫σ²/T).
  const implied = (t: number): number => Math.sqrt(((0.1 + 0.2 * t) ** 3 - 0.1 ** 3) / (0.6 * t));
  const nodes = Array.from({ length: 12 }, (_, i) => (i + 1) / 4);
  const termStructure = nodes.map((date) => ({ date, volatility: implied(date) }));
  const [byDate] = await under({ termStructure }, { scenarios });
  const [local] = await under({ local: "0.1 + 0.2 * t" });
  expect(Math.abs(local.value - byDate.value)).toBeLessThan(local.errorEstimate + byDate.errorEstimate);
  expect(local.errorEstimate + byDate.errorEstimate).toBeLessThan(0.3);
  // A year later the volatility is 0.3 + 0.2·t.
  const [own] = await under({ local: "0.3 + 0.2 * t" }, { terms: { ...terms, maturity: 2 } });
  const { scenarios: values, scenarioErrorEstimates: errors } = byDate;
  expect(Math.abs(values![1][0][0][0]! - own.value)).toBeLessThan(errors![1][0][0]! + own.errorEstimate);
});

test("theta is the change with time, also where default leaves the shares", async () => {
  const trade: Trade = {
    terms: { maturity: 4, coupon: 0, conversion: "american" },
    spot: 130,
    dividendYield: 0.01,
    credit: { hazard: 0.05, recovery: 0.4, jump: 0.3 },
  };
  const step = 0.02;
  const scenarios = { time: [0, step], spot: [0], volatility: [0], rate: [0] };
  const [{ theta, scenarios: ladder, value }] = await priced(bookOf([trade], { scenarios }), {
    greeks: "grid",
    accuracy: { relative: 1e-6 },
  });
  expect(theta!).toBeCloseTo((ladder![1][0][0][0]! - value) / step, 1);
});

test("values are within the bounds that no decision breaks", async () => {
  const trades = randomTrades(12).flatMap(({ terms, ...market }) =>
    (["american", "european"] as const).map((conversion): Trade => ({ ...market, terms: { ...terms, conversion } })),
  );
  const results = await priced(bookOf(trades), { method: "fdm", greeks: "none", accuracy: { relative: 1e-4 } });
  results.forEach(({ value, bondFloor, parity }, i) => {
    expect(value).toBeGreaterThanOrEqual(bondFloor! - 1e-9);
    const isNow = i % 2 === 0;
    if (isNow) expect(value).toBeGreaterThanOrEqual(parity! - 1e-9);
    if (isNow) expect(value).toBeGreaterThanOrEqual(results[i + 1].value - results[i + 1].errorEstimate);
  });
});

test("an error above what was asked for is said, and so is a limit of time", async () => {
  const book = bookOf([{ terms: { calls: [{ from: 1, to: 5, price: 110, trigger: 120 }] }, credit: { spread: 0.02 } }]);
  const asked = { greeks: "none", accuracy: { relative: 1e-8 }, timePerTrade: 1e-9 } as const;
  const [{ warnings, errorEstimate }] = await priced(book, asked);
  expect(errorEstimate).toBeGreaterThan(1e-6);
  expect(warnings).toContain("the accuracy that was asked for is not reached: errorEstimate is larger");
  expect(warnings).toContain("the time of a trade was over before the accuracy was reached: see errorEstimate");
});

test.each([
  [{ calls: [{ from: 1, to: 6, price: 100 }] }, "trades[0].convertible.calls[0].to"],
  [
    {
      calls: [
        { from: 1, to: 3, price: 100 },
        { from: 2, to: 4, price: 101 },
      ],
    },
    "trades[0].convertible.calls[1]",
  ],
  [{ puts: [{ from: 3, to: 2, price: 100 }] }, "trades[0].convertible.puts[0].to"],
  [{ coupon: 0.02 }, "trades[0].convertible.frequency"],
  [{ conversion: { from: 2, to: 1 } }, "trades[0].convertible.conversion.to"],
  [{ maturity: -1 }, "trades[0].convertible.maturity"],
])("%j is refused at %s", (terms, path) => {
  const [parsed] = parseBook(bookOf([{ terms }])).trades;
  expect(parsed.ok ? "" : parsed.error.path).toBe(path);
});

const webgpu = await openWebGpuForTests();
afterAll(() => webgpu?.[Symbol.dispose]());

test.skipIf(webgpu === undefined)("beside a GPU the CPU prices them, with the same value", async () => {
  const book = parseBook(bookOf([{ terms: { conversion: "american" } }]));
  const [onCpu, beside] = await Promise.all(
    [device, webgpu!].map((one) => priceBook(book, { device: one, greeks: "none", accuracy: { relative: 1e-4 } })),
  );
  expect(beside.results[0]).toMatchObject({ status: "ok", backend: "cpu", precision: "f64" });
  expect(beside.results[0].value).toBe(onCpu.results[0].value);
});

test("a conversion at maturity alone, and a dividend before it: the bond and a call on what is left", async () => {
  const terms = { conversion: [5] } as never;
  const book = bookOf([{ terms }]);
  const underlyings = Object.fromEntries(
    Object.entries(book.market.underlyings!).map(([name, one]) => [
      name,
      { ...one, dividends: { yield: 0, discrete: [{ date: 2, proportional: 0.2 }] } },
    ]),
  );
  const [{ value }] = await priced(
    { ...book, market: { ...book.market, underlyings } },
    { accuracy: { relative: 1e-6 } },
  );
  const deviation = 0.3 * Math.sqrt(5);
  const d = (Math.log(80 / 100) + 0.2) / deviation + 0.5 * deviation;
  const call = 80 * normalCdf(d) - 100 * Math.exp(-0.2) * normalCdf(d - deviation);
  expect(Math.abs(value - (100 * Math.exp(-0.2) + call))).toBeLessThan(1e-3);
});

test("a call at any time bends the value where parity is the price and the accrued interest", async () => {
  // Half of a coupon of 4 has accrued: the issuer calls at 102, above which the holder converts.
  const terms = { maturity: 4.5, coupon: 0.04, frequency: 1, calls: [{ from: 0, to: 4.5, price: 100 }] } as const;
  const all = [101.2, 101.8, 102.2].map((spot) => ({
    terms: { ...terms, conversion: "american" as const },
    spot,
    rate: 0.001,
  }));
  const results = await priced(bookOf(all));
  results.forEach(({ value, delta, gamma }, i) => {
    expect(value).toBeCloseTo(Math.max(102, all[i].spot), 6);
    expect(delta).toBeCloseTo(all[i].spot > 102 ? 1 : 0, 4);
    expect(gamma).toBeCloseTo(0, 3);
  });
});

test("who may put the bond now has its price and the accrued interest, which no time takes", async () => {
  const terms = { maturity: 4.5, coupon: 0.04, frequency: 1, puts: [{ from: 0, to: 4.5, price: 100 }] } as const;
  const [{ value, theta }] = await priced(
    bookOf([{ terms: { ...terms, conversion: "american" }, spot: 30, credit: { spread: 0.1 } }]),
  );
  expect(value).toBeCloseTo(102, 6);
  expect(theta).toBe(0);
});

test("a hazard rate that depends on the spot is one of the currency, whatever the notional is", async () => {
  const credit = { hazard: 0.03, exponent: -1.2, reference: 100, recovery: 0.4, jump: 0 } as never;
  const terms = { conversion: "american", coupon: 0.02, frequency: 1 } as const;
  const [one, ten] = await priced(
    bookOf([
      { terms, credit, spot: 70 },
      { terms: { ...terms, notional: 1000, ratio: 10 }, credit, spot: 70 },
    ]),
  );
  expect(ten.value / one.value).toBeCloseTo(10, 6);
  // The bond without rights has no closed form then.
  expect(one).not.toHaveProperty("bondFloor");
});

test("theta is the change with time, also of the part that is paid in cash and has a spread", async () => {
  const trade = { terms: { conversion: "american", ratio: 0.8 } as const, credit: { spread: 0.05 }, spot: 100 };
  const [{ theta, scenarios }] = await priced(bookOf([trade], { scenarios: { time: [0, 0.01, 0.02] } }), {
    accuracy: { relative: 1e-6 },
  });
  const [now, later, last] = scenarios!.map(([[[value]]]) => value!);
  expect(theta! / ((4 * later - 3 * now - last) / 0.02)).toBeCloseTo(1, 2);
});

/** Bonds whose shares are worth next to nothing: what is paid, discounted with the rate and the spread. */
const worthless = { spot: 5, volatility: 0.1, rate: 0.05, credit: { spread: 0.15 } } as const;
const discount = (years: number): number => Math.exp(-0.2 * years);

test("a put that begins later pays the interest that has accrued until then, too", async () => {
  // Coupons of 4 come after 0.5, 1.5 and 2.5 years: after one year half of the second has accrued.
  const terms = { maturity: 2.5, coupon: 0.04, frequency: 1, puts: [{ from: 1, to: 2, price: 100 }] } as const;
  const [{ value, errorEstimate }] = await priced(bookOf([{ ...worthless, terms }]));
  expect(Math.abs(value - (4 * discount(0.5) + 102 * discount(1)))).toBeLessThan(errorEstimate);
  expect(errorEstimate).toBeLessThan(0.02);
});

test("who puts a bond that is called has the price of the put, which is cash as a whole", async () => {
  // It is worth 100·e^−0.2 = 81.9 when it is called at 70: the holder puts it at 75.
  const calls = [{ from: 1, to: 1, price: 70 }];
  const terms = { maturity: 2, conversion: "european", calls, puts: [{ ...calls[0], price: 75 }] } as const;
  const [{ value, errorEstimate }] = await priced(bookOf([{ ...worthless, terms }]));
  expect(Math.abs(value - 75 * discount(1))).toBeLessThan(errorEstimate);
  expect(errorEstimate).toBeLessThan(0.02);
});

test("a volatility that grows with time: a bond and a call with its mean variance, to high accuracy", async () => {
  const book = bookOf([{ terms: { maturity: 3, conversion: "european" } }]);
  const trades = book.trades.map((one) => ({ ...one, volatility: { local: "0.1 + 0.2 * t" } }));
  const [{ value, errorEstimate }] = await priced({ ...book, trades } as BookInput, {
    method: "fdm",
    greeks: "none",
    accuracy: { relative: 1e-5 },
  });
  const deviation = Math.sqrt((0.7 ** 3 - 0.1 ** 3) / 0.6);
  const bond = 100 * Math.exp(-0.12);
  const d = 0.12 / deviation + 0.5 * deviation;
  const exact = bond + 100 * normalCdf(d) - bond * normalCdf(d - deviation);
  expect(Math.abs(value - exact)).toBeLessThan(errorEstimate);
  expect(errorEstimate).toBeLessThan(1e-5 * value);
});
