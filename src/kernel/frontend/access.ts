/** Lowers names, literals, members, and elements of arrays. */
import type { Expression, MemberExpression, Node } from "acorn";
import type { KernelError } from "../../base/errors.ts";
import type { FunctionSpec } from "../language.ts";
import { type ArrayValue, type Context, i32Type, type Scope, takesState, type Value } from "./context.ts";
import type { Draft, DraftStatement } from "./draft.ts";
import { lowerScalar, lowerValue, scalar } from "./expressions.ts";
import { INTEGER, typeVariable } from "./types.ts";

const MATH_CONSTANTS = ["PI", "E", "LN2", "LN10", "LOG2E", "LOG10E", "SQRT2", "SQRT1_2"] as const;

/** Returns the value to which a name in the kernel's source refers, as a compile-time description. */
export function lowerIdentifier(ctx: Context, node: Node, name: string, scope: Scope): Value {
  const found = scope.find(name);
  if (found?.kind === "early") throw ctx.fail(node, `${name} is used before it is declared`, "declare it first");
  if (found) return found;
  if (name === "Math" || name === "Number") return { kind: "namespace", name };
  if (name === "Infinity") return { kind: "constant", value: Infinity };
  if (name === "NaN") return { kind: "constant", value: NaN };
  if (name === "undefined") return { kind: "nothing" };
  throw undeclaredError(ctx, node, name);
}

/** Returns the error for an undeclared name. `isCalled` is true where the source calls the name as a function. */
export function undeclaredError(ctx: Context, node: Node, name: string, isCalled = false): KernelError {
  if (takesState(ctx.frame)) {
    const remedy = isCalled
      ? `name it in functions: { ${name} }, and take it by name from the third argument: (state, gpu, { ${name} }) => …`
      : `list it among the parameters, and take it by name: ({ …, ${name} }) => …`;
    return ctx.fail(node, `${name} is not declared: the function cannot use variables of the code around it`, remedy);
  }
  if ((ctx.frame.declared as Partial<FunctionSpec>).userWritten === "plain")
    return ctx.fail(
      node,
      `${name} is not declared: the function cannot use variables of the code around it`,
      isCalled ? "declare the function that calls it with fn({ env: { … } })" : "pass it as an argument",
    );
  return ctx.fail(
    node,
    `${name} is not declared: a kernel's body cannot use variables of the code around it`,
    `declare it: a run-time value in params, a constant or a kernel function in env, and destructure it in the body's arguments`,
  );
}

/** Lowers a literal. */
export function lowerLiteral(ctx: Context, node: Node, value: unknown): Value {
  if (typeof value === "number") {
    const { literals } = ctx.frame;
    return { kind: "constant", value, origin: literals && { literals, start: node.start } };
  }
  if (typeof value === "boolean") return { kind: "constant", value };
  if (typeof value === "string") return { kind: "text", value };
  throw ctx.fail(
    node,
    `${value === null ? "null" : typeof value} is not part of the kernel language`,
    "use numbers and booleans",
  );
}

/** Lowers a member access: an element of an array, a field of a record, or a member of a namespace such as `Math`. */
export function lowerMember(ctx: Context, node: MemberExpression, scope: Scope, out: DraftStatement[]): Value {
  const object = lowerValue(ctx, node.object as Expression, scope, out);
  if (!node.computed) return memberOf(ctx, node, object, (node.property as { name: string }).name);
  if (object.kind !== "array" && object.kind !== "tuple") throw ctx.fail(node, "only arrays can be indexed");
  const index = lowerScalar(ctx, node.property, scope, out);
  if (object.kind === "tuple") return entryOf(ctx, node, object.items, index);
  return scalar(loadOf(ctx, node, object.array, index));
}

/** Returns the entry of a compile-time list at a constant index. */
function entryOf(ctx: Context, node: Node, items: readonly Value[], index: Draft): Value {
  if (index.kind !== "const")
    throw ctx.fail(
      node,
      "an entry of a list by a number that is known only at run time",
      "write for (const entry of list), or index it with a constant",
    );
  ctx.require(node, index, INTEGER, "index with an i32: gpu.i32(x)");
  const item = items[index.value as number] as Value | undefined;
  if (item === undefined)
    throw ctx.fail(
      node,
      `index ${index.value} is outside a list of length ${items.length}`,
      "index from 0 to length − 1",
    );
  return item;
}

/** Returns the expression that loads an element of an array, after a check of the index's type. */
export function loadOf(ctx: Context, node: Node, array: ArrayValue, index: Draft): Draft {
  return loadAt(ctx, node, array, checkedIndex(ctx, node, array, index));
}

/** Returns the expression that loads an element of an array. `index` comes from `checkedIndex`. */
export function loadAt(ctx: Context, node: Node, array: ArrayValue, index: Draft): Draft {
  return ctx.draft(node, typeVariable(array.element), { kind: "load", array: array.ref, index });
}

/**
 * Returns an index relative to the array as declared, after a check of its type. For a part of an array (`gpu.part`),
 * the start of the part is added.
 */
export function checkedIndex(ctx: Context, node: Node, array: ArrayValue, index: Draft): Draft {
  checkIndex(ctx, node, array, index);
  const { from } = array;
  if (from === undefined || (from.kind === "const" && from.value === 0)) return index;
  ctx.unify(node, from, index);
  return ctx.draft(node, index.type, { kind: "binary", op: "add", a: from, b: index });
}

/**
 * Checks that an index is an integer. A constant index is also checked against the length of an array whose length is
 * constant.
 */
function checkIndex(ctx: Context, node: Node, array: ArrayValue, index: Draft): void {
  ctx.require(node, index, INTEGER, "index with an i32: gpu.i32(x)");
  if (index.kind !== "const") return;
  const value = index.value as number;
  if (value < 0 || (array.length !== null && value >= array.length))
    throw ctx.fail(
      node,
      `index ${value} is outside ${array.name}${array.length === null ? "" : `, of length ${array.length}`}`,
      "index from 0 to length − 1",
    );
}

/** The number of elements of a buffer, or of its part. */
function lengthOfBuffer(ctx: Context, node: Node, { ref, from }: ArrayValue): Draft {
  const all = ctx.draft(node, i32Type(), { kind: "length", array: ref });
  return from === undefined ? all : ctx.draft(node, i32Type(), { kind: "binary", op: "sub", a: all, b: from });
}

/** Returns the member of a record, array or namespace that has the given name. */
export function memberOf(ctx: Context, node: Node, object: Value, name: string): Value {
  switch (object.kind) {
    case "namespace":
      return namespaceMember(object.name, name, ctx);
    case "record": {
      const field = object.fields.get(name);
      if (field) return field;
      throw ctx.fail(
        node,
        `there is no ${name} here`,
        `${takesState(ctx.frame) ? "list it among the parameters" : "declare it"}; there are: ${[...object.fields.keys()].join(", ")}`,
      );
    }
    case "tuple":
      if (name !== "length") break;
      return { kind: "constant", value: object.items.length };
    case "array":
      if (name !== "length") break;
      if (object.array.length !== null) return { kind: "constant", value: object.array.length };
      return scalar(lengthOfBuffer(ctx, node, object.array));
    default:
      break;
  }
  throw ctx.fail(node, `.${name} is not part of the kernel language here`, "arrays have .length, records their fields");
}

function namespaceMember(namespace: "Math" | "Number" | "gpu", name: string, ctx: Context): Value {
  if (namespace === "gpu" && name === "precision") return { kind: "text", value: ctx.precision };
  if (namespace === "Math") {
    const constant = MATH_CONSTANTS.find((c) => c === name);
    if (constant) return { kind: "constant", value: Math[constant] };
  }
  return { kind: "member", namespace, name };
}
