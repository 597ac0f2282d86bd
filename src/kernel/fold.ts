/** Arithmetic on constants with JavaScript's meaning. Types are checked where the result is used. */
import type { BinaryOp, CompareOp } from "./ir.ts";

const BINARY: Readonly<Record<BinaryOp, (a: number, b: number) => number | null>> = {
  add: (a, b) => a + b,
  sub: (a, b) => a - b,
  mul: (a, b) => a * b,
  div: (a, b) => a / b,
  rem: (a, b) => (b === 0 ? null : a % b), // NaN on reals, 0 on integers: run time knows which
  min: Math.min,
  max: Math.max,
  and: (a, b) => a & b,
  or: (a, b) => a | b,
  xor: (a, b) => a ^ b,
  shl: (a, b) => a << b,
  shr: () => null, // arithmetic or logical: the caller knows
};

/** Returns the value of a binary operation on constants, or null if it must not be computed at compile time. */
export const foldBinary = (op: BinaryOp, a: number, b: number): number | null => BINARY[op](a, b);

/** The functions that compare two numbers, or two booleans, by the name of the comparison. */
export const COMPARISON_FUNCTIONS: Readonly<Record<CompareOp, (a: number | boolean, b: number | boolean) => boolean>> =
  {
    lt: (a, b) => a < b,
    le: (a, b) => a <= b,
    gt: (a, b) => a > b,
    ge: (a, b) => a >= b,
    eq: (a, b) => a === b,
    ne: (a, b) => a !== b,
  };
