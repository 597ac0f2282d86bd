/** The interface between the solver and the algorithms. */
import type { Device, DeviceBuffer } from "../../../device/index.ts";
import { SpecError } from "../../../base/errors.ts";
import { i32, type Precision, read, real, write, fn, type KernelFunction } from "../../../kernel/index.ts";

/**
 * The sizes of a batch of tridiagonal systems. Three numbers describe every layout in memory: the unknowns of a system
 * (`rows`), the number of systems (`batch`), and the distance between consecutive unknowns of a system (`stride`), as
 * in `TridiagonalSpec`.
 */
export interface TridiagonalBatch {
  readonly rows: number;
  readonly batch: number;
  readonly stride: number;
  /** True if all systems share one matrix, three arrays of `rows`. */
  readonly shared: boolean;
  /** The precision of the computation. */
  readonly precision: Precision;
}

/** The matrices of a batch, as buffers of their three diagonals. */
export interface Matrix {
  readonly lower: DeviceBuffer;
  readonly diagonal: DeviceBuffer;
  readonly upper: DeviceBuffer;
}

/**
 * The matrices and right-hand sides of a batch. Solutions replace the right-hand sides, and each system has one word of
 * status.
 */
export interface System extends Matrix {
  readonly rhs: DeviceBuffer;
  readonly status: DeviceBuffer;
}

/** The parameters of kernels that read or write a `System`. */
export const systemParams = {
  lower: read(real),
  diagonal: read(real),
  upper: read(real),
  rhs: write(real),
  status: write(i32),
} as const;

/** An algorithm prepared for the sizes of a batch, on one device. It owns its workspace; `solve` records launches. */
export interface Method extends Disposable {
  solve(system: System): void;
}

/** The division of systems into chunks. Each chunk is solved separately once the unknowns next to it are known. */
export interface Chunks {
  /** The number of rows of a chunk; the last may have fewer. */
  readonly rows: number;
  /** The number of chunks of a system. */
  readonly count: number;
}

/**
 * A method that can also solve chunks of systems. `ends` then holds the known values of the unknowns next to each
 * chunk.
 */
export interface ChunkMethod extends Method {
  solve(system: System, ends?: DeviceBuffer): void;
}

/** Returns the error for systems with more rows than a workgroup has room for. */
export const tooManyRowsError = (
  device: Device,
  { precision }: TridiagonalBatch,
  algorithm: string,
  rows: number,
): SpecError =>
  new SpecError(
    `tridiagonal: ${algorithm} with ${rows} rows in ${precision}: more than a workgroup of ${device.name} has room ` +
      'for; take the algorithm "partition" or "auto"',
  );

/** Returns the number of bytes of a real. */
export const bytesPerReal = (precision: Precision): number => (precision === "f32" ? 4 : 8);

/**
 * The parameters of the two kernels that reduce each chunk to two rows. The diagonal of these rows is 1 and is not
 * stored.
 */
export const reductionParams = {
  rows: i32,
  stride: i32,
  batch: i32,
  chunk: i32,
  lower: read(real),
  diagonal: read(real),
  upper: read(real),
  rhs: read(real),
  outLower: write(real),
  outUpper: write(real),
  outRhs: write(real),
  status: write(i32),
} as const;

/**
 * The layout of systems in memory. A `stride` known to be 1, or to be `batch`, saves kernels a division and makes
 * neighbouring items read neighbouring words.
 */
export type Layout = "contiguous" | "interleaved" | "strided";

/** Returns the layout of `batch` systems, given the distance `stride` between consecutive unknowns of a system. */
export function layoutOf({ stride, batch }: { readonly stride: number; readonly batch: number }): Layout {
  if (stride === 1) return "contiguous";
  return stride === batch ? "interleaved" : "strided";
}

type I32 = typeof i32;

/**
 * The kernel functions that return the index of the first unknown of system s, for each layout; see
 * `TridiagonalSpec.stride`.
 */
export const systemBase: Readonly<Record<Layout, KernelFunction<readonly [I32, I32, I32], number>>> = {
  contiguous: fn({ name: "contiguousBase", params: [i32, i32, i32], body: ([s, rows]) => s * rows }),
  interleaved: fn({ name: "interleavedBase", params: [i32, i32, i32], body: ([s]) => s }),
  strided: fn({
    name: "stridedBase",
    params: [i32, i32, i32],
    body: ([s, rows, stride]) => ((s / stride) | 0) * (rows * stride) + (s % stride),
  }),
};
