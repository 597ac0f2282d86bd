import type { FitState } from "./fit-state.ts";
import { SpecError } from "../base/errors.ts";

/**
 * A piecewise constant function of time, with one more value than times:
 *
 *   f(t) = values[i]  for times[i−1] < t ≤ times[i],   times[−1] = −∞,  times[n] = +∞
 *
 * `times` are years, strictly increasing and > 0. A constant is `{ times: [], values: [c] }`. The function is
 * left-continuous, so that the value at a time step's right end holds over the whole step.
 */
export interface PiecewiseConstant {
  readonly times: readonly number[];
  readonly values: readonly number[];
}

/** Returns the piecewise constant function that has the same value at every time. */
export function constant(value: number): PiecewiseConstant {
  return { times: [], values: [value] };
}

/**
 * Returns the piecewise constant function f whose integral from 0 takes the given values at the given times. Between
 * two times f = Δintegral / Δt, and the last value holds beyond the last time.
 *
 * @throws SpecError no times; times not strictly increasing from above 0
 */
export function fromIntegral(times: readonly number[], integrals: readonly number[]): PiecewiseConstant {
  if (times.length === 0 || times.length !== integrals.length) {
    throw new SpecError(
      `expected as many integrals as times, at least one; got ${times.length} times, ${integrals.length} integrals`,
    );
  }
  const values = times.map((time, i) => {
    const step = time - (i === 0 ? 0 : times[i - 1]);
    if (!(step > 0)) throw new SpecError(`times[${i}]: expected times that increase from above 0, got ${time}`);
    return (integrals[i] - (i === 0 ? 0 : integrals[i - 1])) / step;
  });
  return { times: times.slice(0, -1), values };
}

/** Returns f(t). It searches linearly, which for the dozen nodes of a curve is faster than bisection. */
export function valueAt(f: PiecewiseConstant, t: number): number {
  const i = f.times.findIndex((end) => t <= end);
  return i < 0 ? f.values[f.times.length] : f.values[i];
}

/** Returns ∫₀ᵗ g(f(s)) ds for t ≥ 0; `g` is the identity by default. */
export function integrate({ times, values }: PiecewiseConstant, t: number, g?: (value: number) => number): number {
  let sum = 0;
  let start = 0;
  for (let i = 0; start < t; i++) {
    const end = i < times.length && times[i] < t ? times[i] : t;
    sum += (g === undefined ? values[i] : g(values[i])) * (end - start);
    start = end;
  }
  return sum;
}

/** Returns a function of the values of two piecewise constant functions. */
export function combined(
  f: PiecewiseConstant,
  g: PiecewiseConstant,
  of: (a: number, b: number) => number,
): PiecewiseConstant {
  const times = [...new Set([...f.times, ...g.times])].toSorted((a, b) => a - b);
  const at = (t: number): number => of(valueAt(f, t), valueAt(g, t));
  return { times, values: [...times.map(at), at(Number.POSITIVE_INFINITY)] };
}

/** Returns ∫₀ᵗ f(s)·g(s) ds. */
export function integratedProduct(f: PiecewiseConstant, g: PiecewiseConstant, t: number): number {
  const times = [...new Set([...f.times, ...g.times])].toSorted((a, b) => a - b);
  let sum = 0;
  let start = 0;
  for (const end of [...times.filter((time) => time < t), t]) {
    const middle = 0.5 * (start + end);
    sum += valueAt(f, middle) * valueAt(g, middle) * (end - start);
    start = end;
  }
  return sum;
}

/** One second in years. Times that differ by less are treated as equal. */
export const ONE_SECOND = 1 / 31_536_000;

/** Returns the function s ↦ f(t + s), which is f as seen t ≥ 0 years later. */
export function rollCurve({ times, values }: PiecewiseConstant, t: number): PiecewiseConstant {
  const passed = times.filter((end) => end <= t + ONE_SECOND).length;
  return { times: times.slice(passed).map((end) => end - t), values: values.slice(passed) };
}

/** Returns the function f + shift, as for a parallel shift in a scenario. */
export function shifted(f: PiecewiseConstant, shift: number): PiecewiseConstant {
  return { times: f.times, values: f.values.map((value) => value + shift) };
}

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
