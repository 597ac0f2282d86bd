/** The intrinsics of the IR on single values. */
import { copysign, exponent, headBits, ldexp, mulHigh, nearest, popcount, significand } from "../host-scalars.ts";
import type { IntrinsicOp, Precision, ScalarType } from "../ir.ts";
import { rounding } from "./arithmetic.ts";

/**
 * The function by which the interpreter computes an intrinsic function. It ignores a second argument that the intrinsic
 * does not have.
 */
export type IntrinsicFunction = (a: number, b: number) => number;

const float32 = new Float32Array(1);
const words32 = new Uint32Array(float32.buffer);

function headBits32(x: number): number {
  float32[0] = x;
  words32[0] &= ~0xfff;
  return float32[0];
}

const headBitsIn: Readonly<Record<Precision, IntrinsicFunction>> = {
  f64: headBits,
  f32: headBits32,
  f32x2: Math.fround,
};

/** Returns the interpreter's function for an intrinsic; `type` is the type of its first argument. */
export function intrinsicFunction(op: IntrinsicOp, type: ScalarType, precision: Precision): IntrinsicFunction {
  const round = rounding(precision);
  const functions: Readonly<Record<IntrinsicOp, IntrinsicFunction>> = {
    sqrt: (a) => round(Math.sqrt(a)),
    reciprocal: (a) => round(1 / a),
    positivePart: (a) => Math.max(a, 0),
    abs: type === "i32" ? (a) => Math.abs(a) | 0 : Math.abs,
    floor: Math.floor,
    ceil: Math.ceil,
    trunc: Math.trunc,
    nearest,
    copysign,
    isNaN: (a) => (Number.isNaN(a) ? 1 : 0),
    isFinite: (a) => (Number.isFinite(a) ? 1 : 0),
    ldexp: (a, n) => round(ldexp(a, n)),
    exponent,
    significand,
    headBits: headBitsIn[precision],
    mulHigh,
    clz: Math.clz32,
    popcount,
  };
  return functions[op];
}
