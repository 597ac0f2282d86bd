/** Conversions between lane types. */
import type { Expr } from "../../ir.ts";
import type { Emitter } from "./emitter.ts";
import { keepLow, packLow } from "./vector-int.ts";
import { splatNumber } from "./splat.ts";

/** Emits code that pushes vector number `j` of a type conversion. */
export function convertVector(e: Emitter, x: Expr & { kind: "convert" }, j: number): void {
  e.vector(x.a, j);
  const from = x.a.type;
  if (x.type === from) return;
  if (from === "bool") {
    splatNumber(e, x.type, 1);
    e.code.op("v128.and");
  } else if (x.type === "bool") nonZero(e, from === "real");
  else if (x.type === "real") toReal(e, from === "u32" ? "u" : "s");
  else if (from === "real") toInteger(e, x.type === "u32" ? "u" : "s");
}

function toReal(e: Emitter, sign: "s" | "u"): void {
  if (!e.plan.wide) return void e.code.op(`f32x4.convert_i32x4_${sign}`);
  packLow(e);
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
    splatNumber(e, "real", 0);
    return void e.code.op(`${e.simd}.gt`);
  }
  e.code.v128([0, 0, 0, 0]).op("i32x4.ne");
  keepLow(e);
}
