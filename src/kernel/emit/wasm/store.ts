/**
 * Stores from SIMD lanes. Under a mask, stores to private arrays blend old and new values, because no other item sees
 * them. Memory that other threads may write at the same time is stored as a whole vector only if all its lanes are
 * active, otherwise lane by lane.
 */
import type { Stmt } from "../../ir.ts";
import type { Access } from "./address.ts";
import { elementOf, uniformAddress } from "./address.ts";
import type { Emitter } from "./emitter.ts";
import { halfWidth, isRow, laneAddress, laneBits, laneOffsets, loadRow, rowAddress } from "./load.ts";
import { prepare } from "./prepare.ts";
import { scalar } from "./scalar.ts";
import { packLow } from "./vector-int.ts";
import { vector } from "./vector.ts";

type Store = Stmt & { readonly kind: "store" };

/** Emits WebAssembly code for a store to an array. */
export function emitStore(e: Emitter, s: Store): void {
  const { array, index, value } = s;
  const uniform = e.flow.shape(index) === "uniform" && e.flow.shape(value) === "uniform";
  if (uniform && array.space !== "private") return storeScalar(e, s);
  prepare(e, value);
  if (isRow(e, s)) return storeRow(e, s);
  prepare(e, index);
  for (const j of e.each) e.scope(() => scatter(e, s, j));
}

/** Emits a store in which all items write the same value to the same element. */
function storeScalar(e: Emitter, s: Store): void {
  const fixed = uniformAddress(e, s);
  scalar(e, s.value);
  e.code.memory(elementOf(e, s.array) === "real" ? `${e.plan.real}.store` : "i32.store", fixed);
}

/** The local that holds the address of a contiguous store, and the constant byte offset to add. */
interface Row {
  readonly address: number;
  readonly fixed: number;
}

/**
 * Emits code that computes the address of a contiguous store (`isRow`). Returns the local that holds the address and
 * the constant byte offset to add to it, for `storeRowVector`.
 */
export function prepareRow(e: Emitter, s: Store): Row {
  const address = e.take("i32");
  const fixed = rowAddress(e, s);
  e.code.set(address);
  return { address, fixed };
}

function storeRow(e: Emitter, s: Store): void {
  const row = prepareRow(e, s);
  for (const j of e.each) e.scope(() => storeRowVector(e, s, row, j));
}

/**
 * Emits code that computes vector number `j` of the stored value and writes its active lanes to a contiguous block of
 * memory (`isRow`).
 */
export function storeRowVector(e: Emitter, s: Store, { address, fixed }: Row, j: number): void {
  const { code } = e;
  if (e.mask !== null && s.array.space !== "private") return storeMasked(e, s, address, fixed, j);
  code.get(address);
  vector(e, s.value, j);
  if (e.mask !== null) {
    code.get(address);
    loadRow(e, s, fixed, j);
    code.get(e.mask + j).op("v128.bitselect");
  }
  storeVector(e, s, fixed, j);
}

/** Emits code that stores the vector on the stack at the address below it. */
function storeVector(e: Emitter, { array }: Access, fixed: number, j: number): void {
  if (!halfWidth(e, array)) return void e.code.memory("v128.store", fixed + j * 16);
  packLow(e);
  e.code.memoryLane("v128.store64_lane", fixed + j * 8, 0);
}

function storeMasked(e: Emitter, s: Store, address: number, fixed: number, j: number): void {
  const { code } = e;
  const value = e.take("v128");
  const bits = e.take("i32");
  const { lanes } = e.plan;
  vector(e, s.value, j);
  code.set(value);
  activeBits(e, j);
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

function storeLane(e: Emitter, { array }: Access, fixed: number, lane: number): void {
  const bits = laneBits(e, array);
  e.code.memoryLane(`v128.store${bits}_lane`, fixed, bits === 64 ? lane : e.words[lane]);
}

/** Emits code that pushes an i32 with one bit set for each active lane of vector number `j`. */
export function activeBits(e: Emitter, j: number): void {
  if (e.mask === null) e.code.i32((1 << e.plan.lanes) - 1);
  else e.code.get(e.mask + j).op(e.plan.wide ? "i64x2.bitmask" : "i32x4.bitmask");
}

function scatter(e: Emitter, s: Store, j: number): void {
  const { code } = e;
  const offsets = e.take("v128");
  const value = e.take("v128");
  const bits = e.take("i32");
  const beyond = laneOffsets(e, s, j);
  code.set(offsets);
  vector(e, s.value, j);
  code.set(value);
  if (e.mask !== null) {
    activeBits(e, j);
    code.set(bits);
  }
  for (let lane = 0; lane < e.plan.lanes; lane++) {
    if (e.mask !== null)
      code
        .get(bits)
        .i32(1 << lane)
        .op("i32.and")
        .if();
    const fixed = laneAddress(e, s, offsets, lane, j) + beyond;
    code.get(value);
    storeLane(e, s, fixed, lane);
    if (e.mask !== null) code.end();
  }
}
