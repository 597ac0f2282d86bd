/** Where drift dominates diffusion, and where σ is too rough for an expansion of errors. */
import { power } from "../../../base/elementary.ts";
import { driftOver, inLife, type OneFactorProblem, totalVariance } from "../problem/one-factor.ts";
import { volatilityAt } from "../problem/diffusion.ts";
import { varianceProfile } from "../problem/variance.ts";
import type { Grid } from "./grid.ts";
import { cellOf, nodeAt } from "./mesh.ts";

/** Tells whether drift in a direction outweighs diffusion over the time in which σ is below its mean. */
export function isStrongWhileQuiet(problem: OneFactorProblem, deviation: number, sign: 1 | -1): boolean {
  let [inflow, own] = [0, 0];
  for (const { drift, variance, years } of phasesOf(problem)) {
    if (variance * problem.expiry >= deviation * deviation * years) continue;
    inflow += Math.max(0, sign * drift);
    own += variance;
  }
  return inflow * inflow > own;
}

/** A part of the life, its drift ∫ (r − q) dt and its variance ∫ σ² dt. */
interface Phase {
  readonly drift: number;
  readonly variance: number;
}

/** The parts of the life in which σ changes in time, by which drift may outweigh diffusion for a while. */
function phasesOf(problem: OneFactorProblem): readonly (Phase & { readonly years: number })[] {
  const profile = varianceProfile(problem);
  if (profile === undefined) return [];
  const { times, variances } = profile;
  return variances.map((variance, i) => ({
    drift: driftOver(problem, times[i], times[i + 1]),
    variance,
    years: times[i + 1] - times[i],
  }));
}

/** Standard deviations to either side of the spot and the kinks in which σ is looked at, and at how many prices. */
const LOOKED_AT = 3;
const LOOKS = 24;
/** A volatility below this part of the largest is none: drift alone decides there. */
const NO_PART = 1e-3;

/**
 * The largest ratio of drift to diffusion between neighbouring nodes at the kinks and at today's spot, |r − q|·S·h /
 * ½σ²S², at any time of the life. Above 1 the scheme adds artificial diffusion and is of first order. It is infinite
 * where σ(S, t) is rough (`lacksErrorExpansion`).
 */
export function cellPeclet({ mesh, problem, forward }: Pick<Grid, "mesh" | "problem" | "forward">): number {
  const { rates, dividendYield, expiry, spots, payoff } = forward?.flat ?? problem;
  const strongest = Math.max(...inLife(rates, expiry).map((rate) => Math.abs(rate - dividendYield)));
  const drift = strongest * expiry;
  if (lacksErrorExpansion(problem)) return Number.POSITIVE_INFINITY;
  if (drift === 0) return 0;
  const phases = [{ drift, variance: totalVariance(problem) }, ...phasesOf(problem)];
  const excessAt = (price: number): number => {
    const i = cellOf(mesh, price);
    return excessOf(phases, Math.abs(nodeAt(mesh, i + 1) - nodeAt(mesh, i)) / price);
  };
  let excess = excessAt(spots[0]);
  for (const kink of payoff.kinks) excess = Math.max(excess, excessAt(kink));
  return excess;
}

/** Artificial diffusion below this part of the variance of the life changes no value. */
const NO_DIFFUSION = 1e-6;
/** More than this there is no use in refining. */
const MAX_EXCESS = 16;

/**
 * The largest excess of a phase on a cell of a relative width, of the first phase, which is the whole life, and of the
 * others if what the scheme adds to their variance is a part of the life's that counts.
 */
function excessOf([life, ...phases]: readonly Phase[], width: number): number {
  const excess = (2 * life.drift * width) / life.variance;
  let added = 0;
  let largest = 0;
  for (const { drift, variance } of phases) {
    const least = 2 * Math.abs(drift) * width;
    added += Math.max(least - variance, 0);
    if (least > largest * variance) largest = least / variance;
  }
  return added > NO_DIFFUSION * life.variance ? Math.max(excess, Math.min(largest, MAX_EXCESS)) : excess;
}

/**
 * Tells whether the solution has no error expansion in h² on any mesh, so that extrapolation fails: σ(S, t) jumps
 * between nodes, or nearly vanishes for part of the life at a price that the spot may reach.
 */
export function lacksErrorExpansion(problem: OneFactorProblem): boolean {
  const { diffusion, spots, payoff, expiry } = problem;
  if (diffusion.kind !== "local" && diffusion.kind !== "formula") return false;
  if (diffusion.kind === "formula" && diffusion.jumps === true) return true;
  const variance = totalVariance(problem);
  const min = NO_PART * Math.sqrt(variance / expiry);
  const reach = Math.exp(LOOKED_AT * Math.sqrt(variance));
  const lowest = Math.min(spots[0], ...payoff.kinks) / reach;
  const highest = Math.max(spots[0], ...payoff.kinks) * reach;
  const times = diffusion.kind === "local" ? [0] : [0.1, 0.3, 0.5, 0.7, 0.9].map((part) => part * expiry);
  for (let i = 0; i <= LOOKS; i++) {
    const price = lowest * power(highest / lowest, i / LOOKS);
    if (times.some((time) => volatilityAt(diffusion, price, time) < min)) return true;
  }
  return false;
}
