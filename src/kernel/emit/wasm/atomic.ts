/** Atomic operations. They are executed lane by lane, in the order of the work items. */
import type { Stmt } from "../../ir.ts";
import { elementTypeOf } from "./address.ts";
import type { Emitter } from "./emitter.ts";
import { pushLaneAddress, pushLaneOffsets } from "./load.ts";
import { popToLocal } from "./masks.ts";
import { prepareSharedValues } from "./prepare.ts";
import { pushActiveBits } from "./store.ts";
import { pushVector } from "./vector.ts";

type Atomic = Stmt & { readonly kind: "atomic" };

/** Emits an atomic operation for each active SIMD lane. */
export function emitAtomic(e: Emitter, s: Atomic): void {
  for (const x of [s.index, s.value, s.expected]) if (x !== null) prepareSharedValues(e, x);
  for (const j of e.each) e.scope(() => atomicVector(e, s, j));
}

interface Operands {
  readonly address: number; // i32
  readonly fixed: number;
  readonly value: () => void;
  readonly expected: () => void;
}

function atomicVector(e: Emitter, s: Atomic, j: number): void {
  const { code } = e;
  const [offsets, value, expected, old] = [e.take("v128"), e.take("v128"), e.take("v128"), e.take("v128")];
  const [bits, address] = [e.take("i32"), e.take("i32")];
  const beyond = pushLaneOffsets(e, s, j);
  code.set(offsets);
  for (const [x, local] of [
    [s.value, value],
    [s.expected, expected],
  ] as const) {
    if (x === null) continue;
    pushVector(e, x, j);
    code.set(local);
  }
  pushActiveBits(e, j);
  code.set(bits);
  e.words.forEach((word, lane) => {
    code
      .get(bits)
      .i32(1 << lane)
      .op("i32.and")
      .if();
    const fixed = pushLaneAddress(e, s, offsets, lane, j) + beyond;
    code.set(address);
    const pick = (v: number) => () => void code.get(v).lane("i32x4.extract_lane", word);
    if (s.op === "store") atomicStore(e, s, { address, fixed, value: pick(value), expected: pick(expected) });
    else {
      code.get(old);
      readModifyWrite(e, s, { address, fixed, value: pick(value), expected: pick(expected) });
      code.lane("i32x4.replace_lane", word).set(old);
    }
    code.end();
  });
  if (s.result !== null) {
    code.get(old);
    popToLocal(e, s.result, j);
  }
}

/**
 * Tells whether plain instructions suffice for an atomic operation. They do if memory is not shared between threads, or
 * if the array is not a buffer, because one thread runs a whole workgroup.
 */
function plain(e: Emitter, s: Atomic): boolean {
  return s.array.space !== "buffer" || !e.sharedMemory;
}

function atomicStore(e: Emitter, s: Atomic, o: Operands): void {
  e.code.get(o.address);
  o.value();
  e.code.memory(plain(e, s) ? "i32.store" : "i32.atomic.store", o.fixed);
}

/** Emits the operation and pushes the old value. */
function readModifyWrite(e: Emitter, s: Atomic, o: Operands): void {
  if (plain(e, s)) return plainly(e, s, o);
  const { code } = e;
  switch (s.op) {
    case "load":
      return void code.get(o.address).memory("i32.atomic.load", o.fixed);
    case "min":
    case "max":
      return exchangeUntilStable(e, s, o);
    case "compareExchange":
      code.get(o.address);
      o.expected();
      o.value();
      return void code.memory("i32.atomic.rmw.cmpxchg", o.fixed);
    default:
      code.get(o.address);
      o.value();
      code.memory(`i32.atomic.rmw.${s.op === "exchange" ? "xchg" : (s.op as "add" | "and" | "or" | "xor")}`, o.fixed);
  }
}

/** Emits an atomic minimum or maximum, which WebAssembly lacks, as a loop of compare-exchange operations. */
function exchangeUntilStable(e: Emitter, s: Atomic, o: Operands): void {
  const { code } = e;
  const seen = e.take("i32");
  const found = e.take("i32");
  code.get(o.address).memory("i32.atomic.load", o.fixed).set(found);
  const again = code.loop();
  code.get(found).set(seen);
  code.get(o.address).get(seen);
  combined(e, s, seen, o);
  code.memory("i32.atomic.rmw.cmpxchg", o.fixed).tee(found).get(seen).op("i32.ne").brIf(again);
  code.end();
  code.get(found);
}

function plainly(e: Emitter, s: Atomic, o: Operands): void {
  const { code } = e;
  const old = e.take("i32");
  code.get(o.address).memory("i32.load", o.fixed).set(old);
  if (s.op !== "load") {
    code.get(o.address);
    combined(e, s, old, o);
    code.memory("i32.store", o.fixed);
  }
  code.get(old);
}

/** Emits code that pushes the new value for the old value `old`. */
function combined(e: Emitter, s: Atomic, old: number, o: Operands): void {
  const { code } = e;
  if (s.op === "exchange") return o.value();
  if (s.op === "compareExchange") {
    o.value();
    code.get(old).get(old);
    o.expected();
    return void code.op("i32.eq").op("select");
  }
  if (s.op === "min" || s.op === "max") {
    const sign = elementTypeOf(e, s.array) === "u32" ? "u" : "s";
    code.get(old);
    o.value();
    code.get(old);
    o.value();
    return void code.op(s.op === "min" ? `i32.lt_${sign}` : `i32.gt_${sign}`).op("select");
  }
  code.get(old);
  o.value();
  code.op(`i32.${s.op as "add" | "and" | "or" | "xor"}`);
}
