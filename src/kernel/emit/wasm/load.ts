/**
 * Loads into SIMD lanes. If neighbouring items load neighbouring elements, whole vectors are loaded, otherwise lane by
 * lane.
 */
import type { Expr } from "../../ir.ts";
import type { ArrayAccess } from "./address.ts";
import {
  pushContiguousAddress,
  elementSize,
  pushBaseAddress,
  pushLastIndex,
  splitConstant,
  strideShift,
  pushUniformAddress,
} from "./address.ts";
import type { Emitter } from "./emitter.ts";

type Load = Expr & { readonly kind: "load" };

/**
 * Tells whether the lanes of a SIMD vector access one contiguous block of memory. `prepareSharedValues` then computes
 * the address of the block once for all vectors of a chunk.
 */
export function isContiguousAccess(e: Emitter, { array, index }: ArrayAccess): boolean {
  const shape = e.flow.variationOf(index);
  return array.space === "private" ? shape === "uniform" : shape === "contiguous";
}

/**
 * Emits code that pushes the address of the first vector of a contiguous access (`isContiguousAccess`), and returns the
 * constant byte offset to add to it.
 */
export function pushFirstVectorAddress(e: Emitter, access: ArrayAccess): number {
  return access.array.space === "private" ? pushUniformAddress(e, access) : pushContiguousAddress(e, access);
}

/** Emits code that loads array elements into SIMD vector number `j` of a chunk and pushes the vector. */
export function loadVector(e: Emitter, x: Load, j: number): void {
  if (!isContiguousAccess(e, x)) return gather(e, x, j);
  const address = e.prepared.get(x);
  if (address === undefined) return loadContiguousVector(e, x, pushFirstVectorAddress(e, x), j);
  e.code.get(address);
  loadContiguousVector(e, x, e.fixedOffsets.get(x) ?? 0, j);
}

/**
 * Emits code that pops the address of a contiguous access (`isContiguousAccess`) and pushes its vector number `j`.
 * `fixed` is the constant byte offset from `pushFirstVectorAddress`.
 */
export function loadContiguousVector(e: Emitter, { array }: ArrayAccess, fixed: number, j: number): void {
  if (hasHalfWidth(e, array)) e.code.memory("v128.load32x2_s", fixed + j * 8);
  else e.code.memory("v128.load", fixed + j * 16);
}

/**
 * Tells whether an array's elements have half the width of a SIMD lane. Integers outside private arrays have four
 * bytes, which is half a 64-bit lane.
 */
export function hasHalfWidth(e: Emitter, array: ArrayAccess["array"]): boolean {
  return e.plan.wide && array.space !== "private" && elementSize(e, array) === 4;
}

function gather(e: Emitter, x: Load, j: number): void {
  const offsets = e.take("v128");
  const beyond = pushLaneOffsets(e, x, j);
  e.code.set(offsets);
  const result = e.take("v128");
  const bits = laneBits(e, x.array);
  for (let lane = 0; lane < e.plan.lanes; lane++) {
    const word = e.words[lane];
    const fixed = pushLaneAddress(e, x, offsets, lane, j) + beyond;
    if (lane === 0) e.code.memory(`v128.load${bits}_zero`, fixed);
    else e.code.get(result).memoryLane(`v128.load${bits}_lane`, fixed, bits === 64 ? lane : word);
    e.code.set(result);
  }
  e.code.get(result);
}

/** Returns the width in bits of the lane operations that load or store an array's elements. */
export function laneBits(e: Emitter, array: ArrayAccess["array"]): 32 | 64 {
  return e.plan.wide && !hasHalfWidth(e, array) ? 64 : 32;
}

/**
 * Emits code that pushes a vector with the byte offsets of the elements that the lanes of vector number `j` access.
 * Returns a constant offset to add to all of them. In inactive lanes the offsets are clamped to the array. Accesses
 * that differ only in the constant share their addresses.
 */
export function pushLaneOffsets(e: Emitter, { array, index }: ArrayAccess, j: number): number {
  const shift = strideShift(e, array);
  const mayLeave = e.guarded || e.mask !== null;
  const { rest, constant } = mayLeave ? { rest: index, constant: 0 } : splitConstant(index, array);
  e.pushVector(rest ?? index, j);
  if (mayLeave) {
    pushLastIndex(e, array);
    e.code.op("i32x4.splat").op("i32x4.min_u");
  }
  e.code.i32(shift).op("i32x4.shl");
  return rest === null ? 0 : constant * 2 ** shift;
}

/**
 * Emits code that pushes the address of the element that one lane of vector number `j` accesses, and returns the
 * constant byte offset to add to it. `offsets` is the local that holds the vector from `pushLaneOffsets`.
 */
export function pushLaneAddress(e: Emitter, { array }: ArrayAccess, offsets: number, lane: number, j: number): number {
  const fixed = pushBaseAddress(e, array);
  e.code.get(offsets).lane("i32x4.extract_lane", e.words[lane]).op("i32.add");
  if (array.space !== "private") return fixed;
  return fixed + j * 16 + lane * (16 / e.plan.lanes);
}
