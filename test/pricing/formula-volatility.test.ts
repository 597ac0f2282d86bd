/** Volatilities given as formulas: constants, jumps, regions without any, and those that are none. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parseBook, priceBook, type TradeResult } from "../../src/index.ts";
import { type Device, openDevice } from "../../src/device/index.ts";
import { blackScholes } from "../../tools/properties/closed-forms.ts";

let device: Device;
beforeAll(async () => void (device = await openDevice({ backend: "cpu" })));
afterAll(() => device[Symbol.dispose]());

interface Terms {
  readonly local: string;
  readonly strike?: number;
  readonly expiry?: number;
  readonly rate?: number;
  readonly payoff?: "call" | "put";
  readonly exercise?: "european" | "american";
  readonly barriers?: readonly object[];
  /** Whether the formula is the underlying's, not the trade's. */
  readonly shared?: boolean;
  readonly accuracy?: number;
}

async function resultOf(terms: Terms): Promise<TradeResult> {
  const { local, strike = 100, expiry = 1, rate = 0.05, payoff = "put", exercise = "european", shared = false } = terms;
  const volatility = { local };
  const book = {
    asOf: "2026-11-20T16:00:00Z",
    market: {
      rates: { EUR: rate },
      underlyings: { A: { spot: 100, currency: "EUR", volatility: shared ? volatility : 0.2 } },
    },
    trades: [
      {
        id: "1",
        underlying: "A",
        payoff,
        strike,
        expiry,
        exercise,
        ...(shared ? {} : { volatility }),
        ...(terms.barriers === undefined ? {} : { barriers: terms.barriers }),
      },
    ],
  };
  const { accuracy = 1e-5 } = terms;
  const { results } = await priceBook(parseBook(JSON.stringify(book)), {
    device,
    greeks: "none",
    accuracy: { relative: accuracy },
  });
  return results[0];
}

async function priced(terms: Terms): Promise<{ value: number; errorEstimate: number; warnings: readonly string[] }> {
  const result = await resultOf(terms);
  if (result.status === "error") throw new Error(result.error.message);
  return result;
}

describe("a constant as a formula", () => {
  // Two ways to write it: with t it is evaluated in the kernel.
  it.each(["", " + 0*t"])("is Black and Scholes' model however large σ√T%s", async (rest) => {
    for (const deviation of [0.05, 0.3, 1, 1.5, 2, 3, 4]) {
      for (const [payoff, moneyness] of [
        ["put", -1],
        ["put", 0.5],
        ["call", 0],
        ["call", 1],
      ] as const) {
        const [expiry, rate] = [6, 0.04];
        const volatility = deviation / Math.sqrt(expiry);
        const strike = 100 * Math.exp(moneyness * Math.min(deviation, 1));
        const got = await priced({ local: `${volatility}${rest}`, strike, expiry, rate, payoff });
        const exact = blackScholes({ spot: 100, rate, yield: 0, volatility, expiry }, payoff, strike);
        expect(Math.abs(got.value - exact)).toBeLessThanOrEqual(Math.min(got.errorEstimate, 2e-3));
      }
    }
  });
});

describe("a volatility that jumps", () => {
  // Oscillating Brownian motion (Keilson & Wellner 1978): dS = σ₊ dW above the start, σ₋ dW below. Its positive part
  // has the mean σ₊·σ₋/(σ₊ + σ₋)·√(2T/π).
  it("at the spot, is oscillating Brownian motion's", async () => {
    for (const [above, below] of [
      [10, 30],
      [30, 10],
      [20, 5],
    ] as const) {
      const expiry = 0.25;
      const got = await priced({ local: `S < 100 ? ${below}/S : ${above}/S`, payoff: "call", rate: 0, expiry });
      const exact = ((above * below) / (above + below)) * Math.sqrt((2 * expiry) / Math.PI);
      expect(Math.abs(got.value - exact)).toBeLessThanOrEqual(Math.min(got.errorEstimate, 2e-3));
    }
  });

  // 5.85706838: implicit differences of our own in Python, numpy and scipy, with a node at 90 and the harmonic mean of
  // both variances there, extrapolated from 4,000 and 8,000 nodes.
  it("below the spot, is that of differences on the jump", async () => {
    const got = await priced({ local: "S < 90 ? 0.3 : 0.2" });
    expect(Math.abs(got.value - 5.85706838)).toBeLessThanOrEqual(Math.min(got.errorEstimate, 1e-3));
  });

  it("in time, is Black and Scholes' with its mean square", async () => {
    const got = await priced({ local: "t > 0.37 ? 0.3 : 0.1", strike: 105 });
    const volatility = Math.sqrt(0.37 * 0.01 + 0.63 * 0.09);
    const exact = blackScholes({ spot: 100, rate: 0.05, yield: 0, volatility, expiry: 1 }, "put", 105);
    expect(Math.abs(got.value - exact)).toBeLessThanOrEqual(Math.min(got.errorEstimate, 1e-3));
  });
});

describe("a volatility of zero in a region", () => {
  it("stops a spot without drift there: a barrier that pays the payoff at expiry", async () => {
    for (const strike of [90, 100, 110]) {
      const stopped = await priced({ local: "S > 85 ? 0.2 : 0", strike, rate: 0 });
      const rebate = Math.max(strike - 85, 0);
      const barrier = { type: "down-and-out", level: 85, rebate, rebateAt: "expiry" };
      const known = await priced({ local: "0.2", strike, rate: 0, barriers: [barrier] });
      const allowed = stopped.errorEstimate + known.errorEstimate;
      expect(Math.abs(stopped.value - known.value)).toBeLessThanOrEqual(Math.min(allowed, 0.02));
    }
  });

  // Drift takes the spot out of the region, at whose end it is sticky. Values of the program in Python named above.
  it.each([
    ["S < 90 ? 0 : 0.2", 100, 4.43061],
    ["S > 100 ? 0.2 : 0", 110, 7.13986],
    // The spot never comes below 100: simulations in steps of Δt, which may, tend to 0 like √Δt.
    ["S > 100 ? 0.2 : 0", 100, 0],
  ])("%s with strike %d", async (local, strike, expected) => {
    const got = await priced({ local, strike });
    expect(Math.abs(got.value - expected)).toBeLessThanOrEqual(got.errorEstimate);
    expect(got.errorEstimate).toBeLessThan(0.01);
  });

  it("until a date is Black and Scholes' with what comes after it", async () => {
    const got = await priced({ local: "t > 0.5 ? 0.2 : 0" });
    const exact = blackScholes(
      { spot: 100, rate: 0.05, yield: 0, volatility: 0.2 * Math.SQRT1_2, expiry: 1 },
      "put",
      100,
    );
    expect(Math.abs(got.value - exact)).toBeLessThanOrEqual(got.errorEstimate);
    expect(got.errorEstimate).toBeLessThan(0.01);
  });

  it("everywhere is a deterministic path's", async () => {
    const got = await priced({ local: "0*S", strike: 110 });
    expect(got.value).toBeCloseTo(110 * Math.exp(-0.05) - 100, 10);
  });
});

describe("a volatility that is none", () => {
  it.each([
    ["S<90 ? -0.2 : 0.2", /volatility -0\.2 at S = \d/],
    ["0.2-0.3*S/100", /volatility -0\.0999\d* at S = 100, t = 0/],
    ["log(S-100)", /volatility (NaN|-Infinity) at S = 100, t = 0/],
    ["0.2 + 0*sqrt(S-90)", /volatility NaN at S = \d/],
    ["0.2/(S-100)", /volatility Infinity at S = 100/],
    ["t > 0.5 && S > 120 ? -0.1 : 0.2", /volatility -0\.1 at S = 1\d\d[.\d]*, t = 0\.\d/],
  ])("%s is an error that says where", async (local, message) => {
    for (const shared of [false, true]) {
      const result = await resultOf({ local, shared });
      expect(result.status).toBe("error");
      if (result.status !== "error") continue;
      expect(result.error.path).toBe(shared ? "market.underlyings.A.volatility.local" : "trades[0].volatility.local");
      expect(result.error.message).toMatch(message);
      expect(result.error.message).toContain(`"${local}"`);
    }
  });

  it("is none of its business where the spot cannot come", async () => {
    const got = await priced({ local: "0.2 + 0*log(S - 5)" });
    const exact = blackScholes({ spot: 100, rate: 0.05, yield: 0, volatility: 0.2, expiry: 1 }, "put", 100);
    expect(Math.abs(got.value - exact)).toBeLessThanOrEqual(got.errorEstimate);
  });
});

describe("warnings", () => {
  it("say that the scheme is of first order where the value is affected", async () => {
    for (const local of ["S < 90 ? 0 : 0.2", "S > 100 ? 0.2 : 0"]) {
      const { warnings } = await priced({ local });
      expect(warnings).toEqual([
        expect.stringContaining("volatility is 0, or jumps"),
        "the accuracy that was asked for is not reached: errorEstimate is larger",
      ]);
    }
  });

  it("say nothing where drift dominates and the value is as exact as was asked for", async () => {
    const { warnings, errorEstimate } = await priced({
      local: "0.01",
      strike: 50,
      expiry: 5,
      payoff: "call",
      accuracy: 1e-4,
    });
    expect(errorEstimate).toBeLessThan(1e-2);
    expect(warnings).toEqual([]);
  });
});
