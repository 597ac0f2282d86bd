import { type LocalSurface, rowMean } from "../../market/index.ts";
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
 * Returns σ averaged over each step that is factored, as the solver reads it (`readSurface`), prices in units of
 * `spot`. Depends on the time grid and the surface alone, so that trades of one expiry share it: with 20 spots and 50
 * steps some 40 kB, made in 20 µs.
 */
export function surfaceSlices(surface: LocalSurface, time: TimeGrid, spot: number): Float64Array {
  const words = sliceWords(surface);
  const slices = new Float64Array(time.factorisations * words);
  let at = 0;
  time.steps.forEach((step, i) => {
    if ((time.flags[i] & REFACTOR) === 0) return;
    const { from, to } = time.homogeneous ? { from: 0, to: 0 } : stepTimes(time, step);
    fillSlice(slices.subarray(at, at + words), surface, from, to, spot);
    at += words;
  });
  return slices;
}

function fillSlice(slice: Float64Array, surface: LocalSurface, from: number, to: number, spot: number): void {
  const { spots } = surface;
  const { volatility, slopes } = rowMean(surface, from, to);
  const last = spots.length - 1;
  for (let piece = 0; piece <= last + 1; piece++) {
    const i = Math.max(piece - 1, 0);
    const at = piece * PIECE_WORDS;
    slice[at] = piece === 0 ? 0 : spots[i] / spot;
    slice[at + 1] = volatility[i];
    if (piece === 0 || piece > last) continue;
    const width = (spots[i + 1] - spots[i]) / spot;
    const secant = (volatility[i + 1] - volatility[i]) / width;
    const [before, after] = [slopes[i] * spot, slopes[i + 1] * spot];
    slice[at + 2] = before;
    slice[at + 3] = (3 * secant - 2 * before - after) / width;
    slice[at + 4] = (before + after - 2 * secant) / (width * width);
  }
}
