import { fn, i32, read, real, record } from "../../kernel/index.ts";
import { Column } from "./column.ts";

/** The number of words of a slice at each spot: σ and ∂σ/∂S. */
export const SLICE_WORDS = 2;

/**
 * A volatility surface in the table: its parallel move, its spots, the slice for a step, and the piece of the slice in
 * which the search for a price starts (`surfaceSigma`).
 */
export const Slice = record({ move: real, spots: i32, first: i32, slice: i32, piece: i32 });

/**
 * The place of an instance's surface in the table, after everything else (`tail`):
 *
 *   [instance], [pitch + instance]   the instance's block; the parallel move of σ
 *   [2·pitch], [2·pitch + 1]         the number of spots; the words of a block
 *   then blocks                      the spots, then a slice for each factorisation: σ and ∂σ/∂S at each spot, averaged
 *                                    over its step
 *
 * Everything in units of today's spot. `shape` other than "surface": nothing is read.
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
 * Returns σ at a price, shifted and not below zero, by the cubic of the slice at `slice` between the spots from `first`
 * on, constant outside them. `piece`, the number of spots up to the price, is where the search starts and ends:
 * neighbouring nodes are in the same or neighbouring pieces. Cost: 2 comparisons, 8 words, a division and 18 flops a
 * node.
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
