import { fn, i32, read, real } from "../../kernel/index.ts";
import { Column } from "./column.ts";

/** The number of words of one piece of a slice: its left end, and the cubic in the distance from there. */
export const PIECE_WORDS = 5;

/**
 * The place of an instance's surface in the table, after everything else (`tail`):
 *
 *   [instance], [pitch + instance]   the instance's first slice; the parallel move of σ
 *   [2·pitch]                the number of pieces
 *   then slices              pieces of five words: the left end, σ = c₀ + u·(c₁ + u·(c₂ + u·c₃)), u = S − left end
 *
 * One slice a factorisation: σ averaged over its step. Pieces are those between the surface's spots, the first and the
 * last flat and without end. Everything in units of the spot. `shape` other than "surface": nothing is read.
 */
export function readSurface(shape: string) {
  return fn({
    name: "readSurface",
    params: [Column, i32],
    env: { surface: shape === "surface" },
    body([{ values, pitch, instance }, tail], gpu, { surface }) {
      let slice = 0;
      let pieces = 0;
      let move = 0.0;
      if (surface) {
        slice = gpu.i32(values[tail + instance]);
        move = values[tail + pitch + instance];
        pieces = gpu.i32(values[tail + 2 * pitch]);
      }
      return { slice, move, pieces };
    },
  });
}

/**
 * Returns σ at a price, moved and not below zero, from the slice whose first word is `first`; `piece` is where the
 * search starts, and where it ended: neighbouring nodes are in one piece, or in neighbouring ones. Cost: 2 comparisons,
 * 7 words and 8 flops a node.
 */
export const surfaceSigma = fn({
  name: "surfaceSigma",
  params: [read(real), i32, i32, real, i32, real],
  env: { words: PIECE_WORDS },
  body([table, first, pieces, move, start, spot], _gpu, { words }) {
    let piece = start;
    while (piece > 0 && spot < table[first + piece * words]) piece--;
    while (piece < pieces - 1 && spot >= table[first + (piece + 1) * words]) piece++;
    const at = first + piece * words;
    const u = spot - table[at];
    const sigma = table[at + 1] + u * (table[at + 2] + u * (table[at + 3] + u * table[at + 4]));
    return { piece, sigma: Math.max(sigma + move, 0) };
  },
});
