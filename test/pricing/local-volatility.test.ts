/** Displaced diffusion and surfaces of local volatility, against closed forms and other ways to say the same. */
import { afterAll, describe, expect, it } from "vitest";
import { createCpuDevice } from "../../src/device/cpu/index.ts";
import { constant, dividendSchedule, flatVolatility, localSurface, type Volatility } from "../../src/market/index.ts";
import { cevPrice } from "../market/models/cev.ts";
import { readFixture } from "../support/fixtures.ts";
import { normalCdf } from "../support/normal.ts";
import { cases, priced, trade } from "./reference.ts";

const device = createCpuDevice({ threads: 1 });
afterAll(() => device[Symbol.dispose]());

type Right = "call" | "put";
const vanilla = (right: Right, strike: number) => ({ kind: "vanilla", right, strike }) as const;
const between = (low: number, high: number, count: number): number[] =>
  Array.from({ length: count }, (_, i) => low + ((high - low) * i) / (count - 1));

/** A surface that samples a function. */
function sampled(sigma: (spot: number, t: number) => number, times: readonly number[], spots: readonly number[]) {
  const volatility = times.map((t) => spots.map((spot) => sigma(spot, t)));
  return { kind: "surface", surface: localSurface(times, spots, volatility) } as const satisfies Volatility;
}

/** Black's formula. */
function black(right: Right, forward: number, strike: number, deviation: number, discount: number): number {
  const d = Math.log(forward / strike) / deviation + 0.5 * deviation;
  const sign = right === "call" ? 1 : -1;
  return discount * sign * (forward * normalCdf(sign * d) - strike * normalCdf(sign * (d - deviation)));
}

describe("displaced diffusion", () => {
  it.each([
    ["call", 110, 0.2, 50, 1, 0.02],
    ["put", 100, 0.15, 20, 0.5, 0],
    ["put", 90, 0.1, 100, 2, 0.05],
  ] as const)("%s at %f: shifted Black and Scholes where r = q", async (right, strike, sigma, shift, expiry, rate) => {
    const displaced = trade({
      payoff: vanilla(right, strike),
      expiry,
      volatility: { kind: "displaced", sigma, shift },
      market: { rates: constant(rate), dividends: dividendSchedule(rate, []) },
    });
    const [got] = await priced([displaced], { device });
    const discount = Math.exp(-rate * expiry);
    const expected = black(right, 100 + shift, strike + shift, sigma * Math.sqrt(expiry), discount);
    // Absorption is worth less: the spot reaches 0 from more than five standard deviations away.
    expect(Math.abs(got.value - expected)).toBeLessThanOrEqual(1e-3);
    expect(Math.abs(got.value - expected)).toBeLessThanOrEqual(got.errorEstimate + 1e-6);
  });

  it("is the published case LVL-O-08", async () => {
    const { params, expected } = cases("local-volatility").find(({ id }) => id === "LVL-O-08")!;
    const { option_type: right, strike, sigma, shift, maturity, rate, forward } = params;
    const [got] = await priced(
      [
        trade({
          payoff: vanilla(right, strike),
          expiry: maturity,
          volatility: { kind: "displaced", sigma, shift },
          market: { spot: forward, rates: constant(rate), dividends: dividendSchedule(rate, []) },
        }),
      ],
      { device },
    );
    expect(Math.abs(got.value - expected["price"])).toBeLessThanOrEqual(2e-5 * forward);
  });

  it("is absorbed at zero: with a spot near it a put is worth what Bachelier's reflected one is, as the shift grows", async () => {
    // σ(S + a) → normal volatility ν = σ·a; absorbed at 0 by the method of images.
    const [normal, spot, strike, expiry] = [40, 100, 90, 4];
    const shift = 1e7;
    const [got] = await priced(
      [
        trade({
          payoff: vanilla("call", strike),
          expiry,
          volatility: { kind: "displaced", sigma: normal / shift, shift },
          market: { spot, rates: constant(0) },
        }),
      ],
      { device },
    );
    const deviation = normal * Math.sqrt(expiry);
    const bachelier = (forward: number): number => {
      const d = (forward - strike) / deviation;
      return (forward - strike) * normalCdf(d) + (deviation * Math.exp(-0.5 * d * d)) / Math.sqrt(2 * Math.PI);
    };
    expect(Math.abs(got.value - (bachelier(spot) - bachelier(-spot)))).toBeLessThanOrEqual(2e-5 * spot);
  });

  it("with a shift of 0 is Black and Scholes' model", async () => {
    const [displaced, flat] = await priced(
      [trade({ volatility: { kind: "displaced", sigma: 0.2, shift: 0 } }), trade()],
      { device },
    );
    expect(Math.abs(displaced.value - flat.value)).toBeLessThanOrEqual(1e-3);
  });
});

describe("a surface", () => {
  const american = { kind: "american" } as const;

  it("that is flat is Black and Scholes' model, whatever its spots are", async () => {
    for (const spots of [[100], [50, 90, 300]])
      for (const payoff of [vanilla("put", 105), vanilla("call", 80)]) {
        const volatility = sampled(() => 0.2, [0.3, 0.8], spots);
        const [got] = await priced([trade({ payoff, volatility })], { device });
        const [exact] = await priced([trade({ payoff })], { device });
        expect(Math.abs(got.value - exact.value)).toBeLessThanOrEqual(1e-3);
      }
  });

  it("of one spot is a volatility in t alone: its variance is the integral of σ²", async () => {
    const times = [0.1, 0.35, 0.4, 0.9];
    const sigmas = [0.5, 0.2, 0.4, 0.15];
    const surface = localSurface(
      times,
      [100],
      sigmas.map((sigma) => [sigma]),
    );
    const [got] = await priced([trade({ payoff: vanilla("put", 95), volatility: { kind: "surface", surface } })], {
      device,
    });
    // ∫σ² over a piece from a to b of length h: h·(a² + ab + b²)/3.
    let variance = 0.1 * 0.25 + 0.1 * 0.15 ** 2;
    for (let i = 1; i < times.length; i++) {
      const [a, b] = [sigmas[i - 1], sigmas[i]];
      variance += ((times[i] - times[i - 1]) * (a * a + a * b + b * b)) / 3;
    }
    const expected = black("put", 100 * Math.exp(0.05), 95, Math.sqrt(variance), Math.exp(-0.05));
    expect(Math.abs(got.value - expected)).toBeLessThanOrEqual(1e-3);
  });

  it("among others that share its launch, of as many spots, prices as it does alone", async () => {
    const trades = [0.15, 0.2, 0.25, 0.35].flatMap((level) => {
      const volatility = sampled(
        (spot, t) => level + 0.1 * Math.exp(-spot / 80 - t),
        [0, 0.5, 2],
        between(40, 200, 17),
      );
      return [0.5, 1].map((expiry) => trade({ payoff: vanilla("put", 105), exercise: american, expiry, volatility }));
    });
    const together = await priced(trades, { device });
    for (const [i, one] of trades.entries()) expect(together[i].value).toBe((await priced([one], { device }))[0].value);
  });

  it.each([
    ["call", 105, 0.5],
    ["put", 80, 0.7],
  ] as const)("that samples CEV's volatility has its closed form: %s at %f, β = %f", async (right, strike, beta) => {
    const sigma = 0.25 * 100 ** (1 - beta);
    const spots = between(10, 400, 157);
    const volatility = sampled((spot) => sigma * spot ** (beta - 1), [0], spots);
    const payoff = vanilla(right, strike);
    const [got] = await priced([trade({ payoff, volatility })], { device });
    const expected = cevPrice({ ...payoff, spot: 100, expiry: 1, rate: 0.05, dividendYield: 0, sigma, beta });
    // Spots below 10 and above 400 are five standard deviations away; between samples 2.5 apart the cubic is good to
    // 1e-5.
    expect(Math.abs(got.value - expected)).toBeLessThanOrEqual(1e-3);
  });

  it("is the formula that it samples, European and American, with dividends", async () => {
    const expression = "0.2 + 0.15*exp(-S/80) + 0.06*t*exp(-t) + 0.02*sin(S/25)";
    const sigma = (s: number, t: number): number =>
      0.2 + 0.15 * Math.exp(-s / 80) + 0.06 * t * Math.exp(-t) + 0.02 * Math.sin(s / 25);
    const surface = sampled(sigma, between(0, 1, 101), between(20, 400, 381));
    const dividends = dividendSchedule(0.01, [{ time: 0.4, cash: 3, proportional: 0 }]);
    for (const parts of [
      {},
      { payoff: vanilla("call", 110) },
      { exercise: american },
      { exercise: american, market: { dividends } },
      { exercise: american, payoff: vanilla("call", 95), market: { dividends } },
      { payoff: { kind: "digital", right: "call", strike: 100, cash: 10 } as const },
    ]) {
      const [one, other] = await priced(
        [trade({ ...parts, volatility: surface }), trade({ ...parts, volatility: { kind: "local", expression } })],
        { device },
      );
      expect(Math.abs(one.value - other.value), `trade with ${JSON.stringify(parts)}`).toBeLessThanOrEqual(2e-3);
      // Vega and rho are differences of solutions on one mesh: each of the two is good to 3e-4 of S·√T.
      for (const greek of ["delta", "vega", "rho"] as const)
        expect(Math.abs((one[greek] as number) - (other[greek] as number)), `its ${greek}`).toBeLessThanOrEqual(6e-2);
    }
  });

  it("from Dupire's formula gives back the implied volatilities it came from", async () => {
    const [rate, dividendYield] = [0.03, 0.01];
    const drift = rate - dividendYield;
    // Total variance w(y, t) = (a + b·y + c·y²)·t in y = ln(K/F), free of arbitrage where it is used.
    const smile = (y: number): number => 0.05 - 0.03 * y + 0.04 * y * y;
    const local = (spot: number, t: number): number => {
      // Gatheral (2006), eq. (1.10), with w, w' and w'' in y; ∂w/∂t = smile(y).
      const y = Math.max(Math.min(Math.log(spot / 100) - drift * t, 1.2), -1.2);
      const w = smile(y) * t;
      const ratio = (-0.03 + 0.08 * y) / smile(y); // w'/w
      const density = 1 - y * ratio + 0.25 * ratio * ratio * (y * y - w - 0.25 * w * w) + 0.5 * 0.08 * t;
      return Math.sqrt(smile(y) / density);
    };
    const volatility = sampled(local, between(0, 1.5, 61), between(30, 330, 301));
    const expiries = [0.25, 0.8, 1.5];
    const strikes = [70, 90, 100, 115, 140];
    const options = expiries.flatMap((expiry) => strikes.map((strike) => ({ expiry, strike })));
    const got = await priced(
      options.map(({ expiry, strike }) =>
        trade({
          expiry,
          payoff: vanilla(strike < 100 ? "put" : "call", strike),
          volatility,
          market: { rates: constant(rate), dividends: dividendSchedule(dividendYield, []) },
        }),
      ),
      { device },
    );
    options.forEach(({ expiry, strike }, i) => {
      const forward = 100 * Math.exp(drift * expiry);
      const deviation = Math.sqrt(smile(Math.log(strike / forward)) * expiry);
      const expected = black(strike < 100 ? "put" : "call", forward, strike, deviation, Math.exp(-rate * expiry));
      // In implied volatility: 2e-5 of spot over a vega of at most 50 is a hundredth of a point.
      expect(Math.abs(got[i].value - expected), `${strike}, ${expiry}`).toBeLessThanOrEqual(2e-3);
    });
  });

  it("moves in parallel: vega and scenarios are those of every entry moved", async () => {
    const times = [0.2, 0.9];
    const spots = [80, 95, 105, 130];
    const rows = [
      [0.35, 0.28, 0.24, 0.22],
      [0.3, 0.26, 0.23, 0.22],
    ];
    const moved = (by: number): Volatility => ({
      kind: "surface",
      surface: localSurface(
        times,
        spots,
        rows.map((row) => row.map((sigma) => sigma + by)),
      ),
    });
    const of = (by: number) => trade({ exercise: american, volatility: moved(by) });
    const scenarios = { time: [0], spot: [0, 0.05], volatility: [0.03], rate: [0] };
    const [got] = await priced([of(0)], { device }, scenarios);
    const [up, above, below] = await priced([of(0.03), of(0.005), of(-0.005)], { device });
    expect(Math.abs((got.scenarios?.[0][0][0][0] as number) - up.value)).toBeLessThanOrEqual(1e-3);
    const vega = (above.value - below.value) / 0.01;
    expect(Math.abs((got.vega as number) - vega)).toBeLessThanOrEqual(0.01 * vega);
  });

  it("is the limit of no volatility below its own", async () => {
    const volatility = sampled((spot) => 0.2 + 0.001 * spot, [0, 1], [50, 100, 200]);
    const [got] = await priced(
      [trade({ volatility })],
      { device },
      { time: [0], spot: [0], volatility: [-0.9], rate: [0] },
    );
    expect(got.scenarios?.[0][0][0][0]).toBeCloseTo(0, 10);
  });
});

/** Written by test/fixtures/quantlib/local-surface.cpp. */
interface QuantLibSurface {
  readonly spot: number;
  readonly rate: number;
  readonly yield: number;
  readonly times: readonly number[];
  readonly spots: readonly number[];
  readonly volatility: readonly (readonly number[])[];
  readonly cases: readonly {
    readonly type: Right;
    readonly exercise: "european" | "american";
    readonly strike: number;
    readonly days: number;
    readonly price: number;
    readonly moved: number;
  }[];
}

describe("a surface that QuantLib prices, too", () => {
  const fixture = readFixture("quantlib/local-surface.json") as QuantLibSurface;
  it.each(fixture.cases)(
    "$exercise $type at $strike, $days days",
    async ({ type, exercise, strike, days, price, moved }) => {
      const { spot, rate, times, spots, volatility } = fixture;
      const [got] = await priced(
        [
          trade({
            payoff: vanilla(type, strike),
            exercise: { kind: exercise },
            expiry: days / 365,
            volatility: { kind: "surface", surface: localSurface(times, spots, volatility) },
            market: { spot, rates: constant(rate), dividends: dividendSchedule(fixture.yield, []) },
          }),
        ],
        { device },
      );
      expect(Math.abs(got.value - price)).toBeLessThanOrEqual(2e-5 * spot + moved);
    },
  );
});

it("volatilities that are flat stay what they were", async () => {
  const [got] = await priced([trade({ volatility: flatVolatility(0.2) })], { device });
  expect(got.method).toBe("black-scholes");
});
