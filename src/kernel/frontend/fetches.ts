/** Asynchronous copies from buffers to workgroup arrays, and the barriers that await them. */
import type { CallExpression, Expression, Node } from "acorn";
import { checkedIndex } from "./access.ts";
import type { ArrayValue, Context, Scope, Value } from "./context.ts";
import type { Draft, DraftStatement } from "./draft.ts";
import { lowerOperands, lowerValue } from "./expressions.ts";
import { checkedArguments } from "./intrinsics.ts";
import { NUMERIC } from "./types.ts";

const WORDS = [1, 2, 4];

/** Lowers `gpu.fetch`, which starts an asynchronous copy from a buffer to a workgroup array. */
export function lowerFetch(
  ctx: Context,
  node: CallExpression,
  args: readonly Expression[],
  scope: Scope,
  out: DraftStatement[],
): Value {
  if (args.length !== 5) throw ctx.fail(node, `gpu.fetch takes 5 arguments, got ${args.length}`);
  const [into, , source, , count] = args;
  const array = arrayOf(ctx, into, "workgroup", scope, out);
  const from = arrayOf(ctx, source, "buffer", scope, out);
  if (array.element !== from.element)
    throw ctx.fail(source, `gpu.fetch copies ${from.element} to ${array.element}`, "take two arrays of one type");
  const [at, fromIndex, words] = lowerOperands(ctx, [args[1], args[3], count], scope, out);
  const index = checkedIndex(ctx, args[1], array, at);
  const place = ctx.place(node);
  const several = constantOf(ctx, count, words, "1, 2 or 4 elements at once", (n) => WORDS.includes(n));
  out.push({
    kind: "fetch",
    array: array.ref,
    index,
    from: from.ref,
    fromIndex: checkedIndex(ctx, args[3], from, fromIndex),
    words: several,
    place,
  });
  return { kind: "nothing" };
}

/** Lowers `gpu.awaitFetches`, which waits until asynchronous copies have arrived. */
export function lowerAwaitFetches(
  ctx: Context,
  node: CallExpression,
  operands: readonly Draft[],
  out: DraftStatement[],
): Value {
  const [pending] = checkedArguments(ctx, node, "gpu.awaitFetches", operands, [NUMERIC]);
  const inRange = (n: number): boolean => Number.isInteger(n) && n >= 0 && n <= 64;
  const fetches = constantOf(ctx, node.arguments[0], pending, "a constant from 0 to 64", inRange);
  out.push({ kind: "barrier", fetches, place: ctx.place(node) });
  return { kind: "nothing" };
}

function arrayOf(
  ctx: Context,
  node: Expression,
  space: "workgroup" | "buffer",
  scope: Scope,
  out: DraftStatement[],
): ArrayValue {
  const value = lowerValue(ctx, node, scope, out);
  if (value.kind === "array" && value.array.ref.space === space) return value.array;
  throw ctx.fail(
    node,
    `gpu.fetch takes a ${space === "buffer" ? "buffer" : "shared array"} here`,
    "write gpu.fetch(shared, at, buffer, index, words)",
  );
}

/**
 * Returns the value of an expression that must be a constant for which `accepts` returns true. `wanted` describes such
 * constants in the error message. @throws KernelError for any other expression
 */
export function constantOf(
  ctx: Context,
  node: Node,
  draft: Draft,
  wanted: string,
  accepts: (value: number) => boolean,
): number {
  if (draft.kind === "const" && accepts(draft.value as number)) return draft.value as number;
  throw ctx.fail(node, `this is not ${wanted}`, "write a constant, or take it from env");
}
