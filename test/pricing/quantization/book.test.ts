/** Trades by quantization through the book: swings, early exercise under mean-reverting factors, what is refused. */
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { type BookInput, type PricedTrade, readBook } from "../../../src/book/index.ts";
import { createCpuDevice } from "../../../src/device/cpu/index.ts";
import { explainBook, priceBook } from "../../../src/pricing/index.ts";
import { everything } from "../../support/extent.ts";
import { readFixture } from "../../support/fixtures.ts";

beforeAll(() => void vi.stubEnv("FEYNKAC_CACHE", "off"));
const device = createCpuDevice({ threads: 1 });
afterAll(() => {
  vi.unstubAllEnvs();
  expect(device.liveBuffers).toBe(0);
  device[Symbol.dispose]();
});

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

interface Case {
  readonly id: string;
  readonly product: string;
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly params: any;
  readonly expected: { readonly price: number };
}
const cases = (readFixture("reference/swing.json") as { readonly cases: readonly Case[] }).cases;

function bookOf({ id, params: p }: Case): BookInput {
  const isDaily = typeof p.exercise_times === "string";
  const dates = (isDaily ? Array.from({ length: 365 }, (_, k) => k / 365) : p.exercise_times) as readonly number[];
  const factors =
    p.model === "gauss_2f"
      ? { alpha: [p.alpha1, p.alpha2], sigma: [p.sigma1, p.sigma2], rho: p.rho }
      : { alpha: [p.alpha], sigma: [p.sigma] };
  const underlying = {
    spot: p.s0,
    currency: "EUR",
    volatility: p.model === "gbm" ? p.sigma : { gaussianFactors: factors },
    // The forward curve is flat where the yield equals the rate.
    dividends: { yield: p.dividend_yield ?? p.rate },
  };
  const swing = { dates, min: p.q_min, max: p.q_max };
  const trade = {
    id,
    underlying: "A",
    payoff: p.option_type,
    strike: p.strike,
    expiry: dates[dates.length - 1],
    swing,
  };
  return {
    asOf: "2026-01-01",
    market: { rates: { EUR: p.rate }, underlyings: { A: underlying } },
    trades: [trade],
  };
}

describe("reference cases of swings", () => {
  // A swing of 365 dates takes as long as all others.
  const own = cases.filter(({ params }) => everything || typeof params.exercise_times !== "string");
  test.each(own.map((one) => [one.id, one] as const))("%s", async (_id, one) => {
    const [{ value, errorEstimate, method }] = await priced(bookOf(one), { greeks: "none", method: "quantization" });
    const error = Math.abs(value - one.expected.price);
    if (one.product === "swing_degenerate") {
      // Strips of forwards and of options, and no volatility, have formulas.
      expect(error).toBeLessThan(1e-10);
      expect(method).toMatch(/^(black-scholes|deterministic)$/);
    } else {
      expect(error).toBeLessThan(errorEstimate);
      expect(error).toBeLessThan((one.params.model === "gauss_2f" ? 3e-3 : 1e-4) * one.expected.price);
      expect(method).toBe("quantization");
    }
  });
});

const months = Array.from({ length: 12 }, (_, k) => (k + 1) / 12);
const of = (alpha: readonly number[], sigma: readonly number[], rho = 0) => ({
  gaussianFactors: { alpha, sigma, rho },
});
const underlying = (volatility: unknown) => ({ spot: 30, currency: "EUR", volatility, dividends: { yield: 0.02 } });
const market = {
  rates: { EUR: 0.14 },
  underlyings: {
    FLAT: underlying(0.4),
    TERMS: underlying({ termStructure: [0.25, 0.5, 1].map((date, i) => ({ date, volatility: 0.3 + 0.05 * i })) }),
    ONE: underlying(of([0], [0.4])),
    // Two Brownian motions whose sum has the volatility 0.4.
    SUM: underlying(of([0, 0], [0.3, 0.2], 0.25)),
    GAS: underlying(of([0.21, 5.4], [0.36, 1.11], -0.11)),
    STILL: underlying(of([2], [0])),
    PERFECT: underlying(of([0.21, 5.4], [0.36, 1.11], 1)),
    HESTON: underlying({ heston: { v0: 0.04, kappa: 1.5, theta: 0.04, sigma: 0.3, rho: -0.7 } }),
    CASH: { ...underlying(0.4), dividends: { discrete: [{ date: 0.5, cash: 1 }] } },
  },
} as unknown as BookInput["market"];
const ofTrades = (trades: readonly object[], rest: Partial<BookInput> = {}): BookInput => ({
  asOf: "2026-01-01",
  market,
  trades: trades as Trades,
  ...rest,
});
const put = { id: "1", underlying: "FLAT", payoff: "put", strike: 30, expiry: 1 };
const right = { dates: months, max: 1 };

/** Values within their error estimates, sensitivities to 2.5 %. */
function expectClose(found: PricedTrade, exact: PricedTrade): void {
  expect(Math.abs(found.value - exact.value)).toBeLessThan(found.errorEstimate + exact.errorEstimate);
  for (const name of ["delta", "gamma", "theta", "vega", "rho"] as const)
    expect(Math.abs(found[name]! - exact[name]!)).toBeLessThan(0.025 * Math.abs(exact[name]!) + 1e-3);
}

describe("beside finite differences", () => {
  test("a swing of one right is a Bermudan option, under a volatility of time", async () => {
    for (const name of ["FLAT", "TERMS"]) {
      const greeks = name === "FLAT" ? "all" : "none";
      const [bermudan] = await priced(ofTrades([{ ...put, underlying: name, exercise: months }]), { greeks });
      const [swing] = await priced(ofTrades([{ ...put, underlying: name, swing: right }]), {
        greeks,
        method: "quantization",
      });
      expect([bermudan.method, swing.method]).toEqual(["fdm", "quantization"]);
      if (name === "FLAT") expectClose(swing, bermudan);
      else expect(Math.abs(swing.value - bermudan.value)).toBeLessThan(swing.errorEstimate);
    }
  });

  test("factors without mean reversion are Brownian motions: Bermudan and American exercise", async () => {
    const exercises = [months, "american"];
    const trades = (name: string) =>
      exercises.map((exercise, i) => ({ ...put, id: String(i), underlying: name, exercise }));
    const exact = await priced(ofTrades(trades("FLAT")));
    for (const method of ["auto", "quantization"] as const)
      for (const name of ["ONE", "SUM"]) {
        const found = await priced(ofTrades(trades(name).slice(0, name === "ONE" ? 2 : 1)), { method });
        for (const [i, one] of found.entries()) {
          expect(one.method).toBe(method === "auto" ? "convolution" : method);
          // Exact transitions need no random numbers.
          expect(one.seed).toBeUndefined();
          expectClose(one, exact[i]);
        }
      }
  });

  test("a finer accuracy has a smaller error", async () => {
    const trade = { ...put, swing: right };
    const [[coarse], [fine]] = [
      await priced(ofTrades([trade]), { greeks: "none", method: "quantization" }),
      await priced(ofTrades([trade]), { greeks: "none", accuracy: { relative: 1e-5 }, method: "quantization" }),
    ];
    expect(fine.errorEstimate).toBeLessThan(0.3 * coarse.errorEstimate);
    expect(fine.errorEstimate).toBeLessThan(30 * 1e-5);
    expect(Math.abs(fine.value - coarse.value)).toBeLessThan(coarse.errorEstimate);
  });
});

describe("scenarios and time", () => {
  const dates = months.slice(0, 6);
  const swing = { ...put, expiry: 0.5, payoff: "call", swing: { dates, min: 1, max: 3 } };
  const movedTo = (spot: number, volatility: number, rate: number): Partial<BookInput> => ({
    market: {
      rates: { EUR: rate },
      underlyings: { FLAT: { spot, currency: "EUR", volatility, dividends: { yield: 0.02 } } },
    },
  });

  test("are the book of that market", async () => {
    const scenarios = { time: [0, 0.3], spot: [0.1], volatility: [0.05], rate: [-0.02] };
    const [{ scenarios: values }] = await priced(ofTrades([swing], { scenarios }), {
      greeks: "none",
      method: "quantization",
    });
    const moved = movedTo(33, 0.45, 0.12);
    const [now] = await priced(ofTrades([swing], moved), { greeks: "none", method: "quantization" });
    // Three dates have passed, with nothing taken.
    const left = { ...swing, expiry: 0.2, swing: { ...swing.swing, dates: dates.slice(3).map((t) => t - 0.3) } };
    const [then] = await priced(ofTrades([left], moved), { greeks: "none", method: "quantization" });
    expect(values![0][0][0][0]).toBeCloseTo(now.value, 9);
    expect(values![1][0][0][0]).toBeCloseTo(then.value, 9);
  });

  test("an obligation that the dates left cannot meet is met on all of them", async () => {
    const firm = { ...swing, swing: { dates, min: 5, max: 5 } };
    const scenarios = { time: [0.3], spot: [0] };
    const [{ scenarios: values }] = await priced(ofTrades([firm], { scenarios }), {
      greeks: "none",
      method: "quantization",
    });
    const forwards = dates.slice(3).map((date) => {
      const t = date - 0.3;
      return 30 * Math.exp(-0.02 * t) - 30 * Math.exp(-0.14 * t);
    });
    const strip = forwards.reduce((sum, one) => sum + one, 0);
    expect(values![0][0][0][0]).toBeCloseTo(strip, 9);
  });

  test("theta leaves out what is exercised today", async () => {
    const deep = { ...put, expiry: 0.5, strike: 60 };
    const [today, left] = await priced(
      ofTrades([
        // A put deep in the money is taken today, and one right is left.
        { ...deep, swing: { dates: [0, ...dates], min: 0, max: 2 } },
        { ...deep, id: "2", swing: { dates, min: 0, max: 1 } },
      ]),
    );
    expect(today.value).toBeCloseTo(30 + left.value, 9);
    expect(today.theta).toBeCloseTo(left.theta!, 6);
  });

  test("theta meets an obligation by the unit that is taken today", async () => {
    // At 29 for 30 a put is taken today only because one unit must be; afterwards nothing is due.
    const owed = { ...put, expiry: 0.5, strike: 60 };
    const trades = [
      { ...owed, swing: { dates: [0, ...dates], min: 1, max: 2 } },
      { ...owed, id: "2", swing: { dates, min: 0, max: 1 } },
    ];
    // Calls far out of the money: a unit that is still due costs, and moves with time.
    const calls = trades.map((trade) => ({ ...trade, payoff: "call", strike: 30.5 }));
    for (const method of ["quantization", "convolution"] as const) {
      const [today, left] = await priced(ofTrades(calls), { method });
      expect(today.value).toBeGreaterThanOrEqual(left.value - 0.5);
      const [forced, free] = await priced(ofTrades(trades), { method });
      expect(forced.value).toBeCloseTo(30 + free.value, 9);
      expect(forced.theta).toBeCloseTo(free.theta!, 6);
    }
  });

  test("without volatility the best dates are known", async () => {
    const trade = { ...put, underlying: "STILL", payoff: "call", swing: { dates: months, min: 1, max: 3 } };
    const [{ value, method }] = await priced(ofTrades([trade]));
    const gains = months.map((t) => 30 * Math.exp(-0.02 * t) - 30 * Math.exp(-0.14 * t)).toSorted((a, b) => b - a);
    expect(value).toBeCloseTo(gains[0] + gains[1] + gains[2], 10);
    expect(method).toBe("deterministic");
  });
});

describe("two factors", () => {
  const swing = { ...put, underlying: "GAS", payoff: "call", swing: { dates: months, min: 2, max: 5 } };

  test("belong to the seed, alone or in a book, and the result says it", async () => {
    const [alone] = await priced(ofTrades([swing]), { greeks: "none", method: "quantization" });
    const [first, second] = await priced(ofTrades([swing, { ...swing, id: "2", strike: 25 }]), {
      greeks: "none",
      method: "quantization",
    });
    const [other] = await priced(ofTrades([swing], { seed: 2 }), { greeks: "none", method: "quantization" });
    expect([alone.seed, other.seed]).toEqual([1, 2]);
    expect(first.value).toBe(alone.value);
    expect(second.value).toBeGreaterThan(first.value);
    expect(other.value).not.toBe(alone.value);
    expect(Math.abs(other.value - alone.value)).toBeLessThan(alone.errorEstimate);
  });

  test("more rights are worth more, obligations less; a put of one right is the Bermudan one", async () => {
    const swings = [
      { min: 2, max: 4 },
      { min: 2, max: 5 },
      { min: 0, max: 5 },
      { min: 0, max: 6 },
    ].map((units, i) => ({ ...swing, id: String(i), swing: { dates: months, ...units } }));
    const values = (await priced(ofTrades(swings), { greeks: "none", method: "quantization" })).map(
      ({ value }) => value,
    );
    expect(values).toEqual(values.toSorted((a, b) => a - b));
    const [one, bermudan] = await priced(
      ofTrades([
        { ...put, underlying: "GAS", expiry: 0.25, swing: { dates: months.slice(0, 3), max: 1 } },
        { ...put, id: "2", underlying: "GAS", expiry: 0.25, exercise: months.slice(0, 3) },
      ]),
      { greeks: "none", method: "quantization" },
    );
    expect(one.value).toBeCloseTo(bermudan.value, 9);
    expect([one.method, bermudan.method]).toEqual(["quantization", "quantization"]);
  });
});

describe("what is refused", () => {
  test.each([
    [{ ...put, underlying: "HESTON", swing: right }, "it has a volatility that is neither of time alone nor of"],
    [{ ...put, underlying: "PERFECT", swing: right }, "it has two factors that are perfectly correlated"],
    [{ ...put, underlying: "CASH", swing: right }, "it has dividends on dates"],
    [{ ...put, exercise: "american" }, "it has early exercise without mean-reverting factors; expected method"],
    [{ ...put }, "it has neither swing rights nor early exercise; expected method"],
    [
      { ...put, underlying: "ONE", exercise: "american", barriers: [{ type: "up-and-out", level: 40 }] },
      "it has barriers",
    ],
    [
      { ...put, underlying: "ONE", payoff: { digital: "put" }, exercise: "american" },
      "it has early exercise, and a payoff that is neither a call nor a put; expected method",
    ],
    [{ ...put, swing: { dates: [0.5, 0.25] } }, "trades[0].swing.dates[1]: expected dates that increase"],
    [{ ...put, swing: { dates: [0.5, 2] } }, "trades[0].swing.dates[1]: expected a date up to expiry"],
    [{ ...put, swing: { dates: months, min: -1 } }, "trades[0].swing.min: expected a whole number from 0"],
    [{ ...put, swing: right, exercise: "american" }, 'trades[0].exercise: expected "european" beside "swing"'],
  ])("%j", async (trade, message) => {
    const [result] = await results(ofTrades([trade], { method: "quantization" }));
    if (result.status === "ok") throw new Error("it was priced");
    expect(result.error.message).toContain(message);
    expect(result.error.path).toMatch(/^trades\[0\]/);
  });

  test("explain says that swings are not for it", async () => {
    const swing = { dates: ["2026-06-01", "2026-12-01"], max: 1 };
    const book = ofTrades([{ ...put, expiry: "2026-12-01", swing }]);
    const later = { ...book, asOf: "2026-01-11" };
    const report = await explainBook(readBook(book), readBook(later), { device });
    expect(JSON.stringify(report)).toContain("swings and mean-reverting factors are not explained in this version");
  });
});
