import type { Precision, ScalarType } from "../../ir.ts";
import { pairOf } from "../../pairs.ts";

/** The WGSL names of the scalar types. In f32x2 a `real` is a pair of f32, a `vec2f`. */
export type TypeNames = Readonly<Record<ScalarType, "f32" | "vec2f" | "i32" | "u32" | "bool">>;

/** Returns the WGSL names of the scalar types in a precision. */
export const typeNamesIn = (precision: Precision): TypeNames => ({
  real: precision === "f32x2" ? "vec2f" : "f32",
  i32: "i32",
  u32: "u32",
  bool: "bool",
});

const word = new DataView(new ArrayBuffer(4));

/** Returns the bit pattern of the f32 nearest to `value`. */
export function bitsOf(value: number): number {
  word.setFloat32(0, value);
  return word.getUint32(0);
}

const largest = 2 ** 128 - 2 ** 104;

/**
 * Returns the shortest decimal that reads back as the f32 `value`. WGSL rejects a decimal beyond the largest f32, even
 * if it rounds to it.
 */
function shortest(value: number): string {
  if (Math.abs(value) === largest) return String(value);
  for (let digits = 1; digits < 9; digits++) {
    const text = value.toPrecision(digits);
    if (Math.fround(Number(text)) === value) return String(Number(text));
  }
  return String(Number(value.toPrecision(9)));
}

const smallestNormal = 2 ** -126;

/**
 * Returns a WGSL expression for a constant of `type`. WGSL has no literals for infinities and NaN, may flush a
 * subnormal or lose the sign of zero, and rejects bitcasts of constants to NaN. Such values are made from bits that the
 * compiler cannot know.
 */
export function literal(type: ScalarType, value: number | boolean): string {
  if (typeof value === "boolean" || type === "bool") return String(Boolean(value));
  if (type === "real") return realLiteral(Math.fround(value));
  if (type === "u32") return `${value >>> 0}u`;
  const n = value | 0;
  if (n === -(2 ** 31)) return "(-2147483647i - 1i)"; // the digits of INT_MIN alone are out of range
  return n < 0 ? `(${n}i)` : `${n}i`;
}

/** Returns the WGSL literal of a number as a pair of f32, a `vec2f`. */
export function pairLiteral(value: number): string {
  const [high, low] = pairOf(value);
  return `vec2f(${realLiteral(high)}, ${realLiteral(low)})`;
}

function realLiteral(value: number): string {
  const unsafe = !Number.isFinite(value) || Math.abs(value) < smallestNormal;
  if (unsafe && !Object.is(value, 0))
    return `bitcast<f32>(0x${bitsOf(value).toString(16).padStart(8, "0")}u ^ args.zero)`;
  return value < 0 ? `(${shortest(value)}f)` : `${shortest(value)}f`;
}
