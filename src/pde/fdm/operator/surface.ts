import { emptyRow, type LocalSurface, rootMeanSquare } from "../../../market/index.ts";
import { SLICE_WORDS } from "./read-surface.ts";
import { REFACTOR } from "../time/flags.ts";
import { stepTimes, type TimeGrid } from "../time/time-grid.ts";

/** The number of reals of a surface's block (`readSurface`) for a time grid with a number of factorisations. */
export function blockWords({ spots }: LocalSurface, factorisations: number): number {
  return spots.length * (1 + factorisations * SLICE_WORDS);
}

/**
 * Writes a surface's block (`readSurface`) from index `first` on: its spots, then the root mean square of σ over each
 * factored step and its slope ∂/∂S, with prices in units of `spot`. A block depends on the time grid and the surface
 * alone, so trades of one expiry share it. Cost: 4 flops and 16 bytes written for each spot and factorisation, besides
 * `rootMeanSquare`.
 */
export function putBlock(
  into: Float64Array | Float32Array,
  first: number,
  { surface, spot }: { readonly surface: LocalSurface; readonly spot: number },
  time: TimeGrid,
): void {
  const { spots } = surface;
  const mean = emptyRow(surface);
  const { volatility, slopes } = mean;
  let at = first;
  for (const one of spots) into[at++] = one / spot;
  time.steps.forEach((step, i) => {
    if ((time.flags[i] & REFACTOR) === 0) return;
    const { from, to } = time.homogeneous ? { from: 0, to: 0 } : stepTimes(time, step);
    rootMeanSquare(surface, from, to, 0, mean);
    for (let k = 0; k < volatility.length; k++, at += SLICE_WORDS) {
      into[at] = volatility[k];
      into[at + 1] = slopes[k] * spot;
    }
  });
}
