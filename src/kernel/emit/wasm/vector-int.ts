/** Integers in SIMD lanes. Arithmetic is on 32 bits; in 64-bit lanes it is on the low halves. */
import type { Expr } from "../../ir.ts";
import type { Emitter } from "./emitter.ts";

/**
 * Emits code that copies the low half of each 64-bit lane to its high half. This turns the result of a 32-bit
 * comparison into a mask of 64-bit lanes.
 */
export function spreadLowHalves(e: Emitter): void {
  if (!e.plan.wide) return;
  e.scope(() => {
    const mask = e.take("v128");
    e.code.tee(mask).get(mask).shuffleWords([0, 0, 2, 2]);
  });
}

/** Emits code that moves the low halves of the two 64-bit lanes to the first two 32-bit lanes. */
export function packLowHalves(e: Emitter): void {
  e.scope(() => {
    const v = e.take("v128");
    e.code.tee(v).get(v).shuffleWords([0, 2, 0, 2]);
  });
}

/** Emits code that pushes vector number `j` of a binary operation on integers. */
export function pushIntBinary(e: Emitter, x: Expr & { kind: "binary" }, j: number): void {
  if (x.op === "shl" || x.op === "shr") return shift(e, x, j);
  e.pushVector(x.a, j);
  e.pushVector(x.b, j);
  const sign = x.type === "u32" ? "u" : "s";
  if (x.op === "and" || x.op === "or" || x.op === "xor") e.code.op(`v128.${x.op}`);
  else if (x.op === "min" || x.op === "max") e.code.op(`i32x4.${x.op}_${sign}`);
  else e.code.op(`i32x4.${x.op as "add" | "sub" | "mul"}`);
}

function shift(e: Emitter, x: Expr & { kind: "binary" }, j: number): void {
  const name = x.op === "shl" ? "shl" : x.type === "u32" ? "shr_u" : "shr_s";
  if (e.flow.variationOf(x.b) === "uniform") {
    e.pushVector(x.a, j);
    e.pushUniform(x.b);
    return void e.code.op(`i32x4.${name}`);
  }
  const count = e.take("v128");
  e.pushVector(x.b, j);
  e.code.set(count);
  e.pushVector(x.a, j);
  changeEachWord(e, (word) => e.code.get(count).lane("i32x4.extract_lane", word).op(`i32.${name}`));
}

/**
 * Emits code that changes each 32-bit integer of the vector on the stack separately, for operations without a vector
 * instruction. `change` emits the code for one integer, given the number of its 32-bit lane.
 */
export function changeEachWord(e: Emitter, change: (word: number) => void): void {
  e.scope(() => {
    const v = e.take("v128");
    e.code.set(v);
    for (const word of e.words) {
      e.code.get(v).get(v).lane("i32x4.extract_lane", word);
      change(word);
      e.code.lane("i32x4.replace_lane", word).set(v);
    }
    e.code.get(v);
  });
}

/**
 * Emits code that pushes vector number `j` of an integer division or remainder. The quotient is computed in f64;
 * truncated, the f64 quotient of two 32-bit integers is exact. Signed division divides the magnitudes, so that INT_MIN
 * / −1 wraps. A divisor of 0 gives 0.
 */
export function pushIntDivision(e: Emitter, x: Expr & { kind: "binary" }, j: number): void {
  const a = e.take("v128");
  const b = e.take("v128");
  e.pushVector(x.a, j);
  e.code.set(a);
  e.pushVector(x.b, j);
  e.code.set(b);
  const signed = x.type === "i32";
  quotient(e, a, b, signed);
  if (signed) applySign(e, a, b);
  if (x.op === "rem") {
    const q = e.take("v128");
    e.code.set(q).get(a).get(q).get(b).op("i32x4.mul").op("i32x4.sub");
  }
  e.code.get(b).v128([0, 0, 0, 0]).op("i32x4.eq").op("v128.andnot");
}

function quotient(e: Emitter, a: number, b: number, signed: boolean): void {
  if (e.plan.wide) {
    halfQuotient(e, a, b, [0, 2, 0, 2], signed);
    return void e.code.op("i64x2.extend_low_i32x4_s");
  }
  halfQuotient(e, a, b, [0, 1, 0, 1], signed);
  halfQuotient(e, a, b, [2, 3, 2, 3], signed);
  e.code.shuffleWords([0, 1, 4, 5]);
}

function halfQuotient(
  e: Emitter,
  a: number,
  b: number,
  words: [number, number, number, number],
  signed: boolean,
): void {
  for (const v of [a, b]) {
    e.code.get(v).get(v).shuffleWords(words);
    if (signed) e.code.op("i32x4.abs");
    e.code.op("f64x2.convert_low_i32x4_u");
  }
  e.code.op("f64x2.div").op("i32x4.trunc_sat_f64x2_u_zero");
}

/** Emits (q ^ s) − s, where s is −1 in lanes whose operands differ in sign. */
function applySign(e: Emitter, a: number, b: number): void {
  e.scope(() => {
    const sign = e.take("v128");
    e.code.get(a).get(b).op("v128.xor").i32(31).op("i32x4.shr_s").tee(sign).op("v128.xor").get(sign).op("i32x4.sub");
  });
}

/**
 * Emits code that pushes the upper 32 bits of the 64-bit products of two vectors of 32-bit integers. `pushA` and
 * `pushB` emit the operands.
 */
export function pushMulHigh(e: Emitter, pushA: () => void, pushB: () => void): void {
  const a = e.take("v128");
  const b = e.take("v128");
  pushA();
  e.code.set(a);
  pushB();
  e.code.set(b);
  if (e.plan.wide) {
    for (const v of [a, b]) e.code.get(v).get(v).shuffleWords([0, 2, 0, 2]);
    return void e.code.op("i64x2.extmul_low_i32x4_u").i32(32).op("i64x2.shr_u");
  }
  e.code.get(a).get(b).op("i64x2.extmul_low_i32x4_u");
  e.code.get(a).get(b).op("i64x2.extmul_high_i32x4_u");
  e.code.shuffleWords([1, 3, 5, 7]);
}
