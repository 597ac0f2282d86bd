/** Assignments to locals and to elements of arrays, plain, compound (`+=`) and stepping (`++`). */
import type { AssignmentExpression, Expression, MemberExpression, Node, UpdateExpression } from "acorn";

import type { ArrayValue, Context, Scope } from "./context.ts";
import type { Draft, DraftStatement } from "./draft.ts";
import { indexIn, loadAt } from "./access.ts";
import { checkNeverNull, emitIf, truthOf } from "./conditions.ts";
import { lowerScalar, lowerValue } from "./expressions.ts";
import { binaryOf, operandOf } from "./operators.ts";
import { typeVariable } from "./types.ts";

/** Somewhere to write to; an array's index has been evaluated. */
type Target =
  | { readonly kind: "local"; readonly id: number }
  | { readonly kind: "element"; readonly array: ArrayValue; readonly index: Draft };

/** Performs the assignment; the value is what was assigned, evaluated before the store if it is `used`. */
export function lowerAssignment(
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
  const right = operandOf(operator)(ctx, node.right, scope, out);
  // The right side has effects: the old value is the one from before them.
  const saved: DraftStatement[] = [];
  const left = out.length > before ? ctx.materialise(node, old, saved) : old;
  out.splice(before, 0, ...saved);
  return assign(ctx, node, target, binaryOf(ctx, node, operator, left, right, out), out, used);
}

/** `a ||= b` and `a &&= b`, as minifiers write `a = a || b` and `if (!a) a = b`; `a ??= b` is `a`. */
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
  const decides = truthOf(ctx, node.left, readTarget(ctx, node, target));
  const assigned = (branch: DraftStatement[]): void => {
    assign(ctx, node, target, lowerScalar(ctx, node.right, scope, branch), branch, false);
  };
  emitIf(ctx, node, decides, operator === "&&" ? assigned : null, operator === "||" ? assigned : null, out);
  return readTarget(ctx, node, target);
}

/** `i++` and `++i`; the value is the old or the new one, if it is `used`. */
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
  const stepped = binaryOf(ctx, node, node.operator === "++" ? "+" : "-", kept, ctx.constant(node, 1), out);
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
  throw ctx.fail(node, `${name} cannot be assigned to`, "declare a local with let");
}

function lowerElementTarget(ctx: Context, node: MemberExpression, scope: Scope, out: DraftStatement[]): Target {
  const object = lowerValue(ctx, node.object as Expression, scope, out);
  if (object.kind !== "array" || !node.computed) throw ctx.fail(node, "only elements of arrays can be assigned to");
  const { array } = object;
  if (!array.writable)
    throw ctx.fail(
      node,
      `${array.name} is declared with read(…), so it cannot be written`,
      `declare it with write(${array.element})`,
    );
  const index = indexIn(ctx, node, array, lowerScalar(ctx, node.property, scope, out));
  // Compound assignments use the index twice, and the right side may have effects: evaluate anything but a name first.
  const simple = index.kind === "const" || index.kind === "param" || index.kind === "local" || isCheap(index);
  return { kind: "element", array, index: simple ? index : ctx.materialise(node, index, out) };
}

/** Sums of names and constants, the common `u[i + 1]`: cheaper to repeat than to name. */
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
