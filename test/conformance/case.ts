/**
 * The conformance suite's vocabulary: small kernels, their arguments, and how closely devices must agree with the
 * interpreter. Nothing here or in `cases/` needs Node, so that a browser page can run the same suite.
 */
import type { HostArray, LaunchSize } from "../../src/device/device.ts";
import { fromPairs, type Kernel, type Precision, toPairs } from "../../src/kernel/index.ts";

export type HostArguments = Readonly<Record<string, number | boolean | HostArray>>;

/**
 * How far a real may lie from the interpreter's: units in the last place of the result, a part of it, or an absolute
 * distance.
 */
export interface Tolerance {
  readonly ulps?: number;
  readonly relative?: number;
  readonly absolute?: number;
  readonly because: string;
}

/** Makes arrays of the kernel's precision. */
export interface Arrays {
  readonly precision: Precision;
  real(values: Iterable<number>): Float64Array | Float32Array;
  zeros(length: number): Float64Array | Float32Array;
}

export interface ConformanceCase {
  readonly name: string;
  readonly kernel: Kernel;
  readonly size: LaunchSize;
  args(arrays: Arrays): HostArguments;
  /** Precisions it makes sense in; all by default. */
  readonly precisions?: readonly Precision[];
  /** Its library compiles it without contraction wherever it can. */
  readonly fma?: "exact";
  /** WebGPU's allowance for reals in f32; none by default. Elsewhere results are compared bit for bit. */
  readonly webgpu?: Tolerance;
  /** Allowance in f32x2, whose interpreter computes in f64; `PAIRS` by default. */
  readonly f32x2?: Tolerance;
  /** Allowance for the same kernel run as plain JavaScript in f64. */
  readonly javaScript?: Tolerance;
  /** Why the kernel means something else as plain JavaScript. */
  readonly notJavaScript?: string;
  /** Buffers whose order of elements depends on how items are scheduled; compared sorted. */
  readonly unordered?: readonly string[];
}

/**
 * A kernel that stores `gpu.subgroupSize()` in element 0 of a buffer of this name tells the interpreter what to assume.
 */
export const SUBGROUP_SIZE = "subgroupSize";

/**
 * Of a result of few operations, each of which is good to 15·2⁻⁴⁸ of its own result
 * (src/kernel/emit/wgsl/pair-helpers.ts); 4e-14 of what the interpreter computes in f64, so 13 digits.
 */
export const PAIRS: Tolerance = {
  relative: 2 ** -43,
  because: "each operation is good to 15·2⁻⁴⁸, a division; others to 3 or 5",
};

export function arraysOf(precision: Precision): Arrays {
  const Reals = precision === "f32" ? Float32Array : Float64Array;
  return {
    precision,
    // As a device stores them, so that it starts from the same numbers as the interpreter.
    real: (values) => (precision === "f32x2" ? fromPairs(toPairs(Array.from(values))) : Reals.from(values)),
    zeros: (length) => new Reals(length),
  };
}

export const i32s = (...values: number[]): Int32Array => Int32Array.from(values);
export const u32s = (...values: number[]): Uint32Array => Uint32Array.from(values);

/** 0 … count − 1. */
export const range = (count: number): number[] => Array.from({ length: count }, (_, i) => i);

/** Every ordered pair of values, as two columns. */
export function pairs(values: readonly number[]): [number[], number[]] {
  return [values.flatMap((a) => values.map(() => a)), values.flatMap(() => values)];
}

/** A reproducible sequence of 32-bit words (xorshift32). */
export function words(count: number, seed = 2463534242): number[] {
  let state = seed;
  return range(count).map(() => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return state >>> 0;
  });
}

/** Reproducible reals in [low, high). */
export const uniforms = (count: number, low = 0, high = 1): number[] =>
  words(count).map((word) => low + ((high - low) * word) / 2 ** 32);
