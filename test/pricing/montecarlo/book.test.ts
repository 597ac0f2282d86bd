/** Trades by Monte Carlo through the book: averages, lookbacks, baskets, early exercise; what is refused. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { type BookInput, type PricedTrade, readBook } from "../../../src/book/index.ts";
import { createCpuDevice } from "../../../src/device/cpu/index.ts";
import { priceBook } from "../../../src/pricing/index.ts";
import { normalCdf } from "../../support/normal.ts";

const device = createCpuDevice({ threads: 1 });
afterAll(() => {
  expect(device.liveBuffers).toBe(0);
  device[Symbol.dispose]();
});

interface Case {
  readonly id: string;
  readonly product: string;
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly params: any;
  readonly expected: { readonly price: number };
}

const casesOf = (family: string): readonly Case[] =>
  (
    JSON.parse(readFileSync(join(import.meta.dirname, `../../fixtures/reference/${family}.json`), "utf8")) as {
      cases: readonly Case[];
    }
  ).cases;

type Options = Omit<Parameters<typeof priceBook>[1], "device">;
type Trades = BookInput["trades"];

async function results(book: BookInput, options: Options = {}) {
  return (await priceBook(readBook(book), { device, ...options })).results;
}

async function priced(book: BookInput, options: Options = {}): Promise<PricedTrade[]> {
  return (await results(book, options)).map((result) => {
    if (result.status === "error") throw new Error(result.error.message);
    return result;
  });
}

/** A book of one trade on one underlying. */
function bookOf({ id, params: p }: Case, terms: object, strike: { readonly strike?: number }): BookInput {
  const underlying = {
    spot: p.spot,
    currency: "EUR",
    volatility: p.volatility,
    dividends: { yield: p.dividend_yield },
  };
  const trade = { id, underlying: "A", payoff: p.option_type, expiry: p.maturity, ...strike, ...terms };
  return {
    asOf: "2026-01-01",
    market: { rates: { EUR: p.rate }, underlyings: { A: underlying } },
    trades: [trade],
  };
}

/** Three standard errors, of which estimates are two. */
const THREE_ERRORS = 3 / 1.96;

describe("averages", () => {
  test.each(casesOf("asian").map((one) => [one.id, one] as const))("%s", async (_id, one) => {
    const { average: kind, sampling, fixing_times: times } = one.params;
    const average = { kind, dates: sampling === "continuous" ? "continuous" : times };
    const book = bookOf(one, { average }, { strike: one.params.strike });
    const [{ value, errorEstimate, method }] = await priced(book, { accuracy: { relative: 3e-4 }, greeks: "none" });
    const error = Math.abs(value - one.expected.price);
    if (kind === "geometric") expect([error < 1e-9, method]).toEqual([true, "black-scholes"]);
    else {
      // Beside the noise an average over time has the bias of its steps, 1e-5 of the value.
      expect(error).toBeLessThan(THREE_ERRORS * errorEstimate + 1e-5 * value);
      expect(errorEstimate).toBeLessThan(3.1e-4 * one.params.spot);
      expect(method).toBe("montecarlo");
    }
  });
});

describe("lookbacks", () => {
  test.each(casesOf("lookback").map((one) => [one.id, one] as const))("%s", async (_id, one) => {
    const { params: p, product } = one;
    const isFloating = product === "lookback_floating";
    const lookback = {
      strike: isFloating ? "floating" : "fixed",
      monitoring: "continuous",
      ...(p.lookback_start === undefined ? {} : { from: p.lookback_start }),
      ...(p.running_extremum === undefined ? {} : { extremum: p.running_extremum }),
    };
    const [{ value, errorEstimate }] = await priced(bookOf(one, { lookback }, isFloating ? {} : { strike: p.strike }));
    expect(Math.abs(value - one.expected.price)).toBeLessThan(THREE_ERRORS * errorEstimate);
    expect(errorEstimate).toBeLessThan(1.1e-3 * p.spot);
  });
});

const heston = { v0: 0.04, kappa: 1.5, theta: 0.04, sigma: 0.3, rho: -0.7 };
const names = ["A", "B", "C", "D"];
const market = {
  rates: { EUR: 0.05 },
  underlyings: {
    ...Object.fromEntries(names.map((name) => [name, { spot: 100, currency: "EUR", volatility: 0.2 }])),
    H: { spot: 100, currency: "EUR", volatility: { heston } },
    G: {
      spot: 100,
      currency: "EUR",
      dividends: { yield: 0.05 },
      volatility: { gaussianFactors: { alpha: [0.21, 5.4], sigma: [0.36, 1.11], rho: -0.11 } },
    },
  },
  correlations: names.flatMap((a, i) => names.slice(i + 1).map((b) => [a, b, 0.3] as const)),
};
const base = { underlying: "A", payoff: "call", strike: 100, expiry: 1 } as const;
const months = Array.from({ length: 12 }, (_, k) => (k + 1) / 12);
const basketOf = (kind: "arithmetic" | "geometric") => ({
  basket: "put" as const,
  kind,
  weights: names.map(() => 0.25),
});
const ofTrades = (trades: Trades, rest: Partial<BookInput> = {}): BookInput => ({
  asOf: "2026-01-01",
  market,
  trades,
  ...rest,
});

describe("beside other methods", () => {
  test("plain options, digitals, barriers and Heston's model", async () => {
    const barrier = { type: "down-and-out", level: 90, rebate: 2, rebateAt: "expiry" } as const;
    const trades: Trades = [
      { id: "1", ...base },
      { id: "2", ...base, payoff: { digital: "put", cash: 10 } },
      { id: "3", ...base, barriers: [barrier] },
      { id: "4", ...base, barriers: [{ ...barrier, type: "down-and-in" }] },
      { id: "5", ...base, underlying: "H" },
      { id: "6", ...base, payoff: { expression: "max(S - 100, 0) + max(90 - S, 0)", kinks: [90, 100] } },
    ];
    const exact = await priced(ofTrades(trades));
    const sampled = await priced(ofTrades(trades, { method: "montecarlo", seed: 7 }));
    for (const [i, { value, errorEstimate, delta, vega, rho, theta, seed }] of sampled.entries()) {
      const other = exact[i];
      expect(Math.abs(value - other.value)).toBeLessThan(THREE_ERRORS * errorEstimate + other.errorEstimate);
      // A digital's differences over two per cent are noisy.
      const near = i === 1 ? 0.15 : 0.02;
      for (const [a, b] of [
        [delta, other.delta],
        [vega, other.vega],
        [rho, other.rho],
        [theta, other.theta],
      ])
        if (!(i === 4 && a === vega)) expect(Math.abs(a! - b!)).toBeLessThan(near * (Math.abs(b!) + 5));
      expect(seed).toBe(7);
    }
  });

  test.each([
    [1, 1],
    [0.2, 0.3],
  ])("a product with the weights %f and %f is log-normal", async (a, b) => {
    // Both spots are 100, both volatilities 20 %, the correlation is 0.3.
    const variance = 0.04 * (a * a + b * b + 0.6 * a * b);
    const now = 100 ** (a + b);
    const forward = now * Math.exp((a + b) * (market.rates.EUR - 0.02) + 0.5 * variance);
    const deviation = Math.sqrt(variance);
    const d = Math.log(forward / now) / deviation + 0.5 * deviation;
    const discount = Math.exp(-market.rates.EUR);
    const call = discount * (forward * normalCdf(d) - now * normalCdf(d - deviation));
    const put = call - discount * (forward - now);
    const results = await priced(
      ofTrades(
        (["call", "put"] as const).map((basket) => {
          const payoff = { basket, kind: "geometric", weights: [a, b] } as const;
          return { id: basket, underlyings: ["A", "B"], payoff, strike: now, expiry: 1 };
        }),
      ),
    );
    for (const [i, exact] of [call, put].entries()) {
      expect(results[i].value / exact).toBeCloseTo(1, 9);
      expect(results[i].warnings).toEqual([]);
    }
  });

  test("a geometric basket of four, which is log-normal", async () => {
    const [{ value, errorEstimate, gamma, sensitivities }] = await priced(
      ofTrades([{ id: "1", underlyings: names, payoff: basketOf("geometric"), strike: 100, expiry: 1 }]),
    );
    // σ² = Σ wᵢwⱼρᵢⱼσᵢσⱼ, and the forward by Itô.
    const variance = 0.04 * ((4 + 12 * 0.3) / 16);
    const dividends = { yield: 0.5 * (0.04 - variance) };
    const underlyings = { A: { spot: 100, currency: "EUR", volatility: Math.sqrt(variance), dividends } };
    const [exact] = await priced({
      asOf: "2026-01-01",
      market: { rates: market.rates, underlyings },
      trades: [{ id: "1", ...base, payoff: "put" }],
    });
    expect(exact.method).toBe("black-scholes");
    expect(Math.abs(value - exact.value)).toBeLessThan(THREE_ERRORS * errorEstimate + 1e-10);
    const delta = Object.values(sensitivities!).reduce((sum, one) => sum + one.delta!, 0);
    expect(delta).toBeCloseTo(exact.delta!, 2);
    expect(gamma).toBeCloseTo(exact.gamma!, 2);
  });

  test("geometric baskets on ten underlyings: European ones by the closed form, American ones within their error", async () => {
    const ten = Array.from({ length: 10 }, (_, i) => `G${i}`);
    const own = { spot: 100, currency: "EUR", volatility: 0.2 };
    const variance = 0.04 * ((10 + 90 * 0.3) / 100);
    const one = { ...own, volatility: Math.sqrt(variance), dividends: { yield: 0.5 * (0.04 - variance) } };
    const wide = {
      rates: market.rates,
      underlyings: { ...Object.fromEntries(ten.map((name) => [name, own])), One: one },
      correlations: ten.flatMap((a, i) => ten.slice(i + 1).map((b) => [a, b, 0.3] as const)),
    };
    const payoff = { basket: "put" as const, kind: "geometric" as const, weights: ten.map(() => 0.1) };
    const basket = { underlyings: ten, payoff, strike: 100, expiry: 1 };
    const single = { underlying: "One", payoff: "put", strike: 100, expiry: 1 } as const;
    const trades: Trades = [
      { id: "1", ...basket },
      { id: "2", ...basket, exercise: "american" },
      { id: "3", ...single },
      { id: "4", ...single, exercise: "american" },
    ];
    const book = { asOf: "2026-01-01", market: wide } as const;
    const [european, exact, early] = await priced({ ...book, trades: trades.toSpliced(1, 1) }, { greeks: "grid" });
    // Differences of early exercise on ten underlyings take seconds; a put's are compared below.
    const [american] = await priced({ ...book, trades: [trades[1]] }, { greeks: "none" });
    expect(european.method).toBe("black-scholes");
    expect(Math.abs(european.value - exact.value)).toBeLessThan(1e-10);
    expect(european.delta).toBeCloseTo(exact.delta!, 5);
    expect(european.gamma).toBeCloseTo(exact.gamma!, 4);
    expect(american.method).toBe("montecarlo");
    expect(Math.abs(american.value - early.value)).toBeLessThan(american.errorEstimate);
  });

  test("two Gaussian factors are Black's formula with their variance", async () => {
    const [{ value, errorEstimate }] = await priced(ofTrades([{ id: "1", ...base, underlying: "G" }]));
    const decay = (a: number): number => (1 - Math.exp(-a)) / a;
    const variance = 0.36 ** 2 * decay(0.42) + 1.11 ** 2 * decay(10.8) + 2 * -0.11 * 0.36 * 1.11 * decay(5.61);
    const underlyings = {
      A: { spot: 100, currency: "EUR", dividends: { yield: 0.05 }, volatility: Math.sqrt(variance) },
    };
    const [exact] = await priced({
      asOf: "2026-01-01",
      market: { rates: market.rates, underlyings },
      trades: [{ id: "1", ...base }],
    });
    expect(Math.abs(value - exact.value)).toBeLessThan(THREE_ERRORS * errorEstimate);
  });

  test("early exercise: a put on one underlying, and more dates are worth more", async () => {
    const put = { ...base, payoff: "put", exercise: "american" } as const;
    const [exact] = await priced(ofTrades([{ id: "1", ...put }]));
    const [{ value, errorEstimate, delta, gamma }] = await priced(
      ofTrades([{ id: "1", ...put }], { method: "montecarlo" }),
    );
    expect(Math.abs(value - exact.value)).toBeLessThan(2 * errorEstimate);
    expect(delta).toBeCloseTo(exact.delta!, 1);
    expect(gamma).toBeNull();
    const best = { underlyings: names, payoff: { bestOf: "call" }, strike: 100, expiry: 1 } as const;
    const [european, bermudan] = await priced(
      ofTrades([
        { id: "1", ...best, payoff: basketOf("arithmetic") },
        { id: "2", ...best, payoff: basketOf("arithmetic"), exercise: [0.25, 0.5, 0.75] },
      ]),
      { greeks: "none" },
    );
    expect(bermudan.value).toBeGreaterThan(european.value);
  });
});

describe("what has passed", () => {
  test("fixings that are known move the strike; a call that is sure to pay is exact", async () => {
    const dates = months.slice(6).map((t) => t - 0.5);
    const average = (count: number, mean: number) => ({ kind: "arithmetic" as const, dates, past: { count, mean } });
    const trades: Trades = [
      { id: "none", ...base, expiry: 0.5, average: { kind: "arithmetic", dates } },
      { id: "same", ...base, expiry: 0.5, average: average(6, 100) },
      { id: "sure", ...base, expiry: 0.5, average: average(6, 250) },
      { id: "never", ...base, payoff: "put", expiry: 0.5, average: average(6, 250) },
    ];
    const [none, same, sure, never] = await priced(ofTrades(trades));
    // With six fixings of 100 the average of the others counts a half.
    expect(Math.abs(same.value - 0.5 * none.value)).toBeLessThan(same.errorEstimate + 0.5 * none.errorEstimate);
    const forwards = dates.map((t) => 100 * Math.exp(0.05 * t));
    const mean = forwards.reduce((sum, one) => sum + one, 0) / 6;
    expect(sure.value).toBeCloseTo(Math.exp(-0.025) * (0.5 * (mean + 250) - 100), 9);
    expect([sure.method, never.value]).toEqual(["payoff", 0]);
  });

  test("a date of a lookback at asOf counts today's spot", async () => {
    const lookback = (monitoring: readonly number[]) => ({ strike: "fixed" as const, monitoring: [...monitoring] });
    const [both, alone, call] = await priced(
      ofTrades([
        { id: "both", ...base, strike: 90, lookback: lookback([0, 1]) },
        { id: "alone", ...base, strike: 90, lookback: lookback([1]) },
        { id: "call", ...base },
      ]),
    );
    // max(max(100, S) − 90, 0) = 10 + max(S − 100, 0).
    expect(Math.abs(both.value - (10 * Math.exp(-0.05) + call.value))).toBeLessThan(both.errorEstimate);
    expect(both.value - alone.value).toBeGreaterThan(1);
  });

  test("later dates of scenarios take the spot for fixings that have passed", async () => {
    const trades: Trades = [{ id: "1", ...base, average: { kind: "geometric", dates: months } }];
    const [{ scenarios }] = await priced(ofTrades(trades, { scenarios: { time: [0, 0.25], spot: [0.1] } }));
    const dates = months.slice(2).map((t) => t - 0.25);
    const [later] = await priced(
      ofTrades(
        [
          {
            id: "1",
            ...base,
            expiry: 0.75,
            average: { kind: "geometric", dates, past: { count: 2, mean: 100 } },
          },
        ],
        {
          market: {
            ...market,
            underlyings: { ...market.underlyings, A: { spot: 110, currency: "EUR", volatility: 0.2 } },
          },
        },
      ),
    );
    expect(scenarios![1][0][0][0]).toBeCloseTo(later.value, 9);
    expect(scenarios![0][0][0][0]).toBeGreaterThan(later.value);
  });

  test("the same numbers for a seed, alone or in a book; others for another", async () => {
    const trade = { id: "1", ...base, average: { kind: "arithmetic" as const, dates: months } };
    const [alone] = await priced(ofTrades([trade]));
    const [first] = await priced(ofTrades([trade, { ...trade, id: "2", strike: 90 }]));
    const [other] = await priced(ofTrades([trade], { seed: 2 }));
    expect([first.value, first.delta]).toEqual([alone.value, alone.delta]);
    expect(alone.seed).toBe(1);
    expect(other.value).not.toBe(alone.value);
    expect(Math.abs(other.value - alone.value)).toBeLessThan(2 * (alone.errorEstimate + other.errorEstimate));
  });
});

describe("what is refused", () => {
  const refusal = async (trade: object, rest: Partial<BookInput> = {}): Promise<string> => {
    const [result] = await results(ofTrades([{ id: "1", ...trade }] as unknown as Trades, rest));
    if (result.status === "ok") throw new Error("it was priced");
    return result.error.message;
  };
  const average = { kind: "arithmetic", dates: months };

  test.each([
    [
      { ...base, average, lookback: { strike: "fixed", monitoring: "continuous" } },
      "trades[0].lookback: expected none",
    ],
    [{ ...base, payoff: { digital: "call" }, average }, 'trades[0].payoff: expected "call" or "put" beside "average"'],
    [{ ...base, exercise: "american", average }, 'trades[0].exercise: expected "european" beside "average"'],
    [{ ...base, average: { ...average, dates: [0.5, 2] } }, "trades[0].average.dates[1]: expected a date up to expiry"],
    [
      { ...base, average: { ...average, dates: [0.5, 0.5] } },
      "trades[0].average.dates[1]: expected dates that increase",
    ],
    [{ ...base, average: { ...average, dates: [] } }, "trades[0].average.dates: expected a list of dates"],
    [{ ...base, average: { ...average, kind: "harmonic" } }, 'trades[0].average.kind: expected "arithmetic" or'],
    [{ ...base, lookback: { strike: "floating", monitoring: "continuous" } }, "trades[0].strike: expected none"],
    [{ ...base, swing: { dates: months, min: 13 } }, "trades[0].swing.min: expected at most 12"],
    [{ ...base, swing: { dates: months, min: 5, max: 4 } }, "trades[0].swing.max: expected at least 5"],
    [{ ...base, barriers: [{ type: "up-and-out", level: 120 }], average }, "barriers beside an average"],
  ])("%j", async (trade, message) => {
    expect(await refusal(trade)).toContain(message);
  });

  test("models and a seed that are none", async () => {
    const underlyings = {
      A: { spot: 100, currency: "EUR", volatility: { gaussianFactors: { alpha: [1], sigma: [1, 2] } } },
    };
    const other = { asOf: "2026-01-01", market: { rates: { EUR: 0 }, underlyings }, trades: [] };
    await expect(results(other)).rejects.toThrow(
      "market.underlyings.A.volatility.gaussianFactors.sigma: expected 1, as many as in alpha, got 2",
    );
    await expect(results(ofTrades([], { seed: 1.5 }))).rejects.toThrow("seed: expected a whole number from 0, got 1.5");
  });
});
