/** From quotes to a fit: weights of equal strikes, calendar arbitrage and its repair, the variance beside a surface. */
import { describe, expect, test } from "vitest";
import { fitQuotes, type OptionQuote } from "../../src/calibration/index.ts";

const quote = (time: number, strike: number, implied: number, more: Partial<OptionQuote> = {}): OptionQuote => ({
  time,
  forward: 100,
  discount: 1,
  strike,
  sign: 1,
  implied,
  weight: 1,
  ...more,
});

test("a call and a put of one strike are one point: the mean by their weights", () => {
  for (const [weight, other] of [
    [1, 3],
    [3, 1],
  ]) {
    const quotes = [quote(1, 100, 0.2, { weight }), quote(1, 100, 0.3, { sign: -1, weight: other })];
    const { quotes: fitted } = fitQuotes({ spot: 100, quotes, fit: "andreasen-huge" });
    for (const one of fitted) expect(one.fitted).toBeCloseTo((0.2 * weight + 0.3 * other) / 4, 6);
  }
});

describe("slices that are free of butterflies, but whose total variance falls", () => {
  const strikes = [80, 90, 100, 110, 125];
  const quotes = [0.5, 1].flatMap((time, i) => strikes.map((strike) => quote(time, strike, [0.4, 0.2][i])));

  test("have calendar arbitrage and no other", () => {
    const { surface } = fitQuotes({ spot: 100, quotes, fit: "svi" });
    expect(surface!.butterfly.free).toBe(true);
    expect(surface!.calendar.free).toBe(false);
    // From 0.4²·0.5 = 0.08 to 0.2²·1 = 0.04.
    expect(surface!.calendar.min).toBeCloseTo(-0.04, 3);
  });

  test("are repaired: the surface has none, and the message says why it moved", () => {
    const { surface } = fitQuotes({ spot: 100, quotes, fit: "svi", repair: true });
    expect(surface!.calendar.free).toBe(true);
    expect(surface!.message).toMatch(/repaired, because total variance falls by 0\.0[34]/);
    for (const k of [-0.2, 0, 0.2])
      expect(surface!.impliedVolatility(k, 1) ** 2).toBeGreaterThanOrEqual(
        0.5 * surface!.impliedVolatility(k, 0.5) ** 2 * (1 - 1e-9),
      );
  });
});

describe("a stochastic local volatility", () => {
  const smile = [0.5, 1].flatMap((time) =>
    [80, 90, 100, 110, 125].map((strike) => quote(time, strike, 0.2 + 0.3 * Math.log(strike / 100) ** 2)),
  );

  test("mixing scales the volatility of the variance, whether Heston's or SABR's", () => {
    const heston = { v0: 0.04, kappa: 1.5, theta: 0.04, sigma: 0.6, rho: -0.5 };
    const sabr = { alpha: 0.2, beta: 1, nu: 0.8, rho: -0.3 };
    const parametersOf = (fit: object) =>
      fitQuotes({ spot: 100, quotes: smile, fit: { stochasticLocal: { ...fit, mixing: 0.5 } } }).surface!;
    expect(parametersOf({ heston }).parameters).toMatchObject({ "variance.sigma": 0.3, "variance.kappa": 1.5 });
    const own = parametersOf({ sabr });
    expect(own.parameters).toMatchObject({ "variance.nu": 0.4, "variance.alpha": 0.2 });
    expect(own.volatility).toMatchObject({ kind: "stochasticLocal", variance: { kind: "sabr", nu: 0.4 } });
  });

  test("a variance that cannot be fitted is said: two quotes do not determine Heston's five parameters", () => {
    const quotes = [quote(1, 90, 0.25), quote(1, 110, 0.2)];
    const { surface } = fitQuotes({ spot: 100, quotes, fit: { stochasticLocal: {} } });
    expect(surface).toMatchObject({ status: "not converged", model: "stochastic-local" });
    expect(surface!.message).toMatch(/^the variance: /);
  });
});
