/**
 * Addresses of array elements. Each function emits code that pushes an i32, and returns a constant byte offset that the
 * load or store instruction adds.
 */
import type { ArrayRef, Expr } from "../../ir.ts";
import type { Emitter } from "./emitter.ts";
import { elementBytes, MAX_FOLDED_INDEX, MAX_FOLDED_BUFFER_INDEX } from "./plan.ts";

/** An access to an array: the array and the expression of the index. */
export interface ArrayAccess {
  readonly array: ArrayRef;
  readonly index: Expr;
}

/** Returns the type of an array's elements. */
export function elementTypeOf(e: Emitter, array: ArrayRef): "real" | "i32" | "u32" {
  return arrays(e, array)[array.id].element;
}

function arrays(e: Emitter, array: ArrayRef): readonly { readonly element: "real" | "i32" | "u32" }[] {
  if (array.space === "buffer") return e.ir.buffers;
  return array.space === "private" ? e.ir.privates : e.ir.workgroups;
}

/** Returns the size in bytes of an element of an array. */
export function elementSize(e: Emitter, array: ArrayRef): number {
  return elementBytes(elementTypeOf(e, array), e.plan.wide);
}

/**
 * Emits code that pushes the largest valid index of an array. For an empty buffer it pushes 0, because an empty buffer
 * has padding that may be read.
 */
export function pushLastIndex(e: Emitter, array: ArrayRef): void {
  if (array.space === "private") e.code.i32(e.ir.privates[array.id].length - 1);
  else if (array.space === "workgroup") e.code.i32(e.ir.workgroups[array.id].length - 1);
  else {
    const length = e.bufferLength[array.id];
    e.code.get(length).i32(1).op("i32.sub").i32(0).get(length).op("select");
  }
}

/**
 * Emits code that pushes the run-time part of the address of an array's first element, and returns the constant byte
 * offset to add to it.
 */
export function pushBaseAddress(e: Emitter, array: ArrayRef): number {
  if (array.space === "buffer") {
    e.code.get(e.bufferBase[array.id]);
    return 0;
  }
  if (array.space === "workgroup") {
    e.code.get(e.scratch);
    return e.plan.workgroups[array.id];
  }
  e.code.get(e.privateBase);
  return e.plan.privates[array.id];
}

/**
 * Returns log2 of the number of bytes between consecutive indexes of an array. A private array has one set of SIMD
 * vectors for each index.
 */
export function strideShift(e: Emitter, array: ArrayRef): number {
  const bytes = array.space === "private" ? e.plan.vectors * 16 : elementSize(e, array);
  return Math.log2(bytes);
}

/**
 * Emits code that pushes the address of an array element whose index is the same for all work items, and returns the
 * constant byte offset to add to it.
 */
export function pushUniformAddress(e: Emitter, access: ArrayAccess): number {
  const shift = strideShift(e, access.array);
  if (e.guarded && !safeConstant(e, access)) {
    const fixed = pushBaseAddress(e, access.array);
    clampUnsigned(e, () => e.pushUniform(access.index), access.array);
    e.code.i32(shift).op("i32.shl").op("i32.add");
    return fixed;
  }
  const { rest, constant } = splitConstant(access.index, access.array);
  const fixed = pushBaseAddress(e, access.array);
  if (rest !== null) {
    e.pushUniform(rest);
    e.code.i32(shift).op("i32.shl").op("i32.add");
  }
  return fixed + constant * 2 ** shift;
}

/**
 * Emits code that pushes the address of the element that the first work item of a chunk accesses. Neighbouring items
 * must access neighbouring elements. Returns the constant byte offset to add to the address.
 */
export function pushContiguousAddress(e: Emitter, access: ArrayAccess): number {
  const { array } = access;
  const shift = strideShift(e, array);
  if (e.guarded) {
    const fixed = pushBaseAddress(e, array);
    clampContiguous(e, access);
    e.code.i32(shift).op("i32.shl").op("i32.add");
    return fixed;
  }
  const { rest, constant } = splitConstant(access.index, access.array);
  const fixed = pushChunkBase(e, array);
  e.pushContiguousBase(rest ?? access.index);
  e.code.i32(shift).op("i32.shl").op("i32.add");
  return fixed + (rest === null ? 0 : constant * 2 ** shift);
}

function pushChunkBase(e: Emitter, array: ArrayRef): number {
  if (array.space === "buffer") {
    e.code.get(e.bufferChunk[array.id]);
    return 0;
  }
  e.code.get(elementSize(e, array) === 8 ? e.scratch8 : e.scratch4);
  return e.plan.workgroups[array.id];
}

/**
 * Emits code that clamps the first item's index of a contiguous access. If some lane is inside the array, lane 0 is
 * less than a chunk outside it; farther indexes need not be distinguished.
 */
function clampContiguous(e: Emitter, access: ArrayAccess): void {
  const index = e.take("i32");
  const bound = e.take("i32");
  e.pushContiguousBase(access.index);
  e.code.get(e.first).op("i32.add").set(index);
  pushLastIndex(e, access.array);
  e.code.set(bound);
  e.code.get(index).get(bound).get(index).get(bound).op("i32.lt_s").op("select").set(index);
  e.code.i32(-e.plan.chunk).set(bound);
  e.code.get(index).get(bound).get(index).get(bound).op("i32.gt_s").op("select");
}

function clampUnsigned(e: Emitter, push: () => void, array: ArrayRef): void {
  const index = e.take("i32");
  const last = e.take("i32");
  push();
  e.code.set(index);
  pushLastIndex(e, array);
  e.code.set(last);
  e.code.get(index).get(last).get(index).get(last).op("i32.lt_u").op("select");
}

function safeConstant(e: Emitter, { array, index }: ArrayAccess): boolean {
  if (index.kind !== "const" || array.space === "buffer") return false;
  const length = array.space === "private" ? e.ir.privates[array.id].length : e.ir.workgroups[array.id].length;
  return Number(index.value) >= 0 && Number(index.value) < length;
}

/**
 * Splits an index into a sum, `rest` + `constant`, such that the constant can be folded into the offset of a load or
 * store instruction. `rest` is null if the whole index is constant.
 */
export function splitConstant(index: Expr, { space }: ArrayRef): { rest: Expr | null; constant: number } {
  // Below private arrays there is room, see `plan.ts`.
  const lowest = space === "private" ? -MAX_FOLDED_INDEX : 0;
  const highest = space === "buffer" ? MAX_FOLDED_BUFFER_INDEX : MAX_FOLDED_INDEX;
  const fits = (c: number): boolean => c >= lowest && c <= highest;
  if (index.kind === "const" && Number(index.value) >= lowest && Number(index.value) < 1 << 20) {
    return { rest: null, constant: Number(index.value) };
  }
  if (index.kind === "binary" && (index.op === "add" || index.op === "sub")) {
    const sign = index.op === "add" ? 1 : -1;
    if (index.b.kind === "const" && fits(sign * Number(index.b.value)))
      return { rest: index.a, constant: sign * Number(index.b.value) };
    if (sign > 0 && index.a.kind === "const" && fits(Number(index.a.value)))
      return { rest: index.b, constant: Number(index.a.value) };
  }
  return { rest: index, constant: 0 };
}
