import { fn, i32, type KernelFunction } from "../../../kernel/index.ts";

/**
 * The layout of systems in memory: a `stride` known to be 1, or `batch`, saves kernels a division, and keeps neighbours
 * together.
 */
export type Layout = "contiguous" | "interleaved" | "strided";

/** Returns the layout of `batch` systems, given the distance `stride` between consecutive unknowns of a system. */
export function layoutOf({ stride, batch }: { readonly stride: number; readonly batch: number }): Layout {
  if (stride === 1) return "contiguous";
  return stride === batch ? "interleaved" : "strided";
}

type I32 = typeof i32;

/** The functions that compute the index of system s for each layout; see `TridiagonalSpec.stride`. */
export const systemBase: Readonly<Record<Layout, KernelFunction<readonly [I32, I32, I32], number>>> = {
  contiguous: fn({ name: "contiguousBase", params: [i32, i32, i32], body: ([s, rows]) => s * rows }),
  interleaved: fn({ name: "interleavedBase", params: [i32, i32, i32], body: ([s]) => s }),
  strided: fn({
    name: "stridedBase",
    params: [i32, i32, i32],
    body: ([s, rows, stride]) => ((s / stride) | 0) * (rows * stride) + (s % stride),
  }),
};
