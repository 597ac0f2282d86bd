/** Kernel functions are inlined where they are called: back ends never see a call. */
import type { Expression, Node } from "acorn";

import type { Declaration, KernelFunction } from "../language.ts";
import { bindPattern, environmentValue } from "./bind.ts";
import { newFrame, Scope, type Context, type Frame, type Value } from "./context.ts";
import type { Draft, DraftStatement } from "./draft.ts";
import { lowerScalar, lowerValue, scalarOf } from "./expressions.ts";
import { checkInstrumentation } from "./source.ts";
import { startRounds } from "./loop-budget.ts";
import { lowerBody } from "./statements.ts";
import { typeVariable } from "./types.ts";

const MAX_DEPTH = 64;

/** A call with arguments as written: scalars or arrays, evaluated left to right. */
export function inlineCall(
  ctx: Context,
  node: Node,
  fn: KernelFunction,
  args: readonly Expression[],
  scope: Scope,
  out: DraftStatement[],
): Value {
  expectCount(ctx, node, fn, args.length);
  const values: Value[] = [];
  for (const [k, arg] of args.entries()) values.push(lowerArgument(ctx, arg, fn.params[k], scope, out));
  return inlineValues(ctx, node, fn, values, out);
}

/** A call with arguments that are drafts already. */
export function inlineScalars(
  ctx: Context,
  node: Node,
  fn: KernelFunction,
  args: readonly Draft[],
  out: DraftStatement[],
): Draft {
  expectCount(ctx, node, fn, args.length);
  const values = args.map((arg, k) => scalarArgument(ctx, node, arg, fn.params[k], out));
  return scalarOf(ctx, node, inlineValues(ctx, node, fn, values, out));
}

function expectCount(ctx: Context, node: Node, fn: KernelFunction, count: number): void {
  if (count !== fn.params.length)
    throw ctx.fail(node, `${fn.functionName} takes ${fn.params.length} argument(s), got ${count}`);
}

function lowerArgument(
  ctx: Context,
  arg: Expression,
  declared: Declaration,
  scope: Scope,
  out: DraftStatement[],
): Value {
  if (declared.kind === "scalar") return scalarArgument(ctx, arg, lowerScalar(ctx, arg, scope, out), declared, out);
  const value = lowerValue(ctx, arg, scope, out);
  if (value.kind !== "array")
    throw ctx.fail(arg, "an array is expected here", "pass a buffer, a private or a shared array by its name");
  const { array } = value;
  if (array.element !== declared.element)
    throw ctx.fail(arg, `${array.name} holds ${array.element}, the function takes ${declared.element}`);
  if (declared.access === "write" && !array.writable)
    throw ctx.fail(
      arg,
      `${array.name} is declared with read(…), the function writes it`,
      `declare it with write(${array.element})`,
    );
  return { kind: "array", array: { ...array, writable: declared.access === "write" } };
}

function scalarArgument(ctx: Context, node: Node, draft: Draft, declared: Declaration, out: DraftStatement[]): Value {
  if (declared.kind !== "scalar")
    throw ctx.fail(node, "an array is expected here", "pass a buffer, a private or a shared array by its name");
  const type = typeVariable(declared.type);
  ctx.unifyTypes(node, draft.type, type, draft);
  return { kind: "scalar", draft: draft.kind === "const" ? draft : ctx.materialise(node, draft, out, "a") };
}

/** Lowers the function's body in place, in a scope that holds nothing of the caller's. */
export function inlineValues(
  ctx: Context,
  node: Node,
  fn: KernelFunction,
  args: readonly Value[],
  out: DraftStatement[],
): Value {
  const unit = ctx.unit(fn.functionName, fn, fn.source);
  checkDepth(ctx, node, fn);
  checkInstrumentation(unit);
  const scope = new Scope(null);
  const caller = ctx.frame;
  ctx.frame = newFrame(unit, fn, scope, caller, out);
  const [argPattern, gpuPattern, envPattern] = unit.syntax.params;
  if (argPattern) bindPattern(ctx, argPattern, argumentsOf(fn, args), scope, out);
  if (gpuPattern) bindPattern(ctx, gpuPattern, { kind: "namespace", name: "gpu" }, scope, out);
  if (envPattern) bindPattern(ctx, envPattern, environmentValue(fn.env), scope, out);
  const result = lowerBody(ctx, unit.syntax, scope, out);
  startRounds(ctx, node);
  ctx.frame = caller;
  return result;
}

/** A tuple, or an object by names for a user's function. */
function argumentsOf({ argumentNames }: KernelFunction, args: readonly Value[]): Value {
  if (argumentNames === undefined) return { kind: "tuple", items: args };
  return { kind: "struct", fields: new Map(argumentNames.map((name, k) => [name, args[k]])) };
}

function checkDepth(ctx: Context, node: Node, fn: KernelFunction): void {
  let depth = 0;
  for (let frame: Frame | null = ctx.frame; frame; frame = frame.caller) {
    if (frame.declared === fn || ++depth > MAX_DEPTH)
      throw ctx.fail(
        node,
        `${fn.functionName} calls itself, directly or through others`,
        "kernel functions are inlined: write a loop",
      );
  }
}
