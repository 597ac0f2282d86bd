/** Lowers declarations with `const`, `let` and `var`. */
import type { Expression, Node, VariableDeclaration } from "acorn";

import { bindPattern } from "./bind.ts";
import type { Context, Scope, Value } from "./context.ts";
import type { DraftStatement } from "./draft.ts";
import { lowerValue, scalarOf } from "./expressions.ts";
import { declareRecordVariable, makesRecord, namedArray } from "./records.ts";
import { BOOL, NUMERIC, TypeVariable } from "./types.ts";

/** Lowers a declaration of variables. */
export function lowerDeclaration(ctx: Context, node: VariableDeclaration, scope: Scope, out: DraftStatement[]): void {
  const target = node.kind === "var" ? ctx.frame.scope : scope;
  for (const { id, init } of node.declarations) {
    const value = init ? lowerValue(ctx, init, scope, out) : null;
    if (value?.kind === "record" && node.kind === "var")
      throw ctx.fail(id, "a record is declared with var, which may stand for several", "declare it with const or let");
    if (value !== null && !(id.type === "Identifier" && isUndefined(init!)))
      declareInitialised(ctx, id, init!, value, target, out, node.kind === "const");
    else if (id.type !== "Identifier") throw ctx.fail(id, "a pattern needs a value");
    else if (target.own(id.name)?.kind !== "local") declareUnset(ctx, id.name, target);
  }
}

/** Tells whether an initial value is undefined: `let x = void 0` means `let x`. */
function isUndefined(node: Node): boolean {
  const { type, operator, name } = node as { type: string; operator?: string; name?: string };
  return (type === "UnaryExpression" && operator === "void") || (type === "Identifier" && name === "undefined");
}

function declareUnset(ctx: Context, name: string, scope: Scope): void {
  const id = ctx.newLocal(name);
  ctx.unset.add(id);
  ctx.untouched.add(id);
  scope.declare(name, { kind: "local", id });
}

function declareInitialised(
  ctx: Context,
  id: any,
  init: Expression,
  value: Value,
  scope: Scope,
  out: DraftStatement[],
  constant: boolean,
): void {
  if (id.type !== "Identifier") return bindPattern(ctx, id, value, scope, out);
  const name: string = id.name;
  if (value.kind === "record")
    return scope.declare(
      name,
      declareRecordVariable(ctx, init, name, value, out, { isFresh: makesRecord(init), constant }),
    );
  const scalar = value.kind === "scalar" || value.kind === "constant" || value.kind === "local";
  if (!scalar) {
    if (value.kind === "nothing")
      throw ctx.fail(id, `${name} would have no value`, "return a number from the function");
    scope.declare(name, value.kind === "array" ? namedArray(ctx, name, value) : value);
    return;
  }
  // A const is not assigned to, though another variable of its name may be: minifiers have few names.
  const isAssigned = !constant && ctx.frame.assigned.has(name);
  if (value.kind === "constant" && !isAssigned) return scope.declare(name, value);
  const draft = scalarOf(ctx, id, value);
  if (draft.kind === "const" && !isAssigned) return scope.declare(name, { kind: "scalar", draft });
  const known = scope.own(name); // a `var` declared twice, or before its value
  const settled = known?.kind !== "local" && !isAssigned;
  if (settled && draft.kind === "local" && ctx.settled.has(draft.id))
    return scope.declare(name, { kind: "scalar", draft });
  const local = known?.kind === "local" ? known.id : ctx.newLocal(name, new TypeVariable(NUMERIC | BOOL));
  ctx.unify(id, ctx.local(id, local), draft);
  out.push({ kind: "assign", local, value: draft, place: ctx.place(id) });
  scope.declare(name, { kind: "local", id: local, constant });
  if (settled) ctx.settled.add(local);
}
