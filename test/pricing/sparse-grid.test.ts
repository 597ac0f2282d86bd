/** Trades on several underlyings by sparse grids, against closed forms, references and alternating directions. */
import { afterAll, describe, expect, test } from "vitest";
import { type BookInput, type PricedTrade, priceBook, type PricingOptions, readBook } from "../../src/index.ts";
import { createCpuDevice } from "../../src/device/cpu/index.ts";
import { readFixture } from "../support/fixtures.ts";
import { everything } from "../support/extent.ts";
import { normalCdf } from "../support/normal.ts";

const device = createCpuDevice({ threads: 2 });
afterAll(() => {
  expect(device.liveBuffers).toBe(0);
  device[Symbol.dispose]();
});

type Options = Partial<Omit<PricingOptions, "device">>;
type Market = BookInput["market"];

const named = (count: number): string[] => "ABCDEFGHIJK".slice(0, count).split("");

interface Flat {
  readonly spots: readonly number[];
  readonly volatilities: readonly number[];
  readonly yields?: readonly number[];
  readonly rate?: number;
  readonly rho?: number;
}

/** A market of flat volatilities that has one correlation. */
function flat({ spots, volatilities, yields, rate = 0.03, rho = 0 }: Flat): Market {
  const names = named(spots.length);
  const underlyings = names.map((name, i) => {
    const dividends = { yield: yields?.[i] ?? 0 };
    return [name, { spot: spots[i], currency: "EUR", volatility: volatilities[i], dividends }] as const;
  });
  return {
    rates: { EUR: rate },
    underlyings: Object.fromEntries(underlyings),
    correlations: names.flatMap((a, i) => names.slice(i + 1).map((b) => [a, b, rho] as const)),
  };
}

async function price(rest: Omit<BookInput, "asOf">, options: Options = {}): Promise<PricedTrade[]> {
  const book = readBook({ asOf: "2026-01-01", ...rest });
  const { results } = await priceBook(book, { device, method: "sparse-grid", ...options });
  return results.map((result) => {
    if (result.status === "error") throw new Error(result.error.message);
    return result;
  });
}

/** Black's formula for a log-normal number. */
function black(forward: number, strike: number, deviation: number): number {
  const d = Math.log(forward / strike) / deviation + 0.5 * deviation;
  return forward * normalCdf(d) - strike * normalCdf(d - deviation);
}

/** A call on the geometric mean; `added`: what is added to the correlation of the first two. */
function geometric({ spots, volatilities, rate = 0.03, rho = 0 }: Flat, strike: number, added = 0, expiry = 1): number {
  const d = spots.length;
  let [mean, variance] = [0, 0];
  for (let i = 0; i < d; i++) {
    mean += (Math.log(spots[i]) + expiry * (rate - 0.5 * volatilities[i] ** 2)) / d;
    for (let j = 0; j < d; j++)
      variance +=
        (expiry * (i === j ? 1 : rho + (i + j === 1 ? added : 0)) * volatilities[i] * volatilities[j]) / d ** 2;
  }
  return Math.exp(-rate * expiry) * black(Math.exp(mean + 0.5 * variance), strike, Math.sqrt(variance));
}

const slope = (f: (h: number) => number, h: number): number => (f(h) - f(-h)) / (2 * h);

describe("closed forms", () => {
  test("a geometric basket of four, with all sensitivities", async () => {
    const terms: Flat = { spots: [100, 95, 105, 110], volatilities: [0.2, 0.3, 0.25, 0.15], rho: 0.4 };
    const payoff = { basket: "call", kind: "geometric", weights: [0.25, 0.25, 0.25, 0.25] } as const;
    const trades = [{ id: "1", underlyings: named(4), payoff, strike: 100, expiry: 1 }];
    const [found] = await price({ market: flat(terms), trades });
    const moved = (of: "spots" | "volatilities", i: number, by: number): Flat => ({
      ...terms,
      [of]: terms[of].with(i, terms[of][i] + by),
    });
    expect(found.method).toBe("sparse-grid");
    const error = Math.abs(found.value - geometric(terms, 100));
    expect(error).toBeLessThan(found.errorEstimate);
    expect(found.errorEstimate).toBeLessThan(0.1);
    for (const [i, name] of named(4).entries()) {
      const delta = slope((h) => geometric(moved("spots", i, h), 100), 1e-2);
      const vega = slope((h) => geometric(moved("volatilities", i, h), 100), 1e-4);
      expect(Math.abs(found.sensitivities![name].delta! - delta)).toBeLessThan(1e-3);
      expect(Math.abs(found.sensitivities![name].vega! - vega)).toBeLessThan(0.02 * vega);
    }
    const cross = slope(
      (h) => slope((k) => geometric({ ...terms, spots: [100 + h, 95 + k, 105, 110] }, 100), 0.1),
      0.1,
    );
    expect(found.crossGamma![0]).toEqual(["A", "B", expect.closeTo(cross, 4)]);
    const correlation = slope((h) => geometric(terms, 100, h), 1e-4);
    expect(found.correlation![0]).toEqual(["A", "B", expect.closeTo(correlation, 1)]);
    expect(found.rho).toBeCloseTo(
      slope((h) => geometric({ ...terms, rate: 0.03 + h }, 100), 1e-4),
      1,
    );
  });

  test("auto takes them where Monte Carlo takes longer", async () => {
    const terms: Flat = { spots: [100, 100, 100, 100], volatilities: [0.2, 0.2, 0.2, 0.2], rho: 0.4 };
    const payoff = { basket: "call", weights: [0.25, 0.25, 0.25, 0.25] } as const;
    const trades = [{ id: "1", underlyings: named(4), payoff, strike: 100, expiry: 0.002 }];
    // So short that arithmetic and geometric means differ by ½σ²T·(1 − ρ)·(1 − 1/4) at most, 1.8e-5 of the spot.
    const exact = geometric(terms, 100, 0, 0.002);
    for (const [accuracy, method] of [
      [1e-3, "montecarlo"],
      [5e-5, "sparse-grid"],
    ] as const) {
      const [found] = await price(
        { market: flat(terms), trades },
        { method: "auto", accuracy: { relative: accuracy } },
      );
      expect(found.method).toBe(method);
      expect(Math.abs(found.value - exact)).toBeLessThan(100 * accuracy + 1.8e-3);
    }
  });

  test("five underlyings, and one that moves with another", async () => {
    for (const [terms, accuracy, expiry] of [
      [{ spots: Array(5).fill(100), volatilities: Array(5).fill(0.2), rho: 0.7 }, 1e-3, 0.03],
      [{ spots: [100, 100], volatilities: [0.2, 0.3], rho: 1 }, 1e-4, 1],
    ] as const) {
      const names = named(terms.spots.length);
      const payoff = { basket: "call", kind: "geometric", weights: names.map(() => 1 / names.length) } as const;
      const trades = [{ id: "1", underlyings: names, payoff, strike: 105, expiry }];
      const [found] = await price(
        { market: flat(terms), trades },
        { greeks: "none", accuracy: { relative: accuracy } },
      );
      const error = Math.abs(found.value - geometric(terms, 105, 0, expiry));
      expect(error).toBeLessThan(Math.min(found.errorEstimate, 100 * accuracy));
    }
  });

  test("an exchange option (Margrabe 1978), at a higher accuracy", async () => {
    const market = flat({ spots: [100, 90], volatilities: [0.3, 0.2], yields: [0.01, 0.02], rho: 0.5 });
    const trades = [{ id: "1", underlyings: ["A", "B"], payoff: { spread: "call" as const }, strike: 0, expiry: 1 }];
    const [found] = await price({ market, trades }, { accuracy: { relative: 1e-4 } });
    const exact = black(100 * Math.exp(-0.01), 90 * Math.exp(-0.02), Math.sqrt(0.09 + 0.04 - 0.06));
    expect(Math.abs(found.value - exact)).toBeLessThan(found.errorEstimate);
    expect(found.errorEstimate).toBeLessThan(1e-2);
    expect(Math.abs(found.rho!)).toBeLessThan(0.02);
  });
});

interface Reference {
  readonly id: string;
  readonly product: string;
  readonly params: {
    readonly spots: readonly number[];
    readonly strike: number;
    readonly barrier: number;
    readonly rate: number;
    readonly volatilities: readonly number[];
    readonly dividend_yields?: readonly number[];
    readonly correlation?: number;
    readonly maturity: number;
    readonly n_monitoring?: number;
  };
  readonly expected: { readonly price: number };
}
const { cases } = readFixture("reference/bestof-barrier.json") as { readonly cases: readonly Reference[] };

/** On 250 dates with three and more underlyings, or with five, it takes long. */
const references = cases.filter(({ id }) => (everything ? /0[1-4789]|13/ : /02|13/).test(id.slice(-2)));

test.each(references)("$id, $product", async ({ product, params: p, expected }) => {
  const { spots, strike, maturity: expiry, rate, volatilities, barrier: level, n_monitoring: n } = p;
  const yields = p.dividend_yields ?? spots.map(() => 0);
  const right = product.includes("put") ? "put" : "call";
  const monitoring = n === undefined ? "continuous" : Array.from({ length: n }, (_, k) => ((k + 1) * expiry) / n);
  const type = product.includes("down") ? "down-and-out" : "up-and-out";
  const payoff = product.includes("worst") ? { worstOf: right } : { bestOf: right };
  const terms = { id: "1", strike, expiry, barriers: [{ type, level, monitoring }] } as const;
  const trade =
    spots.length === 1
      ? { ...terms, underlying: "A", payoff: right }
      : { ...terms, underlyings: named(spots.length), payoff };
  const market = flat({ spots, volatilities, yields, rate, rho: p.correlation ?? 0 });
  const [found] = await price({ market, trades: [trade as BookInput["trades"][number]] }, { greeks: "none" });
  const error = Math.abs(found.value - expected.price);
  expect(error).toBeLessThan(found.errorEstimate);
  expect(error).toBeLessThan(1e-3 * Math.max(...spots));
});

/**
 * Values by quadrature: exact Gaussian transitions between the dates, on 800 × 800 nodes of two independent normal
 * variables, to 2e-4; estimates by differences of levels alone were 4 and 3 times too small here.
 */
test.each([
  [
    "Bermudan call on a geometric basket",
    { spots: [96.28, 93.21], volatilities: [0.32, 0.226], rate: -0.003, rho: -0.15 },
    {
      payoff: { basket: "call", kind: "geometric", weights: [0.45, 0.55] },
      strike: 107.65,
      expiry: 1.87,
      exercise: [0.374, 0.748, 1.122, 1.496],
    },
    3.31194,
  ],
  [
    "best-of put, knocked out on dates",
    { spots: [97.44, 90.86], volatilities: [0.22, 0.15], yields: [0, 0.05], rate: 0.013, rho: -0.04 },
    {
      payoff: { bestOf: "put" },
      strike: 82,
      expiry: 3.2,
      barriers: [{ type: "up-and-out", level: 131.4, monitoring: [0.8, 1.6, 2.4, 3.2] }],
    },
    2.0119,
  ],
] as const)("on dates: %s", async (_, market, terms, exact) => {
  const trades = [{ id: "1", underlyings: named(2), ...terms }] as unknown as BookInput["trades"];
  const [found] = await price({ market: flat(market), trades }, { greeks: "none" });
  const error = Math.abs(found.value - exact);
  expect(error).toBeLessThan(found.errorEstimate);
  expect(error).toBeLessThan(0.1);
  expect(found.errorEstimate).toBeLessThan(0.1);
});

/** Of the largest spot 1.5 %: differences are taken on the mesh of a value that is wanted to 0.1 %. */
const DIFFERENCES = 1.5;

describe("against alternating directions", () => {
  const market = {
    rates: {
      EUR: [
        { date: 0.5, zero: 0.01 },
        { date: 2, zero: 0.04 },
      ],
    },
    underlyings: {
      A: { spot: 100, currency: "EUR", dividends: { yield: 0.01 }, volatility: 0.3 },
      B: {
        spot: 95,
        currency: "EUR",
        volatility: {
          termStructure: [
            { date: 0.3, volatility: 0.15 },
            { date: 2, volatility: 0.3 },
          ],
        },
      },
      C: { spot: 90, currency: "EUR", volatility: 0.2, dividends: { discrete: [{ date: 1, cash: 3 }] } },
    },
    correlations: [
      ["A", "B", 0.5],
      ["B", "C", -0.3],
    ],
  } satisfies Market;
  const two = { underlyings: ["A", "B"], strike: 100, expiry: 1 } as const;
  const three = { underlyings: ["A", "B", "C"], strike: 95, expiry: 1 } as const;
  const up = { type: "up-and-out", level: 140 } as const;
  const trades: readonly (readonly [string, Omit<BookInput["trades"][number], "id">, boolean?])[] = [
    ["best of two", { ...two, payoff: { bestOf: "put" } }, true],
    ["a formula of three", { ...three, payoff: { expression: "max(S1 - min(S2, S3), 0)" } }],
    [
      "a barrier of one, with a rebate",
      {
        ...two,
        payoff: { basket: "call", weights: [0.5, 0.5] },
        barriers: [{ ...up, underlying: "B", rebate: 4, rebateAt: "expiry" }],
      },
    ],
    [
      "a knock-in, down",
      { ...two, payoff: { bestOf: "call" }, barriers: [{ type: "down-and-in", level: 80, rebate: 2 }] },
    ],
    [
      "a barrier, Bermudan",
      { ...two, payoff: { worstOf: "put" }, exercise: [0.3, 0.6], barriers: [{ ...up, rebate: 1 }] },
      true,
    ],
    ["on dates", { ...two, payoff: { bestOf: "call" }, barriers: [{ ...up, monitoring: [0.5, 1] }] }],
    ...(everything
      ? [["worst of three, Bermudan", { ...three, payoff: { worstOf: "put" }, exercise: [0.25, 0.5, 0.75] }]]
      : []),
  ] as never;

  test.each(trades)("%s", async (_, trade, differences = false) => {
    const book = { market, trades: [Object.assign({ id: "1" }, trade) as BookInput["trades"][number]] };
    // Differences of the others take long.
    const greeks = differences ? "all" : "grid";
    const [sparse] = await price(book, { greeks });
    const [full] = await price(book, { method: "adi", greeks, accuracy: { relative: greeks === "all" ? 1e-4 : 1e-3 } });
    expect(full.method).toBe("adi");
    expect(Math.abs(sparse.value - full.value)).toBeLessThan(sparse.errorEstimate + full.errorEstimate);
    expect(sparse.errorEstimate).toBeLessThan(0.15);
    const near = (a: number | null, b: number | null, size: number): void =>
      expect(Math.abs(a! - b!)).toBeLessThan(size);
    for (const [name, { delta, vega }] of Object.entries(full.sensitivities!)) {
      near(sparse.sensitivities![name].delta, delta, 0.01);
      if (greeks === "all") near(sparse.sensitivities![name].vega, vega, DIFFERENCES);
    }
    near(sparse.theta, full.theta, 0.3);
    if (greeks === "grid") return;
    near(sparse.rho, full.rho, DIFFERENCES);
    near(sparse.correlation![0][2], full.correlation![0][2], 0.5);
  });

  test("scenarios", async () => {
    const scenarios = { time: [0, 0.5], spot: [{ A: [-0.1, 0.3] }], volatility: [0, 0.05] } as never;
    const barriers = [{ ...up, underlying: "A", level: 120 }];
    const book = {
      market,
      trades: [{ id: "1", ...two, payoff: { bestOf: "put" as const }, barriers }],
      scenarios: { ...(scenarios as object), spot: { A: [-0.1, 0.3] } },
    };
    const [sparse] = await price(book, { greeks: "none" });
    const [full] = await price(book, { greeks: "none", method: "adi" });
    for (const t of [0, 1])
      for (const v of [0, 1]) {
        const at = ({ scenarios: all }: PricedTrade, s: number): number => all![t][s][v][0]!;
        const error = sparse.scenarioErrorEstimates![t][v][0]! + full.scenarioErrorEstimates![t][v][0]!;
        expect(Math.abs(at(sparse, 0) - at(full, 0))).toBeLessThan(error);
        // Beyond the barrier.
        expect(at(sparse, 1)).toBe(0);
      }
  });
});

describe("what cannot be priced says why", () => {
  const heston = { v0: 0.04, kappa: 1, theta: 0.04, sigma: 0.5, rho: -0.5 };
  const market = {
    rates: { EUR: 0.03, USD: { hullWhite: { meanReversion: 0.05, volatility: 0.01, curve: 0.02 } } },
    underlyings: {
      ...flat({ spots: Array(11).fill(100), volatilities: Array(11).fill(0.2) }).underlyings,
      P: { spot: 100, currency: "EUR", volatility: 0.2, dividends: { discrete: [{ date: 0.5, cash: 1 }] } },
      V: { spot: 100, currency: "EUR", volatility: { heston } },
      X: { spot: 100, currency: "USD", volatility: 0.2 },
      Y: { spot: 100, currency: "USD", volatility: 0.2 },
    },
  } as const;
  const basket = { id: "1", payoff: { bestOf: "call" }, strike: 100, expiry: 1 } as const;
  const out = { type: "up-and-out", level: 150 } as const;
  test.each([
    [{ underlyings: named(11) }, "11 underlyings, more than 10"],
    [{ underlyings: ["A", "P"] }, "dividends on dates before expiry"],
    [{ underlyings: ["A", "V"] }, "a volatility that is not a function of time"],
    [{ underlyings: ["X", "Y"] }, "a stochastic short rate"],
    [{ underlyings: ["A", "B"], exercise: "american" }, "American exercise"],
    [
      { underlyings: ["A", "B"], exercise: [0.5], barriers: [{ type: "up-and-in", level: 150 }] },
      "early exercise after a knock-in",
    ],
    [
      { underlyings: ["A", "B"], barriers: [{ ...out, from: 0.2, to: 0.6 }] },
      "a barrier that is monitored continuously in a window",
    ],
  ])("%j", async (terms, reason) => {
    const trades = [{ ...basket, ...terms } as unknown as BookInput["trades"][number]];
    const book = readBook({ asOf: "2026-01-01", market, trades });
    const { results } = await priceBook(book, { device, method: "sparse-grid" });
    expect(results[0].status === "error" && results[0].error.message).toContain(
      `trades[0]: method "sparse-grid" does not price this trade, it has ${reason}`,
    );
  });
});
