import { type LocalSurface, rowWeights } from "../../market/index.ts";
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
 * The rows of a surface as the solver reads a slice (`readSurface`), prices in units of `spot`: [time][piece][word]. A
 * slice is a mean of them, since the mean of cubics on one grid is a cubic.
 */
export function surfaceRows(surface: LocalSurface, spot: number): Float64Array {
  const { spots, volatility, slopes } = surface;
  const last = spots.length - 1;
  const rows = new Float64Array(volatility.length * sliceWords(surface));
  let at = 0;
  volatility.forEach((sigma, row) => {
    for (let piece = 0; piece <= last + 1; piece++, at += PIECE_WORDS) {
      const i = Math.max(piece - 1, 0);
      rows[at] = piece === 0 ? 0 : spots[i] / spot;
      rows[at + 1] = sigma[i];
      if (piece === 0 || piece > last) continue;
      const width = (spots[i + 1] - spots[i]) / spot;
      const secant = (sigma[i + 1] - sigma[i]) / width;
      const [before, after] = [slopes[row][i] * spot, slopes[row][i + 1] * spot];
      rows[at + 2] = before;
      rows[at + 3] = (3 * secant - 2 * before - after) / width;
      rows[at + 4] = (before + after - 2 * secant) / (width * width);
    }
  });
  return rows;
}

/**
 * Writes σ averaged over each step that is factored, a slice each, from `rows` of `surfaceRows`. It depends on the time
 * grid and the surface alone, so that trades of one expiry share it. Cost: 2 to 3 flops and 8 bytes written a word.
 */
export function putSlices(
  into: Float64Array | Float32Array,
  first: number,
  { surface, rows }: { readonly surface: LocalSurface; readonly rows: Float64Array },
  time: TimeGrid,
): void {
  const slice = new Float64Array(sliceWords(surface));
  const words = slice.length;
  let at = first;
  time.steps.forEach((step, i) => {
    if ((time.flags[i] & REFACTOR) === 0) return;
    const { from, to } = time.homogeneous ? { from: 0, to: 0 } : stepTimes(time, step);
    slice.fill(0);
    for (const { row, weight } of rowWeights(surface.times, from, to)) {
      const start = row * words;
      for (let word = 0; word < words; word++) slice[word] += weight * rows[start + word];
    }
    into.set(slice, at);
    at += words;
  });
}
