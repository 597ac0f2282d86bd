/**
 * The kernel language's scalar functions in plain JavaScript: in f64, with the same bits as on the CPU back end.
 * Functions of work items and device arrays throw.
 */
import { KernelError } from "../base/errors.ts";
import type { Gpu } from "./gpu.ts";
import type { Numbers } from "./numbers.ts";

type LibraryFunction = "erf" | "erfc" | "normalCdf" | "normalPdf" | "inverseNormalCdf";

const word = new DataView(new ArrayBuffer(8));

/** Returns the integer nearest to x, ties to even. It is computed by adding and subtracting 2⁵². */
export function nearest(x: number): number {
  if (!(Math.abs(x) < 2 ** 52)) return x;
  const rounded = Math.abs(x) + 2 ** 52 - 2 ** 52;
  return copysign(rounded, x);
}

/** Returns the magnitude of one number with the sign of another. */
export function copysign(magnitude: number, sign: number): number {
  word.setFloat64(0, sign);
  return word.getUint32(0) >>> 31 === 1 ? -Math.abs(magnitude) : Math.abs(magnitude);
}

/** 2ⁿ for −1022 ≤ n ≤ 1023. */
function powerOfTwo(n: number): number {
  word.setUint32(0, (n + 1023) << 20);
  word.setUint32(4, 0);
  return word.getFloat64(0);
}

/** Returns x·2ⁿ, rounded once. Intermediate results stay normal numbers and are therefore exact. */
export function ldexp(x: number, n: number): number {
  let y = x;
  let k = n;
  if (k > 1023) {
    y *= 2 ** 1023;
    k -= 1023;
    if (k > 1023) {
      y *= 2 ** 1023;
      k = Math.min(k - 1023, 1023);
    }
  } else if (k < -1022) {
    // 53 bits short of 2^−1022, so that no step but the last rounds a subnormal number.
    y *= 2 ** -969;
    k += 969;
    if (k < -1022) {
      y *= 2 ** -969;
      k = Math.max(k + 969, -1022);
    }
  }
  return y * powerOfTwo(k);
}

/** Returns the unbiased exponent field of x, which is floor(log2 |x|) if x is a normal number. */
export function exponent(x: number): number {
  word.setFloat64(0, x);
  return ((word.getUint32(0) >>> 20) & 0x7ff) - 1023;
}

/**
 * Returns x with its exponent field replaced by that of 1. For normal x the result is x / 2^exponent(x), in ±[1, 2).
 */
export function significand(x: number): number {
  word.setFloat64(0, x);
  word.setUint32(0, (word.getUint32(0) & 0x800fffff) | 0x3ff00000);
  return word.getFloat64(0);
}

/** Returns x with the low 27 significand bits cleared. */
export function headBits(x: number): number {
  word.setFloat64(0, x);
  word.setUint32(4, word.getUint32(4) & 0xf8000000);
  return word.getFloat64(0);
}

/** Returns the high 32 bits of the product of two u32. */
export function mulHigh(a: number, b: number): number {
  const [aHigh, aLow, bHigh, bLow] = [a >>> 16, a & 0xffff, b >>> 16, b & 0xffff];
  const middle = aHigh * bLow + Math.floor((aLow * bLow) / 0x10000); // below 2³³: exact
  const carry = aLow * bHigh + (middle % 0x10000);
  return (aHigh * bHigh + Math.floor(middle / 0x10000) + Math.floor(carry / 0x10000)) >>> 0;
}

/** Returns the number of bits set in a u32. */
export function popcount(x: number): number {
  let v = x - ((x >>> 1) & 0x55555555);
  v = (v & 0x33333333) + ((v >>> 2) & 0x33333333);
  return Math.imul((v + (v >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}

/**
 * Converts a number to an integer. Plain JavaScript cannot tell a whole real from an integer. A number that is not
 * whole, or beyond both integer types, must be a real and saturates. A whole number in [−2³¹, 2³²) keeps its bits, as
 * between i32 and u32. A whole real such as 3e9 therefore wraps in `gpu.i32` here, whereas it saturates in a compiled
 * kernel.
 */
function toInteger(x: number | boolean, lowest: number, highest: number): number {
  const value = Math.trunc(Number(x));
  const integral = value === Number(x) && value >= -(2 ** 31) && value < 2 ** 32;
  return integral ? value : Math.min(Math.max(value, lowest), highest);
}

const toI32 = (x: number | boolean): number => toInteger(x, -(2 ** 31), 2 ** 31 - 1) | 0;
const toU32 = (x: number | boolean): number => toInteger(x, 0, 2 ** 32 - 1) >>> 0;

function unavailable(name: string): () => never {
  return () => {
    throw new KernelError(
      `gpu.${name} was called from plain JavaScript, where there are no work items and no device arrays; ` +
        "call this function from a kernel and launch or interpret that, or pass what it needs as an argument",
    );
  };
}

/**
 * The members of `Gpu` for plain JavaScript, except the functions that are themselves written in the kernel language.
 */
export const hostScalars: Omit<Gpu, LibraryFunction> = Object.freeze({
  precision: "f64" as const,

  globalId: unavailable("globalId"),
  localId: unavailable("localId"),
  groupId: unavailable("groupId"),
  groupSize: unavailable("groupSize"),
  groupCount: unavailable("groupCount"),
  subgroupLane: unavailable("subgroupLane"),
  subgroupSize: unavailable("subgroupSize"),

  endlessLoop: () => 0,

  real: (x: number | boolean): number => Number(x),
  i32: toI32,
  u32: toU32,

  privateReal: (length: number): Numbers<"real"> => new Float64Array(length),
  privateI32: (length: number): Numbers<"i32"> => new Int32Array(length),
  privateU32: (length: number): Numbers<"u32"> => new Uint32Array(length),
  sharedReal: unavailable("sharedReal"),
  sharedI32: unavailable("sharedI32"),
  sharedU32: unavailable("sharedU32"),
  part: (array: unknown, from: number, length?: number) =>
    (array as Float64Array).subarray(from, length && from + length) as never,

  nearest,
  reciprocal: (x) => 1 / x,
  positivePart: (x) => Math.max(x, 0),
  copysign,
  ldexp,
  exponent,
  significand,
  headBits,
  mulHigh,
  popcount,

  atomicAdd: unavailable("atomicAdd"),
  atomicMin: unavailable("atomicMin"),
  atomicMax: unavailable("atomicMax"),
  atomicAnd: unavailable("atomicAnd"),
  atomicOr: unavailable("atomicOr"),
  atomicXor: unavailable("atomicXor"),
  atomicExchange: unavailable("atomicExchange"),
  atomicCompareExchange: unavailable("atomicCompareExchange"),
  atomicLoad: unavailable("atomicLoad"),
  atomicStore: unavailable("atomicStore"),

  fetch: unavailable("fetch"),
  awaitFetches: unavailable("awaitFetches"),

  shuffle: unavailable("shuffle"),
  shuffleUp: unavailable("shuffleUp"),
  shuffleDown: unavailable("shuffleDown"),
  shuffleXor: unavailable("shuffleXor"),
  subgroupBroadcast: unavailable("subgroupBroadcast"),
  subgroupAdd: unavailable("subgroupAdd"),
  subgroupMin: unavailable("subgroupMin"),
  subgroupMax: unavailable("subgroupMax"),
});
