/** Bounds of payoffs, against exact values; and what becomes of values that are outside. */
import { afterAll, describe, expect, it, vi } from "vitest";
import { parseBook, type Payoff, type Trade, type TradeResult } from "../../src/book/index.ts";
import { createCpuDevice } from "../../src/device/cpu/index.ts";
import { constant, dividendSchedule, flatVolatility, type Underlying } from "../../src/market/index.ts";
import { ResultColumns, ScenarioCases, WARNING } from "../../src/pricing/columns/result-columns.ts";
import { TradeColumns } from "../../src/pricing/columns/trade-columns.ts";
import { boundsOf, boundsWith } from "../../src/pricing/guard/option-bounds.ts";
import { Guard } from "../../src/pricing/guard/guard.ts";
import { priceBook } from "../../src/pricing/index.ts";
import { integral } from "../../src/pricing/methods/integral/integral.ts";
import { termsOf } from "../../src/pricing/terms.ts";
import { TimeBudget } from "../../src/pricing/plan/method.ts";
import { RowProblems } from "../../src/pricing/trade-problem.ts";
import { blackScholes } from "../../tools/properties/closed-forms.ts";
import { bookOf, type Contract } from "../../tools/properties/contract.ts";
import { drawContract } from "../../tools/properties/generate.ts";
import { Random } from "../../tools/properties/random.ts";
import { trade } from "./reference.ts";

const device = createCpuDevice({ threads: 1 });
afterAll(() => device[Symbol.dispose]());

const rangeOf = (parts: Partial<Trade> & { readonly market?: Partial<Underlying> }, spots: readonly number[] = [100]) =>
  boundsOf(termsOf(trade({ volatility: flatVolatility(0.2), ...parts }), 0, { volatility: 0, rate: 0 })!)(spots);

const vanilla = (right: "call" | "put", strike: number): Payoff => ({ kind: "vanilla", right, strike });

describe("bounds", () => {
  const market: Partial<Underlying> = {
    rates: constant(-0.02),
    dividends: dividendSchedule(0.01, [{ time: 0.5, cash: 5, proportional: 0.1 }]),
  };

  it("of European options are those of the forward, with negative rates and dividends", () => {
    const discount = Math.exp(0.02);
    const most = 100 * 0.9 * Math.exp(-0.01);
    const cash = 5 * Math.exp(0.01) * Math.exp(0.005 - 0.01);
    const put = rangeOf({ payoff: vanilla("put", 120), expiry: 1, market });
    expect(put.low).toBeCloseTo(120 * discount - most, 10);
    expect(put.high).toBeCloseTo(120 * discount, 10);
    const call = rangeOf({ payoff: vanilla("call", 60), expiry: 1, market });
    expect(call.low).toBeCloseTo(most - cash - 60 * discount, 10);
    expect(call.high).toBeCloseTo(most, 10);
  });

  it("of early exercise are at least the European value and what is paid now, and follow the dearest time", () => {
    const exercise = { kind: "american" } as const;
    const plain = { rates: constant(-0.02), dividends: dividendSchedule(0.01, []) };
    const model = { spot: 100, rate: -0.02, yield: 0.01, volatility: 0.2, expiry: 1 };
    const put = rangeOf({ payoff: vanilla("put", 100), expiry: 1, market: plain, exercise });
    expect(put.low).toBeCloseTo(blackScholes(model, "put", 100), 8);
    expect(put.high).toBeCloseTo(100 * Math.exp(0.02), 10);
    expect(rangeOf({ payoff: vanilla("put", 250), expiry: 1, exercise }).low).toBeCloseTo(150, 10);
  });

  it("of knock-outs are nothing, and the option with its rebate", () => {
    const barrier = { type: "up-and-out", level: 130, rebate: 3, rebateAt: "hit", from: 0, to: 1 } as const;
    const range = rangeOf({
      payoff: vanilla("call", 100),
      expiry: 1,
      market: { rates: constant(0.05) },
      barriers: [{ ...barrier, monitoring: { kind: "continuous" } }],
    });
    const plain = blackScholes({ spot: 100, rate: 0.05, yield: 0, volatility: 0.2, expiry: 1 }, "call", 100);
    expect(range.low).toBe(0);
    expect(range.high).toBeCloseTo(plain + 3, 8);
  });

  it("of what a formula pays are none, unless it is a number", () => {
    const formula = (expression: string): Payoff => ({ kind: "expression", expression, kinks: [] });
    expect(rangeOf({ payoff: formula("S - 100") })).toEqual({ low: -Infinity, high: Infinity });
    expect(rangeOf({ payoff: formula("0") })).toEqual({ low: 0, high: 0 });
  });
});

describe("no right value is outside", () => {
  it("random trades of one factor, with scenarios", async () => {
    const random = new Random(5);
    const contracts: Contract[] = Array.from({ length: 6 }, () => drawContract(random, {}, 0.5));
    const book = {
      ...bookOf(contracts),
      scenarios: { time: [0, 0.03], spot: [-0.2, 0.2], volatility: [0.05], rate: [-0.02] },
    };
    const { results } = await priceBook(parseBook(JSON.stringify(book)), { device, greeks: "none" });
    expect(results.filter((one) => one.status === "error")).toEqual([]);
    const nulls = results.filter((one) => one.status === "ok" && one.scenarios!.flat(3).includes(null));
    expect(nulls).toEqual([]);
  });
});

describe("a value that is outside", () => {
  const put = trade({ payoff: vanilla("put", 100), expiry: 1, exercise: { kind: "american" } });

  function looked(
    value: number,
    estimate: number,
    settle = true,
  ): { results: ResultColumns; outside: readonly number[] } {
    const cases = new ScenarioCases(undefined);
    const columns = new TradeColumns([{ ok: true, trade: put }], cases);
    columns.add(0, put, 7);
    const results = new ResultColumns(1, cases);
    results.value[0] = value;
    results.errorEstimate[0] = estimate;
    results.priced(0, "fdm");
    const settings = {
      method: "auto",
      greeks: "all",
      sensitivityErrorEstimates: false,
      accuracy: undefined,
      timePerTrade: undefined,
      strict: false,
      seed: 1,
    } as const;
    const problems = new RowProblems(columns);
    const budget = new TimeBudget(undefined);
    const batch = { columns, problems, settings, budget, precision: "f64" } as const;
    const guard = new Guard(batch, () => boundsWith(batch, undefined));
    guard.check([0], results);
    const { outside } = guard;
    if (settle) guard.settle(results);
    return { results, outside };
  }

  it("is seen on either side, and if it is no number", () => {
    expect(looked(6, 1e-3).outside).toEqual([]);
    for (const value of [-1e-2, 101, NaN, Infinity, -1.4e19]) expect(looked(value, 1e-3).outside).toEqual([0]);
  });

  it("is moved to the bound where its estimate reaches there", () => {
    const european = boundsOf(termsOf(put, 0, { volatility: 0, rate: 0 })!)([put.underlying.spot]).low;
    const { results, outside } = looked(european - 0.9e-3, 1e-3);
    expect(outside).toEqual([]);
    expect([results.value[0], results.errorEstimate[0]]).toEqual([european, 1e-3]);
  });

  it("is an error of the trade, with its path, the bound and a remedy", () => {
    const { results } = looked(101, 1e-3);
    expect(results.errorOf(0)).toMatchObject({
      code: "NUMERICS",
      message: expect.stringMatching(
        /^trades\[7\]: method "fdm" gives 101, more than [\d.]+, which it is worth at most, .*name another method/,
      ) as string,
    });
  });

  it("is 0 where errors alone make it negative", async () => {
    // Out of the money by four to six deviations, and knocked out soon behind the strike: worth less than 1e-6.
    const trades = [
      { id: "1", payoff: "call", strike: 315, expiry: 0.62, barriers: [{ type: "up-and-out", level: 347 }] },
      { id: "2", payoff: "put", strike: 75, expiry: 0.027, barriers: [{ type: "down-and-out", level: 70 }] },
    ].map((one) => ({ underlying: "U", ...one }));
    const market = { rates: { EUR: 0.02 }, underlyings: { U: { spot: 100, currency: "EUR", volatility: 0.22 } } };
    const scenarios = { spot: [-0.01, 0.01] };
    const book = parseBook(JSON.stringify({ asOf: "2026-11-20", market, trades, scenarios }));
    const { results } = await priceBook(book, { device, greeks: "none" });
    const values = results.flatMap((one) => (one.status === "ok" ? [one.value, ...(one.scenarios ?? []).flat(3)] : []));
    expect(values.length).toBeGreaterThan(2);
    expect(Math.min(...(values as number[]))).toBe(0);
  });

  it("is let out near the bound, with an estimate that reaches it", () => {
    const low = looked(0, 1e-9, false);
    expect(low.outside).toEqual([0]);
    const european = boundsOf(termsOf(put, 0, { volatility: 0, rate: 0 })!)([put.underlying.spot]).low;
    const { results } = looked(european - 1.5e-3, 1e-3);
    expect(results.errorOf(0)).toBeUndefined();
    expect(results.errorEstimate[0]).toBeCloseTo(1.5e-3, 8);
  });

  it("of a scenario is left out with a warning, or let out near the bound; the others stay", () => {
    const cases = new ScenarioCases({ time: [0], spot: [-0.1, 0, 0.1], volatility: [0], rate: [0] });
    const columns = new TradeColumns([{ ok: true, trade: put }], cases);
    columns.add(0, put, 7);
    const results = new ResultColumns(1, cases);
    const settings = {
      method: "auto",
      greeks: "none",
      sensitivityErrorEstimates: false,
      accuracy: undefined,
      timePerTrade: undefined,
      strict: false,
      seed: 1,
    } as const;
    const problems = new RowProblems(columns);
    const budget = new TimeBudget(undefined);
    const batch = { columns, problems, settings, budget, precision: "f64" } as const;
    const settled = (values: readonly number[]): readonly number[] => {
      results.reset(0);
      results.value[0] = 8;
      results.scenarioValues.set(values);
      results.scenarioErrors[0] = 1e-3;
      results.priced(0, "fdm");
      const guard = new Guard(batch, () => boundsWith(batch, undefined));
      guard.check([0], results);
      guard.settle(results);
      return [...results.scenarioValues];
    };
    expect(settled([14, 8, 5])).toEqual([14, 8, 5]);
    expect(results.warnings[0] & WARNING.scenarioOutside).toBe(0);
    expect(settled([14, 8, 101])).toEqual([14, 8, NaN]);
    expect(results.warnings[0] & WARNING.scenarioOutside).not.toBe(0);
    expect(results.errorOf(0)).toBeUndefined();
    // Of the spot 90 the put pays 10 at once.
    const bound = boundsOf(termsOf(put, 0, { volatility: 0, rate: 0 })!)([90]).low;
    expect(settled([bound - 1.5e-3, 8, 5])[0]).toBeCloseTo(bound, 2);
    expect(results.scenarioErrors[0]).toBeCloseTo(1.5e-3, 8);
  });
});

describe("a guard of values from 0 to 10", () => {
  const put = trade({ payoff: vanilla("put", 100), expiry: 1 });
  /** Today's value and two cases of three spots; what is not given is 5, and estimates are 1. */
  function guarded(given: {
    value?: number;
    scenarios?: Readonly<Record<number, number>>;
    estimate?: number;
    more?: object;
  }) {
    const { value = 5, scenarios = {}, estimate = 1, more = {} } = given;
    const { method, rounding, low } = { method: "fdm" as const, rounding: 0, low: 0, ...more };
    const cases = new ScenarioCases({ time: [0], spot: [-0.1, 0, 0.1], volatility: [0, 0.1], rate: [0] });
    const columns = new TradeColumns([{ ok: true, trade: put }], cases);
    columns.add(0, put, 0);
    const results = new ResultColumns(1, cases);
    results.setToday(0, value, estimate, {});
    for (const row of [0, 1])
      results.setScenarios(
        row,
        (k) => scenarios[3 * row + k] ?? 5,
        () => estimate,
      );
    results.priced(0, method);
    const guard = new Guard({ columns } as never, () => ({
      at: () => () => ({ low, high: 10 }),
      rounding: () => rounding,
    }));
    guard.check([0], results);
    const { outside } = guard;
    guard.settle(results);
    const [today] = results.value;
    return { outside, today, results, values: [...results.scenarioValues], errors: [...results.scenarioErrors] };
  }

  it("cuts the estimate of values inside to what the farther bound leaves", () => {
    const { results, errors } = guarded({ value: 8, scenarios: { 3: 3 }, estimate: 50 });
    expect([results.errorEstimate[0], ...errors]).toEqual([8, 8, 7]);
  });

  it("lets the estimate of one value reach to its bound, and not those of others", () => {
    const { today, results, errors } = guarded({ value: -0.9, scenarios: { 5: 11 } });
    expect([today, results.errorEstimate[0], ...errors]).toEqual([0, 1, 1, 1]);
    const far = guarded({ value: -3, estimate: 2, scenarios: { 5: 13.5 } });
    expect([far.today, far.results.errorEstimate[0], far.values[5], ...far.errors]).toEqual([0, 3, 10, 2, 3.5]);
    expect(far.outside).toEqual([0]);
    const near = guarded({ value: -0.8, more: { rounding: 0.5 } });
    expect([near.today, ...near.errors]).toEqual([0, 1, 1]);
    // Rounding alone has moved today's value: its distance is no error of the scenarios.
    const rounded = guarded({ value: -2, estimate: 1, more: { rounding: 2 } });
    expect([rounded.results.errorEstimate[0], rounded.errors[0]]).toEqual([2, 1]);
  });

  it("takes two estimates of paths for one", () => {
    const of = (method: string) => guarded({ value: -3, estimate: 2, more: { method } }).outside;
    expect([of("montecarlo"), of("fdm")]).toEqual([[], [0]]);
  });

  it("leaves what is outside by rounding of bounds, but nothing below 0", () => {
    const of = (value: number, low: number): number => guarded({ value, more: { rounding: 1e-3, low } }).today;
    expect([of(-1e-9, 0), of(10 + 1e-9, 0), of(2 - 1e-9, 2)]).toEqual([0, 10 + 1e-9, 2 - 1e-9]);
  });
});

it("a value that no payoff can have is priced finer, then by the next method, and nothing is left of it", async () => {
  const asked: (number | undefined)[] = [];
  const wrong = vi.spyOn(integral, "open").mockImplementation(() => ({
    plan: ({ settings }, trades) => {
      asked.push(settings.accuracy);
      const read = (results: ResultColumns) => {
        for (const one of trades) {
          results.setToday(one, -5, 1e-6, { delta: 3, vega: 4 }, { delta: 1 });
          results.warnings[one] = WARNING.pathsLimited;
          results.seeds.set(one, 7);
          results.own.set(one, { figures: { parity: 1 }, notes: ["a note"] });
          results.setSeveral(one, { assets: [], crossGamma: [], correlation: [], assumed: [["A", "B"]] });
          results.priced(one, "integral");
        }
        return Promise.resolve();
      };
      return Promise.resolve({ run: () => Promise.resolve(), read, [Symbol.dispose]() {} });
    },
    [Symbol.dispose]() {},
  }));
  const one = { underlying: "U", payoff: "put", strike: 100, expiry: 1, exercise: "american" } as const;
  const market = { rates: { EUR: 0.03 }, underlyings: { U: { spot: 100, currency: "EUR", volatility: 0.22 } } };
  const book = parseBook({ asOf: "2026-11-20", market, trades: ["A", "B"].map((id) => ({ id, ...one })) });
  try {
    const { results } = await priceBook(book, { device });
    expect(asked).toEqual([undefined, 1e-5 / 8]);
    expect(results).toEqual((await priceBook(book, { device, method: "fdm" })).results);
    const named = await priceBook(book, { device, method: "integral", batchSize: 1 });
    const places = named.results.map((result) => result.status === "error" && result.error.message.slice(0, 40));
    expect(places).toEqual(["A", "B"].map((_, i) => `trades[${i}]: method "integral" gives -5, less`.slice(0, 40)));
  } finally {
    wrong.mockRestore();
  }
});

describe("results say", () => {
  const price = async (book: object): Promise<readonly TradeResult[]> =>
    (await priceBook(parseBook(JSON.stringify(book)), { device, accuracy: { relative: 1e-8 }, greeks: "none" }))
      .results;
  const asOf = "2026-11-20T00:00:00Z";
  const market = { rates: { EUR: 0.03 }, underlyings: { ACME: { spot: 100, currency: "EUR", volatility: 0.25 } } };

  it("that the accuracy was not reached, in the same words whatever the method", async () => {
    const one = { id: "A", underlying: "ACME", payoff: "put", strike: 100, expiry: 1, exercise: "american" };
    const [american] = await price({ asOf, market, trades: [one] });
    const text = "the accuracy that was asked for is not reached: errorEstimate is larger";
    expect(american.errorEstimate! > 1e-8 * 100).toBe(american.warnings.includes(text));
    const quick = { device, accuracy: { relative: 1e-8 }, greeks: "none", method: "fdm", timePerTrade: 1e-9 } as const;
    const { results } = await priceBook(parseBook({ asOf, market, trades: [one] } as never), quick);
    expect(results[0].warnings).toContain(text);
  });

  it("that a knock-out is breached at asOf, and that a variance looks like percent", async () => {
    const barriers = [{ type: "up-and-out", level: 90, rebate: 2 }];
    const one = { id: "A", underlying: "ACME", payoff: "put", strike: 100, expiry: 1, barriers };
    const [out] = await price({ asOf, market, trades: [one] });
    expect(out).toMatchObject({
      value: 2,
      warnings: ["a knock-out barrier is breached at asOf: the value is its rebate, or 0"],
    });
    const heston = { v0: 20, kappa: 1, theta: 0.04, sigma: 0.5, rho: -0.5 };
    const plain = { id: "H", underlying: "ACME", payoff: "put", strike: 100, expiry: 1, volatility: { heston } };
    const [warned] = await price({ asOf, market, trades: [plain] });
    expect(warned.warnings.join()).toContain("v0 of ACME is 20, a volatility of 447.2 %");
  });
});

it("warnings have bits of their own", () => {
  const bits = Object.values(WARNING);
  expect(new Set(bits).size).toBe(bits.length);
});

it("what is not known of a trade is no number, and of the errors at spots the largest counts", () => {
  const results = new ResultColumns(
    1,
    new ScenarioCases({ time: [0], spot: [-0.1, 0, 0.1], volatility: [0], rate: [0] }),
  );
  results.setToday(0, 5, 0.1, { delta: 0.5 });
  expect([results.delta[0], results.vega[0], results.sensitivityErrors.delta[0]]).toEqual([0.5, NaN, NaN]);
  results.setScenarios(
    0,
    (k) => k,
    (k, value) => [0.1, 3, 0.2][k] + value,
  );
  expect([...results.scenarioValues, ...results.scenarioErrors]).toEqual([0, 1, 2, 4]);
});
