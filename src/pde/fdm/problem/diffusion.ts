import { SpecError } from "../../../base/errors.ts";
import { type FunctionOf, evaluateRow } from "../../../kernel/index.ts";
import { type LocalSurface, type PiecewiseConstant, shiftedSigma, surfaceVolatility } from "../../../market/index.ts";

/**
 * The error of a volatility that is negative, infinite or not a number at a spot and a time where the equation needs
 * it.
 *
 * @example
 * import { VolatilityError } from "feynkac/fdm";
 *
 * const { spot, time, code } = new VolatilityError(-0.1, 80, 0.5);
 * console.log(spot, time, code); // 80 0.5 SPEC
 * @experimental
 */
export class VolatilityError extends SpecError {
  /** The invalid volatility, per √year. */
  readonly volatility: number;
  /** The spot at which it was needed. */
  readonly spot: number;
  /** The time at which it was needed, in years from today. */
  readonly time: number;

  constructor(volatility: number, spot: number, time: number) {
    super(
      `volatility ${volatility} at S = ${spot}, t = ${time}; expected a finite number, 0 or above, ` +
        "at every price and time that the mesh reaches",
    );
    this.volatility = volatility;
    this.spot = spot;
    this.time = time;
  }
}

/**
 * Returns the value σ of a volatility formula after checking it. It is checked before a scenario's shift, which may
 * make it negative: shifted values are bounded below by zero. @throws VolatilityError
 */
export function checkedVolatility(sigma: number, spot: number, time: number): number {
  if (sigma >= 0 && sigma < Number.POSITIVE_INFINITY) return sigma;
  throw new VolatilityError(sigma, spot, time);
}

/**
 * The volatility σ of the spot, dS = (r − q)·S dt + σ·S dW between dividends. After a shift σ is bounded below by 0.
 */
export type Diffusion =
  | { readonly kind: "deterministic"; readonly sigma: PiecewiseConstant }
  /** A volatility σ(S), evaluated on the host, node by node; `jumps`: prices at which it jumps, increasing. */
  | {
      readonly kind: "local";
      readonly sigma: (spot: number) => number;
      readonly shift: number;
      readonly jumps?: readonly number[];
    }
  /**
   * A volatility σ(S, start + t), evaluated in the kernel, step by step; `jumps`: whether it jumps at some price, which
   * may move.
   */
  | {
      readonly kind: "formula";
      readonly sigma: FunctionOf<(spot: number, time: number) => number>;
      readonly shift: number;
      readonly start?: number;
      readonly jumps?: boolean;
    }
  /**
   * A volatility σ(t, S) on a grid: its root mean square over each step is found on the host, and evaluated in S in the
   * kernel.
   */
  | { readonly kind: "surface"; readonly surface: LocalSurface; readonly shift: number };

/**
 * The inputs on which the variance of ln S depends: a volatility, the spots, of which the first is today's, and the end
 * of the life.
 */
export interface DiffusionOverLife {
  readonly diffusion: Diffusion;
  readonly spots: readonly number[];
  readonly expiry: number;
}

/** Returns a volatility after a parallel shift. */
export function shiftedDiffusion(diffusion: Diffusion, shift: number): Diffusion {
  if (diffusion.kind !== "deterministic") return { ...diffusion, shift: diffusion.shift + shift };
  return { kind: "deterministic", sigma: shiftedSigma(diffusion.sigma, shift) };
}

/** Returns σ at a spot and a time. @throws VolatilityError where a formula gives an invalid value */
export function volatilityAt(diffusion: Diffusion, spot: number, time: number): number {
  if (diffusion.kind === "local")
    return Math.max(checkedVolatility(diffusion.sigma(spot), spot, time) + diffusion.shift, 0);
  if (diffusion.kind === "formula") {
    const at = (diffusion.start ?? 0) + time;
    return Math.max(checkedVolatility(diffusion.sigma(spot, at), spot, at) + diffusion.shift, 0);
  }
  if (diffusion.kind === "surface")
    return Math.max(surfaceVolatility(diffusion.surface, spot, time) + diffusion.shift, 0);
  const { times, values } = diffusion.sigma;
  const piece = times.findIndex((end) => time <= end);
  return values[piece < 0 ? times.length : piece];
}

/** Returns σ at a spot and several times, as `volatilityAt`. @throws VolatilityError where a formula's is invalid */
export function volatilitiesAt(diffusion: Diffusion, spot: number, times: Float64Array): Float64Array {
  if (diffusion.kind !== "formula") return times.map((time) => volatilityAt(diffusion, spot, time));
  const { sigma, shift, start = 0 } = diffusion;
  const ats = times.map((time) => start + time);
  return evaluateRow(sigma, spot, ats).map((value, i) => Math.max(checkedVolatility(value, spot, ats[i]) + shift, 0));
}

/** Bisections of an interval in which a function jumps: its ends then are neighbouring numbers. */
const HALVINGS = 52;
/** A discontinuity is at least this part of the change over the interval in which it was seen. */
const MIN_SHARE = 0.5;
/**
 * The smallest discontinuity of a volatility in the price that counts as a jump, as a fraction of the largest
 * volatility. Meshes smooth smaller ones.
 */
export const MIN_JUMP_IN_PRICE = 0.02;
/**
 * The smallest discontinuity of a volatility in time that counts as a jump, as a fraction of the largest volatility. A
 * time step ends at each jump; discontinuities inside a step leave an error of first order in the step.
 */
export const MIN_JUMP_IN_TIME = 1e-6;

/**
 * Finds the discontinuities of a function f between increasing `points` by bisection. It returns the last number before
 * each discontinuity. A change by less than the fraction `least` of f's largest value is no discontinuity, nor is a
 * change to or from NaN. `values` are f at the points, if known. Cost: one evaluation for each point, fifty for each
 * discontinuity, and two or three for each further interval in which f changes by more than that.
 */
export function jumpsBetween(
  f: (x: number) => number,
  points: ArrayLike<number>,
  least: number,
  values: ArrayLike<number> = Float64Array.from(points, f),
): readonly number[] {
  let largest = 0;
  for (let i = 0; i < values.length; i++) largest = Math.max(largest, Math.abs(values[i]) || 0);
  const jumps: number[] = [];
  for (let i = 1; i < points.length; i++) {
    const change = Math.abs(values[i] - values[i - 1]);
    if (!(change > least * largest)) continue;
    let [low, high] = [points[i - 1], points[i]];
    let [below, above] = [values[i - 1], values[i]];
    // Half of a continuous change is soon left outside.
    for (let k = 0; k < HALVINGS && Math.abs(above - below) > MIN_SHARE * change; k++) {
      const middle = 0.5 * (low + high);
      if (middle <= low || middle >= high) break;
      const here = f(middle);
      if (Math.abs(here - below) > Math.abs(above - here)) [high, above] = [middle, here];
      else [low, below] = [middle, here];
    }
    if (Math.abs(above - below) > MIN_SHARE * change) jumps.push(low);
  }
  return jumps;
}
