/** The volatility of a spot, and its variance over a part of the life. */
import { type FunctionOf, onRow } from "../../../kernel/index.ts";
import { type LocalSurface, type PiecewiseConstant, shiftedSigma, surfaceVolatility } from "../../../market/index.ts";
import { checkedVolatility } from "./volatility-check.ts";

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

/** What the variance of ln S depends on: a volatility, today's spot, which is the first, and the end of the life. */
export interface Diffusing {
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
  return onRow(sigma, spot, ats).map((value, i) => Math.max(checkedVolatility(value, spot, ats[i]) + shift, 0));
}
