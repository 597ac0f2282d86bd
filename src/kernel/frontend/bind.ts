/** Binds names to values: destructured arguments, and the compile-time values of `env`. */
import type { Node, Pattern, Property } from "acorn";

import { type Environment, type EnvironmentValue, isFunctionSpec, isList } from "../language.ts";
import type { Context, Scope, Value } from "./context.ts";
import type { DraftStatement } from "./draft.ts";
import { memberOf } from "./access.ts";
import { scalarOf } from "./expressions.ts";
import { declareRecordVariable } from "./records.ts";

/** Returns the compile-time values of a kernel (`env`) as a record of the front end. */
export function environmentValue(env: Environment): Value {
  const fields = new Map<string, Value>();
  for (const [name, value] of Object.entries(env)) fields.set(name, environmentEntry(value));
  return { kind: "record", fields };
}

function environmentEntry(value: EnvironmentValue): Value {
  if (typeof value === "number" || typeof value === "boolean") return { kind: "constant", value };
  if (typeof value === "string") return { kind: "text", value };
  if (value === undefined) return { kind: "undefined" };
  if (isFunctionSpec(value)) return { kind: "function", fn: value };
  return isList(value) ? { kind: "tuple", items: value.map(environmentEntry) } : environmentValue(value);
}

/**
 * Declares the names of a parameter, or of a destructuring declaration such as `const { a, b } = …`, with their values.
 */
export function bindPattern(ctx: Context, pattern: Pattern, value: Value, scope: Scope, out: DraftStatement[]): void {
  switch (pattern.type) {
    case "Identifier":
      scope.declare(pattern.name, own(ctx, pattern, pattern.name, value, out));
      return;
    case "ObjectPattern":
      for (const property of pattern.properties) bindProperty(ctx, property, value, scope, out);
      return;
    case "ArrayPattern":
      if (value.kind !== "tuple")
        throw ctx.fail(
          pattern,
          "only a function's arguments can be destructured as an array",
          "destructure by name: { a, b }",
        );
      pattern.elements.forEach((element, k) => {
        if (!element) return;
        const item = value.items[k];
        if (!item)
          throw ctx.fail(element, `there are only ${value.items.length} parameters declared`, "declare it in params");
        bindPattern(ctx, element, item, scope, out);
      });
      return;
    case "AssignmentPattern":
      throw ctx.fail(pattern, "parameters have no default values", "pass every argument");
    default:
      throw ctx.fail(pattern, "this pattern is not part of the kernel language", "destructure by name: { a, b }");
  }
}

function bindProperty(ctx: Context, property: Node, value: Value, scope: Scope, out: DraftStatement[]): void {
  if (property.type !== "Property")
    throw ctx.fail(property, "...rest is not part of the kernel language", "name each value");
  const { key, computed, value: target } = property as unknown as Property & { value: Pattern };
  const name = key.type === "Identifier" ? key.name : key.type === "Literal" ? String(key.value) : "";
  if (computed || name === "")
    throw ctx.fail(property, "computed names are not part of the kernel language", "name each value");
  bindPattern(ctx, target, memberOf(ctx, property, value, name), scope, out);
}

/**
 * Returns the value of a parameter. If the body assigns the parameter, or if another name may change it, it becomes a
 * local variable of its own.
 */
function own(ctx: Context, node: Node, name: string, value: Value, out: DraftStatement[]): Value {
  if (value.kind === "record")
    return declareRecordVariable(ctx, node, name, value, out, { isFresh: false, constant: false });
  if (value.kind !== "local" && !ctx.frame.assignedParameters.has(name)) return value;
  if (value.kind !== "scalar" && value.kind !== "constant" && value.kind !== "local") return value;
  const draft = scalarOf(ctx, node, value);
  const id = ctx.newLocal(name, draft.type);
  out.push({ kind: "assign", local: id, value: draft, place: ctx.place(node) });
  return { kind: "local", id };
}
