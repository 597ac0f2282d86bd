/** The intrinsics of the IR on single values. */
import type { IntrinsicOp, Precision, ScalarType } from "../ir.ts";
import { rounding } from "./arithmetic.ts";

/**
 * The function by which the interpreter computes an intrinsic function. It ignores a second argument that the intrinsic
 * does not have.
 */
export type Intrinsic = (a: number, b: number) => number;

const float64 = new Float64Array(1);
const words64 = new Uint32Array(float64.buffer);
const float32 = new Float32Array(1);
const words32 = new Uint32Array(float32.buffer);
const LITTLE_ENDIAN = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1;
const HIGH = LITTLE_ENDIAN ? 1 : 0;
const LOW = 1 - HIGH;

function signBit(x: number): boolean {
  float64[0] = x;
  return words64[HIGH] >>> 31 === 1;
}

/**
 * Returns the unbiased exponent field of a double. Normal f32 values are normal doubles, so that it serves both
 * precisions.
 */
function exponent(x: number): number {
  float64[0] = x;
  return ((words64[HIGH] >>> 20) & 0x7ff) - 1023;
}

/** Returns x with its exponent field replaced by that of 1. */
function significand(x: number): number {
  float64[0] = x;
  words64[HIGH] = (words64[HIGH] & 0x800fffff) | 0x3ff00000;
  return float64[0];
}

function headBits64(x: number): number {
  float64[0] = x;
  words64[LOW] &= ~0x07ffffff;
  return float64[0];
}

function headBits32(x: number): number {
  float32[0] = x;
  words32[0] &= ~0xfff;
  return float32[0];
}

const headBitsIn: Readonly<Record<Precision, Intrinsic>> = { f64: headBits64, f32: headBits32, f32x2: Math.fround };

/**
 * Returns x·2ⁿ. Steps of 2⁻⁹⁶⁹ stay 53 bits above the subnormal numbers, so that only the last multiplication rounds.
 */
function ldexp(x: number, n: number): number {
  let y = x;
  let left = n;
  while (left > 1023) {
    y *= 2 ** 1023;
    left -= 1023;
    if (!Number.isFinite(y)) return y;
  }
  while (left < -1022) {
    y *= 2 ** -969;
    left += 969;
    if (y === 0) return y;
  }
  return y * 2 ** left;
}

function nearest(x: number): number {
  if (!(Math.abs(x) < 2 ** 52)) return x;
  const below = Math.floor(x);
  const fraction = x - below;
  const up = fraction > 0.5 || (fraction === 0.5 && below % 2 !== 0);
  const rounded = up ? below + 1 : below;
  return rounded === 0 && signBit(x) ? -0 : rounded;
}

function mulHigh(a: number, b: number): number {
  const aHigh = a >>> 16;
  const aLow = a & 0xffff;
  const bHigh = b >>> 16;
  const bLow = b & 0xffff;
  const middle = aHigh * bLow + Math.floor((aLow * bLow) / 0x10000); // below 2³³: exact
  const carry = aLow * bHigh + (middle % 0x10000);
  return (aHigh * bHigh + Math.floor(middle / 0x10000) + Math.floor(carry / 0x10000)) >>> 0;
}

function popcount(x: number): number {
  let count = 0;
  for (let bits = x >>> 0; bits !== 0; bits &= bits - 1) count++;
  return count;
}

/** Returns the interpreter's function for an intrinsic; `type` is the type of its first argument. */
export function intrinsic(op: IntrinsicOp, type: ScalarType, precision: Precision): Intrinsic {
  const round = rounding(precision);
  switch (op) {
    case "sqrt":
      return (a) => round(Math.sqrt(a));
    case "reciprocal":
      return (a) => round(1 / a);
    case "positivePart":
      return (a) => Math.max(a, 0);
    case "abs":
      return type === "i32" ? (a) => Math.abs(a) | 0 : Math.abs;
    case "floor":
      return Math.floor;
    case "ceil":
      return Math.ceil;
    case "trunc":
      return Math.trunc;
    case "nearest":
      return nearest;
    case "copysign":
      return (a, b) => (signBit(a) === signBit(b) ? a : -a);
    case "isNaN":
      return (a) => (Number.isNaN(a) ? 1 : 0);
    case "isFinite":
      return (a) => (Number.isFinite(a) ? 1 : 0);
    case "ldexp":
      return (a, n) => round(ldexp(a, n));
    case "exponent":
      return exponent;
    case "significand":
      return significand;
    case "headBits":
      return headBitsIn[precision];
    case "mulHigh":
      return mulHigh;
    case "clz":
      return Math.clz32;
    case "popcount":
      return popcount;
    default:
      throw new TypeError(`IR: unknown intrinsic ${String(op satisfies never)}`);
  }
}
