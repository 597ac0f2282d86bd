/**
 * The IR's operators on single values. Every value is a JavaScript number: reals in f64 or rounded to f32 after each
 * operation, i32 in −2³¹…2³¹−1, u32 in 0…2³²−1, bools as 0 and 1.
 */
import { COMPARISON_FUNCTIONS } from "../fold.ts";
import type { BinaryOp, CompareOp, Precision, ScalarType, UnaryOp } from "../ir.ts";

/** The function by which the interpreter computes an operation with one operand. */
export type UnaryFunction = (a: number) => number;
/** The function by which the interpreter computes an operation with two operands. */
export type BinaryFunction = (a: number, b: number) => number;

/**
 * Returns the function that rounds a real to the kernel's precision. Rounding an f64 result of + − × ÷ √ once more to
 * f32 is correct rounding. f32x2 is evaluated in f64, without a model of its rounding or range, and devices are
 * compared with the result within a few 2⁻⁴⁴.
 */
export function rounding(precision: Precision): UnaryFunction {
  return precision === "f32" ? Math.fround : (x) => x;
}

const realOperators = (round: UnaryFunction): Partial<Readonly<Record<BinaryOp, BinaryFunction>>> => ({
  add: (a, b) => round(a + b),
  sub: (a, b) => round(a - b),
  mul: (a, b) => round(a * b),
  div: (a, b) => round(a / b),
  rem: (a, b) => a % b, // exact
  min: Math.min,
  max: Math.max,
});

const I32: Readonly<Record<BinaryOp, BinaryFunction>> = {
  add: (a, b) => (a + b) | 0,
  sub: (a, b) => (a - b) | 0,
  mul: Math.imul,
  div: (a, b) => (b === 0 ? 0 : (a / b) | 0),
  rem: (a, b) => (b === 0 ? 0 : (a % b) | 0),
  min: Math.min,
  max: Math.max,
  and: (a, b) => a & b,
  or: (a, b) => a | b,
  xor: (a, b) => a ^ b,
  shl: (a, b) => a << b, // JavaScript masks the count with 31 too
  shr: (a, b) => a >> b,
};

const U32: Readonly<Record<BinaryOp, BinaryFunction>> = {
  add: (a, b) => (a + b) >>> 0,
  sub: (a, b) => (a - b) >>> 0,
  mul: (a, b) => Math.imul(a, b) >>> 0,
  div: (a, b) => (b === 0 ? 0 : (a / b) >>> 0),
  rem: (a, b) => (b === 0 ? 0 : (a % b) >>> 0),
  min: Math.min,
  max: Math.max,
  and: (a, b) => (a & b) >>> 0,
  or: (a, b) => (a | b) >>> 0,
  xor: (a, b) => (a ^ b) >>> 0,
  shl: (a, b) => (a << b) >>> 0,
  shr: (a, b) => a >>> b,
};

/** Returns the interpreter's function for a binary operation. */
export function binaryOperator(op: BinaryOp, type: ScalarType, round: UnaryFunction): BinaryFunction {
  const operator =
    type === "i32" ? I32[op] : type === "u32" ? U32[op] : type === "real" ? realOperators(round)[op] : undefined;
  if (operator === undefined) throw new TypeError(`IR: no operator ${op} on ${type}`);
  return operator;
}

/** Returns the interpreter's function for a unary operation. */
export function unaryOperator(op: UnaryOp, type: ScalarType): UnaryFunction {
  if (op === "not" && type === "bool") return (a) => (a === 0 ? 1 : 0);
  if (op === "bitnot" && type === "i32") return (a) => ~a;
  if (op === "bitnot" && type === "u32") return (a) => ~a >>> 0;
  if (op === "neg" && type === "real") return (a) => -a;
  if (op === "neg" && type === "i32") return (a) => -a | 0;
  throw new TypeError(`IR: no operator ${op} on ${type}`);
}

/** Returns the interpreter's function for a comparison. */
export function compareOperator(op: CompareOp): BinaryFunction {
  const holds = COMPARISON_FUNCTIONS[op];
  return (a, b) => (holds(a, b) ? 1 : 0);
}

function saturate(x: number, least: number, greatest: number): number {
  if (Number.isNaN(x)) return 0;
  return Math.trunc(Math.min(Math.max(x, least), greatest)) + 0; // + 0: no negative zero among the integers
}

/** Returns the interpreter's function for a conversion. */
export function conversion(from: ScalarType, to: ScalarType, round: UnaryFunction): UnaryFunction {
  if (from === to) return (a) => a;
  if (to === "bool") throw new TypeError(`IR: no conversion from ${from} to bool`);
  if (from === "bool") return (a) => a;
  if (to === "real") return round;
  if (from === "real") {
    return to === "i32" ? (a) => saturate(a, -0x80000000, 0x7fffffff) : (a) => saturate(a, 0, 0xffffffff);
  }
  return to === "i32" ? (a) => a | 0 : (a) => a >>> 0;
}
