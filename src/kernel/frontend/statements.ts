/**
 * Lowers statements and `return`.
 *
 * The IR has no return. What follows an `if` that returns moves into its other branch. A return inside a loop sets a
 * flag and leaves the loop; the code after the loop runs if the flag is not set.
 */
import type { Expression, IfStatement, Node, ReturnStatement, VariableDeclaration } from "acorn";

import { boolType, type Context, type PendingStatement, Scope, type Value } from "./context.ts";
import { lowerDeclaration } from "./declarations.ts";
import type { DraftStatement } from "./draft.ts";
import { emitIf, lowerCondition, lowerConditional, negationOf } from "./conditions.ts";
import { lowerEffect, lowerValue } from "./expressions.ts";
import { lowerForOf, lowerLoop } from "./loops.ts";
import { assignLocals, checkCopyable, ownerOf, finalResult, localsFor } from "./records.ts";
import { alwaysReturns, type FunctionSyntax, describeNode, mayReturn, withoutParentheses } from "./syntax.ts";

/** Lowers a function's body and returns its result. */
export function lowerBody(ctx: Context, syntax: FunctionSyntax, scope: Scope, out: DraftStatement[]): Value {
  const body = syntax.body;
  if (body.type !== "BlockStatement")
    return returnedValue(ctx, body, lowerReturnedExpression(ctx, body, scope, out), out);
  const list = blockOf(body, scope);
  const last = body.body.at(-1);
  const single = last?.type === "ReturnStatement" && !body.body.slice(0, -1).some(mayReturn);
  if (single && !ctx.frame.isKernel && last.argument) {
    lowerList(ctx, list.slice(0, -1), out);
    return returnedValue(ctx, last.argument, lowerReturnedExpression(ctx, last.argument, scope, out), out);
  }
  lowerList(ctx, list, out);
  return frameResult(ctx, body);
}

/**
 * Returns the statements of a block with the block's scope. Names that it declares further down cannot be used before.
 */
function blockOf(block: Node, scope: Scope): PendingStatement[] {
  const { body } = block as unknown as { body: Node[] };
  for (const node of body) {
    if (node.type !== "VariableDeclaration" || (node as VariableDeclaration).kind === "var") continue;
    for (const { id } of (node as VariableDeclaration).declarations)
      if (id.type === "Identifier") scope.declare(id.name, { kind: "early" });
  }
  return body.map((node) => ({ node, scope }));
}

/**
 * Lowers the expression of a `return`: a scalar, an array or a record. The function's own variables do not change any
 * more.
 */
function lowerReturnedExpression(ctx: Context, node: Expression, scope: Scope, out: DraftStatement[]): Value {
  const inner = withoutParentheses(node);
  if (inner.type === "SequenceExpression") {
    for (const part of inner.expressions.slice(0, -1)) lowerEffect(ctx, part, scope, out);
    return lowerReturnedExpression(ctx, inner.expressions.at(-1)!, scope, out);
  }
  if (inner.type === "ConditionalExpression")
    return lowerConditional(ctx, inner, scope, out, (part, branch) =>
      lowerReturnedExpression(ctx, part, scope, branch),
    );
  const value = lowerValue(ctx, inner, scope, out);
  return value.kind === "record" ? finalResult(ctx, inner, value) : value;
}

/** Returns the value of a function's only `return`, at its end, which is used without a copy. */
function returnedValue(ctx: Context, node: Node, value: Value, out: DraftStatement[]): Value {
  // A load must see memory as it is now, whatever the caller writes before it uses the value.
  if (value.kind === "scalar") return { kind: "scalar", draft: ctx.materialise(node, value.draft, out, "r") };
  return finalResult(ctx, node, value);
}

function frameResult(ctx: Context, node: Node): Value {
  const { frame } = ctx;
  if (frame.returned !== null) {
    const assignment = {
      kind: "assign",
      local: frame.returned,
      value: ctx.constant(node, false),
      place: ctx.place(node),
    } as const;
    frame.out.splice(frame.start, 0, assignment);
  }
  if (!frame.results) return { kind: "nothing" };
  const result = finalResult(ctx, node, frame.results);
  return result.kind === "record" && frame.resultOwner ? { ...result, variable: frame.resultOwner } : result;
}

/**
 * Lowers statements in order. After a statement that may return, the remaining statements go into a branch that runs
 * only if it has not returned.
 */
export function lowerList(ctx: Context, list: readonly PendingStatement[], out: DraftStatement[]): void {
  for (const [k, { node, scope }] of list.entries()) {
    if (node.type === "ReturnStatement") return lowerReturn(ctx, node as ReturnStatement, scope, out);
    if (mayReturn(node)) return lowerReturning(ctx, { node, scope }, list.slice(k + 1), out);
    lowerStatement(ctx, node, scope, out);
    if (node.type === "BreakStatement" || node.type === "ContinueStatement") return;
  }
}

function lowerReturning(
  ctx: Context,
  { node, scope }: PendingStatement,
  rest: readonly PendingStatement[],
  out: DraftStatement[],
): void {
  if (node.type === "BlockStatement") {
    return lowerList(ctx, [...blockOf(node, new Scope(scope)), ...rest], out);
  }
  if (node.type === "IfStatement") return lowerReturningIf(ctx, node as IfStatement, scope, rest, out);
  // A loop: its returns break out of it with the flag set.
  lowerStatement(ctx, node, scope, out);
  afterFlag(ctx, node, rest, out);
}

function lowerReturningIf(
  ctx: Context,
  node: IfStatement,
  scope: Scope,
  rest: readonly PendingStatement[],
  out: DraftStatement[],
): void {
  const condition = lowerCondition(ctx, node.test, scope, out);
  const then: PendingStatement[] = [{ node: node.consequent, scope }];
  const otherwise: PendingStatement[] = node.alternate ? [{ node: node.alternate, scope }] : [];
  if (condition.kind === "const") return lowerList(ctx, [...(condition.value ? then : otherwise), ...rest], out);
  const thenReturns = alwaysReturns(node.consequent);
  const elseReturns = alwaysReturns(node.alternate);
  const both = !thenReturns && !elseReturns;
  const branch = (list: readonly PendingStatement[], follows: boolean) => (inner: DraftStatement[]) =>
    lowerList(ctx, follows ? [...list, ...rest] : list, inner);
  if (both) ctx.frame.fallThrough++;
  emitIf(ctx, node, condition, branch(then, !thenReturns && !both), branch(otherwise, !elseReturns && !both), out);
  if (!both) return;
  ctx.frame.fallThrough--;
  afterFlag(ctx, node, rest, out);
}

/**
 * Lowers the statements after one that may have returned. Inside a loop the return has left the loop already, unless it
 * was in an inner loop.
 */
function afterFlag(ctx: Context, node: Node, rest: readonly PendingStatement[], out: DraftStatement[]): void {
  const { frame } = ctx;
  const isLoop = node.type !== "IfStatement";
  if (frame.returned === null || (frame.loopDepth > 0 && !isLoop)) return lowerList(ctx, rest, out);
  const flag = ctx.local(node, frame.returned);
  const place = ctx.place(node);
  if (frame.loopDepth > 0) {
    out.push({ kind: "if", condition: flag, then: [{ kind: "break", place }], else: [], place });
    return lowerList(ctx, rest, out);
  }
  if (rest.length > 0)
    emitIf(ctx, node, negationOf(ctx, node, flag), (inner) => lowerList(ctx, rest, inner), null, out);
}

function lowerReturn(ctx: Context, node: ReturnStatement, scope: Scope, out: DraftStatement[]): void {
  if (node.argument) assignResults(ctx, node, scope, out);
  const { frame } = ctx;
  const place = ctx.place(node);
  if (frame.loopDepth > 0 || frame.fallThrough > 0) {
    frame.returned ??= ctx.newLocal("returned", boolType());
    out.push({ kind: "assign", local: frame.returned, value: ctx.constant(node, true), place });
  }
  if (frame.loopDepth > 0) out.push({ kind: "break", place });
}

function assignResults(ctx: Context, node: ReturnStatement, scope: Scope, out: DraftStatement[]): void {
  const value = lowerReturnedExpression(ctx, node.argument!, scope, out);
  if (ctx.frame.isKernel) {
    if (value.kind !== "nothing") throw ctx.fail(node, "a kernel returns no value", "write results to buffers");
    return;
  }
  if (value.kind === "nothing") return;
  checkCopyable(ctx, node, value, true);
  const owner = value.kind === "record" ? ownerOf(ctx, value) : undefined;
  if (owner) ctx.frame.resultOwner ??= { ...owner, rebound: false };
  ctx.frame.results ??= localsFor(ctx, "", value);
  assignLocals(ctx, node, ctx.frame.results, value, out);
}

/** Lowers a statement that is not a `return`; a loop may contain one. */
function lowerStatement(ctx: Context, node: any, scope: Scope, out: DraftStatement[]): void {
  switch (node.type) {
    case "ExpressionStatement":
      return lowerEffect(ctx, node.expression, scope, out);
    case "VariableDeclaration":
      return lowerDeclaration(ctx, node, scope, out);
    case "BlockStatement":
      return lowerList(ctx, blockOf(node, new Scope(scope)), out);
    case "IfStatement":
      return lowerIf(ctx, node, scope, out);
    case "ForStatement":
    case "WhileStatement":
    case "DoWhileStatement":
      return lowerLoop(ctx, node, scope, out);
    case "ForOfStatement":
      return lowerForOf(ctx, node, scope, out);
    case "BreakStatement":
    case "ContinueStatement":
      if (node.label)
        throw ctx.fail(node, "labels are not part of the kernel language", "leave the outer loop with a flag");
      out.push({ kind: node.type === "BreakStatement" ? "break" : "continue", place: ctx.place(node) });
      return;
    case "EmptyStatement":
      return;
    case "FunctionDeclaration":
      throw ctx.fail(
        node,
        "a function inside a kernel",
        "declare it with fn({ … }) outside and hand it over through `env`",
      );
    case "SwitchStatement":
      throw ctx.fail(node, "switch is not part of the kernel language", "write if … else if …");
    default:
      throw ctx.fail(
        node,
        `${describeNode(node)} is not part of the kernel language`,
        "see LIMITATIONS.md for what is",
      );
  }
}

function lowerIf(ctx: Context, node: IfStatement, scope: Scope, out: DraftStatement[]): void {
  const condition = lowerCondition(ctx, node.test, scope, out);
  const branch = (child: Node | null | undefined) =>
    child ? (inner: DraftStatement[]) => lowerList(ctx, [{ node: child, scope: new Scope(scope) }], inner) : null;
  emitIf(ctx, node, condition, branch(node.consequent), branch(node.alternate), out);
}
