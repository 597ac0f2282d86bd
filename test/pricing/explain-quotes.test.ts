/**
 * Explanations of trades whose volatilities are fitted to quotes, and of trades on several underlyings.
 *
 * The oracle is Black's formula with the quotes' own volatilities, written here: every expiry has the smile of an SVI
 * parabola, through which the fit "svi" passes, so that an option has the quoted volatility at its strike.
 */
import { afterAll, describe, expect, it } from "vitest";
import { readBook } from "../../src/book/index.ts";
import { explainBook, type ExplainedTrade, type ExplainOptions, type ExplainReport } from "../../src/pricing/index.ts";
import { drawBooks, explainRandomBooks, MAX_SHARE } from "../../tools/properties/explain.ts";
import { createCpuDevice } from "../../src/device/cpu/index.ts";
import { normalCdf } from "../support/normal.ts";

const device = createCpuDevice({ threads: 2 });
afterAll(() => device[Symbol.dispose]());
const [ASOF, LATER] = ["2026-11-20", "2026-11-23"];
const EXPIRIES = ["2027-03-19", "2027-11-19", "2028-11-17"];
const STRIKES = [70, 80, 90, 95, 100, 105, 110, 120, 135];
const yearsBetween = (from: string, to: string): number => (Date.parse(to) - Date.parse(from)) / (365 * 86_400_000);

/** An SVI smile of ln(K/F), as volatility; `up` is added to it. */
const smile = (k: number, t: number, up = 0): number =>
  Math.sqrt((0.004 + 0.03 * t + 0.02 * (-0.5 * (k + 0.02) + Math.sqrt((k + 0.02) ** 2 + 0.06))) / t) + up;

/** Black and Scholes' value of a call; the spot has no dividends. */
function call(spot: number, strike: number, t: number, rate: number, sigma: number): number {
  const root = sigma * Math.sqrt(t);
  const d1 = (Math.log(spot / strike) + rate * t) / root + 0.5 * root;
  return spot * normalCdf(d1) - strike * Math.exp(-rate * t) * normalCdf(d1 - root);
}

interface Setting {
  readonly asOf?: string;
  readonly spot?: number;
  readonly rate?: number;
  /** The volatility at a strike and an expiry in years; by default the smile of the strike's moneyness at spot 100. */
  readonly implied?: (strike: number, t: number, expiry: string) => number;
  readonly volatility?: unknown;
  readonly expiries?: readonly string[];
  readonly strikes?: readonly number[];
  readonly fit?: unknown;
  readonly others?: object;
  readonly correlations?: readonly unknown[];
  readonly trades?: readonly unknown[];
}

const RATE = 0.02;
const forward = (t: number): number => 100 * Math.exp(RATE * t);
/** Today's volatility at a strike. */
const quoted = (strike: number, expiry: string): number => {
  const t = yearsBetween(ASOF, expiry);
  return smile(Math.log(strike / forward(t)), t);
};

const option = (changes: object = {}): object => ({
  id: "T1",
  underlying: "ACME",
  payoff: "call",
  strike: 105,
  expiry: EXPIRIES[1],
  ...changes,
});

function book(setting: Setting): ReturnType<typeof readBook> {
  const { asOf = ASOF, spot = 100, rate = RATE, expiries = EXPIRIES, strikes = STRIKES, fit = "svi" } = setting;
  const { implied = (strike, _, expiry) => quoted(strike, expiry), others = {}, correlations = [] } = setting;
  const quotes = expiries.flatMap((expiry) =>
    strikes.map((strike) => ({ expiry, strike, implied: implied(strike, yearsBetween(asOf, expiry), expiry) })),
  );
  const { volatility = { quotes, fit }, trades = [option()] } = setting;
  const underlyings = { ACME: { spot, currency: "EUR", volatility }, ...others };
  return readBook({ asOf, market: { rates: { EUR: rate }, underlyings, correlations }, trades });
}

const explain = (before: Setting, after: Setting, options: ExplainOptions = {}): Promise<ExplainReport> =>
  explainBook(book(before), book({ ...before, ...after }), { device, ...options });

async function explained(before: Setting, after: Setting, options: ExplainOptions = {}): Promise<ExplainedTrade> {
  const [row] = (await explain(before, after, options)).results;
  if (row.status === "error") throw new Error(row.error?.message);
  return row;
}

const sumOf = (terms: ExplainedTrade["terms"]): number =>
  Object.values(terms ?? {}).reduce((sum, term) => sum + term, 0);

describe("terms of a European option at a quoted strike", () => {
  const [strike, expiry] = [105, EXPIRIES[1]];
  const [t0, t1] = [yearsBetween(ASOF, expiry), yearsBetween(LATER, expiry)];
  const [spot, rate, up] = [101.3, 0.0225, 0.006];
  const moved = { asOf: LATER, spot, rate, implied: (k: number, _: number, at: string) => quoted(k, at) + up };

  it.each([
    ["strike", (): number => quoted(strike, expiry), up],
    // The smile at the option's moneyness, which changes with the spot; and its move there.
    [
      "delta",
      (own: number, t: number): number => smile(Math.log(strike / (own * Math.exp(RATE * t))), t0),
      quoted((strike * spot * Math.exp(rate * t1)) / forward(t0), expiry) +
        up -
        smile(Math.log(strike / forward(t0)), t0),
    ],
  ] as const)("are differences of Black's formula, sticky %s", async (sticky, sigmaOf, move) => {
    const row = await explained({}, moved, { sticky });
    const value = (own: number, t: number, shift = 0): number => call(own, strike, t, RATE, sigmaOf(own, t) + shift);
    const start = value(100, t0);
    const h = 1e-3;
    const slopes = {
      delta: ((value(100 + h, t0) - value(100 - h, t0)) / (2 * h)) * (spot - 100),
      vega: ((value(100, t0, h) - value(100, t0, -h)) / (2 * h)) * move,
    };
    const { terms, smile: byExpiry } = row;
    // Moved SVI smiles are none: the fits miss them by up to 1e-5 of volatility, 4e-4 in value. Slopes are differences
    // over 0.5 %: 1e-4 of the value's third derivative.
    const within = 2e-3;
    expect(row.before).toBeCloseTo(start, 4);
    expect(Math.abs(terms!.theta! - (value(100, t1) - start))).toBeLessThan(within);
    expect(Math.abs(terms!.delta! - slopes.delta)).toBeLessThan(within);
    expect(Math.abs(terms!.gamma! - (value(spot, t0) - start - slopes.delta))).toBeLessThan(within);
    if (sticky === "strike") {
      expect(Math.abs(terms!.vega! + terms!.skew! + terms!.curvature! - slopes.vega)).toBeLessThan(within);
      expect(Math.abs(terms!.volga! - (value(100, t0, move) - start - slopes.vega))).toBeLessThan(within);
      const vanna = value(spot, t1, move) - value(spot, t1) - value(100, t1, move) + value(100, t1);
      expect(Math.abs(terms!.vanna! - vanna)).toBeLessThan(within);
    }
    const smiles = terms!.vega! + terms!.skew! + terms!.curvature! + terms!.smileRest! + terms!.volga!;
    expect(Math.abs(smiles - (value(100, t0, move) - start))).toBeLessThan(2 * within);
    expect(Math.abs(row.unexplained!)).toBeLessThan(1e-3 * Math.abs(row.change!));
    // The option knows its own expiry only.
    expect(byExpiry!.map(({ expiry: at }) => at)).toEqual([expiry]);
    expect(byExpiry![0].level).toBe(terms!.vega);
    expect(byExpiry![0].slope).toBe(terms!.skew);
  });

  it("level, slope and curvature are those of the quotes' move", async () => {
    const [c0, c1, c2] = [0.004, -0.01, 0.02];
    const implied = (k: number, _: number, at: string): number => {
      const x = Math.log(k / forward(yearsBetween(ASOF, at)));
      return quoted(k, at) + c0 + c1 * x + c2 * x * x;
    };
    const { terms, smile: rows, moves } = await explained({}, { implied });
    // The misfit of parabolas of volatility by SVI: 3e-4 at the wings.
    expect(rows![0].moves.level).toBeCloseTo(c0, 4);
    expect(rows![0].moves.slope).toBeCloseTo(c1, 2);
    expect(moves!.volatility).toBe(rows![0].moves.level);
    expect(rows).toHaveLength(1);
    const k = Math.log(strike / forward(t0));
    const sigma = quoted(strike, expiry);
    const vega = (call(100, strike, t0, RATE, sigma + 1e-4) - call(100, strike, t0, RATE, sigma - 1e-4)) / 2e-4;
    const move = c0 + c1 * k + c2 * k * k;
    const all = terms!.vega! + terms!.skew! + terms!.curvature! + terms!.smileRest!;
    expect(Math.abs(all - vega * move)).toBeLessThan(0.01 * Math.abs(vega * move));
  });

  it("revaluation: the volatility's effect is that of the quotes at their strikes", async () => {
    const { terms, unexplained, change } = await explained({}, moved, { method: "revaluation" });
    const value = (own: number, r: number, shift: number): number =>
      call(own, strike, t1, r, quoted(strike, expiry) + shift);
    const start = value(100, RATE, 0);
    expect(terms!.volatility).toBeCloseTo(value(100, RATE, up) - start, 2);
    expect(terms!.spot).toBeCloseTo(value(spot, RATE, 0) - start, 2);
    expect(terms!.rate).toBeCloseTo(value(100, rate, 0) - start, 2);
    expect(Math.abs(unexplained!)).toBeLessThan(1e-12);
    expect(sumOf(terms)).toBeCloseTo(change!, 10);
  });
});

describe("the quotes of both books", () => {
  const moved = { asOf: LATER, spot: 101, implied: (k: number, _: number, at: string) => quoted(k, at) + 0.01 };

  it("may have other strikes and expiries", async () => {
    const other = { ...moved, strikes: [75, 85, 92, 98, 103, 112, 125], expiries: [...EXPIRIES, "2028-03-17"] };
    const [same, row] = [await explained({}, moved), await explained({}, other)];
    expect(Math.abs(row.unexplained!)).toBeLessThan(0.01 * Math.abs(row.change!));
    expect(row.terms!.vega!).toBeCloseTo(same.terms!.vega!, 1);
  });

  it("may expire in between", async () => {
    const expiries = ["2026-11-21", "2027-03-19", "2027-11-19"];
    const row = await explained({ expiries }, { ...moved, expiries: expiries.slice(1) });
    expect(Math.abs(row.unexplained!)).toBeLessThan(0.01 * Math.abs(row.change!));
    expect(row.smile!.map(({ expiry }) => expiry)).toEqual(["2027-11-19"]);
  });

  it("may all expire in between: the rest of the smile then has the move of the volatility", async () => {
    const trades = [option({ expiry: EXPIRIES[0] })];
    const row = await explained({ expiries: ["2026-11-21", "2026-11-22"], trades }, { ...moved, expiries: EXPIRIES });
    expect(Math.abs(row.unexplained!)).toBeLessThan(0.01 * Math.abs(row.change!));
    expect(row.terms!.smileRest).not.toBe(0);
  });

  it.each([
    ["earlier", {}, { volatility: 0.27 }],
    ["later", { volatility: 0.2 }, {}],
  ])("may be in the %s book only", async (_, before, after) => {
    const trades = [option({ exercise: "american", payoff: "put" }), option({ id: "T2" })];
    const { results } = await explain({ trades, ...before }, { ...moved, volatility: undefined, ...after });
    for (const row of results) {
      expect(row.status).toBe("explained");
      expect(Math.abs(row.unexplained!)).toBeLessThan(0.01 * Math.abs(row.change!));
      expect(Math.abs(row.terms!.vega!)).toBeGreaterThan(0.05);
    }
  });
});

it("nothing moved, nothing to explain", async () => {
  const others = { BETA: { spot: 90, currency: "EUR", volatility: 0.3 } };
  const trades = [
    option(),
    option({ id: "T2", payoff: "put", exercise: "american" }),
    { id: "T3", underlyings: ["ACME", "BETA"], payoff: { worstOf: "put" }, strike: 90, expiry: EXPIRIES[0] },
  ];
  for (const method of ["taylor", "revaluation"] as const) {
    const { results } = await explain({ trades, others, correlations: [["ACME", "BETA", 0.4]] }, {}, { method });
    for (const { id, change, terms } of results)
      expect({ id, all: [change, ...Object.values(terms ?? {})].every((x) => x === 0) }).toEqual({ id, all: true });
  }
});

describe("trades on several underlyings", () => {
  /** Margrabe's formula (1978) for the right to exchange S2 for S1, without dividends. */
  const exchange = (s1: number, s2: number, t: number, sigmas: readonly [number, number], rho: number): number => {
    const sigma = Math.sqrt(sigmas[0] ** 2 + sigmas[1] ** 2 - 2 * rho * sigmas[0] * sigmas[1]);
    const root = sigma * Math.sqrt(t);
    const d1 = Math.log(s1 / s2) / root + 0.5 * root;
    return s1 * normalCdf(d1) - s2 * normalCdf(d1 - root);
  };

  it("have the terms of Margrabe's formula, the correlation among them", async () => {
    const trades = [
      { id: "E", underlyings: ["ACME", "BETA"], payoff: { spread: "call" }, strike: 0, expiry: EXPIRIES[1] },
    ];
    const beta = (spot: number, volatility: number): object => ({ BETA: { spot, currency: "EUR", volatility } });
    const [t0, t1] = [yearsBetween(ASOF, EXPIRIES[1]), yearsBetween(LATER, EXPIRIES[1])];
    const row = await explained(
      { volatility: 0.2, others: beta(95, 0.3), correlations: [["ACME", "BETA", 0.4]], trades },
      { asOf: LATER, spot: 101, volatility: 0.21, others: beta(94, 0.31), correlations: [["ACME", "BETA", 0.45]] },
      { accuracy: { relative: 1e-5 } },
    );
    const start = exchange(100, 95, t0, [0.2, 0.3], 0.4);
    const slope = (of: (h: number) => number): number => (of(1e-4) - of(-1e-4)) / 2e-4;
    const first = {
      delta: slope((h) => exchange(100 + h, 95 - h, t0, [0.2, 0.3], 0.4)),
      vega: slope((h) => exchange(100, 95, t0, [0.2 + 0.01 * h, 0.3 + 0.01 * h], 0.4)),
    };
    const whole = {
      spot: exchange(101, 94, t0, [0.2, 0.3], 0.4) - start,
      vol: exchange(100, 95, t0, [0.21, 0.31], 0.4) - start,
    };
    const end = (rho: number): number => exchange(101, 94, t1, [0.21, 0.31], rho);
    const terms = row.terms!;
    // The accuracy of the values, 1e-5 of the spot; slopes are differences over 0.5 % and 0.1 points.
    const near = (got: number | undefined, exact: number): void => expect(Math.abs(got! - exact)).toBeLessThan(2e-3);
    near(terms.theta, exchange(100, 95, t1, [0.2, 0.3], 0.4) - start);
    near(terms.delta, first.delta);
    near(terms.gamma, whole.spot - first.delta);
    near(terms.vega! + terms.smileRest!, first.vega);
    near(terms.volga, whole.vol - first.vega);
    near(terms.correlation, end(0.45) - end(0.4));
    near(row.unexplained!, 0);
    expect(row.moves).toBeNull();
    expect(row.assetMoves).toMatchObject({ ACME: { spot: 1 }, BETA: { spot: -1 } });
    expect(sumOf(terms) + row.unexplained!).toBeCloseTo(row.change!, 10);
  });

  it("that have other underlyings or expired are not mistaken", async () => {
    const others = {
      BETA: { spot: 90, currency: "EUR", volatility: 0.3 },
      GAMMA: { spot: 90, currency: "EUR", volatility: 0.3 },
    };
    const worst = (names: readonly string[], expiry: string): object => ({
      id: "W",
      underlyings: names,
      payoff: { worstOf: "put" },
      strike: 100,
      expiry,
    });
    const [changed] = (
      await explain(
        { volatility: 0.2, others, trades: [worst(["ACME", "BETA"], EXPIRIES[1])] },
        { trades: [worst(["ACME", "GAMMA"], EXPIRIES[1])] },
      )
    ).results;
    expect(changed).toMatchObject({ status: "changed", reason: "its underlying differs" });
    const trades = [worst(["ACME", "BETA"], "2026-11-22")];
    const [matured] = (await explain({ volatility: 0.2, others, trades }, { asOf: LATER, spot: 98, trades: [] }))
      .results;
    expect(matured).toMatchObject({ status: "matured", cash: 10, underlying: "ACME + BETA" });
    expect(sumOf(matured.terms) + matured.unexplained!).toBeCloseTo(matured.change!, 10);
  });
});

it("sums by group and by expiry of the quotes", async () => {
  const trades = [
    option({ quantity: 3, tags: { desk: "Paris" } }),
    option({ id: "T2", payoff: "put", quantity: -2, tags: { desk: "London" } }),
    option({ id: "T3", strike: 90, quantity: 5, tags: { desk: "Paris" } }),
    option({ id: "T4", strike: -1, tags: { desk: "Paris" } }),
  ];
  const moved = { asOf: LATER, spot: 101, implied: (k: number, _: number, at: string) => quoted(k, at) + 0.01 };
  const { results, totals, groups } = await explain({ trades }, moved, { groupBy: ["desk", "underlying"] });
  expect(groups!.map(({ group, trades: count }) => [group, count])).toEqual([
    [{ desk: "Paris", underlying: "ACME" }, 2],
    [{ desk: "London", underlying: "ACME" }, 1],
  ]);
  const [first, second, third, failed] = results;
  expect(failed).toMatchObject({ status: "error", tags: { desk: "Paris" } });
  expect(first).toMatchObject({ underlying: "ACME", currency: "EUR", tags: { desk: "Paris" } });
  expect(groups![0].change).toBeCloseTo(3 * first.change! + 5 * third.change!, 10);
  expect(groups![1].terms.vega).toBeCloseTo(-2 * second.terms!.vega!, 10);
  const [{ smile: rows, terms }] = totals;
  expect(rows!.reduce((sum, { level }) => sum + level, 0)).toBeCloseTo(terms.vega!, 10);
  expect(rows![0].level).toBeCloseTo(
    [3, -2, 5].reduce((sum, quantity, i) => sum + quantity * results[i].smile![0].level, 0),
    10,
  );
});

it("leave at most 2 % of random books' changes unexplained", async () => {
  const found = await explainRandomBooks(device, {
    books: 2,
    seed: 1000,
    families: ["vanilla", "american", "digital", "formula", "barrier"],
  });
  for (const { seed, share, trades } of found) {
    expect(trades).toHaveLength(5);
    expect(Math.max(share, ...trades.map((trade) => trade.share)), `seed ${seed}`).toBeLessThanOrEqual(MAX_SHARE);
  }
  expect(drawBooks(1000)).toEqual(drawBooks(1000));
});
