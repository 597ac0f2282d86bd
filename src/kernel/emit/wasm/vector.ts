/** Values that vary between work items, computed as SIMD vectors of a chunk. Booleans are masks over whole lanes. */
import type { Expr } from "../../ir.ts";
import { someExpr } from "../../visit.ts";
import type { Emitter } from "./emitter.ts";
import { loadVector } from "./load.ts";
import { pushRealRemainder } from "./remainder.ts";
import { pushIntDivision, pushIntBinary, spreadLowHalves, packLowHalves } from "./vector-int.ts";
import { pushIntrinsic } from "./vector-intrinsics.ts";
import { pushSplat } from "./splat.ts";

/** Emits code that pushes vector number `j` of a type conversion. */
function convertVector(e: Emitter, x: Expr & { kind: "convert" }, j: number): void {
  e.pushVector(x.a, j);
  const from = x.a.type;
  if (x.type === from) return;
  if (from === "bool") {
    pushSplat(e, x.type, 1);
    e.code.op("v128.and");
  } else if (x.type === "bool") nonZero(e, from === "real");
  else if (x.type === "real") toReal(e, from === "u32" ? "u" : "s");
  else if (from === "real") toInteger(e, x.type === "u32" ? "u" : "s");
}

function toReal(e: Emitter, sign: "s" | "u"): void {
  if (!e.plan.wide) return void e.code.op(`f32x4.convert_i32x4_${sign}`);
  packLowHalves(e);
  e.code.op(`f64x2.convert_low_i32x4_${sign}`);
}

function toInteger(e: Emitter, sign: "s" | "u"): void {
  if (!e.plan.wide) return void e.code.op(`i32x4.trunc_sat_f32x4_${sign}`);
  e.code.op(`i32x4.trunc_sat_f64x2_${sign}_zero`).op("i64x2.extend_low_i32x4_s");
}

/** Emits JavaScript's truth value of numbers, by which NaN is false. */
function nonZero(e: Emitter, isReal: boolean): void {
  if (isReal) {
    e.code.op(`${e.simd}.abs`);
    pushSplat(e, "real", 0);
    return void e.code.op(`${e.simd}.gt`);
  }
  e.code.v128([0, 0, 0, 0]).op("i32x4.ne");
  spreadLowHalves(e);
}

/**
 * Emits code that pushes SIMD vector number `j` of an expression's value. In 64-bit lanes, the upper halves of integers
 * are unspecified.
 */
export function pushVector(e: Emitter, x: Expr, j: number): void {
  const shape = e.flow.variationOf(x);
  if (shape === "uniform") return splat(e, x);
  if (shape === "contiguous") return ramp(e, x, j);
  switch (x.kind) {
    case "local":
      return void e.code.get(e.vectors[x.id] + j);
    case "load":
      return loadVector(e, x, j);
    case "unary":
      return unary(e, x, j);
    case "binary":
      return pushBinary(e, x, j);
    case "compare":
      return compare(e, x, j);
    case "logical":
      return logical(e, x, j);
    case "select":
      return select(e, x, j);
    case "convert":
      return convertVector(e, x, j);
    case "intrinsic":
      return pushIntrinsic(e, x, j);
    default:
      throw new Error(`internal: ${x.kind} never varies`);
  }
}

function splat(e: Emitter, x: Expr): void {
  if (x.kind === "const" && x.type !== "real") {
    const word = x.type === "bool" ? -Number(x.value) : Number(x.value);
    return void e.code.v128([word, word, word, word]);
  }
  if (x.type === "bool") e.code.i32(0);
  e.pushUniform(x);
  if (x.type === "bool") e.code.op("i32.sub");
  e.code.op(x.type === "real" ? `${e.simd}.splat` : "i32x4.splat");
}

/** Emits a vector of a number that is the same for all items plus the items' numbers. */
function ramp(e: Emitter, x: Expr, j: number): void {
  e.pushContiguousBase(x);
  e.code.get(e.first).op("i32.add").op("i32x4.splat");
  pushItemNumbers(e, j);
  e.code.op("i32x4.add");
}

/** Emits code that pushes a vector with the numbers, within the chunk, of the work items in vector number `j`. */
export function pushItemNumbers(e: Emitter, j: number): void {
  const at = j * e.plan.lanes;
  e.code.v128(e.plan.wide ? [at, 0, at + 1, 0] : [at, at + 1, at + 2, at + 3]);
}

function unary(e: Emitter, x: Expr & { kind: "unary" }, j: number): void {
  pushVector(e, x.a, j);
  if (x.op !== "neg") e.code.op("v128.not");
  else e.code.op(x.type === "real" ? `${e.simd}.neg` : "i32x4.neg");
}

/** Emits code that pushes vector number `j` of a binary operation. */
export function pushBinary(e: Emitter, x: Expr & { kind: "binary" }, j: number): void {
  if (x.type !== "real") return x.op === "div" || x.op === "rem" ? pushIntDivision(e, x, j) : pushIntBinary(e, x, j);
  if (x.op === "rem") return remainder(e, x, j);
  pushVector(e, x.a, j);
  pushVector(e, x.b, j);
  const op = x.op as "add" | "sub" | "mul" | "div" | "min" | "max";
  // One instruction on every machine; the IR leaves NaN and signed zeros open.
  if (op === "min" || op === "max") e.code.op(`${e.simd}.p${op}`);
  else e.code.op(`${e.simd}.${op}`);
}

/** Emits an exact remainder lane by lane, because it needs a loop. */
function remainder(e: Emitter, x: Expr & { kind: "binary" }, j: number): void {
  const a = e.take("v128");
  const b = e.take("v128");
  pushVector(e, x.a, j);
  e.code.set(a);
  pushVector(e, x.b, j);
  e.code.set(b);
  e.code.get(a);
  for (let lane = 0; lane < e.plan.lanes; lane++) {
    const pick = (v: number) => () => void e.code.get(v).lane(`${e.simd}.extract_lane`, lane);
    pushRealRemainder(e, pick(a), pick(b));
    e.code.lane(`${e.simd}.replace_lane`, lane);
  }
}

function compare(e: Emitter, x: Expr & { kind: "compare" }, j: number): void {
  pushVector(e, x.a, j);
  pushVector(e, x.b, j);
  if (x.a.type === "real") e.code.op(`${e.simd}.${x.op}`);
  else if (x.a.type === "bool") {
    e.code.op("v128.xor");
    if (x.op === "eq") e.code.op("v128.not");
  } else {
    if (x.op === "eq" || x.op === "ne") e.code.op(`i32x4.${x.op}`);
    else e.code.op(`i32x4.${x.op}_${x.a.type === "u32" ? "u" : "s"}`);
    spreadLowHalves(e);
  }
}

/**
 * Emits a logical operation. Both operands are evaluated. Lanes that would not evaluate the second one have their loads
 * clamped to the arrays.
 */
function logical(e: Emitter, x: Expr & { kind: "logical" }, j: number): void {
  pushVector(e, x.a, j);
  e.withGuard(() => pushVector(e, x.b, j));
  e.code.op(`v128.${x.op}`);
}

function select(e: Emitter, x: Expr & { kind: "select" }, j: number): void {
  if (e.flow.variationOf(x.condition) === "uniform" && (loads(x.a) || loads(x.b))) return branch(e, x, j);
  e.withGuard(() => {
    pushVector(e, x.a, j);
    pushVector(e, x.b, j);
  });
  pushVector(e, x.condition, j);
  e.code.op("v128.bitselect");
}

function branch(e: Emitter, x: Expr & { kind: "select" }, j: number): void {
  e.pushUniform(x.condition);
  e.code.if("v128");
  e.withGuard(() => pushVector(e, x.a, j));
  e.code.else();
  e.withGuard(() => pushVector(e, x.b, j));
  e.code.end();
}

function loads(x: Expr): boolean {
  return someExpr(x, (y) => y.kind === "load");
}
