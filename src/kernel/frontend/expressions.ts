/**
 * Lowers expressions from syntax to drafts. Statements with side effects are appended to `out`, before the value that
 * is returned.
 */
import type { Expression, Node } from "acorn";
import type { Context, Scope, Value } from "./context.ts";
import type { Draft, DraftStatement } from "./draft.ts";

/** Lowers an expression to a number or a bool. */
export function lowerScalar(ctx: Context, node: Node, scope: Scope, out: DraftStatement[]): Draft {
  return scalarOf(ctx, node, lowerValue(ctx, node as Expression, scope, out));
}

/** Returns the expression of a value that is a number or a bool. @throws KernelError for any other value */
export function scalarOf(ctx: Context, node: Node, value: Value): Draft {
  switch (value.kind) {
    case "scalar":
      return value.draft;
    case "constant":
      return ctx.constant(node, value.value, value.origin);
    case "local":
      return ctx.local(node, value.id);
    case "array":
      throw ctx.fail(node, `the array ${value.array.name} is used as a number`, `index it: ${value.array.name}[i]`);
    case "record":
      throw ctx.fail(
        node,
        "several named values are used as one number",
        `pick one: .${[...value.fields.keys()].join(", .")}`,
      );
    case "function":
      throw ctx.fail(node, `the function ${value.fn.functionName} is used as a number`, "call it");
    case "member":
      throw ctx.fail(
        node,
        `${value.namespace}.${value.name} is used as a number`,
        `call it: ${value.namespace}.${value.name}(…)`,
      );
    case "text":
      throw ctx.fail(node, "a string is used as a number", "strings may only be compared with === at compile time");
    case "undefined":
      throw ctx.fail(node, "this is undefined in the kernel's environment", "test it first: if (f !== undefined) …");
    case "nothing":
      throw ctx.fail(node, "there is no value here", "return a number from the function, or do not use its result");
    default:
      throw ctx.fail(node, "this is no number");
  }
}

/**
 * Lowers operands from left to right. When a later operand has side effects, the earlier ones are first stored in
 * temporaries, so that the order of evaluation is JavaScript's.
 */
export function lowerOperands(
  ctx: Context,
  nodes: readonly Node[],
  scope: Scope,
  out: DraftStatement[],
  lowerOperand = lowerScalar,
): Draft[] {
  const drafts: Draft[] = [];
  for (const node of nodes) {
    const before = out.length;
    const draft = lowerOperand(ctx, node, scope, out);
    if (out.length > before) materialiseBefore(ctx, nodes, drafts, out, before);
    drafts.push(draft);
  }
  return drafts;
}

function materialiseBefore(
  ctx: Context,
  nodes: readonly Node[],
  drafts: Draft[],
  out: DraftStatement[],
  at: number,
): void {
  const early: DraftStatement[] = [];
  for (let k = 0; k < drafts.length; k++) drafts[k] = ctx.materialise(nodes[k], drafts[k], early);
  out.splice(at, 0, ...early);
}

/** The maximum depth of nested subexpressions. */
export const MAX_EXPRESSION_DEPTH = 500;

/** Lowers an expression to its value: a scalar, an array, a function, or a record. */
export function lowerValue(ctx: Context, node: Expression, scope: Scope, out: DraftStatement[]): Value {
  return ctx.nested(node, MAX_EXPRESSION_DEPTH, () => ctx.lowering.expression(ctx, node, scope, out));
}

/** Lowers an expression whose value is not used. */
export function lowerEffect(ctx: Context, node: Expression, scope: Scope, out: DraftStatement[]): void {
  ctx.lowering.effect(ctx, node, scope, out);
}

/** Returns the value whose expression is `draft`, a number or a bool. */
export const scalar = (draft: Draft): Value => ({ kind: "scalar", draft });
