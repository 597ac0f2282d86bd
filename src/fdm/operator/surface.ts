import { emptyRow, type LocalSurface, rowMean } from "../../market/index.ts";
import { PIECE_WORDS } from "./read-surface.ts";
import { REFACTOR } from "../time/flags.ts";
import { stepTimes, type TimeGrid } from "../time/time-grid.ts";

/** A piece between each two spots, and a flat one at either end. */
export function surfacePieces({ spots }: LocalSurface): number {
  return spots.length + 1;
}

/** The number of words of one slice. */
export function sliceWords(surface: LocalSurface): number {
  return surfacePieces(surface) * PIECE_WORDS;
}

/**
 * Writes σ averaged over each step that is factored, a slice each, as the solver reads it (`readSurface`), prices in
 * units of `spot`. It depends on the time grid and the surface alone, so that trades of one expiry share it. Cost: some
 * 20 flops and 40 bytes written a piece.
 */
export function putSlices(
  into: Float64Array | Float32Array,
  first: number,
  { surface, spot }: { readonly surface: LocalSurface; readonly spot: number },
  time: TimeGrid,
): void {
  const spots = Float64Array.from(surface.spots, (one) => one / spot);
  const last = spots.length - 1;
  const mean = emptyRow(surface);
  let at = first;
  time.steps.forEach((step, i) => {
    if ((time.flags[i] & REFACTOR) === 0) return;
    const { from, to } = time.homogeneous ? { from: 0, to: 0 } : stepTimes(time, step);
    const { volatility, slopes } = rowMean(surface, from, to, mean);
    into.fill(0, at, at + sliceWords(surface));
    into[at + 1] = volatility[0];
    at += PIECE_WORDS;
    for (let i = 0; i < last; i++, at += PIECE_WORDS) {
      const scale = 1 / (spots[i + 1] - spots[i]);
      const secant = (volatility[i + 1] - volatility[i]) * scale;
      const [before, after] = [slopes[i] * spot, slopes[i + 1] * spot];
      into[at] = spots[i];
      into[at + 1] = volatility[i];
      into[at + 2] = before;
      into[at + 3] = (3 * secant - 2 * before - after) * scale;
      into[at + 4] = (before + after - 2 * secant) * (scale * scale);
    }
    into[at] = spots[last];
    into[at + 1] = volatility[last];
    at += PIECE_WORDS;
  });
}
