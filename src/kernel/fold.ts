/** Arithmetic on constants with JavaScript's meaning. Types are checked where the result is used. */
import type { BinaryOp, CompareOp } from "./ir.ts";

/** Returns the value of a binary operation on constants; null where it must not be folded. */
export function foldBinary(op: BinaryOp, a: number, b: number): number | null {
  switch (op) {
    case "add":
      return a + b;
    case "sub":
      return a - b;
    case "mul":
      return a * b;
    case "div":
      return a / b;
    case "rem":
      return b === 0 ? null : a % b; // NaN on reals, 0 on integers: run time knows which
    case "min":
      return Math.min(a, b);
    case "max":
      return Math.max(a, b);
    case "and":
      return a & b;
    case "or":
      return a | b;
    case "xor":
      return a ^ b;
    case "shl":
      return a << b;
    case "shr":
      return null; // arithmetic or logical: the caller knows
    default:
      return op satisfies never;
  }
}

/** Returns the value of a comparison of constants. */
export function foldCompare(op: CompareOp, a: number | boolean, b: number | boolean): boolean {
  switch (op) {
    case "lt":
      return a < b;
    case "le":
      return a <= b;
    case "gt":
      return a > b;
    case "ge":
      return a >= b;
    case "eq":
      return a === b;
    case "ne":
      return a !== b;
    default:
      return op satisfies never;
  }
}
