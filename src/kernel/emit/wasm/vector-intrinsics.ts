/**
 * The IR's intrinsic functions on vectors. Functions of the bits of a real work directly on the fields of the IEEE
 * format.
 */
import type { Expr } from "../../ir.ts";
import type { Emitter } from "./emitter.ts";
import { LDEXP_F32, LDEXP_F64 } from "./helpers.ts";
import { changeEachWord, pushMulHigh } from "./vector-int.ts";
import { pushSplat } from "./splat.ts";

type Intrinsic = Expr & { readonly kind: "intrinsic" };
type Words = readonly [number, number, number, number];

/** The bit fields of f64 and f32, as 32-bit lanes of a vector. */
interface Format {
  readonly simd: "f64x2" | "f32x4";
  readonly int: "i64x2" | "i32x4";
  readonly bits: number; // below the exponent
  readonly bias: number;
  readonly exponentMask: number;
  readonly magnitude: Words;
  readonly keepFraction: Words; // sign and fraction
  readonly one: Words;
  readonly head: Words;
}

const F64: Format = {
  simd: "f64x2",
  int: "i64x2",
  bits: 52,
  bias: 1023,
  exponentMask: 0x7ff,
  magnitude: [-1, 0x7fffffff, -1, 0x7fffffff],
  keepFraction: [-1, 0x800fffff, -1, 0x800fffff],
  one: [0, 0x3ff00000, 0, 0x3ff00000],
  head: [0xf8000000, -1, 0xf8000000, -1],
};

const F32: Format = {
  simd: "f32x4",
  int: "i32x4",
  bits: 23,
  bias: 127,
  exponentMask: 0xff,
  magnitude: [0x7fffffff, 0x7fffffff, 0x7fffffff, 0x7fffffff],
  keepFraction: [0x807fffff, 0x807fffff, 0x807fffff, 0x807fffff],
  one: [0x3f800000, 0x3f800000, 0x3f800000, 0x3f800000],
  head: [0xfffff000, 0xfffff000, 0xfffff000, 0xfffff000],
};

/** Emits code that pushes vector number `j` of an intrinsic function. */
export function pushIntrinsic(e: Emitter, x: Intrinsic, j: number): void {
  const ready = e.preparedVectors.get(x);
  if (ready !== undefined) return void e.code.get(ready + j);
  const format = formatOf(e);
  const push = (i: number) => () => e.pushVector(x.args[i], j);
  if (x.op === "copysign") {
    push(0)();
    push(1)();
    return void e.code.v128(format.magnitude).op("v128.bitselect");
  }
  if (x.op === "reciprocal") {
    pushSplat(e, "real", 1);
    push(0)();
    return void e.code.op(`${format.simd}.div`);
  }
  if (x.op === "mulHigh") return pushMulHigh(e, push(0), push(1));
  if (x.op === "ldexp") return ldexpVector(e, x, j);
  push(0)();
  onOperand(e, x, format);
}

/** Emits intrinsics that work on the vector on the stack. */
function onOperand(e: Emitter, x: Intrinsic, format: Format): void {
  const { code } = e;
  switch (x.op) {
    case "sqrt":
    case "floor":
    case "ceil":
    case "trunc":
    case "nearest":
      return void code.op(`${format.simd}.${x.op}`);
    case "abs":
      return void code.op(x.type === "real" ? `${format.simd}.abs` : "i32x4.abs");
    case "positivePart":
      pushSplat(e, "real", 0);
      return void code.op(`${format.simd}.pmax`);
    case "isNaN":
      return isNaN(e, format);
    case "isFinite":
      code.op(`${format.simd}.abs`);
      pushSplat(e, "real", Infinity);
      return void code.op(`${format.simd}.lt`);
    case "exponent": {
      const { exponentMask: m, bias } = format;
      code.i32(format.bits).op(`${format.int}.shr_u`).v128([m, m, m, m]).op("v128.and");
      return void code.v128([bias, bias, bias, bias]).op("i32x4.sub");
    }
    case "significand":
      return void code.v128(format.keepFraction).op("v128.and").v128(format.one).op("v128.or");
    case "headBits":
      return void code.v128(format.head).op("v128.and");
    case "clz":
      return changeEachWord(e, () => code.op("i32.clz"));
    case "popcount":
      return void code.op("i8x16.popcnt").op("i16x8.extadd_pairwise_i8x16_u").op("i32x4.extadd_pairwise_i16x8_u");
    default:
      throw new Error(`internal: intrinsic ${x.op}`);
  }
}

function isNaN(e: Emitter, format: Format): void {
  e.scope(() => {
    const v = e.take("v128");
    e.code.tee(v).get(v).op(`${format.simd}.ne`);
  });
}

/** Emits x·2ⁿ for one vector. */
function ldexpVector(e: Emitter, x: Intrinsic, j: number): void {
  const value = e.take("v128");
  const exponent = e.take("v128");
  ldexpOperands(e, x, j, value, exponent);
  scaleOrHelp(e, [[value, exponent]]);
  e.code.get(value);
}

/**
 * Emits code that computes x·2ⁿ for all SIMD vectors of a chunk, with one branch for rare cases; one branch for each
 * vector made exp 40 % slower. Returns the first of the locals that hold the results, which `takeVectors` allocated.
 */
export function emitLdexp(e: Emitter, x: Intrinsic): number {
  const values = e.takeVectors();
  const exponents = e.takeVectors();
  for (const j of e.each) e.scope(() => ldexpOperands(e, x, j, values + j, exponents + j));
  scaleOrHelp(
    e,
    e.each.map((j) => [values + j, exponents + j]),
  );
  e.giveVectors(exponents);
  return values;
}

function ldexpOperands(e: Emitter, x: Intrinsic, j: number, value: number, exponent: number): void {
  e.pushVector(x.args[0], j);
  e.code.set(value);
  e.pushVector(x.args[1], j);
  e.code.set(exponent);
}

type Operands = readonly (readonly [value: number, exponent: number])[];

/**
 * Emits one multiplication for each vector if 2ⁿ is a normal number in every lane, otherwise a call of the helper
 * function.
 */
function scaleOrHelp(e: Emitter, operands: Operands): void {
  const { code } = e;
  const { simd, int, bits, bias } = formatOf(e);
  outOfRange(e, operands);
  code.if();
  for (const [value, exponent] of operands)
    code
      .get(value)
      .get(exponent)
      .call(e.helper(e.plan.wide ? LDEXP_F64 : LDEXP_F32))
      .set(value);
  code.else();
  for (const [value, exponent] of operands) {
    code.get(value).get(exponent).v128([bias, bias, bias, bias]).op("i32x4.add").i32(bits).op(`${int}.shl`);
    code.op(`${simd}.mul`).set(value);
  }
  code.end();
}

/**
 * Emits code that pushes whether |n| ≥ bias in some lane. |n| is compared as an unsigned number, so that the smallest
 * integer counts too.
 */
function outOfRange(e: Emitter, operands: Operands): void {
  const { code } = e;
  operands.forEach(([, exponent], i) => {
    code.get(exponent).op("i32x4.abs");
    if (i > 0) code.op("i32x4.max_u");
  });
  // Words that belong to no lane may hold anything.
  if (e.plan.wide) code.v128([-1, 0, -1, 0]).op("v128.and");
  const most = formatOf(e).bias - 1;
  code.v128([most, most, most, most]).op("i32x4.gt_u").op("v128.any_true");
}

function formatOf(e: Emitter): Format {
  return e.plan.wide ? F64 : F32;
}
