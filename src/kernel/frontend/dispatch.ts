/**
 * Chooses the function that lowers an expression by the kind of the expression. Subexpressions are lowered through
 * `Context.lowering`, so that files do not import each other in circles.
 */
import type { Expression } from "acorn";
import { lowerIdentifier, lowerLiteral, lowerMember } from "./access.ts";
import { lowerAssignment, lowerUpdate } from "./assignments.ts";
import { lowerCall } from "./calls.ts";
import { lowerYield } from "./collectives.ts";
import { emitIf, lowerNullishCoalescing, lowerCondition, lowerConditional, lowerLogical } from "./conditions.ts";
import type { Context, Scope, Value } from "./context.ts";
import type { DraftStatement } from "./draft.ts";
import { lowerEffect, lowerValue, scalar } from "./expressions.ts";
import { lowerBinary, lowerUnary } from "./operators.ts";
import { lowerRecord } from "./records.ts";
import { describeNode } from "./syntax.ts";

/** Lowers an expression by the kind of its syntax node. */
export function lowerNode(ctx: Context, node: Expression, scope: Scope, out: DraftStatement[]): Value {
  switch (node.type) {
    case "Identifier":
      return lowerIdentifier(ctx, node, node.name, scope);
    case "MemberExpression":
      return lowerMember(ctx, node, scope, out);
    case "CallExpression":
      return lowerCall(ctx, node, scope, out);
    case "Literal":
      return lowerLiteral(ctx, node, node.value);
    case "TemplateLiteral":
      if (node.quasis.length === 1) return { kind: "text", value: node.quasis[0].value.cooked ?? "" };
      break;
    case "ParenthesizedExpression":
    case "ChainExpression": // nothing is null: `u?.[i]` is `u[i]`
      return lowerValue(ctx, node.expression, scope, out);
    case "SequenceExpression":
      for (const part of node.expressions.slice(0, -1)) lowerEffect(ctx, part, scope, out);
      return lowerValue(ctx, node.expressions.at(-1)!, scope, out);
    case "YieldExpression":
      return lowerYield(ctx, node, scope, out);
    case "AssignmentExpression":
      return lowerAssignment(ctx, node, scope, out, true);
    case "UpdateExpression":
      return scalar(lowerUpdate(ctx, node, scope, out, true));
    case "UnaryExpression":
      return lowerUnary(ctx, node, scope, out);
    case "BinaryExpression":
      return scalar(lowerBinary(ctx, node, scope, out));
    case "LogicalExpression":
      if (node.operator === "??") return lowerNullishCoalescing(ctx, node, scope, out);
      return scalar(lowerLogical(ctx, node, scope, out));
    case "ConditionalExpression":
      return lowerConditional(ctx, node, scope, out);
    case "ObjectExpression":
      return lowerRecord(ctx, node, scope, out);
    case "ArrowFunctionExpression":
    case "FunctionExpression":
      throw ctx.fail(
        node,
        "a function inside a kernel",
        "declare it with fn({ … }) outside and hand it over through `env`",
      );
    case "ArrayExpression":
    case "NewExpression":
      throw ctx.fail(
        node,
        "arrays cannot be created here",
        "declare one: const a = gpu.privateReal(16), of a compile-time length",
      );
    case "AwaitExpression":
      throw ctx.fail(node, "a kernel does not wait", "for a workgroup barrier, write yield in a generator body");
    default:
      break;
  }
  throw ctx.fail(node, `${describeNode(node)} is not part of the kernel language`, "see LIMITATIONS.md for what is");
}

/**
 * Lowers an expression whose value is not used. Conditionals and short-circuit operators, which minifiers write in
 * place of `if`, become `if` statements.
 */
export function lowerNodeEffect(ctx: Context, node: Expression, scope: Scope, out: DraftStatement[]): void {
  if (node.type === "ParenthesizedExpression") return lowerNodeEffect(ctx, node.expression, scope, out);
  if (node.type === "SequenceExpression") {
    for (const part of node.expressions) lowerEffect(ctx, part, scope, out);
  } else if (node.type === "LogicalExpression" && node.operator !== "??") {
    const inner = (branch: DraftStatement[]): void => lowerEffect(ctx, node.right, scope, branch);
    const isAnd = node.operator === "&&";
    emitIf(ctx, node, lowerCondition(ctx, node.left, scope, out), isAnd ? inner : null, isAnd ? null : inner, out);
  } else if (node.type === "ConditionalExpression") {
    const condition = lowerCondition(ctx, node.test, scope, out);
    const then = (branch: DraftStatement[]): void => lowerEffect(ctx, node.consequent, scope, branch);
    const otherwise = (branch: DraftStatement[]): void => lowerEffect(ctx, node.alternate, scope, branch);
    emitIf(ctx, node, condition, then, otherwise, out);
  } else if (node.type === "UnaryExpression") {
    lowerEffect(ctx, node.argument, scope, out);
  } else if (node.type === "BinaryExpression") {
    // What is left of `a / b | 0` when nobody uses it: neither side need be a real.
    for (const side of [node.left, node.right]) lowerEffect(ctx, side as Expression, scope, out);
  } else if (node.type === "UpdateExpression") {
    lowerUpdate(ctx, node, scope, out, false);
  } else if (node.type === "AssignmentExpression") {
    lowerAssignment(ctx, node, scope, out, false);
  } else if (node.type !== "Literal") {
    lowerValue(ctx, node, scope, out);
  }
}
