import { constant, integrate, integratedVariance, type PiecewiseConstant } from "../../../market/index.ts";
import {
  certainExercise,
  isTimeHomogeneous,
  type OneFactorProblem,
  totalDrift,
  totalVariance,
} from "../problem/one-factor.ts";
import type { Diffusion } from "../problem/diffusion.ts";
import { stepTimes, type TimeGrid } from "./time-grid.ts";

/**
 * The forward coordinate, which removes coefficients that depend on time alone from the equation. With G(t) = e^{∫₀ᵗ(r
 * − q)}, x = S/G(t), and steps of equal variance ∫σ²,
 *
 *   V(S, t) = e^{−qT}·e^{∫₀ᵗ r}·w(x, ∫₀ᵗσ²),   w_θ + ½x²·w_xx = 0,   w(x, Θ) = max(φ·(x − K/G(T)), 0).
 *
 * Factorisations are then as rare as with constant coefficients, and there is no drift. Today x = S, so nodes and
 * Greeks are those in the price. Early exercise requires w ≥ φ·(e^{q(T − t)}·x − e^{∫ₜᵀ r}·K/G(T)), which needs two
 * numbers for each step.
 */
export interface Forward {
  /**
   * The problem that is solved in x: without drift and rates, with the mean of σ², and with the payoff's kink at
   * K/G(T).
   */
  readonly flat: OneFactorProblem;
  /** The factor e^{−qT} of V(S, t). */
  readonly weight: number;
}

/**
 * More standard deviations of drift than this leave the kink of the first payoff far from where early exercise ends
 * today.
 */
const MAX_DRIFT = 2;
/**
 * Largest σ² of the life over the least: early exercise is decided at ends of steps, and where there is less variance
 * those are longer.
 */
const MAX_VARIATION = 9;

/**
 * Tells whether a problem can be solved in the forward coordinate: it needs a vanilla payoff, coefficients that depend
 * on time alone, and no events on dates. With early exercise the coefficients may vary only moderately.
 */
export function isForward(problem: OneFactorProblem): boolean {
  const { payoff, american, exerciseTimes, dividends, barriers, knockIns, diffusion } = problem;
  const isPlain =
    payoff.vanillaSign !== undefined &&
    dividends.length === 0 &&
    exerciseTimes === undefined &&
    barriers === undefined &&
    knockIns === undefined;
  if (!isPlain || diffusion.kind !== "deterministic" || isTimeHomogeneous(problem)) return false;
  const variance = totalVariance(problem);
  if (!(variance > 0)) return false;
  if (!american) return true;
  const { low, high } = growthRange(problem);
  return high - low <= MAX_DRIFT * Math.sqrt(variance) && variation(diffusion.sigma, problem.expiry) <= MAX_VARIATION;
}

/** Returns the forward coordinate of a problem for which `isForward` holds, or of a shift of such a problem. */
export function forwardOf(problem: OneFactorProblem): Forward {
  const { payoff, expiry, dividendYield, american, restarts } = problem;
  const kink = payoff.kinks[0] * Math.exp(-totalDrift(problem));
  const sigma = constant(Math.sqrt(totalVariance(problem) / expiry));
  return {
    flat: {
      ...problem,
      payoff: { ...payoff, kinks: [kink] },
      rates: NO_RATE,
      dividendYield: 0,
      diffusion: { kind: "deterministic", sigma },
      // Without early exercise nothing is left that could jump.
      restarts: american ? restarts?.map(clockOf(problem)) : undefined,
    },
    weight: Math.exp(-dividendYield * expiry),
  };
}

const NO_RATE = constant(0);

/** The time at which σ of the mean square has the variance that the problem's has at t. */
function clockOf({ diffusion, expiry }: OneFactorProblem): (t: number) => number {
  const sigma = sigmaOf(diffusion);
  const all = integratedVariance(sigma, expiry);
  return (t) => (expiry * integratedVariance(sigma, t)) / all;
}

function sigmaOf(diffusion: Diffusion): PiecewiseConstant {
  if (diffusion.kind !== "deterministic") throw new Error("only coefficients of time alone can be taken out");
  return diffusion.sigma;
}

/**
 * Returns the forward coordinate x beyond which exercise is optimal at all times (`certainExercise`); undefined if
 * there is none.
 */
export function certainForward(problem: OneFactorProblem): number | undefined {
  const price = certainExercise(problem);
  if (price === undefined) return undefined;
  const { low, high } = growthRange(problem);
  return price * Math.exp(problem.payoff.exerciseSide === "low" ? -high : -low);
}

/** The least and the largest ∫₀ᵗ(r − q) of the life: at its ends, or where r changes. */
function growthRange({ rates: { times, values }, dividendYield, expiry }: OneFactorProblem): {
  readonly low: number;
  readonly high: number;
} {
  let [low, high, sum, start] = [0, 0, 0, 0];
  for (let i = 0; start < expiry; i++) {
    const end = i < times.length ? Math.min(times[i], expiry) : expiry;
    sum += (values[i] - dividendYield) * (end - start);
    low = Math.min(low, sum);
    high = Math.max(high, sum);
    start = end;
  }
  return { low, high };
}

/** The largest f² before `until` over the least. */
function variation({ times, values }: PiecewiseConstant, until: number): number {
  let [min, max] = [Number.POSITIVE_INFINITY, 0];
  for (let i = 0; i < values.length && (i === 0 || times[i - 1] < until); i++) {
    min = Math.min(min, values[i] * values[i]);
    max = Math.max(max, values[i] * values[i]);
  }
  return max / min;
}

/** ∫₀ᵗ f of an f ≥ 0, and its inverse, for arguments that do not decrease: each piece is passed once. */
class Integral {
  private piece = 0;
  private start = 0;
  private sum = 0;
  private readonly times: readonly number[];
  private readonly values: readonly number[];

  constructor({ times, values }: PiecewiseConstant) {
    this.times = times;
    this.values = values;
  }

  at(t: number): number {
    while (this.piece < this.times.length && this.times[this.piece] < t) this.pass();
    return this.sum + this.values[this.piece] * (t - this.start);
  }

  /** The first t with that integral, if there is none the last piece's end or start. */
  inverse(integral: number): number {
    while (this.piece < this.times.length && this.atEnd < integral) this.pass();
    const value = this.values[this.piece];
    return value > 0 ? this.start + (integral - this.sum) / value : this.start;
  }

  private get atEnd(): number {
    return this.sum + this.values[this.piece] * (this.times[this.piece] - this.start);
  }

  private pass(): void {
    this.sum = this.atEnd;
    this.start = this.times[this.piece];
    this.piece++;
  }
}

/**
 * Returns the two factors of early exercise for each time step in the solver's order: e^{q(T − t)} and e^{∫ₜᵀ r} at the
 * time t at which the step ends. Those of the last step are repeated, so that a solver may read one step ahead. Trades
 * with the same market and expiry share the array.
 */
export function exerciseFactors(problem: OneFactorProblem, time: TimeGrid): Float64Array {
  const { rates, dividendYield, expiry } = problem;
  const sigma = sigmaOf(problem.diffusion);
  const known = lastTimeDependent;
  if (known?.time === time && known.rates === rates && known.sigma === sigma && known.dividendYield === dividendYield)
    return known.factors;
  const { steps } = time;
  const variances = new Integral({ times: sigma.times, values: sigma.values.map((value) => value * value) });
  const all = integratedVariance(sigma, expiry);
  const discounts = new Integral(rates);
  const discount = integrate(rates, expiry);
  const factors = new Float64Array(timeDependentReals(time));
  // From today on, backward through the solver's steps.
  for (let i = steps.length - 1; i >= 0; i--) {
    const t = Math.min(variances.inverse((all * stepTimes(time, steps[i]).from) / expiry), expiry);
    factors[2 * i] = Math.exp(dividendYield * (expiry - t));
    factors[2 * i + 1] = Math.exp(discount - discounts.at(t));
  }
  factors.copyWithin(2 * steps.length, 2 * steps.length - 2);
  lastTimeDependent = { time, rates, sigma, dividendYield, factors };
  return factors;
}

/** Returns the length of the array of `exerciseFactors`. */
export const timeDependentReals = ({ steps }: TimeGrid): number => 2 * steps.length + 2;

interface Moving {
  readonly time: TimeGrid;
  readonly rates: PiecewiseConstant;
  readonly sigma: PiecewiseConstant;
  readonly dividendYield: number;
  readonly factors: Float64Array;
}

/** A pure function's memory of its last argument. */
let lastTimeDependent: Moving | undefined;
