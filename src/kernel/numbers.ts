/** The arrays of a kernel as its body sees them, and what a body yields at a collective operation. */
import type { ElementType } from "./ir.ts";

declare const elementOf: unique symbol;
declare const accessOf: unique symbol;

/** The collective operations and barriers that a generator body may `yield`; see `Gpu`. */
export interface Collective {
  readonly collective: string;
}

/**
 * An array inside a kernel; `length` is a run-time i32 for a buffer and a constant for other arrays. The two symbols
 * exist in types only and let the TypeScript compiler distinguish arrays of reals from arrays of integers, and writable
 * from read-only arrays. Typed arrays of plain JavaScript are assignable to all of them.
 */
export interface Numbers<E extends ElementType = ElementType> {
  [index: number]: number;
  readonly length: number;
  readonly [elementOf]?: E;
  readonly [accessOf]?: "write";
}

/** An array that a kernel only reads. */
export interface ReadonlyNumbers<E extends ElementType = ElementType> {
  readonly [index: number]: number;
  readonly length: number;
  readonly [elementOf]?: E;
  readonly [accessOf]?: "read" | "write";
}
