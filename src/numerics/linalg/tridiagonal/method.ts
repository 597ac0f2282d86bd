/** The interface between the solver and the algorithms. */
import type { Device, DeviceBuffer } from "../../../device/index.ts";
import { SpecError } from "../../../base/errors.ts";
import { i32, type Precision, read, real, write } from "../../../kernel/index.ts";

/**
 * A batch of systems as the algorithms see it. Three numbers describe every layout in memory: the unknowns of a system
 * (`rows`), the number of systems (`batch`), and the distance between consecutive unknowns of a system (`stride`), as
 * in `TridiagonalSpec`.
 */
export interface Problem {
  readonly rows: number;
  readonly batch: number;
  readonly stride: number;
  /** True where all systems share one matrix, three arrays of `rows`. */
  readonly shared: boolean;
  /** The precision of the computation. */
  readonly precision: Precision;
}

/** The matrices of a batch: three buffers of diagonals. */
export interface Matrix {
  readonly lower: DeviceBuffer;
  readonly diagonal: DeviceBuffer;
  readonly upper: DeviceBuffer;
}

/** The matrices and right-hand sides of a batch; solutions replace the latter, and each system has a word of status. */
export interface System extends Matrix {
  readonly rhs: DeviceBuffer;
  readonly status: DeviceBuffer;
}

/** The parameters of kernels that hold a `System`. */
export const systemParams = {
  lower: read(real),
  diagonal: read(real),
  upper: read(real),
  rhs: write(real),
  status: write(i32),
} as const;

/** An algorithm prepared for one problem on one device. It owns its workspace; `solve` records launches. */
export interface Method extends Disposable {
  solve(system: System): void;
}

/** The division of systems into chunks, each solved separately once the unknowns next to it are known. */
export interface Chunks {
  /** The number of rows of a chunk; the last may have fewer. */
  readonly rows: number;
  /** The number of chunks of a system. */
  readonly count: number;
}

/** A method for chunks of systems, too: `ends` are the unknowns next to each of them. */
export interface ChunkMethod extends Method {
  solve(system: System, ends?: DeviceBuffer): void;
}

/** Returns the error of systems of more rows than a workgroup has room for. */
export const tooLong = (device: Device, { precision }: Problem, algorithm: string, rows: number): SpecError =>
  new SpecError(
    `tridiagonal: ${algorithm} with ${rows} rows in ${precision}: more than a workgroup of ${device.name} has room ` +
      'for; take the algorithm "partition" or "auto"',
  );

/** Returns the bytes of a real. */
export const bytesOf = (precision: Precision): number => (precision === "f32" ? 4 : 8);
