/** Hull and White's short rate, with its integral. */
import { checkFields } from "../../base/argument-checks.ts";
import { fn, real } from "../../kernel/index.ts";
import { modelParams, type PathModel } from "../model.ts";
import { failuresOf, type Parameter } from "../parameters.ts";
import { integratedDecay } from "./gaussian-factors.ts";

/** The settings of `hullWhite`. @experimental */
export interface HullWhiteSettings {
  /** The instantaneous forward rate of today's curve, per year; constant, or piecewise constant, `{ byStep: […] }`. */
  readonly forward: Parameter;
  /** The mean reversion a, per year, ≥ 0. */
  readonly meanReversion: Parameter;
  /** The volatility σ of the short rate: rate per year, per √year. */
  readonly volatility: Parameter;
}

/**
 * Returns the model of Hull and White's short rate, fitted to today's curve. The rate and its integral, which
 * discounts, are simulated exactly at all dates:
 *
 *   r(t) = f(0, t) + (σ²/2a²)·(1 − e^(−at))² + x(t),   dx = −a·x dt + σ dW,   discount = exp(−∫ r dt)
 *
 * x and ∫x over a step are Gaussian with the exact covariance. The spot that products observe is x; `hullWhiteBond`
 * prices bonds from it. Source: D. Brigo and F. Mercurio, Interest Rate Models (2006), section 3.3; Glasserman (2004),
 * section 3.3. Verified: test/montecarlo/models.test.ts, against closed bond options.
 *
 * @param settings the curve, mean reversion and volatility.
 * @throws SpecError
 * @example
 * import { hullWhite } from "feynkac/montecarlo";
 *
 * console.log(hullWhite({ forward: 0.03, meanReversion: 0.05, volatility: 0.01 }).normals); // 2
 * @experimental
 */
export function hullWhite(settings: HullWhiteSettings): PathModel {
  checkFields("hullWhite", settings, ["forward", "meanReversion", "volatility"]);
  const { forward, meanReversion, volatility } = settings;
  const failures = [
    ...failuresOf("hullWhite: meanReversion", meanReversion, "a number from 0 on, per year", (x) => x >= 0),
    ...failuresOf("hullWhite: volatility", volatility, "a number from 0 on", (x) => x >= 0),
  ];
  return {
    name: "Hull-White",
    assets: 1,
    state: 2,
    normals: 2,
    uniforms: 0,
    parameters: { forward, meanReversion, volatility },
    failures,
    ...FUNCTIONS,
    jumpsWith: [],
    sensitivities: { rho: ["forward"], vega: ["volatility"] },
  };
}

/**
 * Var ∫₀ˢ x of a path that begins in 0: σ²/a²·(s − 2B(s) + B₂(s)), with B₂ for 2a. Where a·s is small, by its series:
 * the difference cancels.
 */
const integralVariance = fn({
  name: "integralVariance",
  params: { a: real, sigma: real, span: real },
  env: { integratedDecay },
  body({ a, sigma, span }, _gpu, { integratedDecay }) {
    const x = a * span;
    const series = 1 / 3 - x * (0.25 - x * (7 / 60 - x * (1 / 24 - x * (31 / 2520 - x * (1 / 320)))));
    const closed =
      (span - 2 * integratedDecay({ a, span }) + integratedDecay({ a: 2 * a, span })) / Math.max(a * a, 1e-30);
    return sigma * sigma * (x < 0.05 ? span * span * span * series : closed);
  },
});

/**
 * Returns the price at t of a bond that pays 1 after `span` years, from the state x of `hullWhite`, for payoffs:
 *
 *   P(t, T) = P(0, T)/P(0, t)·exp(−B·x + ½·(V(T − t) − V(T) + V(t))),   B = (1 − e^(−a(T−t)))/a,   V(s) = Var ∫₀ˢ x
 *
 * Source: Brigo and Mercurio (2006), (3.39). Verified: test/montecarlo/models.test.ts.
 *
 * @param x the state, spots[0].
 * @param ratio P(0, T)/P(0, t) of today's curve.
 * @param t years.
 * @param span T − t, years.
 * @param meanReversion a.
 * @param volatility σ.
 * @example
 * import { hullWhiteBond } from "feynkac/montecarlo";
 *
 * const ratio = Math.exp(-0.03 * 2);
 * const bond = hullWhiteBond({ x: 0, ratio, t: 0, span: 2, meanReversion: 0.05, volatility: 0.01 });
 * console.log(Math.abs(bond - ratio) < 1e-15); // true
 * @experimental
 */
export const hullWhiteBond = fn({
  name: "hullWhiteBond",
  params: { x: real, ratio: real, t: real, span: real, meanReversion: real, volatility: real },
  env: { integratedDecay, integralVariance },
  body({ x, ratio, t, span, meanReversion: a, volatility: sigma }, _gpu, { integratedDecay, integralVariance }) {
    const own = integralVariance({ a, sigma, span });
    const others = integralVariance({ a, sigma, span: t }) - integralVariance({ a, sigma, span: t + span });
    return ratio * Math.exp(0.5 * (own + others) - integratedDecay({ a, span }) * x);
  },
});

const FUNCTIONS = {
  coefficients: {
    count: 6,
    function: fn({
      name: "hullWhiteCoefficients",
      params: modelParams.coefficients,
      env: { integratedDecay, integralVariance },
      body({ p, t, dt, c }, _gpu, { integratedDecay, integralVariance }) {
        const a = p[1];
        const sigma = p[2];
        const b = integratedDecay({ a, span: dt });
        const root = Math.sqrt(integratedDecay({ a: 2 * a, span: dt }));
        // Cov(x, ∫x) = σ²·B²/2; σ is not divided by, so that it may be 0.
        const shared = (0.5 * b * b) / root;
        c[0] = Math.exp(-a * dt);
        c[1] = b;
        c[2] = sigma * root;
        c[3] = sigma * shared;
        c[4] = sigma * Math.sqrt(Math.max(integralVariance({ a, sigma: 1, span: dt }) - shared * shared, 0));
        const grown = integralVariance({ a, sigma, span: t + dt }) - integralVariance({ a, sigma, span: t });
        c[5] = p[0] * dt + 0.5 * grown;
      },
    }),
  },
  start: fn({
    name: "hullWhiteStart",
    params: modelParams.start,
    body({ state }) {
      state[0] = 0;
      state[1] = 0;
    },
  }),
  step: fn({
    name: "hullWhiteStep",
    params: modelParams.step,
    body({ state, normals, c }) {
      const x = state[0];
      state[0] = c[0] * x + c[2] * normals[0];
      state[1] = state[1] + c[1] * x + c[3] * normals[0] + c[4] * normals[1] + c[5];
    },
  }),
  observe: fn({
    name: "hullWhiteObserve",
    params: modelParams.observe,
    body({ state, spots }) {
      spots[0] = state[0];
    },
  }),
  discount: fn({
    name: "hullWhiteDiscount",
    params: modelParams.discount,
    body: ({ state }) => Math.exp(-state[1]),
  }),
} as const;
