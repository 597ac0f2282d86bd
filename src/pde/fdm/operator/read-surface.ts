import { fn, i32, read, real, record } from "../../../kernel/index.ts";
import { Column } from "./column.ts";

/** The number of reals that a slice of the surface, one date, has for each spot: σ and ∂σ/∂S. */
export const SLICE_WORDS = 2;

/**
 * A volatility surface in the table: its parallel move, its spots, the slice for a step, and the piece of the slice in
 * which the search for a price starts (`surfaceSigma`).
 */
export const Slice = record({ move: real, spots: i32, first: i32, slice: i32, piece: i32 });

/**
 * Returns the function that finds the volatility surface of an instance in the launch's table. From index `tail` on,
 * behind everything else, the table has
 *
 *   [instance], [pitch + instance]   the number of the instance's block; the parallel shift of σ
 *   [2·pitch], [2·pitch + 1]         the number of spots; the number of reals of a block
 *   then the blocks                  each has the spots, then a slice for each factorisation: σ and ∂σ/∂S at each spot,
 *                                    the root mean square over its step
 *
 * Prices are in units of today's spot. Nothing is read where `shape` is not "surface".
 */
export function readSurface(shape: string) {
  return fn({
    name: "readSurface",
    params: [Column, i32],
    env: { surface: shape === "surface" },
    body([{ values, pitch, instance }, tail], gpu, { surface }) {
      let move = 0.0;
      let spots = 0;
      let first = 0;
      if (surface) {
        const size = tail + 2 * pitch;
        move = values[tail + pitch + instance];
        spots = gpu.i32(values[size]);
        first = size + 2 + gpu.i32(values[tail + instance]) * gpu.i32(values[size + 1]);
      }
      return { move, spots, first, slice: first + spots, piece: 0 };
    },
  });
}

/**
 * Returns σ at a price, shifted by `move` and not below zero: the cubic through σ and ∂σ/∂S of the slice at index
 * `slice`, whose spots begin at index `first`. σ is constant outside the spots. `piece` is the number of spots not
 * above the price; the search starts from its previous value, because neighbouring nodes lie in the same or
 * neighbouring intervals. Cost: 2 comparisons, 8 reals read, a division and 18 flops a node.
 */
export const surfaceSigma = fn({
  name: "surfaceSigma",
  params: [read(real), i32, i32, i32, real, i32, real],
  env: { words: SLICE_WORDS },
  body([table, first, spots, slice, move, start, price], _gpu, { words }) {
    let piece = start;
    while (piece > 0 && price < table[first + piece - 1]) piece--;
    while (piece < spots && price >= table[first + piece]) piece++;
    const left = Math.max(piece - 1, 0);
    const right = Math.min(piece, spots - 1);
    const from = slice + left * words;
    const to = slice + right * words;
    const width = table[first + right] - table[first + left];
    const u = left < right ? (price - table[first + left]) / width : 0.0;
    const sigma = table[from];
    const rise = table[to] - sigma;
    const before = table[from + 1] * width;
    const after = table[to + 1] * width;
    const local = sigma + u * (before + u * (3 * rise - 2 * before - after + u * (before + after - 2 * rise)));
    return { piece, sigma: Math.max(local + move, 0) };
  },
});
