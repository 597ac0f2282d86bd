import { SpecError } from "../base/errors.ts";
import { type FitState, rollFit } from "./fit-state.ts";
import { constant, fromIntegral, integrate, rollCurve, type PiecewiseConstant, shifted } from "./rates.ts";
import type { Smile } from "./smile.ts";
import { rollSurface, type LocalSurface } from "./surface.ts";
import { power } from "../base/elementary.ts";

/**
 * The diffusion of the underlying, dS = (r − q)·S dt + σ(S, t)·S dW, with σ per √year as a decimal.
 *
 * * `deterministic`: σ(t) is piecewise constant. Flat volatilities and term structures become this kind.
 * * `cev`: σ(S) = sigma·S^(beta−1), so that dS has the diffusion sigma·S^beta; S is absorbed at zero.
 * * `displaced`: σ(S) = sigma·(S + shift)/S, so that dS has the diffusion sigma·(S + shift); S is absorbed at zero. The
 *   shift, ≥ 0, is constant in the spot. Rubinstein's (1983) displaced forward is the same where r = q.
 * * `surface`: σ(t, S) on a grid, see `LocalSurface`. Trades that share one surface by reference are priced together.
 * * `local`: σ(S, t) as a formula string in `S` and `t` (years from asOf), in the kernel language.
 * * `heston`: dS = (r − q)·S dt + √v·S dW, dv = κ(θ − v) dt + σ√v dZ, dW dZ = ρ dt, v = v0 today (Heston 1993).
 * * `sabr`: dS = (r − q)·S dt + α·S^β dW, dα = ν·α dZ, dW dZ = ρ dt, 0 ≤ β ≤ 1; S is absorbed at zero (Hagan et al.
 *   2002, written for the spot).
 * * `gaussianFactors`: a spot in one or two factors that revert to 0 (`GaussianFactors`).
 * * `stochasticLocal`: a stochastic variance times a leverage function that is chosen such that European options have
 *   the prices of the local volatility in `surface` (`StochasticLocal`).
 *
 * `added` is added to σ, and the sum is at least 0. In Heston's model it is added to √v0, in SABR to today's volatility
 * α·S₀^(β−1) at today's spot S₀. `start` is added to the formula's `t`. `fit` is the
 * state of the fit of a volatility that was fitted to quotes.
 */
export type Volatility =
  | { readonly kind: "deterministic"; readonly sigma: PiecewiseConstant }
  | { readonly kind: "cev"; readonly sigma: number; readonly beta: number; readonly added?: number }
  | { readonly kind: "displaced"; readonly sigma: number; readonly shift: number; readonly added?: number }
  | {
      readonly kind: "surface";
      readonly surface: LocalSurface;
      readonly added?: number;
      /** The fitted smile that the local volatility gives back; undefined for a surface that was given. */
      readonly smile?: Smile;
      readonly fit?: FitState;
    }
  | { readonly kind: "local"; readonly expression: string; readonly added?: number; readonly start?: number }
  | Heston
  | Sabr
  | GaussianFactors
  | StochasticLocal;

/**
 * Stochastic local volatility: dS = (r − q)·S dt + L(S, t)·√v·S dW. The variance v is Heston's, or that of SABR, whose
 * α and β become part of L. Numerical methods find the leverage function L² = σ²(S, t)/E[v | S], where σ is the local
 * volatility of the surface.
 */
export interface StochasticLocal {
  readonly kind: "stochasticLocal";
  readonly variance: StochasticVolatility;
  readonly surface: LocalSurface;
  /** The shift added to σ, which is clipped at 0. */
  readonly added?: number;
  /** The years elapsed since the reference date of the surface's times. */
  readonly start?: number;
  /** The state of the fit, if the volatility was fitted to quotes. */
  readonly fit?: FitState;
}

/**
 * A spot S(t) = F(t)·exp(ΣXᵢ − ½·Var ΣXᵢ) with one or two factors dXᵢ = −αᵢ·Xᵢ dt + σᵢ dWᵢ, d⟨W₁, W₂⟩ = ρ dt, and the
 * forward curve F. With α₁ = 0 it is Schwartz and Smith's model (2000); with α₁ = α₂ = 0 it is Black and Scholes'.
 */
export interface GaussianFactors {
  readonly kind: "gaussianFactors";
  /** The mean reversion of each factor, ≥ 0, per year. */
  readonly alpha: readonly number[];
  /** The volatility of each factor, ≥ 0, per √year. */
  readonly sigma: readonly number[];
  /** The correlation of two factors, −1 … 1. */
  readonly rho: number;
  /** The shift added to the instantaneous volatility √(Σᵢⱼ ρᵢⱼσᵢσⱼ). */
  readonly added?: number;
}

/**
 * Returns the volatilities of the factors, per √year. They are scaled so that the total volatility includes `added`.
 */
export function sigmasOf({ sigma, rho, added = 0 }: GaussianFactors): readonly number[] {
  const [first, second = 0] = sigma;
  const total = Math.sqrt(first * first + 2 * rho * first * second + second * second);
  if (total > 0) return sigma.map((one) => one * Math.max(1 + added / total, 0));
  return sigma.map((_, i) => (i === 0 ? Math.max(added, 0) : 0));
}

/**
 * Heston's model: variance v0 today, long-run variance θ, mean reversion κ, volatility of variance σ, correlation ρ.
 */
export interface Heston {
  readonly kind: "heston";
  /** Today's variance, ≥ 0, per year. */
  readonly v0: number;
  /** The mean reversion of the variance, ≥ 0, per year. */
  readonly kappa: number;
  /** The variance in the long run, ≥ 0, per year. */
  readonly theta: number;
  /** The volatility of the variance, ≥ 0, per √year. */
  readonly sigma: number;
  /** The correlation of spot and variance, −1 … 1. */
  readonly rho: number;
  /** The shift added to √v0. */
  readonly added?: number;
  /** The state of the fit, if the parameters were fitted to quotes. */
  readonly fit?: FitState;
}

/** The SABR model of a spot: dS = (r − q)·S dt + α·S^β dW, dα = ν·α dZ, dW dZ = ρ dt. */
export interface Sabr {
  readonly kind: "sabr";
  /** The volatility α today, > 0, in units of S^(1−β) per √year. */
  readonly alpha: number;
  /** The elasticity β, 0 … 1. */
  readonly beta: number;
  /** The volatility of α, ≥ 0, per √year. */
  readonly nu: number;
  /** The correlation of spot and α, −1 … 1. */
  readonly rho: number;
  /** The shift added to today's volatility α·S^(β−1). */
  readonly added?: number;
}

/** A volatility that is driven by a random factor of its own. */
export type StochasticVolatility = Heston | Sabr;

/** Tells whether a volatility is driven by a random factor of its own. */
export const isStochastic = (volatility: Volatility): volatility is StochasticVolatility =>
  volatility.kind === "heston" || volatility.kind === "sabr";

/** Returns today's variance in Heston's model, including the shift `added` of the volatility. */
export const varianceOf = ({ v0, added = 0 }: Heston): number => Math.max(Math.sqrt(v0) + added, 0) ** 2;

/** Tells whether Heston's variance is 0 and stays 0, because its drift at 0 is 0. */
export const staysZero = (heston: Heston): boolean => varianceOf(heston) === 0 && heston.kappa * heston.theta === 0;

/** Returns today's α in the SABR model, including the shift `added` of the volatility at the spot. */
export const alphaOf = ({ alpha, beta, added = 0 }: Sabr, spot: number): number =>
  Math.max(alpha + added * power(spot, 1 - beta), 0);

/** An implied volatility σ for time t in years. The total variance up to t is σ²·t. */
export interface VolatilityNode {
  readonly time: number;
  readonly volatility: number;
}

/** Returns a volatility that is constant in time. The number is per √year, ≥ 0. */
export function flatVolatility(volatility: number): Volatility {
  return { kind: "deterministic", sigma: constant(volatility) };
}

/**
 * Computes the instantaneous volatility from implied volatilities. The total variance w(t) = σ_imp(t)²·t is linear in t
 * between the nodes, so
 *
 *   σ = √((w₂ − w₁) / (t₂ − t₁))   on (t₁, t₂],
 *
 * with w(0) = 0, and the last interval's σ beyond the last node. A total variance that falls by rounding only (1e-12,
 * relative) counts as constant.
 * @throws SpecError no nodes; times not strictly increasing from above 0; total variance decreasing, with `index`
 * naming the node
 */
export function termStructure(nodes: readonly VolatilityNode[]): Volatility {
  const totals = nodes.map(({ time, volatility }) => volatility * volatility * time);
  const falling = decreasingAt(totals);
  if (falling >= 0) {
    const { time } = nodes[falling];
    throw new SpecError(
      `total variance volatility²·time decreases to ${totals[falling]} at ${time} years, from ${totals[falling - 1]}: calendar arbitrage`,
    );
  }
  const variance = fromIntegral(
    nodes.map(({ time }) => time),
    totals,
  );
  return {
    kind: "deterministic",
    sigma: { times: variance.times, values: variance.values.map((v) => Math.sqrt(Math.max(v, 0))) },
  };
}

/**
 * Returns the first index at which the total variance is less than the one before it by more than rounding; −1 if there
 * is none.
 */
export function decreasingAt(totals: readonly number[]): number {
  return totals.findIndex((total, i) => i > 0 && total < totals[i - 1] * (1 - 1e-12));
}

const square = (value: number): number => value * value;

/** Returns ∫₀ᵗ σ(s)² ds, the total variance of ln S up to t years. */
export function integratedVariance(sigma: PiecewiseConstant, t: number): number {
  return integrate(sigma, t, square);
}

/** Returns the volatility as seen t years later, with the same σ on the same dates. */
export function rollVolatility(volatility: Volatility, t: number): Volatility {
  switch (volatility.kind) {
    case "deterministic":
      return { kind: "deterministic", sigma: rollCurve(volatility.sigma, t) };
    case "cev":
    case "displaced":
    case "sabr":
    case "gaussianFactors":
      return volatility;
    case "heston":
      return volatility.fit === undefined ? volatility : { ...volatility, ...fitLater(volatility, t) };
    case "surface": {
      // At a later date the local volatility alone is known.
      const { smile: _, ...local } = volatility;
      return { ...local, surface: rollSurface(volatility.surface, t), ...fitLater(volatility, t) };
    }
    case "stochasticLocal":
      return { ...volatility, start: (volatility.start ?? 0) + t, ...fitLater(volatility, t) };
    case "local":
      return { ...volatility, start: (volatility.start ?? 0) + t };
    default:
      return volatility satisfies never;
  }
}

function fitLater({ fit }: { readonly fit?: FitState }, t: number): { readonly fit?: FitState } {
  return fit === undefined ? {} : { fit: rollFit(fit, t) };
}

/** Returns the function max(σ(t) + shift, 0). */
export function shiftedSigma(sigma: PiecewiseConstant, shift: number): PiecewiseConstant {
  const { times, values } = shifted(sigma, shift);
  return { times, values: values.map((value) => Math.max(value, 0)) };
}

/**
 * Returns σ(t) after the implied volatility for each time T has moved by `by(T)`: at the given times and at those of σ,
 * between which total variance is linear. After the last of them σ moves as the implied volatility does there.
 * @throws SpecError total variance decreasing
 */
export function movedByExpiry(
  sigma: PiecewiseConstant,
  given: readonly number[],
  by: (time: number) => number,
): PiecewiseConstant {
  const times = [...new Set([...sigma.times, ...given])].sort((a, b) => a - b);
  const nodes = times.map((time) => ({ time, volatility: Math.max(impliedVolatility(sigma, time) + by(time), 0) }));
  const moved = termStructure(nodes) as Extract<Volatility, { readonly kind: "deterministic" }>;
  return { times, values: [...moved.sigma.values, Math.max(sigma.values.at(-1)! + by(times.at(-1)!), 0)] };
}

/** Returns the volatility after a parallel move by `shift`, which leaves it ≥ 0 everywhere. */
export function shiftedVolatility(volatility: Volatility, shift: number): Volatility {
  switch (volatility.kind) {
    case "deterministic":
      return { kind: "deterministic", sigma: shiftedSigma(volatility.sigma, shift) };
    case "surface": {
      const { smile: _, ...local } = volatility;
      return { ...local, added: (volatility.added ?? 0) + shift };
    }
    case "cev":
    case "displaced":
    case "local":
    case "heston":
    case "sabr":
    case "gaussianFactors":
    case "stochasticLocal":
      return { ...volatility, added: (volatility.added ?? 0) + shift };
    default:
      return volatility satisfies never;
  }
}

/** Returns the implied volatility σ_imp(t) = √(w(t) / t), per √year; σ(0) at t = 0. */
export function impliedVolatility(sigma: PiecewiseConstant, t: number): number {
  return t > 0 ? Math.sqrt(integratedVariance(sigma, t) / t) : sigma.values[0];
}
