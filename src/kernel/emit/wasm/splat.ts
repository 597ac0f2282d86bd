/** Vectors with the same constant in every lane. */
import type { ScalarType } from "../../ir.ts";
import type { Emitter } from "./emitter.ts";

/** Emits code that pushes a vector with a constant in every lane. */
export function pushSplat(e: Emitter, type: ScalarType, value: number): void {
  if (type !== "real") e.code.v128([value, value, value, value]);
  else if (e.plan.wide) e.code.f64(value).op("f64x2.splat");
  else e.code.f32(value).op("f32x4.splat");
}
