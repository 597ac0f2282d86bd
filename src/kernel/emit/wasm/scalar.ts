/** Values that are the same for all work items, computed once as WebAssembly scalars. */
import type { Expr } from "../../ir.ts";
import { elementTypeOf, pushUniformAddress } from "./address.ts";
import type { Emitter } from "./emitter.ts";
import { valueType } from "./plan.ts";
import { pushRealRemainder } from "./remainder.ts";
import { pushIntrinsic } from "./vector-intrinsics.ts";
import { pushBinary } from "./vector.ts";

/**
 * Emits code that pushes a value that is the same for all work items. A real is an f64 or f32, any other value an i32,
 * with booleans as 0 or 1.
 */
export function pushUniform(e: Emitter, x: Expr): void {
  const prepared = e.prepared.get(x);
  if (prepared !== undefined) e.code.get(prepared);
  else emitScalar(e, x);
}

function emitScalar(e: Emitter, x: Expr): void {
  switch (x.kind) {
    case "const":
      return constant(e, x);
    case "local":
      return void e.code.get(e.scalars[x.id]);
    case "param":
      return void e.code.get(e.params[x.id]);
    case "length":
      return void e.code.get(e.bufferLength[x.array.id]);
    case "index":
      return indexValue(e, x);
    case "load":
      return load(e, x);
    case "unary":
      return unary(e, x);
    case "binary":
      return binary(e, x);
    case "compare":
      return compare(e, x);
    case "logical":
      return logical(e, x);
    case "select":
      return select(e, x, valueType(x.type, e.plan), pushUniform);
    case "convert":
      return convert(e, x);
    case "intrinsic":
      return intrinsic(e, x);
    default:
      x satisfies never;
  }
}

/**
 * Emits code that pushes the uniform part of a contiguous integer, which is one that increases by one from work item to
 * work item: its value at the first item of a chunk, minus the number of that item.
 */
export function pushContiguousBase(e: Emitter, x: Expr): void {
  const prepared = e.prepared.get(x);
  if (prepared !== undefined) e.code.get(prepared);
  else if (x.kind === "local") e.code.get(e.scalars[x.id]);
  else if (x.kind === "index") firstItem(e, x.op === "globalId");
  else if (x.kind === "convert") pushContiguousBase(e, x.a);
  else if (x.kind === "select") select(e, x, "i32", pushContiguousBase);
  else if (x.kind === "binary") {
    const leading = e.flow.variationOf(x.a) === "contiguous";
    (leading ? pushContiguousBase : pushUniform)(e, x.a);
    (leading ? pushUniform : pushContiguousBase)(e, x.b);
    e.code.op(x.op === "add" ? "i32.add" : "i32.sub");
  } else throw new Error(`internal: ${x.kind} is never contiguous`);
}

function firstItem(e: Emitter, global: boolean): void {
  if (global && e.ir.cooperative) e.code.get(e.groupId).i32(e.ir.groupSize).op("i32.mul");
  else e.code.i32(0);
}

function constant(e: Emitter, x: Expr & { kind: "const" }): void {
  if (x.type !== "real") e.code.i32(Number(x.value));
  else if (e.plan.real === "f64") e.code.f64(Number(x.value));
  else e.code.f32(Number(x.value));
}

function indexValue(e: Emitter, x: Expr & { kind: "index" }): void {
  if (x.op === "groupId") e.code.get(e.groupId);
  else if (x.op === "groupCount") e.code.get(e.groupCount);
  else throw new Error(`internal: ${x.op} is not uniform`);
}

function load(e: Emitter, x: Expr & { kind: "load" }): void {
  const at = pushUniformAddress(e, x);
  const real = elementTypeOf(e, x.array) === "real";
  e.code.memory(real ? `${e.plan.real}.load` : "i32.load", at);
}

function unary(e: Emitter, x: Expr & { kind: "unary" }): void {
  if (x.op === "neg" && x.type !== "real") e.code.i32(0);
  pushUniform(e, x.a);
  if (x.op === "not") e.code.op("i32.eqz");
  else if (x.op === "bitnot") e.code.i32(-1).op("i32.xor");
  else if (x.type === "real") e.code.op(`${e.plan.real}.neg`);
  else e.code.op("i32.sub");
}

function binary(e: Emitter, x: Expr & { kind: "binary" }): void {
  if (x.type === "real") return realBinary(e, x);
  if (x.op === "div" || x.op === "rem") return throughVector(e, x, () => pushBinary(e, x, 0));
  if (x.op === "min" || x.op === "max") return extreme(e, x);
  pushUniform(e, x.a);
  pushUniform(e, x.b);
  if (x.op === "shr") e.code.op(x.type === "i32" ? "i32.shr_s" : "i32.shr_u");
  else e.code.op(`i32.${x.op}`);
}

function realBinary(e: Emitter, x: Expr & { kind: "binary" }): void {
  if (x.op === "rem")
    return pushRealRemainder(
      e,
      () => pushUniform(e, x.a),
      () => pushUniform(e, x.b),
    );
  pushUniform(e, x.a);
  pushUniform(e, x.b);
  e.code.op(`${e.plan.real}.${x.op as "add" | "sub" | "mul" | "div" | "min" | "max"}`);
}

function extreme(e: Emitter, x: Expr & { kind: "binary" }): void {
  const a = e.take("i32");
  const b = e.take("i32");
  pushUniform(e, x.a);
  e.code.set(a);
  pushUniform(e, x.b);
  e.code.set(b);
  const sign = x.type === "u32" ? "u" : "s";
  e.code
    .get(a)
    .get(b)
    .get(a)
    .get(b)
    .op(x.op === "min" ? `i32.lt_${sign}` : `i32.gt_${sign}`)
    .op("select");
}

function compare(e: Emitter, x: Expr & { kind: "compare" }): void {
  pushUniform(e, x.a);
  pushUniform(e, x.b);
  if (x.a.type === "real") e.code.op(`${e.plan.real}.${x.op}`);
  else if (x.op === "eq" || x.op === "ne") e.code.op(`i32.${x.op}`);
  else e.code.op(`i32.${x.op}_${x.a.type === "u32" ? "u" : "s"}`);
}

function logical(e: Emitter, x: Expr & { kind: "logical" }): void {
  pushUniform(e, x.a);
  e.code.if("i32");
  if (x.op === "and") pushUniform(e, x.b);
  else e.code.i32(1);
  e.code.else();
  if (x.op === "and") e.code.i32(0);
  else pushUniform(e, x.b);
  e.code.end();
}

function select(
  e: Emitter,
  x: Expr & { kind: "select" },
  type: "f64" | "f32" | "i32" | "i64" | "v128",
  push: (e: Emitter, x: Expr) => void,
): void {
  pushUniform(e, x.condition);
  e.code.if(type);
  push(e, x.a);
  e.code.else();
  push(e, x.b);
  e.code.end();
}

function convert(e: Emitter, x: Expr & { kind: "convert" }): void {
  pushUniform(e, x.a);
  const { real } = e.plan;
  const from = x.a.type;
  if (x.type === from) return;
  if (x.type === "real") e.code.op(from === "u32" ? `${real}.convert_i32_u` : `${real}.convert_i32_s`);
  else if (x.type === "bool") nonZero(e, from === "real");
  else if (from === "real") e.code.op(x.type === "u32" ? `i32.trunc_sat_${real}_u` : `i32.trunc_sat_${real}_s`);
}

/** Emits JavaScript's truth value of a number, by which NaN is false. */
function nonZero(e: Emitter, isReal: boolean): void {
  const { real } = e.plan;
  if (!isReal) return void e.code.i32(0).op("i32.ne");
  e.code.op(`${real}.abs`);
  (real === "f64" ? e.code.f64(0) : e.code.f32(0)).op(`${real}.gt`);
}

function intrinsic(e: Emitter, x: Expr & { kind: "intrinsic" }): void {
  const [a, b] = x.args;
  const { real } = e.plan;
  if (x.op === "abs" && x.type === "real") {
    pushUniform(e, a);
    return void e.code.op(`${real}.abs`);
  }
  switch (x.op) {
    case "sqrt":
    case "floor":
    case "ceil":
    case "trunc":
    case "nearest":
      pushUniform(e, a);
      return void e.code.op(`${real}.${x.op}`);
    case "reciprocal":
      void (real === "f64" ? e.code.f64(1) : e.code.f32(1));
      pushUniform(e, a);
      return void e.code.op(`${real}.div`);
    case "copysign":
      pushUniform(e, a);
      pushUniform(e, b);
      return void e.code.op(`${real}.copysign`);
    case "clz":
    case "popcount":
      pushUniform(e, a);
      return void e.code.op(x.op === "clz" ? "i32.clz" : "i32.popcnt");
    default:
      return throughVector(e, x, () => pushIntrinsic(e, x, 0));
  }
}

/** Emits a rare operation by the code for vectors and takes lane 0. */
function throughVector(e: Emitter, x: Expr, push: () => void): void {
  push();
  if (x.type === "real") e.code.lane(`${e.simd}.extract_lane`, 0);
  else e.code.lane("i32x4.extract_lane", 0);
  if (x.type === "bool") e.code.i32(1).op("i32.and");
}
