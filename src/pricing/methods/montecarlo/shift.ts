/** Importance sampling by a shift of the normal numbers, for payoffs that rarely pay or have heavy tails. */
import { integrate, integratedVariance, sigmasOf, type Volatility } from "../../../market/index.ts";
import { semidefiniteCholeskyOf } from "../../../numerics/linalg/index.ts";
import { decay } from "../../../market/models/index.ts";
import type { Terms } from "../../terms.ts";
import { type SimulationInstance, strikeOf } from "./acceptance.ts";

/** Standard deviations out of the money from which on a payoff is rare. */
const RARE = 1;

/** The variance of a logarithm from which on the square of a call has a tail that few paths would see. */
const HEAVY = 1;

/** The shifts that are added to the normal numbers of each step, [steps][normals]. */
export type Shift = readonly (readonly number[])[];

/**
 * Returns the shifts of the normal numbers of each step for importance sampling; undefined without one.
 *
 * A payoff depends on B, about exp(Σ g·z) with the normal numbers z. Paths are shifted by θ·g, which moves ln B by θ·v,
 * v = Σ g². Where the strike is far away, θ moves it to the strike (P. Glasserman, P. Heidelberger and P. Shahabuddin,
 * Mathematical Finance 9 (1999)). Where v is large, θ = 1: the weight of a path is then 1/B up to a factor, so that
 * calls, which are below B, have bounded samples. For payoffs of the largest spot of a path instead of B, θ = ½ bounds
 * the second moment of the samples by exp(v/4) times the square of the forward, instead of exp(v).
 */
export const shiftOf = (path: SimulationInstance, ends: readonly number[]): Shift | undefined =>
  shiftUpTo(path, ends, Number.POSITIVE_INFINITY);

/**
 * Returns the same shifts as `shiftOf`, but with θ at most 1. Paths are then not shifted all the way to a distant
 * strike.
 */
export const shiftForTail = (path: SimulationInstance, ends: readonly number[]): Shift | undefined =>
  shiftUpTo(path, ends, 1);

function shiftUpTo(path: SimulationInstance, ends: readonly number[], most: number): Shift | undefined {
  const { payoff, barriers, exercise } = path.terms;
  if (path.steps !== undefined || barriers.length > 0) return undefined;
  if (exercise.kind !== "european" || payoff.kind === "expression" || payoff.kind === "script") return undefined;
  if (payoff.kind === "basket" && (payoff.of !== "sum" || payoff.weights.some((w) => w <= 0))) return undefined;
  const gradient = gradientOf(path, ends);
  if (gradient === undefined) return undefined;
  const v = gradient.flat().reduce((sum, g) => sum + g * g, 0);
  const tilt = Math.min(tiltOf(path, v), most);
  return tilt === 0 ? undefined : gradient.map((row) => row.map((g) => tilt * g));
}

function tiltOf(path: SimulationInstance, v: number): number {
  const { payoff } = path.terms;
  if (payoff.kind === "expression" || payoff.kind === "script" || payoff.kind === "swing" || !(v > 0)) return 0;
  const sign = payoff.right === "call" ? 1 : -1;
  const isFloating = payoff.kind === "lookback" && payoff.isFloating;
  const strike = strikeOf(path);
  // The logarithm by which B has to move.
  const far = isFloating || !(strike > 0) || isInTheMoney(path) ? 0 : sign * Math.log(strike / forwardOf(path));
  const rare = far > RARE * Math.sqrt(v) ? far / v : 0;
  const ofLargest = payoff.kind === "lookback" && sign > 0 !== isFloating;
  const grows = (sign > 0 && payoff.kind !== "digital") || (isFloating && ofLargest);
  const heavy = v > HEAVY && grows ? (ofLargest ? 0.5 : 1) : 0;
  return sign > 0 || isFloating ? Math.max(rare, heavy) : -rare;
}

/** Tells whether the extreme so far pays. */
function isInTheMoney({ terms: { payoff } }: SimulationInstance): boolean {
  if (payoff.kind !== "lookback" || payoff.extremum === undefined) return false;
  return payoff.right === "call" ? payoff.extremum > payoff.strike : payoff.extremum < payoff.strike;
}

/** The forward of B at the last date, or the spots' weights in it times their forwards. */
function forwardsOf({ terms: { payoff, assets, rates }, spots, dates }: SimulationInstance): readonly number[] {
  const last = dates[dates.length - 1];
  const growth = integrate(rates, last);
  return assets.map(({ underlying }, i) => {
    const weight = payoff.kind === "basket" ? payoff.weights[i] : 1;
    return weight * spots[i] * Math.exp(growth - underlying.dividends.yield * last);
  });
}

const forwardOf = (path: SimulationInstance): number => forwardsOf(path).reduce((sum, one) => sum + one, 0);

/** ∂ ln B/∂z of each step's normal numbers, on the path of the forwards. */
function gradientOf(path: SimulationInstance, ends: readonly number[]): readonly (readonly number[])[] | undefined {
  const { terms } = path;
  const counts = countsOf(path, ends);
  const [{ volatility }] = terms.assets;
  if (volatility.kind === "gaussianFactors") {
    const last = ends[ends.length - 1];
    return stepsOf(ends).map(({ from, to }, k) => factorGradient(volatility, from, to, last).map((g) => counts[k] * g));
  }
  if (!areDeterministic(terms)) return undefined;
  const forwards = forwardsOf(path);
  const total = forwards.reduce((sum, one) => sum + one, 0);
  const d = terms.assets.length;
  const factor = factorOf(terms);
  return deviationsOf(terms, ends).map((deviations, k) => {
    const row = new Array<number>(d).fill(0);
    deviations.forEach((deviation, i) => {
      const width = (counts[k] * forwards[i] * deviation) / total;
      for (let j = 0; j <= i; j++) row[j] += width * factor[i * d + j];
    });
    return row;
  });
}

/**
 * Returns the loadings of each ln S at the last of some times on the normal numbers of the steps that end at them,
 * [assets][steps][normals]. Volatilities must be deterministic.
 */
export function loadingsOf(terms: Terms, ends: readonly number[]): readonly (readonly (readonly number[])[])[] {
  const d = terms.assets.length;
  const factor = factorOf(terms);
  const deviations = deviationsOf(terms, ends);
  return terms.assets.map((_, i) =>
    deviations.map((row) => Array.from({ length: d }, (_one, j) => (j <= i ? row[i] * factor[i * d + j] : 0))),
  );
}

const stepsOf = (ends: readonly number[]) => ends.map((to, k) => ({ from: k === 0 ? 0 : ends[k - 1], to }));

const areDeterministic = ({ assets }: Terms): boolean =>
  assets.every(({ volatility }) => volatility.kind === "deterministic");

/** The factor of the correlations. */
function factorOf({ assets, correlations }: Terms): Float64Array {
  const d = assets.length;
  const rows = correlations.slice(0, d).flatMap((row) => row.slice(0, d));
  return semidefiniteCholeskyOf(Float64Array.from(rows), d);
}

/** The standard deviations of the increments of ln S over steps, [steps][assets]. */
const deviationsOf = ({ assets }: Terms, ends: readonly number[]): readonly (readonly number[])[] =>
  stepsOf(ends).map(({ from, to }) =>
    assets.map(({ volatility }) => {
      if (volatility.kind !== "deterministic") return Number.NaN;
      return Math.sqrt(
        Math.max(integratedVariance(volatility.sigma, to) - integratedVariance(volatility.sigma, from), 0),
      );
    }),
  );

/** The share of B that comes after each step begins: of an average its later fixings, else all. */
function countsOf({ terms: { payoff }, dates }: SimulationInstance, ends: readonly number[]): readonly number[] {
  if (payoff.kind !== "average") return ends.map(() => 1);
  const last = ends[ends.length - 1];
  if (payoff.times === "continuous") return ends.map((_, k) => 1 - (k === 0 ? 0 : ends[k - 1]) / last);
  return ends.map((end) => dates.filter((date) => date >= end).length / dates.length);
}

/** Loadings of ln S at the last date on the two normal numbers of a step. */
function factorGradient(
  volatility: Extract<Volatility, { kind: "gaussianFactors" }>,
  from: number,
  to: number,
  last: number,
): readonly number[] {
  const [first, second = 0] = sigmasOf(volatility);
  const [a, b = 0] = volatility.alpha;
  const covariance = (alpha: number): number => decay(alpha, to - from);
  // The factor of the covariances of both increments.
  const one = first * Math.sqrt(covariance(2 * a));
  const both = one > 0 ? (volatility.rho * first * second * covariance(a + b)) / one : 0;
  const other = Math.sqrt(Math.max(second * second * covariance(2 * b) - both * both, 0));
  const [early, late] = [a, b].map((alpha) => Math.exp(-alpha * (last - to)));
  return [early * one + late * both, late * other];
}
