/**
 * Lowers `yield`: barriers of the workgroup, including those that await asynchronous copies, and operations in which
 * the lanes of a subgroup exchange values.
 */
import type { CallExpression, Expression, YieldExpression } from "acorn";

import type { SubgroupOp } from "../ir.ts";
import type { Context, Scope, Value } from "./context.ts";
import type { DraftStatement } from "./draft.ts";
import { lowerOperands, lowerValue } from "./expressions.ts";
import { constantOf, lowerAwaitFetches } from "./fetches.ts";
import { I32, NUMERIC } from "./types.ts";

const COLLECTIVES: Readonly<Record<string, { readonly op: SubgroupOp; readonly operand: boolean }>> = {
  shuffle: { op: "shuffle", operand: true },
  shuffleUp: { op: "shuffleUp", operand: true },
  shuffleDown: { op: "shuffleDown", operand: true },
  shuffleXor: { op: "shuffleXor", operand: true },
  subgroupBroadcast: { op: "broadcast", operand: true },
  subgroupAdd: { op: "add", operand: false },
  subgroupMin: { op: "min", operand: false },
  subgroupMax: { op: "max", operand: false },
};

/**
 * Tells whether a member of `gpu` is a collective operation, which all work items of a workgroup must reach and which a
 * kernel calls with `yield`.
 */
export function isCollective(name: string): boolean {
  return Object.hasOwn(COLLECTIVES, name) || name === "awaitFetches";
}

/** Lowers `yield`, which is a barrier or a collective operation, and `yield*`, which calls a function that has some. */
export function lowerYield(ctx: Context, node: YieldExpression, scope: Scope, out: DraftStatement[]): Value {
  const argument = node.argument;
  if (argument && node.delegate) {
    if (argument.type === "CallExpression") return lowerValue(ctx, argument, scope, out);
    throw ctx.fail(node, "yield* takes a call of a kernel function", "write yield* f(…)");
  }
  ctx.cooperative = true;
  if (!argument) {
    out.push({ kind: "barrier", place: ctx.place(node) });
    return { kind: "nothing" };
  }
  return lowerCollective(ctx, argument, scope, out);
}

function lowerCollective(ctx: Context, node: Expression, scope: Scope, out: DraftStatement[]): Value {
  const call = node as CallExpression;
  const callee = node.type === "CallExpression" ? lowerValue(ctx, call.callee as Expression, scope, out) : null;
  if (callee?.kind === "member" && callee.namespace === "gpu" && callee.name === "awaitFetches")
    return lowerAwaitFetches(ctx, call, lowerOperands(ctx, call.arguments, scope, out), out);
  const known = callee?.kind === "member" && callee.namespace === "gpu" ? COLLECTIVES[callee.name] : undefined;
  if (!known || !Object.hasOwn(COLLECTIVES, (callee as { name: string }).name))
    throw ctx.fail(
      node,
      "only a barrier (a bare yield) or a subgroup operation can be yielded",
      "write yield, or yield gpu.shuffleDown(x, 1)",
    );
  const expected = known.operand ? 2 : 1;
  const mayBeNarrow = known.op === "shuffleUp" || known.op === "shuffleDown";
  if (call.arguments.length !== expected && !(mayBeNarrow && call.arguments.length === 3))
    throw ctx.fail(node, `${expected} argument(s) expected, got ${call.arguments.length}`);
  const [value, operand, run] = lowerOperands(ctx, call.arguments, scope, out);
  ctx.require(call.arguments[0], value, NUMERIC);
  if (operand) ctx.require(call.arguments[1], operand, I32, "the lane or distance is an i32: gpu.i32(x)");
  const result = ctx.newLocal("t", value.type);
  const width = run && constantOf(ctx, call.arguments[2], run, "a constant power of two", isPowerOfTwo);
  const narrow = width === undefined || width >= WIDEST ? {} : { width };
  const place = ctx.place(node);
  out.push({ kind: "subgroup", op: known.op, value, operand: operand ?? null, ...narrow, result, place });
  return { kind: "scalar", draft: ctx.local(node, result) };
}

/** The largest number of lanes that a subgroup can have. */
const WIDEST = 128;
const isPowerOfTwo = (n: number): boolean => Number.isInteger(n) && n >= 1 && (n & (n - 1)) === 0;
