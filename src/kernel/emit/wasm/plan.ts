/** The layout of the generated code: lanes, the block of arguments, and the scratch memory of a thread. */
import type { FixedArray, KernelIR, ScalarType } from "../../ir.ts";
import { forEachExpr, forEachStmt, expressionsOf } from "../../visit.ts";
import type { ValueType } from "./opcodes.ts";

/**
 * The number of bytes below the first scratch array. A small negative constant in an index can then be folded into an
 * instruction's offset.
 */
const SCRATCH_MARGIN = 4096;
/**
 * The largest constant summand of an index that is folded into an instruction's address offset. Even at the widest
 * stride, 8 vectors of 16 bytes, addresses then stay within the margin around the scratch memory.
 */
export const MAX_FOLDED_INDEX = 16;
/**
 * The largest constant summand of the index of a buffer's element that is folded into an instruction's address offset.
 * The remaining index may then be as low as −1024. Its address is still valid, because no buffer is in the first 64 KiB
 * of memory.
 */
export const MAX_FOLDED_BUFFER_INDEX = 1024;

/**
 * The byte offsets within the memory block of arguments that a compiled kernel's `run` takes: the number of workgroups,
 * then eight bytes for each argument.
 */
export interface ArgumentLayout {
  /** The offset of the number of workgroups. */
  readonly groupCount: number;
  /** The offset of each buffer's address; its length follows four bytes later. */
  readonly buffers: readonly number[];
  /** The offset of each scalar argument. */
  readonly scalars: readonly number[];
  /** The size of the block. */
  readonly bytes: number;
}

/**
 * The layout of a kernel's WebAssembly code: the SIMD lanes and vectors, the number of work items that are computed
 * together, and the offsets in memory.
 */
export interface CodePlan {
  /** True for 64-bit lanes, two in a vector. Otherwise lanes have 32 bits, four in a vector. */
  readonly wide: boolean;
  /** The number of lanes of a vector: 2 or 4. */
  readonly lanes: number;
  /**
   * The number of SIMD vectors that are computed side by side, to keep several chains of dependent operations in
   * flight.
   */
  readonly vectors: number;
  /** The number of work items that are computed side by side (a chunk): lanes × vectors. */
  readonly chunk: number;
  /** The number of chunks of a workgroup; 1 for kernels without workgroups. */
  readonly chunks: number;
  readonly real: "f64" | "f32";
  readonly arguments: ArgumentLayout;
  /** The offsets of workgroup arrays in the scratch area. */
  readonly workgroups: readonly number[];
  /** The offsets of private arrays in the scratch area. */
  readonly privates: readonly number[];
  /** The offset in the scratch area of the locals that are kept in memory across barriers. */
  readonly spills: number;
  /** The number of bytes between the private areas of two consecutive chunks. */
  readonly chunkBytes: number;
  readonly scratchBytes: number;
}

/**
 * Returns the layout of a kernel's WebAssembly code. `vectors` is the number of interleaved SIMD vectors, and
 * `spillCount` the number of locals that are kept in memory across barriers.
 */
export function planKernel(ir: KernelIR, vectors: number, spillCount: number): CodePlan {
  const wide = ir.precision === "f64" && usesReals(ir);
  const lanes = wide ? 2 : 4;
  const chunk = lanes * vectors;
  const chunks = ir.cooperative ? Math.ceil(ir.groupSize / chunk) : 1;
  const workgroups = place(ir.workgroups, SCRATCH_MARGIN, (a) => a.length * elementBytes(a.element, wide));
  // A ramp store at the end of a workgroup array may overrun it by less than a chunk.
  const spills = align(workgroups.end + chunk * 8);
  const privates = place(ir.privates, spills + spillCount * vectors * 16, (a) => a.length * vectors * 16);
  const chunkBytes = privates.end - spills;
  return {
    wide,
    lanes,
    vectors,
    chunk,
    chunks,
    real: wide ? "f64" : "f32",
    arguments: argumentLayout(ir),
    workgroups: workgroups.offsets,
    privates: privates.offsets,
    spills,
    chunkBytes,
    scratchBytes: spills + chunkBytes * chunks + SCRATCH_MARGIN,
  };
}

/**
 * Returns the number of work items that are computed side by side in `vectors` SIMD vectors. It depends on the IR only,
 * so that it is known before any analysis.
 */
export function chunkSize(ir: KernelIR, vectors: number): number {
  return vectors * (ir.precision === "f64" && usesReals(ir) ? 2 : 4);
}

/** Returns the size in bytes of an array element. `wide` is true if reals have 64 bits. */
export function elementBytes(type: ScalarType, wide: boolean): number {
  return type === "real" && wide ? 8 : 4;
}

/** Returns the WebAssembly type that holds a scalar of the kernel language. */
export function valueType(type: ScalarType, plan: CodePlan): ValueType {
  return type === "real" ? plan.real : "i32";
}

function argumentLayout(ir: KernelIR): ArgumentLayout {
  const buffers = ir.buffers.map((_, i) => 8 + 8 * i);
  const scalars = ir.scalars.map((_, i) => 8 + 8 * (ir.buffers.length + i));
  return { groupCount: 0, buffers, scalars, bytes: 8 * (1 + ir.buffers.length + ir.scalars.length) };
}

function place(
  arrays: readonly FixedArray[],
  start: number,
  size: (a: FixedArray) => number,
): { offsets: number[]; end: number } {
  let end = align(start);
  const offsets = arrays.map((array) => {
    const offset = end;
    end = align(end + size(array));
    return offset;
  });
  return { offsets, end };
}

function align(offset: number): number {
  return Math.ceil(offset / 128) * 128;
}

function usesReals(ir: KernelIR): boolean {
  const elements = [...ir.buffers, ...ir.privates, ...ir.workgroups].map((a) => a.element);
  if (elements.includes("real") || [...ir.locals, ...ir.scalars].some((v) => v.type === "real")) return true;
  let found = false;
  forEachStmt(ir.body, (s) => {
    for (const e of expressionsOf(s)) forEachExpr(e, (x) => (found ||= x.type === "real"));
  });
  return found;
}
