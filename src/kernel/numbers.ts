/** The types of arrays inside a kernel's body, and of what a body yields at a collective operation. */
import type { ElementType } from "./ir.ts";

declare const elementOf: unique symbol;
declare const accessOf: unique symbol;

/**
 * The token that a generator body yields for a barrier or a collective operation; the methods of `Gpu` make it.
 * @stable
 */
export interface Collective {
  readonly collective: string;
}

/**
 * An array inside a kernel. `length` is a run-time i32 for a buffer and a constant for other arrays. The two symbols
 * exist in types only: with them the TypeScript compiler distinguishes arrays of reals from arrays of integers, and
 * writable from read-only arrays. Typed arrays of plain JavaScript are assignable to all of these types.
 * @stable
 */
export interface Numbers<E extends ElementType = ElementType> {
  [index: number]: number;
  readonly length: number;
  readonly [elementOf]?: E;
  readonly [accessOf]?: "write";
}

/** An array that a kernel only reads. @stable */
export interface ReadonlyNumbers<E extends ElementType = ElementType> {
  readonly [index: number]: number;
  readonly length: number;
  readonly [elementOf]?: E;
  readonly [accessOf]?: "read" | "write";
}
