/** Lowers calls: finds the function that is called, and what the call becomes. */
import type { CallExpression, ConditionalExpression, Expression, Node } from "acorn";
import type { IndexOp } from "../ir.ts";
import { undeclaredError } from "./access.ts";
import { lateOperation } from "./arithmetic.ts";
import { ARRAYS, ATOMICS, declareArray, lowerAtomic, lowerPart } from "./arrays.ts";
import { isCollective } from "./collectives.ts";
import { lowerConditional } from "./conditions.ts";
import { type Context, i32Type, type Scope, type Value } from "./context.ts";
import type { Draft, DraftStatement } from "./draft.ts";
import { lowerOperands, lowerValue } from "./expressions.ts";
import { inlineCall } from "./inline.ts";
import { lowerFetch } from "./fetches.ts";
import { checkedArguments, GPU_INTRINSICS, intrinsicOf, NUMBER_INTRINSICS, ownEntry } from "./intrinsics.ts";
import { lowerLibraryCall, lowerMathCall, type OperandLowering } from "./math-calls.ts";
import { hasEffects, withoutParentheses } from "./syntax.ts";
import { BOOL, NUMERIC } from "./types.ts";

const INDEXES: Readonly<Record<string, IndexOp>> = {
  globalId: "globalId",
  localId: "localId",
  groupId: "groupId",
  groupCount: "groupCount",
  subgroupLane: "subgroupLane",
  subgroupSize: "subgroupSize",
};

/** Lowers a function call. */
export function lowerCall(ctx: Context, node: CallExpression, scope: Scope, out: DraftStatement[]): Value {
  if (node.callee.type === "Super") throw ctx.fail(node, "super is not part of the kernel language");
  const branches = callForEachArray(ctx, node, scope);
  if (branches !== null) return lowerConditional(ctx, branches, scope, out);
  const { callee: called } = node;
  if (
    called.type === "Identifier" &&
    scope.find(called.name) === undefined &&
    !["Math", "Number"].includes(called.name)
  )
    throw undeclaredError(ctx, called, called.name, true);
  const callee = lowerValue(ctx, called, scope, out);
  if (callee.kind === "undefined" && node.optional) return callee;
  if (callee.kind === "undefined")
    throw ctx.fail(node, "this function is undefined in `env`", "test it first: if (f !== undefined) …");
  for (const argument of node.arguments)
    if (argument.type === "SpreadElement")
      throw ctx.fail(argument, "spread arguments are not part of the kernel language", "write the arguments out");
  const args = node.arguments as Expression[];
  if (callee.kind === "function") return inlineCall(ctx, node, callee.fn, args, scope, out);
  if (callee.kind !== "member")
    throw ctx.fail(node, "this cannot be called", "call a function of env, of Math or of the second argument");
  if (callee.namespace === "gpu") return lowerGpuCall(ctx, node, callee.name, args, scope, out);
  const operands = (): Draft[] => lowerOperands(ctx, args, scope, out);
  const draft =
    callee.namespace === "Math"
      ? lowerMathCall(ctx, node, callee.name, operands, out)
      : lowerNumberCall(ctx, node, callee.name, operands);
  return { kind: "scalar", draft };
}

/**
 * Lowers `c ? f(A, i) : f(B, i)`, which minifiers write as `f(c ? A : B, i)` or `g({ u: c ? A : B, i })`. An array
 * cannot be chosen at run time, but a call can.
 */
function callForEachArray(ctx: Context, node: CallExpression, scope: Scope): ConditionalExpression | null {
  const parts = (node.arguments as Expression[]).flatMap(partsOf);
  const at = parts.findIndex((part) => choosesArray(part, scope));
  if (at < 0) return null;
  if (parts.slice(0, at).some(hasEffects))
    throw ctx.fail(
      parts[at],
      "an array is chosen at run time, after an argument with effects",
      "call it in an if and an else",
    );
  const choice = withoutParentheses(parts[at]) as ConditionalExpression;
  const call = (part: Expression): CallExpression => ({
    ...node,
    arguments: node.arguments.map((arg) => withPart(arg as Expression, parts[at], part)),
  });
  return { ...choice, consequent: call(choice.consequent), alternate: call(choice.alternate) };
}

/**
 * Returns the expressions of an argument that are evaluated, in order: the argument itself, or the values in an object
 * literal.
 */
function partsOf(arg: Expression): Expression[] {
  const inner = withoutParentheses(arg);
  if (inner.type !== "ObjectExpression") return [arg];
  return inner.properties.flatMap((property) => (property.type === "Property" ? partsOf(property.value) : []));
}

function withPart(arg: Expression, old: Expression, part: Expression): Expression {
  if (arg === old) return part;
  const inner = withoutParentheses(arg);
  if (inner.type !== "ObjectExpression") return arg;
  const properties = inner.properties.map((property) =>
    property.type === "Property" ? { ...property, value: withPart(property.value, old, part) } : property,
  );
  return { ...inner, properties };
}

function choosesArray(part: Expression, scope: Scope): boolean {
  const choice = withoutParentheses(part);
  if (choice.type !== "ConditionalExpression") return false;
  return [choice.consequent, choice.alternate].some((side) => holdsArray(side, scope));
}

function holdsArray(node: Expression, scope: Scope): boolean {
  const inner = withoutParentheses(node);
  if (inner.type === "ConditionalExpression") return choosesArray(inner, scope);
  if (inner.type === "ObjectExpression") return partsOf(inner).some((part) => holdsArray(part, scope));
  return hasArray(namedValue(inner, scope));
}

function hasArray(value: Value | undefined): boolean {
  return value?.kind === "array" || (value?.kind === "record" && [...value.fields.values()].some(hasArray));
}

/** Returns the value of a name, or of a field of a name; undefined for any other expression. */
function namedValue(node: Expression, scope: Scope): Value | undefined {
  if (node.type === "Identifier") return scope.find(node.name);
  if (node.type !== "MemberExpression" || node.computed || node.object.type === "Super") return undefined;
  const object = namedValue(node.object, scope);
  return object?.kind === "record" ? object.fields.get((node.property as { name: string }).name) : undefined;
}

function lowerNumberCall(ctx: Context, node: Node, name: string, operands: OperandLowering): Draft {
  const signature = ownEntry(NUMBER_INTRINSICS, name);
  if (signature) return intrinsicOf(ctx, node, name, signature, operands());
  throw ctx.fail(node, `Number.${name} is not part of the kernel language`, "Number.isNaN and Number.isFinite are");
}

function lowerGpuCall(
  ctx: Context,
  node: CallExpression,
  name: string,
  args: readonly Expression[],
  scope: Scope,
  out: DraftStatement[],
): Value {
  if (isCollective(name))
    throw ctx.fail(node, `gpu.${name} is collective`, `yield it, in a generator body: const y = yield gpu.${name}(…)`);
  if (name === "fetch") return lowerFetch(ctx, node, args, scope, out);
  if (name === "part") return lowerPart(ctx, node, args, scope, out);
  if (ownEntry(ATOMICS, name)) return lowerAtomic(ctx, node, name, args, scope, out);
  const operands = lowerOperands(ctx, args, scope, out);
  const array = ownEntry(ARRAYS, name);
  if (array) return declareArray(ctx, node, name, array, operands);
  return { kind: "scalar", draft: gpuScalar(ctx, node, name, operands, out) };
}

function gpuScalar(ctx: Context, node: Node, name: string, operands: readonly Draft[], out: DraftStatement[]): Draft {
  const index = ownEntry(INDEXES, name);
  if (index) {
    checkedArguments(ctx, node, `gpu.${name}`, operands, []);
    if (index !== "globalId") ctx.cooperative = true;
    return ctx.draft(node, i32Type(), { kind: "index", op: index });
  }
  if (name === "endlessLoop") {
    checkedArguments(ctx, node, "gpu.endlessLoop", operands, []);
    if (ctx.endlessLoop === null) return ctx.draft(node, i32Type(), { kind: "const", value: 0 });
    return ctx.materialise(node, ctx.local(node, ctx.endlessLoop), out);
  }
  if (name === "groupSize") return ctx.constant(node, ctx.groupSize);
  const conversion = ({ real: "toReal", i32: "toI32", u32: "toU32" } as const)[name as "real"];
  if (conversion)
    return lateOperation(ctx, node, conversion, checkedArguments(ctx, node, `gpu.${name}`, operands, [NUMERIC | BOOL]));
  const signature = ownEntry(GPU_INTRINSICS, name);
  if (signature) return intrinsicOf(ctx, node, `gpu.${name}`, signature, operands);
  return lowerLibraryCall(ctx, node, `gpu.${name}`, name, operands, out);
}
