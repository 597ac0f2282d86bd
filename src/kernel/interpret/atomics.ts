/** The values that atomic operations leave in memory. */
import type { AtomicOp, ScalarType } from "../ir.ts";
import { binaryOperator } from "./arithmetic.ts";

/**
 * The function that computes the new value of an element in an atomic operation from its old value and the operands.
 */
export type Combine = (old: number, value: number, expected: number) => number;

/** Returns the interpreter's function for an atomic operation. */
export function atomicOperator(op: AtomicOp, type: ScalarType): Combine {
  switch (op) {
    case "load":
      return (old) => old;
    case "store":
    case "exchange":
      return (_, value) => value;
    case "compareExchange":
      return (old, value, expected) => (old === expected ? value : old);
    default: {
      const combine = binaryOperator(op, type, (x) => x); // never on reals, so nothing is rounded
      return (old, value) => combine(old, value); // Math.min would look at a third argument
    }
  }
}
