/** Conditions: `if`, `? :`, `&&` and `||`, in statements and in expressions. */
import type { ConditionalExpression, LogicalExpression, Node } from "acorn";
import { boolType, type Context, type Scope, type Value } from "./context.ts";
import type { Draft, DraftStatement } from "./draft.ts";
import { lowerScalar, lowerValue, scalar } from "./expressions.ts";
import { compareOf } from "./operators.ts";
import { BOOL, INTEGER } from "./types.ts";

type Branch = ((out: DraftStatement[]) => void) | null;

/** WGSL compilers stop at 127 nested braces. */
export const MAX_BRANCH_DEPTH = 100;

/** An `if`; a constant condition leaves only the branch taken, and the other is not even looked at. */
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
  if (thenOut.length + elseOut.length === 0) return;
  const place = ctx.place(node);
  if (thenOut.length > 0) out.push({ kind: "if", condition, then: thenOut, else: elseOut, place });
  else out.push({ kind: "if", condition: notOf(ctx, node, condition), then: elseOut, else: [], place });
}

export function lowerCondition(ctx: Context, node: Node, scope: Scope, out: DraftStatement[]): Draft {
  return truthOf(ctx, node, lowerScalar(ctx, node, scope, out));
}

/** A bool as it is; an integer that is not 0, as minifiers write comparisons of bits. */
export function truthOf(ctx: Context, node: Node, draft: Draft): Draft {
  if (draft.kind === "const") return ctx.constant(node, Boolean(draft.value));
  if ((draft.type.possible & ~INTEGER) === 0) return compareOf(ctx, node, "ne", draft, ctx.constant(node, 0));
  return ctx.require(node, draft, BOOL, "compare: write x !== 0");
}

export function notOf(ctx: Context, node: Node, a: Draft): Draft {
  // `!0` and `!1` are how minifiers write true and false.
  if (a.kind === "const") return ctx.constant(node, !a.value);
  return ctx.draft(node, boolType(), { kind: "unary", op: "not", a: truthOf(ctx, node, a) });
}

export function lowerLogical(ctx: Context, node: LogicalExpression, scope: Scope, out: DraftStatement[]): Draft {
  if (node.operator === "??")
    throw ctx.fail(node, "?? is not part of the kernel language", "nothing is ever null in a kernel");
  const isAnd = node.operator === "&&";
  const a = lowerCondition(ctx, node.left, scope, out);
  if (a.kind === "const") return a.value === isAnd ? lowerCondition(ctx, node.right, scope, out) : a;
  const branch: DraftStatement[] = [];
  const b = lowerCondition(ctx, node.right, scope, branch);
  if (branch.length === 0) return ctx.draft(node, boolType(), { kind: "logical", op: isAnd ? "and" : "or", a, b });
  // The right side has effects or calls: it runs only when the left one does not decide.
  const result = ctx.newLocal("t", boolType());
  const place = ctx.place(node);
  out.push({ kind: "assign", local: result, value: a, place });
  branch.push({ kind: "assign", local: result, value: b, place });
  const decided = ctx.local(node, result);
  out.push({ kind: "if", condition: isAnd ? decided : notOf(ctx, node, decided), then: branch, else: [], place });
  return ctx.local(node, result);
}

export function lowerConditional(
  ctx: Context,
  node: ConditionalExpression,
  scope: Scope,
  out: DraftStatement[],
): Value {
  const condition = lowerCondition(ctx, node.test, scope, out);
  if (condition.kind === "const")
    return lowerValue(ctx, condition.value ? node.consequent : node.alternate, scope, out);
  const [thenOut, elseOut]: [DraftStatement[], DraftStatement[]] = [[], []];
  const a = lowerScalar(ctx, node.consequent, scope, thenOut);
  const b = lowerScalar(ctx, node.alternate, scope, elseOut);
  ctx.unify(node, a, b);
  if (thenOut.length + elseOut.length === 0)
    return scalar(ctx.draft(node, a.type, { kind: "select", condition, a, b }));
  const result = ctx.newLocal("t", a.type);
  const place = ctx.place(node);
  thenOut.push({ kind: "assign", local: result, value: a, place });
  elseOut.push({ kind: "assign", local: result, value: b, place });
  out.push({ kind: "if", condition, then: thenOut, else: elseOut, place });
  return scalar(ctx.local(node, result));
}
