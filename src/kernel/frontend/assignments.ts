/** Assignments to local variables and array elements: plain, compound (`+=`) and stepping (`++`). */
import type { AssignmentExpression, Expression, Identifier, MemberExpression, Node, UpdateExpression } from "acorn";

import type { ArrayValue, Context, RecordValue, Scope, Value } from "./context.ts";
import type { Draft, DraftStatement } from "./draft.ts";
import { checkedIndex, loadAt, memberOf } from "./access.ts";
import { checkNeverNull, emitIf, truthValueOf } from "./conditions.ts";
import { lowerScalar, lowerValue, scalar, scalarOf } from "./expressions.ts";
import { binaryOperationOf, operandLoweringOf } from "./operators.ts";
import { assignRecord, declareRecordVariable, makesRecord } from "./records.ts";
import { typeVariable } from "./types.ts";

/** The target of an assignment. The index of an array element has been evaluated. */
type Target =
  | { readonly kind: "local"; readonly id: number }
  | { readonly kind: "element"; readonly array: ArrayValue; readonly index: Draft };

/**
 * Lowers an assignment and returns the assigned value. With `used`, the program uses this value, and it is evaluated
 * before the store.
 */
export function lowerAssignment(
  ctx: Context,
  node: AssignmentExpression,
  scope: Scope,
  out: DraftStatement[],
  used: boolean,
): Value {
  const isName = node.operator === "=" && node.left.type === "Identifier";
  return (
    (isName ? lowerRecordAssignment(ctx, node, scope, out) : null) ?? scalar(assignScalar(ctx, node, scope, out, used))
  );
}

/** Lowers `ends = readEnds(…)` if the name is, or may become, a record; otherwise returns null. */
function lowerRecordAssignment(
  ctx: Context,
  node: AssignmentExpression,
  scope: Scope,
  out: DraftStatement[],
): Value | null {
  const { name } = node.left as Identifier;
  const known = scope.find(name);
  const isRecord = known?.kind === "record";
  if (!isRecord && !(known?.kind === "local" && ctx.untouched.has(known.id))) return null;
  if (isRecord && known.variable?.rebound !== true) throw unassignable(ctx, node.left, name);
  const value = lowerValue(ctx, node.right, scope, out);
  const isFresh = makesRecord(node.right);
  if (isRecord) {
    assignRecord(ctx, node.right, known, value, isFresh, out);
    return known;
  }
  if (value.kind !== "record") {
    const target = lowerNamedTarget(ctx, node.left, name, scope);
    return scalar(assign(ctx, node, target, scalarOf(ctx, node.right, value), out, true));
  }
  const declared = declareRecordVariable(ctx, node.right, name, value, out, { isFresh, constant: false });
  scope.replace(name, declared);
  return declared;
}

function assignScalar(
  ctx: Context,
  node: AssignmentExpression,
  scope: Scope,
  out: DraftStatement[],
  used: boolean,
): Draft {
  const target = lowerTarget(ctx, node.left, scope, out);
  if (node.operator === "=")
    return assign(ctx, node, target, lowerRight(ctx, node.right, target, scope, out), out, used);
  const operator = node.operator.slice(0, -1);
  if (operator === "&&" || operator === "||" || operator === "??")
    return assignLogical(ctx, node, operator, target, scope, out);
  const before = out.length;
  const old = readTarget(ctx, node, target);
  const right = operandLoweringOf(operator)(ctx, node.right, scope, out);
  // The right side has effects: the old value is the one from before them.
  const saved: DraftStatement[] = [];
  const left = out.length > before ? ctx.materialise(node, old, saved) : old;
  out.splice(before, 0, ...saved);
  return assign(ctx, node, target, binaryOperationOf(ctx, node, operator, left, right, out), out, used);
}

/** Lowers `a ||= b` and `a &&= b`, which minifiers write for `a = a || b` and `if (!a) a = b`. `a ??= b` is `a`. */
function assignLogical(
  ctx: Context,
  node: AssignmentExpression,
  operator: "&&" | "||" | "??",
  target: Target,
  scope: Scope,
  out: DraftStatement[],
): Draft {
  if (operator === "??") {
    checkNeverNull(ctx, node.left, scope);
    return readTarget(ctx, node, target);
  }
  const decides = truthValueOf(ctx, node.left, readTarget(ctx, node, target));
  const assigned = (branch: DraftStatement[]): void => {
    assign(ctx, node, target, lowerScalar(ctx, node.right, scope, branch), branch, false);
  };
  emitIf(ctx, node, decides, operator === "&&" ? assigned : null, operator === "||" ? assigned : null, out);
  return readTarget(ctx, node, target);
}

/**
 * Lowers `i++`, `++i`, `i--` or `--i`. With `used`, the program uses the expression's value: the old value after a
 * postfix operator, the new one after a prefix operator.
 */
export function lowerUpdate(
  ctx: Context,
  node: UpdateExpression,
  scope: Scope,
  out: DraftStatement[],
  used: boolean,
): Draft {
  const target = lowerTarget(ctx, node.argument, scope, out);
  const old = readTarget(ctx, node, target);
  const kept = node.prefix || !used ? old : ctx.materialise(node, old, out);
  const stepped = binaryOperationOf(ctx, node, node.operator === "++" ? "+" : "-", kept, ctx.constant(node, 1), out);
  const updated = assign(ctx, node, target, stepped, out, used && node.prefix);
  return node.prefix ? updated : kept;
}

function lowerRight(ctx: Context, node: Expression, target: Target, scope: Scope, out: DraftStatement[]): Draft {
  const before = out.length;
  const right = lowerScalar(ctx, node, scope, out);
  if (out.length > before && target.kind === "element" && target.index.kind === "local") {
    // JavaScript evaluates the index before the right side, which has effects here.
    const saved: DraftStatement[] = [];
    const index = ctx.materialise(node, target.index, saved);
    out.splice(before, 0, ...saved);
    Object.assign(target, { index });
  }
  return right;
}

function lowerTarget(ctx: Context, node: Node, scope: Scope, out: DraftStatement[]): Target {
  if (node.type === "Identifier") return lowerNamedTarget(ctx, node, (node as unknown as { name: string }).name, scope);
  if (node.type === "MemberExpression") return lowerElementTarget(ctx, node as MemberExpression, scope, out);
  throw ctx.fail(node, "only a variable or an element of an array can be assigned to", "assign one name at a time");
}

function lowerNamedTarget(ctx: Context, node: Node, name: string, scope: Scope): Target {
  const value = scope.find(name);
  if (value?.kind === "local" && !value.constant) return { kind: "local", id: value.id };
  if (value === undefined)
    throw ctx.fail(
      node,
      `${name} is not declared: a kernel's body cannot use variables of the code around it`,
      "declare it with let inside the body",
    );
  throw unassignable(ctx, node, name);
}

function unassignable(ctx: Context, node: Node, name: string): Error {
  return ctx.fail(node, `${name} cannot be assigned to`, "declare a local with let");
}

/** Lowers the target of `row.a = …`: a number of the record with which a local name was declared. */
function lowerFieldTarget(ctx: Context, node: MemberExpression, record: RecordValue): Target {
  const { name: field } = node.property as Identifier;
  const value = memberOf(ctx, node, record, field);
  if (value.kind === "array")
    throw ctx.fail(
      node,
      `${field} is an array of this record, and stays the one it was declared with`,
      `write its elements: ${field}[i] = …`,
    );
  const name = node.object.type === "Identifier" ? node.object.name : "";
  const { variable } = record;
  const isOwn = variable?.fieldsAssigned === true && variable.frame === ctx.frame && variable.name === name;
  if (isOwn && value.kind === "local") return { kind: "local", id: value.id };
  if (value.kind === "record")
    throw ctx.fail(
      node,
      `${field} is a record, which cannot be replaced here`,
      "declare it by a name of its own with let",
    );
  throw ctx.fail(
    node,
    `the fields of this record cannot be assigned to: only const row = { … } or const row = f(…) owns them`,
    "copy its fields to a record of your own: const own = { a: row.a, … }",
  );
}

function lowerElementTarget(ctx: Context, node: MemberExpression, scope: Scope, out: DraftStatement[]): Target {
  const object = lowerValue(ctx, node.object as Expression, scope, out);
  if (object.kind === "record" && !node.computed) return lowerFieldTarget(ctx, node, object);
  if (object.kind !== "array" || !node.computed) throw ctx.fail(node, "only elements of arrays can be assigned to");
  const { array } = object;
  if (!array.writable)
    throw ctx.fail(
      node,
      `${array.name} is declared with read(…), so it cannot be written`,
      `declare it with write(${array.element})`,
    );
  const index = checkedIndex(ctx, node, array, lowerScalar(ctx, node.property, scope, out));
  // Compound assignments use the index twice, and the right side may have effects: evaluate anything but a name first.
  const simple = index.kind === "const" || index.kind === "param" || index.kind === "local" || isCheap(index);
  return { kind: "element", array, index: simple ? index : ctx.materialise(node, index, out) };
}

/**
 * Tells whether an index is a sum of names and constants, such as `i + 1`, which is cheaper to repeat than to store in
 * a variable.
 */
function isCheap(draft: Draft): boolean {
  if (draft.kind !== "binary" || (draft.op !== "add" && draft.op !== "sub")) return false;
  return [draft.a, draft.b].every((side) => side.kind === "const" || side.kind === "param");
}

function readTarget(ctx: Context, node: Node, target: Target): Draft {
  return target.kind === "local" ? ctx.local(node, target.id) : loadAt(ctx, node, target.array, target.index);
}

function assign(ctx: Context, node: Node, target: Target, value: Draft, out: DraftStatement[], used: boolean): Draft {
  const place = ctx.place(node);
  if (target.kind === "local") {
    ctx.untouched.delete(target.id);
    ctx.unify(node, ctx.local(node, target.id), value);
    out.push({ kind: "assign", local: target.id, value, place });
    return ctx.local(node, target.id);
  }
  const element = typeVariable(target.array.element);
  ctx.unifyTypes(node, value.type, element, value);
  // `a[i] = b = c`: what is stored first may be what the value is made of.
  const stored = used ? ctx.materialise(node, value, out) : value;
  out.push({ kind: "store", array: target.array.ref, index: target.index, value: stored, place });
  return stored;
}
