import type { FitState } from "./fit-state.ts";
import { constant, fromIntegral, integrate, type PiecewiseConstant } from "./piecewise.ts";

/** A curve of instantaneous forward rates f(t), continuously compounded per year (Act/365F). They may be negative. */
export interface ForwardCurve extends PiecewiseConstant {
  /** The state of the fit, if the curve was fitted to instruments. */
  readonly fit?: FitState | undefined;
}

/**
 * The parameters of Hull and White's short rate model (1990): dr = (θ(t) − a·r) dt + σ dW, with the θ that reproduces
 * the discount factors of a forward curve f. With dx = −a·x dt + σ dW from x = 0, the short rate is r = x + f(t) +
 * ½σ²·((1 − e^{−at})/a)².
 */
export interface HullWhite {
  /** The mean reversion a ≥ 0, per year. */
  readonly meanReversion: number;
  /** The volatility σ ≥ 0, per year and √year. */
  readonly volatility: number;
  /** The state of the fit, if the parameters were fitted to quotes. */
  readonly fit?: FitState;
}

/** A continuously compounded zero-coupon rate z for time t in years. The discount factor is exp(−z·t). */
export interface ZeroRate {
  readonly time: number;
  readonly zero: number;
}

/** Returns the forward curve with the same rate for all maturities. */
export function flatCurve(rate: number): ForwardCurve {
  return constant(rate);
}

/**
 * Computes a forward curve from zero rates. Between the nodes z·t is linear in t, so the forward rate is constant:
 *
 *   f = (z₂·t₂ − z₁·t₁) / (t₂ − t₁)   on (t₁, t₂].
 *
 * Before the first node the forward rate is the first zero rate. Beyond the last node it is that of the last interval
 * (with a single node, its zero rate). Verified: test/market/rates, discount factors at the nodes to 1 ulp.
 * @throws SpecError no nodes, or times not strictly increasing from above 0
 */
export function zeroCurve(nodes: readonly ZeroRate[]): ForwardCurve {
  return fromIntegral(
    nodes.map(({ time }) => time),
    nodes.map(({ time, zero }) => zero * time),
  );
}

/** Returns the discount factor P(0, t) = exp(−∫₀ᵗ f(s) ds). */
export function discountFactor(curve: ForwardCurve, t: number): number {
  return Math.exp(-integrate(curve, t));
}
