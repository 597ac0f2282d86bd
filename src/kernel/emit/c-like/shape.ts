import type { Expr } from "../../ir.ts";
import { children } from "../../visit.ts";
import { rememberedBy } from "../../../base/remembered.ts";

interface Shape {
  readonly height: number;
  readonly size: number;
  readonly loads: boolean;
}

const shapeOf = rememberedBy((e: Expr): Shape => {
  const inner = children(e).map(shapeOf);
  return {
    height: inner.reduce((height, child) => Math.max(height, child.height + 1), 0),
    size: inner.reduce((size, child) => size + child.size, 1),
    loads: e.kind === "load" || inner.some(({ loads }) => loads),
  };
});

/** The number of operations on the longest path from an expression to a leaf. */
export const heightOf = (e: Expr): number => shapeOf(e).height;
/** The number of nodes of an expression. */
export const sizeOf = (e: Expr): number => shapeOf(e).size;
/** Tells whether an expression loads from memory. */
export const makesLoads = (e: Expr): boolean => shapeOf(e).loads;
