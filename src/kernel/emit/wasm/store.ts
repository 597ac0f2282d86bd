/**
 * Stores from SIMD lanes. Under a mask, stores to private arrays blend old and new values, because no other item sees
 * them. Memory that other threads may write at the same time is stored as a whole vector only if all its lanes are
 * active, otherwise lane by lane.
 */
import type { Stmt } from "../../ir.ts";
import type { ArrayAccess } from "./address.ts";
import { elementTypeOf, pushUniformAddress } from "./address.ts";
import type { Emitter } from "./emitter.ts";
import {
  hasHalfWidth,
  isContiguousAccess,
  pushLaneAddress,
  laneBits,
  pushLaneOffsets,
  loadContiguousVector,
  pushFirstVectorAddress,
} from "./load.ts";
import { prepareSharedValues } from "./prepare.ts";
import { pushUniform } from "./scalar.ts";
import { packLowHalves } from "./vector-int.ts";
import { pushVector } from "./vector.ts";

type Store = Stmt & { readonly kind: "store" };

/** Emits WebAssembly code for a store to an array. */
export function emitStore(e: Emitter, s: Store): void {
  const { array, index, value } = s;
  const uniform = e.flow.variationOf(index) === "uniform" && e.flow.variationOf(value) === "uniform";
  if (uniform && array.space !== "private") return storeScalar(e, s);
  prepareSharedValues(e, value);
  if (isContiguousAccess(e, s)) return storeRow(e, s);
  prepareSharedValues(e, index);
  for (const j of e.each) e.scope(() => scatter(e, s, j));
}

/** Emits a store in which all items write the same value to the same element. */
function storeScalar(e: Emitter, s: Store): void {
  const fixed = pushUniformAddress(e, s);
  pushUniform(e, s.value);
  e.code.memory(elementTypeOf(e, s.array) === "real" ? `${e.plan.real}.store` : "i32.store", fixed);
}

/** The local that holds the address of a contiguous store, and the constant byte offset to add. */
interface StoreAddress {
  readonly address: number;
  readonly fixed: number;
}

/**
 * Emits code that computes the address of a contiguous store (`isContiguousAccess`). Returns the local that holds the
 * address and the constant byte offset to add to it, for `storeContiguousVector`.
 */
export function prepareContiguousStore(e: Emitter, s: Store): StoreAddress {
  const address = e.take("i32");
  const fixed = pushFirstVectorAddress(e, s);
  e.code.set(address);
  return { address, fixed };
}

function storeRow(e: Emitter, s: Store): void {
  const row = prepareContiguousStore(e, s);
  for (const j of e.each) e.scope(() => storeContiguousVector(e, s, row, j));
}

/**
 * Emits code that computes vector number `j` of the stored value and writes its active lanes to a contiguous block of
 * memory (`isContiguousAccess`).
 */
export function storeContiguousVector(e: Emitter, s: Store, { address, fixed }: StoreAddress, j: number): void {
  const { code } = e;
  if (e.mask !== null && s.array.space !== "private") return storeMasked(e, s, address, fixed, j);
  code.get(address);
  pushVector(e, s.value, j);
  if (e.mask !== null) {
    code.get(address);
    loadContiguousVector(e, s, fixed, j);
    code.get(e.mask + j).op("v128.bitselect");
  }
  storeVector(e, s, fixed, j);
}

/** Emits code that stores the vector on the stack at the address below it. */
function storeVector(e: Emitter, { array }: ArrayAccess, fixed: number, j: number): void {
  if (!hasHalfWidth(e, array)) return void e.code.memory("v128.store", fixed + j * 16);
  packLowHalves(e);
  e.code.memoryLane("v128.store64_lane", fixed + j * 8, 0);
}

function storeMasked(e: Emitter, s: Store, address: number, fixed: number, j: number): void {
  const { code } = e;
  const value = e.take("v128");
  const bits = e.take("i32");
  const { lanes } = e.plan;
  pushVector(e, s.value, j);
  code.set(value);
  pushActiveBits(e, j);
  code
    .tee(bits)
    .i32((1 << lanes) - 1)
    .op("i32.eq")
    .if();
  code.get(address).get(value);
  storeVector(e, s, fixed, j);
  code.else();
  const laneBytes = laneBits(e, s.array) / 8;
  for (let lane = 0; lane < lanes; lane++) {
    code
      .get(bits)
      .i32(1 << lane)
      .op("i32.and")
      .if();
    code.get(address).get(value);
    storeLane(e, s, fixed + (j * lanes + lane) * laneBytes, lane);
    code.end();
  }
  code.end();
}

function storeLane(e: Emitter, { array }: ArrayAccess, fixed: number, lane: number): void {
  const bits = laneBits(e, array);
  e.code.memoryLane(`v128.store${bits}_lane`, fixed, bits === 64 ? lane : e.words[lane]);
}

/** Emits code that pushes an i32 with one bit set for each active lane of vector number `j`. */
export function pushActiveBits(e: Emitter, j: number): void {
  if (e.mask === null) e.code.i32((1 << e.plan.lanes) - 1);
  else e.code.get(e.mask + j).op(e.plan.wide ? "i64x2.bitmask" : "i32x4.bitmask");
}

function scatter(e: Emitter, s: Store, j: number): void {
  const { code } = e;
  const offsets = e.take("v128");
  const value = e.take("v128");
  const bits = e.take("i32");
  const beyond = pushLaneOffsets(e, s, j);
  code.set(offsets);
  pushVector(e, s.value, j);
  code.set(value);
  if (e.mask !== null) {
    pushActiveBits(e, j);
    code.set(bits);
  }
  for (let lane = 0; lane < e.plan.lanes; lane++) {
    if (e.mask !== null)
      code
        .get(bits)
        .i32(1 << lane)
        .op("i32.and")
        .if();
    const fixed = pushLaneAddress(e, s, offsets, lane, j) + beyond;
    code.get(value);
    storeLane(e, s, fixed, lane);
    if (e.mask !== null) code.end();
  }
}
