/** The interface between the solver and the algorithms. */
import type { DeviceBuffer } from "../../device/index.ts";
import type { Precision } from "../../kernel/index.ts";

/** A batch as the algorithms see it: any placement is `rows`, `batch` and `stride` (`TridiagonalSpec`). */
export interface Problem {
  readonly rows: number;
  readonly batch: number;
  readonly stride: number;
  /** True where the matrix is one for all, three arrays of `rows`. */
  readonly shared: boolean;
  /** The precision that the device computes in. */
  readonly precision: Precision;
}

export interface Matrix {
  readonly lower: DeviceBuffer;
  readonly diagonal: DeviceBuffer;
  readonly upper: DeviceBuffer;
}

/** The right-hand side becomes the solution; a word of status a system. */
export interface System extends Matrix {
  readonly rhs: DeviceBuffer;
  readonly status: DeviceBuffer;
}

/** An algorithm made ready for one problem on one device. Owns its workspace; `solve` records launches and returns. */
export interface Method extends Disposable {
  solve(system: System): void;
}

/**
 * A problem cut into chunks, of which each is solved by itself: with what the two unknowns beside it are known to be.
 */
export interface Chunks {
  /** The number of rows of a chunk; the last may have fewer. */
  readonly rows: number;
  /** The number of chunks of a system. */
  readonly count: number;
}

export const bytesOf = (precision: Precision): number => (precision === "f32" ? 4 : 8);
export const elementOf = (precision: Precision): "f64" | "f32" => (precision === "f32" ? "f32" : "f64");
