import type { KernelFunction } from "../kernel/index.ts";
import { type DiscreteDividend, integrate, type PiecewiseConstant, shifted, shiftedSigma } from "../market/index.ts";
import type { PayoffProfile } from "../products/index.ts";
import { type KnockOut, SAME_DATE } from "./barriers.ts";

/** How the spot diffuses, dS = (r − q)·S dt + σ·S dW between dividends. σ is clipped at 0 from below after a shift. */
export type Diffusion =
  | { readonly kind: "deterministic"; readonly sigma: PiecewiseConstant }
  /** σ(S), evaluated on the host, node by node. */
  | { readonly kind: "local"; readonly sigma: (spot: number) => number; readonly shift: number }
  /** σ(S, start + t), evaluated in the kernel, step by step. */
  | {
      readonly kind: "formula";
      readonly sigma: KernelFunction<any, number>;
      readonly shift: number;
      readonly start?: number;
    };

/** One product on one underlying: what the one-factor solver solves. Times in years from today. */
export interface OneFactorProblem {
  /** Prices at which the solution is read; the first is today's spot. */
  readonly spots: readonly number[];
  /** > 0. */
  readonly expiry: number;
  readonly payoff: PayoffProfile;
  readonly american: boolean;
  /** In [0, expiry), increasing: when else a European problem may be exercised. */
  readonly exerciseTimes?: readonly number[];
  readonly rates: PiecewiseConstant;
  readonly dividendYield: number;
  /** Those inside (0, expiry), by time. */
  readonly dividends: readonly DiscreteDividend[];
  readonly diffusion: Diffusion;
  /** What ends it early, at most one at any price and time of those watched together counts: see `barriers.ts`. */
  readonly barriers?: readonly KnockOut[];
}

/** Whether the holder may exercise today. */
export function isExercisableNow({ american, exerciseTimes, expiry }: OneFactorProblem): boolean {
  return american || (exerciseTimes !== undefined && exerciseTimes[0] <= SAME_DATE * expiry);
}

/** A parallel move of the instantaneous volatility and of the rates. */
export interface Shift {
  readonly volatility: number;
  readonly rate: number;
}

export function shiftedProblem(problem: OneFactorProblem, shift: Shift): OneFactorProblem {
  const { volatility, rate } = shift;
  if (volatility === 0 && rate === 0) return problem;
  return {
    ...problem,
    rates: rate === 0 ? problem.rates : shifted(problem.rates, rate),
    diffusion: volatility === 0 ? problem.diffusion : shiftedDiffusion(problem.diffusion, volatility),
  };
}

function shiftedDiffusion(diffusion: Diffusion, shift: number): Diffusion {
  if (diffusion.kind !== "deterministic") return { ...diffusion, shift: diffusion.shift + shift };
  return { kind: "deterministic", sigma: shiftedSigma(diffusion.sigma, shift) };
}

/** σ at a price and a time. */
export function volatilityAt(diffusion: Diffusion, spot: number, time: number): number {
  if (diffusion.kind === "local") return Math.max(diffusion.sigma(spot) + diffusion.shift, 0);
  if (diffusion.kind === "formula")
    return Math.max(diffusion.sigma(spot, (diffusion.start ?? 0) + time) + diffusion.shift, 0);
  const { times, values } = diffusion.sigma;
  const piece = times.findIndex((end) => time <= end);
  return values[piece < 0 ? times.length : piece];
}

/** ∫ σ² dt over the life; for σ that depends on S, of σ at today's spot and the kinks, the largest of them. */
export function totalVariance(problem: OneFactorProblem): number {
  const { diffusion, expiry } = problem;
  if (diffusion.kind === "deterministic") return integrate(diffusion.sigma, expiry, (sigma) => sigma * sigma);
  let largest = 0;
  for (const spot of [problem.spots[0], ...problem.payoff.kinks])
    for (const time of [0, 0.5 * expiry, expiry]) largest = Math.max(largest, volatilityAt(diffusion, spot, time));
  return largest * largest * expiry;
}

/** ∫ (r − q) dt over the life. */
export function totalDrift(problem: OneFactorProblem): number {
  return integrate(problem.rates, problem.expiry) - problem.dividendYield * problem.expiry;
}

/** Whether rates, yield and volatility are the same at all times, so that a factorisation lasts as long as the time step. */
export function isTimeHomogeneous({ rates, diffusion, expiry }: OneFactorProblem): boolean {
  const constantRates = !rates.times.some((time) => time < expiry);
  if (diffusion.kind === "formula") return false;
  return constantRates && (diffusion.kind === "local" || !diffusion.sigma.times.some((time) => time < expiry));
}
