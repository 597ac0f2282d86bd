import { describe, expect, it } from "vitest";
import { constant, dividendSchedule, flatVolatility, type Volatility } from "../../src/market/index.ts";
import { normalCdf } from "../support/normal.ts";
import { PlainDevice } from "../support/plain-device.ts";
import { priced, trade } from "./reference.ts";

const device = new PlainDevice();
const american = { kind: "american" } as const;

/** Two ways to write one trade must give one price, to the accuracy asked for. */
async function sameValue(a: ReturnType<typeof trade>, b: ReturnType<typeof trade>, tolerance = 2e-5): Promise<void> {
  const [first, second] = await priced([a, b], { device, method: "fdm" });
  expect(Math.abs(first.value - second.value), `${first.value} against ${second.value}`).toBeLessThanOrEqual(
    tolerance * a.underlying.spot,
  );
}

describe("one trade, written in two ways", () => {
  it("a put as a formula, American: policy iteration against Brennan and Schwartz", () =>
    sameValue(
      trade({ exercise: american }),
      trade({ exercise: american, payoff: { kind: "expression", expression: "max(100 - S, 0)", kinks: [100] } }),
    ));

  it("a formula whose kink is not named", () =>
    sameValue(trade(), trade({ payoff: { kind: "expression", expression: "max(100 - S, 0)", kinks: [] } })));

  it("a straddle is a put and a call", async () => {
    const straddle = trade({ payoff: { kind: "expression", expression: "abs(S - 100)", kinks: [100] } });
    const [both, put, call] = await priced(
      [straddle, trade(), trade({ payoff: { kind: "vanilla", right: "call", strike: 100 } })],
      { device },
    );
    expect(both.value).toBeCloseTo(put.value + call.value, 3);
  });

  it("flat volatility as CEV with beta 1, as a formula in S and as one in t", async () => {
    const forms: Volatility[] = [
      { kind: "cev", sigma: 0.2, beta: 1 },
      { kind: "local", expression: "0.2 + 0*S" },
      { kind: "local", expression: "0.2 + 0*t" },
    ];
    for (const volatility of forms)
      await sameValue(trade({ exercise: american }), trade({ exercise: american, volatility }));
  });

  it("a term structure as a formula in t", () =>
    sameValue(
      trade({ exercise: american, volatility: { kind: "deterministic", sigma: { times: [0.5], values: [0.2, 0.3] } } }),
      trade({ exercise: american, volatility: { kind: "local", expression: "t <= 0.5 ? 0.2 : 0.3" } }),
      // The formula is sampled at the middle of each step, and this one jumps inside a step; the term structure is
      // integrated.
      1e-3,
    ));

  it("a jump of the rates, whether or not the time grid starts anew there", async () => {
    // Just below and just above what counts as a jump; prices are continuous in the rates.
    const jump = (size: number) =>
      trade({
        exercise: american,
        payoff: { kind: "vanilla", right: "put", strike: 110 },
        market: { rates: { times: [0.5], values: [0.02, 0.02 + size] } },
      });
    await sameValue(jump(0.0099999), jump(0.0100001), 1e-5);
  });

  it("American call and put are symmetric: C(S, K, r, q) = P(K, S, q, r)", () =>
    sameValue(
      trade({
        exercise: american,
        payoff: { kind: "vanilla", right: "call", strike: 110 },
        market: { rates: constant(0.03), dividends: dividendSchedule(0.06, []) },
      }),
      trade({
        exercise: american,
        payoff: { kind: "vanilla", right: "put", strike: 100 },
        market: { spot: 110, rates: constant(0.06), dividends: dividendSchedule(0.03, []) },
      }),
    ));

  it("the symmetry holds with negative rates too, where exercise has two boundaries", () =>
    sameValue(
      trade({
        exercise: american,
        payoff: { kind: "vanilla", right: "call", strike: 110 },
        market: { rates: constant(-0.03), dividends: dividendSchedule(-0.01, []) },
      }),
      trade({
        exercise: american,
        payoff: { kind: "vanilla", right: "put", strike: 100 },
        market: { spot: 110, rates: constant(-0.01), dividends: dividendSchedule(-0.03, []) },
      }),
    ));

  it("prices scale with the currency", async () => {
    const scaled = (scale: number) =>
      trade({
        exercise: american,
        payoff: { kind: "vanilla", right: "put", strike: 100 * scale },
        market: { spot: 100 * scale },
      });
    const [one, thousandth, million] = await priced([scaled(1), scaled(1e-3), scaled(1e6)], { device });
    expect(thousandth.value * 1e3).toBeCloseTo(one.value, 8);
    expect(million.value / 1e6).toBeCloseTo(one.value, 8);
  });

  it("a proportional dividend of a European option scales the spot", () =>
    sameValue(
      trade({ market: { spot: 100, dividends: dividendSchedule(0, [{ time: 0.4, cash: 0, proportional: 0.05 }]) } }),
      trade({ market: { spot: 95 }, payoff: { kind: "vanilla", right: "put", strike: 100 } }),
      2e-5,
    ));
});

describe("an American digital", () => {
  it("is a one-touch paid at the hit", async () => {
    const [got] = await priced(
      [trade({ exercise: american, payoff: { kind: "digital", right: "call", strike: 120, cash: 10 } })],
      { device },
    );
    expect(got.value).toBeCloseTo(oneTouch(100, 120, 10, 0.05, 0, 0.2, 1), 3);
  });

  it("is worth its cash in the money", async () => {
    const [got] = await priced(
      [trade({ exercise: american, payoff: { kind: "digital", right: "put", strike: 101, cash: 10 } })],
      { device },
    );
    expect(got).toMatchObject({ value: 10, delta: 0, gamma: 0, theta: 0 });
  });
});

/** An up one-touch of Reiner and Rubinstein (1991), paid at the hit. */
function oneTouch(s: number, h: number, cash: number, r: number, q: number, sigma: number, t: number): number {
  const mu = (r - q) / sigma ** 2 - 0.5;
  const lambda = Math.sqrt(mu * mu + (2 * r) / sigma ** 2);
  const z = Math.log(h / s) / (sigma * Math.sqrt(t)) + lambda * sigma * Math.sqrt(t);
  return (
    cash *
    ((h / s) ** (mu + lambda) * normalCdf(-z) +
      (h / s) ** (mu - lambda) * normalCdf(-z + 2 * lambda * sigma * Math.sqrt(t)))
  );
}

describe("scenarios", () => {
  const axes = { time: [0], spot: [-0.1, 0, 0.1], volatility: [-0.02, 0, 0.02], rate: [0, 0.01] };
  const products = [
    trade({ exercise: american }),
    trade(),
    trade({
      exercise: american,
      market: { dividends: dividendSchedule(0, [{ time: 0.5, cash: 3, proportional: 0 }]) },
    }),
  ];

  it("equal a fresh pricing of the bumped market", async () => {
    const got = await priced(products, { device }, axes);
    for (const [i, product] of products.entries())
      for (const [s, spot] of axes.spot.entries())
        for (const [v, volatility] of axes.volatility.entries())
          for (const [r, rate] of axes.rate.entries()) {
            const fresh = {
              ...product,
              underlying: { ...product.underlying, spot: 100 * (1 + spot), rates: constant(0.05 + rate) },
              volatility: flatVolatility(0.2 + volatility),
            };
            const [expected] = await priced([fresh], { device });
            expect(Math.abs((got[i].scenarios?.[0][s][v][r] as number) - expected.value)).toBeLessThanOrEqual(2e-3);
          }
    expect(got[0].scenarios?.[0][1][1][0]).toBe(got[0].value);
  });

  it("move a local volatility in parallel", async () => {
    const volatility: Volatility = { kind: "cev", sigma: 2, beta: 0.5 };
    const axes = { time: [0], spot: [0.05], volatility: [0.03], rate: [0] };
    const [got] = await priced([trade({ volatility })], { device }, axes);
    const moved = trade({ volatility: { kind: "local", expression: "2*S^(-0.5) + 0.03" }, market: { spot: 105 } });
    const [expected] = await priced([moved], { device });
    expect(Math.abs((got.scenarios?.[0][0][0][0] as number) - expected.value)).toBeLessThanOrEqual(2e-3);
  });
});
