/** The places of everything: lanes, the argument block, the scratch area of a thread. */
import type { FixedArray, KernelIR, ScalarType } from "../../ir.ts";
import { forEachExpr, forEachStmt, operands } from "../../visit.ts";
import type { ValueType } from "./opcodes.ts";

/** Below the first scratch array, so that small negative constants in an index fold into an instruction's offset. */
const SCRATCH_MARGIN = 4096;
/**
 * The largest constant in an index that is folded into an instruction's offset: SCRATCH_MARGIN / the widest stride (8
 * vectors of 16 bytes).
 */
export const FOLDABLE = 16;
/**
 * The largest constant in an index of a buffer that is folded into the offset. The remaining index may be negative by
 * as much, and the address is still valid, because no buffer is in the first 64 KiB of memory.
 */
export const FOLDABLE_IN_BUFFER = 1024;

/**
 * The byte offsets in the block that `run` gets as its third argument: groupCount first, then eight bytes for each
 * argument.
 */
export interface ArgumentLayout {
  readonly groupCount: number;
  /** The offset of each buffer's address; its length follows four bytes later. */
  readonly buffers: readonly number[];
  readonly scalars: readonly number[];
  readonly bytes: number;
}

/** The layout of a kernel's WebAssembly code: lanes, vectors, chunk size and memory. */
export interface Plan {
  /** True for 64-bit lanes, two a vector; otherwise lanes have 32 bits, four a vector. */
  readonly wide: boolean;
  readonly lanes: number;
  /** The number of vectors interleaved, to keep several chains of dependent operations in flight. */
  readonly vectors: number;
  /** The number of items that run together: lanes × vectors. */
  readonly chunk: number;
  /** The number of chunks of a workgroup; 1 for kernels without workgroups. */
  readonly chunks: number;
  readonly real: "f64" | "f32";
  readonly arguments: ArgumentLayout;
  /** The offsets of workgroup arrays in the scratch area. */
  readonly workgroups: readonly number[];
  readonly privates: readonly number[];
  /** The number of locals of a workgroup's items that outlive a barrier, one set of vectors each. */
  readonly spills: number;
  /** The number of bytes from one chunk's private area to the next one's. */
  readonly chunkBytes: number;
  readonly scratchBytes: number;
}

/** Chooses the layout of a kernel's WebAssembly code. */
export function planKernel(ir: KernelIR, vectors: number, spillCount: number): Plan {
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

/** The number of items that run together, known before any other analysis. */
export function chunkSize(ir: KernelIR, vectors: number): number {
  return vectors * (ir.precision === "f64" && usesReals(ir) ? 2 : 4);
}

/** Returns the bytes of an element of a type. */
export function elementBytes(type: ScalarType, wide: boolean): number {
  return type === "real" && wide ? 8 : 4;
}

/** Returns the WebAssembly type of a value. */
export function valueType(type: ScalarType, plan: Plan): ValueType {
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
    for (const e of operands(s)) forEachExpr(e, (x) => (found ||= x.type === "real"));
  });
  return found;
}
