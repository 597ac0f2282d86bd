/** Lowers conditions: `if`, `? :`, `&&` and `||`, in statements and in expressions. */
import type { ConditionalExpression, Expression, LogicalExpression, Node } from "acorn";
import { comparisonOf } from "./arithmetic.ts";
import { boolType, type Context, type Scope, type Value } from "./context.ts";
import type { Draft, DraftStatement } from "./draft.ts";
import { lowerEffect, lowerScalar, lowerValue, MAX_EXPRESSION_DEPTH, scalar, scalarOf } from "./expressions.ts";

import { chooseRecord } from "./records.ts";
import { BOOL, INTEGER } from "./types.ts";

type Branch = ((out: DraftStatement[]) => void) | null;

/** The maximum depth of nested branches. WGSL compilers accept at most 127 nested braces. */
export const MAX_BRANCH_DEPTH = 100;

/** Emits an `if` statement. If the condition is constant, only the branch that is taken is lowered. */
export function emitIf(
  ctx: Context,
  node: Node,
  condition: Draft,
  then: Branch,
  otherwise: Branch,
  out: DraftStatement[],
): void {
  if (condition.kind === "const") {
    (condition.value ? then : otherwise)?.(out);
    return;
  }
  const thenOut: DraftStatement[] = [];
  const elseOut: DraftStatement[] = [];
  ctx.nested(node, MAX_BRANCH_DEPTH, () => {
    then?.(thenOut);
    otherwise?.(elseOut);
  });
  pushIf(ctx, node, condition, thenOut, elseOut, out);
}

function pushIf(
  ctx: Context,
  node: Node,
  condition: Draft,
  yes: DraftStatement[],
  no: DraftStatement[],
  out: DraftStatement[],
): void {
  if (yes.length + no.length === 0) return;
  const place = ctx.place(node);
  if (yes.length > 0) out.push({ kind: "if", condition, then: yes, else: no, place });
  else out.push({ kind: "if", condition: negationOf(ctx, node, condition), then: no, else: [], place });
}

/**
 * Lowers a condition to a bool. Each operand of a logical operator is converted separately, because minifiers omit `!==
 * 0`: `flag && n & 1` may combine a bool and an integer.
 */
export function lowerCondition(ctx: Context, node: Node, scope: Scope, out: DraftStatement[]): Draft {
  return ctx.nested(node, MAX_EXPRESSION_DEPTH, () => conditionOf(ctx, node as Expression, scope, out));
}

function conditionOf(ctx: Context, node: Expression, scope: Scope, out: DraftStatement[]): Draft {
  if (node.type === "ParenthesizedExpression") return lowerCondition(ctx, node.expression, scope, out);
  if (node.type === "SequenceExpression") {
    for (const part of node.expressions.slice(0, -1)) lowerEffect(ctx, part, scope, out);
    return lowerCondition(ctx, node.expressions.at(-1)!, scope, out);
  }
  if (node.type === "LogicalExpression" && node.operator !== "??") return lowerLogical(ctx, node, scope, out, true);
  if (node.type === "ConditionalExpression") {
    const truth: LowerBranch = (part, branch) => scalar(lowerCondition(ctx, part, scope, branch));
    return scalarOf(ctx, node, lowerConditional(ctx, node, scope, out, truth));
  }
  const value = lowerValue(ctx, node, scope, out);
  // Whether an optional function of `env` is there.
  if (value.kind === "function" || value.kind === "undefined") return ctx.constant(node, value.kind === "function");
  return truthValueOf(ctx, node, scalarOf(ctx, node, value));
}

/**
 * Returns the truth value of an expression. A bool stays unchanged. An integer is true if it is not 0, because
 * minifiers write comparisons of bits in this way. A real is an error.
 */
export function truthValueOf(ctx: Context, node: Node, draft: Draft): Draft {
  if (draft.kind === "const") return ctx.constant(node, Boolean(draft.value));
  if (isNumber(draft) && draft.type.narrow(INTEGER)) return comparisonOf(ctx, node, "ne", draft, ctx.constant(node, 0));
  return ctx.require(node, draft, BOOL, "compare: write x !== 0");
}

/** Returns the logical negation of an expression. */
export function negationOf(ctx: Context, node: Node, a: Draft): Draft {
  // `!0` and `!1` are how minifiers write true and false.
  if (a.kind === "const") return ctx.constant(node, !a.value);
  if (a.kind === "unary" && a.op === "not") return a.a;
  return ctx.draft(node, boolType(), { kind: "unary", op: "not", a: truthValueOf(ctx, node, a) });
}

/**
 * Lowers `&&` or `||`. The result is a bool, or, for two integers, one of them, because minifiers write `a ? a : b` as
 * `a || b`. With `onlyTruth`, the result is always a bool, because only the truth value is needed.
 */
export function lowerLogical(
  ctx: Context,
  node: LogicalExpression,
  scope: Scope,
  out: DraftStatement[],
  onlyTruth = false,
): Draft {
  const lowerPart = onlyTruth ? lowerCondition : lowerScalar;
  const isAnd = node.operator === "&&";
  const left = lowerPart(ctx, node.left, scope, out);
  const decides = truthValueOf(ctx, node.left, left);
  if (decides.kind === "const") return decides.value === isAnd ? lowerPart(ctx, node.right, scope, out) : left;
  const branch: DraftStatement[] = [];
  const right = lowerPart(ctx, node.right, scope, branch);
  if (isNumber(left) && isNumber(right)) return oneOfTwo(ctx, node, isAnd, left, right, branch, out);
  const b = truthValueOf(ctx, node.right, right);
  if (branch.length === 0)
    return ctx.draft(node, boolType(), { kind: "logical", op: isAnd ? "and" : "or", a: decides, b });
  // The right side has effects or calls: it runs only when the left one does not decide.
  const result = ctx.newLocal("t", boolType());
  const place = ctx.place(node);
  out.push({ kind: "assign", local: result, value: decides, place });
  branch.push({ kind: "assign", local: result, value: b, place });
  const decided = ctx.local(node, result);
  out.push({ kind: "if", condition: isAnd ? decided : negationOf(ctx, node, decided), then: branch, else: [], place });
  return ctx.local(node, result);
}

const isNumber = ({ type }: Draft): boolean => (type.possible & BOOL) === 0;

function oneOfTwo(
  ctx: Context,
  node: LogicalExpression,
  isAnd: boolean,
  left: Draft,
  right: Draft,
  branch: DraftStatement[],
  out: DraftStatement[],
): Draft {
  const a = ctx.materialise(node.left, left, out);
  const condition = truthValueOf(ctx, node.left, a);
  const choice = isAnd
    ? { yes: right, yesOut: branch, no: a, noOut: [] }
    : { yes: a, yesOut: [], no: right, noOut: branch };
  return chosen(ctx, node, condition, choice, out);
}

/**
 * Lowers `a ?? b`. The result is `a`, or `b` if `a` is an entry that `env` lacks. A left operand that could be
 * undefined at run time in plain JavaScript is an error.
 */
export function lowerNullishCoalescing(
  ctx: Context,
  node: LogicalExpression,
  scope: Scope,
  out: DraftStatement[],
): Value {
  checkNeverNull(ctx, node.left, scope);
  const left = lowerValue(ctx, node.left, scope, out);
  return left.kind === "undefined" ? lowerValue(ctx, node.right, scope, out) : left;
}

/** Checks that the left operand of `??` cannot be null or undefined at run time. */
export function checkNeverNull(ctx: Context, node: Node, scope: Scope): void {
  const inner = node as Expression;
  if (inner.type === "ParenthesizedExpression") return checkNeverNull(ctx, inner.expression, scope);
  if (inner.type === "MemberExpression" && inner.computed)
    throw ctx.fail(
      node,
      "an element of an array is never null",
      "compare the index with the array's length instead of ??",
    );
  const value = inner.type === "Identifier" ? scope.find(inner.name) : undefined;
  if (value?.kind === "local" && ctx.unset.has(value.id))
    throw ctx.fail(node, "?? after a name declared without a value", "give it a value where it is declared");
}

/** A function that lowers a branch of a conditional expression. */
export type LowerBranch = (node: Expression, out: DraftStatement[]) => Value;

/**
 * Lowers `c ? a : b`. Its branches are numbers or bools, records with the same field names, or calls that return
 * nothing.
 */
export function lowerConditional(
  ctx: Context,
  node: ConditionalExpression,
  scope: Scope,
  out: DraftStatement[],
  lowerBranch: LowerBranch = (part, branch) => lowerValue(ctx, part, scope, branch),
): Value {
  const condition = lowerCondition(ctx, node.test, scope, out);
  if (condition.kind === "const") return lowerBranch(condition.value ? node.consequent : node.alternate, out);
  const [yesOut, noOut]: [DraftStatement[], DraftStatement[]] = [[], []];
  const a = lowerBranch(node.consequent, yesOut);
  const b = lowerBranch(node.alternate, noOut);
  if (a.kind === "nothing" && b.kind === "nothing") {
    pushIf(ctx, node, condition, yesOut, noOut, out);
    return a;
  }
  if (a.kind === "record" && b.kind === "record") {
    const either = chooseRecord(ctx, node, a, b, yesOut, noOut);
    pushIf(ctx, node, condition, yesOut, noOut, out);
    return either;
  }
  const yes = scalarOf(ctx, node.consequent, a);
  const no = scalarOf(ctx, node.alternate, b);
  return scalar(chosen(ctx, node, condition, { yes, yesOut, no, noOut }, out));
}

interface Choice {
  readonly yes: Draft;
  readonly yesOut: DraftStatement[];
  readonly no: Draft;
  readonly noOut: DraftStatement[];
}

/** Returns the choice between two values: a selection, or an `if` if either side has effects or calls. */
function chosen(
  ctx: Context,
  node: Node,
  condition: Draft,
  { yes, yesOut, no, noOut }: Choice,
  out: DraftStatement[],
): Draft {
  ctx.unify(node, yes, no);
  if (yesOut.length + noOut.length === 0)
    return ctx.draft(node, yes.type, { kind: "select", condition, a: yes, b: no });
  const result = ctx.newLocal("t", yes.type);
  const place = ctx.place(node);
  yesOut.push({ kind: "assign", local: result, value: yes, place });
  noOut.push({ kind: "assign", local: result, value: no, place });
  out.push({ kind: "if", condition, then: yesOut, else: noOut, place });
  return ctx.local(node, result);
}
