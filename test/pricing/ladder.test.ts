import { describe, expect, it } from "vitest";
import type { Scenarios, Trade } from "../../src/book/index.ts";
import { constant, dividendSchedule, flatVolatility, termStructure, zeroCurve } from "../../src/market/index.ts";
import { PlainDevice } from "../support/plain-device.ts";
import { priced, trade } from "./reference.ts";

const device = new PlainDevice();
const american = { kind: "american" } as const;
const call = { kind: "vanilla", right: "call", strike: 100 } as const;

const scenarios = (axes: Partial<Scenarios>): Scenarios => ({
  time: [0],
  spot: [0],
  volatility: [0],
  rate: [0],
  ...axes,
});

async function ladder(one: Trade, axes: Partial<Scenarios>, method: "auto" | "fdm" = "auto") {
  const [got] = await priced([one], { device, method }, scenarios(axes));
  return got.scenarios ?? [];
}

async function value(one: Trade, method: "auto" | "fdm" = "auto"): Promise<number> {
  return (await priced([one], { device, method }))[0].value;
}

describe("a later date", () => {
  it("leaves a European option what Black and Scholes' formula with the time that is left says", async () => {
    const got = await ladder(trade(), {
      time: [0, 0.25, 0.75],
      spot: [-0.1, 0.1],
      volatility: [0.05],
      rate: [0, 0.01],
    });
    for (const [t, time] of [0, 0.25, 0.75].entries())
      for (const [s, spot] of [-0.1, 0.1].entries())
        for (const [r, rate] of [0, 0.01].entries()) {
          const fresh = trade({
            expiry: 1 - time,
            volatility: flatVolatility(0.25),
            market: { spot: 100 * (1 + spot), rates: constant(0.05 + rate) },
          });
          expect(got[t][s][0][r]).toBeCloseTo(await value(fresh), 11);
        }
  });

  it("is a fresh pricing of the shorter life, on the mesh too: the solutions of two meshes at the default accuracy", async () => {
    for (const exercise of [american, { kind: "european" } as const]) {
      const got = await ladder(trade({ exercise }), { time: [0.4], spot: [-0.05, 0] }, "fdm");
      const fresh = (spot: number): Trade => trade({ exercise, expiry: 0.6, market: { spot } });
      expect(Math.abs((got[0][0][0][0] as number) - (await value(fresh(95), "fdm")))).toBeLessThan(1e-3);
      expect(Math.abs((got[0][1][0][0] as number) - (await value(fresh(100), "fdm")))).toBeLessThan(1e-3);
    }
  });

  it("keeps forward rates and forward volatilities at their dates", async () => {
    const market = {
      rates: zeroCurve([
        { time: 0.5, zero: 0.01 },
        { time: 1, zero: 0.04 },
      ]),
    };
    const volatility = termStructure([
      { time: 0.5, volatility: 0.1 },
      { time: 1, volatility: 0.3 },
    ]);
    const got = await ladder(trade({ market, volatility }), { time: [0.25, 0.5] });
    // Forward rate 0.07 and variance (0.09 − 0.005) / 0.5 = 0.17 a year in the second half.
    const last = trade({ expiry: 0.5, market: { rates: constant(0.07) }, volatility: flatVolatility(Math.sqrt(0.17)) });
    expect(got[1][0][0][0]).toBeCloseTo(await value(last), 11);
    const half = trade({
      expiry: 0.75,
      market: { rates: constant((0.25 * 0.01 + 0.5 * 0.07) / 0.75) },
      volatility: flatVolatility(Math.sqrt((0.25 * 0.01 + 0.5 * 0.17) / 0.75)),
    });
    expect(got[0][0][0][0]).toBeCloseTo(await value(half), 11);
  });

  it("keeps a local volatility at its dates: σ(S, t) goes on, it does not begin anew", async () => {
    const rising = trade({ volatility: { kind: "local", expression: "0.1 + 0.2*t + 0*S" } });
    const [[[[got]]]] = await ladder(rising, { time: [0.5] });
    // ∫ (0.1 + 0.2t)² dt over (0.5, 1) = (0.3³ − 0.2³) / 0.6.
    const variance = (0.3 ** 3 - 0.2 ** 3) / 0.6;
    const flat = trade({ expiry: 0.5, volatility: flatVolatility(Math.sqrt(variance / 0.5)) });
    expect(Math.abs((got as number) - (await value(flat)))).toBeLessThan(2e-3);
  });

  it("has the dividends of its day and before paid", async () => {
    const dividends = dividendSchedule(0, [
      { time: 0.25, cash: 5, proportional: 0 },
      { time: 0.75, cash: 0, proportional: 0.04 },
    ]);
    const got = await ladder(trade({ market: { dividends } }), { time: [0.2, 0.25, 0.75, 0.9] });
    const left = [dividendSchedule(0, []), dividendSchedule(0, [{ time: 0.5, cash: 0, proportional: 0.04 }])];
    const expected = [
      await value(trade({ expiry: 0.75, market: { dividends: left[1] } })),
      await value(trade({ expiry: 0.25, market: { dividends: left[0] } })),
      await value(trade({ expiry: 0.1, market: { dividends: left[0] } })),
    ];
    // A trade with a cash dividend is solved on a mesh: to the default accuracy, 1e-5 of the spot.
    expected.forEach((one, t) => expect(Math.abs((got[t + 1][0][0][0] as number) - one)).toBeLessThan(1e-3));
    expect(got[0][0][0][0]).toBeGreaterThan((got[1][0][0][0] as number) + 1.5);
  });

  it("of a dividend's date that differs by rounding is the dividend's", async () => {
    const sum = 0.1 + 0.2;
    for (const [date, time] of [
      [0.3, sum],
      [sum, 0.3],
    ]) {
      const dividends = dividendSchedule(0, [{ time: date, cash: 0, proportional: 0.04 }]);
      const got = await ladder(trade({ market: { dividends } }), { time: [time] });
      expect(got[0][0][0][0]).toBeCloseTo(await value(trade({ expiry: 0.7 })), 9);
    }
  });

  it("is the payoff at expiry, at the scenario's spot, and nothing after", async () => {
    const axes = { time: [1, 1.0001, 5], spot: [-0.1, 0, 0.2], volatility: [0, 0.1] };
    for (const exercise of [american, { kind: "european" } as const])
      for (const method of ["auto", "fdm"] as const) {
        const got = await ladder(trade({ payoff: call, exercise }), axes, method);
        expect(got[0]).toEqual([
          [[0], [0]],
          [[0], [0]],
          [[20], [20]],
        ]);
        expect(got.slice(1).flat(4)).toEqual(new Array(12).fill(0));
      }
    const digital = trade({ payoff: { kind: "digital", right: "call", strike: 100, cash: 7 } });
    expect(await ladder(digital, { time: [1], spot: [0, 0.1] })).toEqual([[[[3.5]], [[7]]]]);
  });

  it("of a date that differs from expiry by rounding is expiry", async () => {
    const expiry = 0.1 + 0.2;
    expect(await ladder(trade({ expiry }), { time: [0.3], spot: [-0.1] })).toEqual([[[[10]]]]);
    expect(await ladder(trade({ expiry: 0.3 }), { time: [expiry], spot: [-0.1] })).toEqual([[[[10]]]]);
  });

  it("falls off at the rate of theta", async () => {
    for (const exercise of [american, { kind: "european" } as const]) {
      const [got] = await priced([trade({ exercise })], { device }, scenarios({ time: [0, 0.002] }));
      const slope = ((got.scenarios?.[1][0][0][0] as number) - got.value) / 0.002;
      // Half a year's second derivative times the step, and the mesh's error over it.
      expect(Math.abs(slope - (got.theta as number))).toBeLessThan(0.02);
    }
  });
});

describe("a scenario with volatility", () => {
  it("of a trade that has none is a price like any other", async () => {
    const flat = trade({ volatility: flatVolatility(0), exercise: american, payoff: { ...call, right: "put" } });
    const [got] = await priced([flat], { device }, scenarios({ volatility: [0, 0.2] }));
    expect(got).toMatchObject({ method: "deterministic", value: 0, gamma: 0 });
    expect(got.scenarios?.[0][0][0]).toEqual([0]);
    // 6.09038: a binomial tree of 500 and 1,000 steps, extrapolated.
    expect(Math.abs((got.scenarios?.[0][0][1][0] as number) - 6.09038)).toBeLessThan(2e-3);
  });
});
