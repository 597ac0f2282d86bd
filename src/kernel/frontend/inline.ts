/** Inlines kernel functions where they are called, so that back ends never see a call. */
import type { Expression, Node, Pattern, Property } from "acorn";

import { isTuple } from "../language.ts";
import type {
  BufferDeclaration,
  Declaration,
  FunctionSpec,
  LaunchDeclaration,
  RecordDeclaration,
} from "../language.ts";
import { bindPattern, environmentValue } from "./bind.ts";
import { newFrame, Scope, type Context, type Frame, type Value } from "./context.ts";
import type { Draft, DraftStatement } from "./draft.ts";
import { lowerScalar, lowerValue, scalarOf } from "./expressions.ts";
import { isLiftable, literalArguments } from "./literals.ts";
import { lowerCallArgument } from "./records.ts";
import { checkInstrumentation } from "./source.ts";
import { startLoopBudget } from "./loop-budget.ts";
import { lowerBody } from "./statements.ts";
import { withoutParentheses } from "./syntax.ts";
import { typeVariable } from "./types.ts";

const MAX_DEPTH = 64;

/** Returns the parameters of a kernel function by position: for a function with named parameters, one record. */
export function positionalParams({ params }: FunctionSpec): readonly Declaration[] {
  return isTuple(params) ? params : [{ kind: "record", fields: params }];
}

/**
 * Inlines a function call. Its arguments (expressions, scalars, arrays or records) are evaluated from left to right.
 */
export function inlineCall(
  ctx: Context,
  node: Node,
  fn: FunctionSpec,
  args: readonly Expression[],
  scope: Scope,
  out: DraftStatement[],
): Value {
  const declared = expectCount(ctx, node, fn, args.length);
  const values: Value[] = [];
  for (const [k, arg] of args.entries()) {
    if (declared[k].kind === "record") values.push(lowerCallArgument(ctx, arg, scope, out, args.slice(k + 1)));
    else values.push(lowerArgument(ctx, arg, declared[k], scope, out));
  }
  // Records are looked at once all is evaluated: what the function gets is what their fields are then.
  const bound = values.map((value, k) =>
    declared[k].kind === "record" ? conform(ctx, args[k], "", declared[k], value, fn) : value,
  );
  return inlineValues(ctx, node, fn, bound, out);
}

/** Inlines a function call whose arguments are lowered already and whose result is a number or a bool. */
export function inlineScalars(
  ctx: Context,
  node: Node,
  fn: FunctionSpec,
  args: readonly Draft[],
  out: DraftStatement[],
): Draft {
  const declared = expectCount(ctx, node, fn, args.length);
  const values = args.map((arg, k) => scalarArgument(ctx, node, arg, declared[k], out));
  return scalarOf(ctx, node, inlineValues(ctx, node, fn, values, out));
}

function expectCount(ctx: Context, node: Node, fn: FunctionSpec, count: number): readonly Declaration[] {
  const declared = positionalParams(fn);
  if (count === declared.length) return declared;
  if (isTuple(fn.params)) throw ctx.fail(node, `${fn.functionName} takes ${declared.length} argument(s), got ${count}`);
  throw ctx.fail(
    node,
    `${fn.functionName} takes one record, got ${count} arguments`,
    `call it with its arguments by name: { ${Object.keys(fn.params).join(", ")} }`,
  );
}

function lowerArgument(
  ctx: Context,
  arg: Expression,
  declared: LaunchDeclaration,
  scope: Scope,
  out: DraftStatement[],
): Value {
  if (declared.kind === "scalar") return scalarArgument(ctx, arg, lowerScalar(ctx, arg, scope, out), declared, out);
  return arrayArgument(ctx, arg, declared, lowerValue(ctx, arg, scope, out), "");
}

/** @param of "of mesh.x: " in a record, else empty */
function arrayArgument(ctx: Context, node: Node, declared: BufferDeclaration, value: Value, of: string): Value {
  if (value.kind !== "array")
    throw ctx.fail(node, `${of}an array is expected here`, "pass a buffer, a private or a shared array by its name");
  const { array } = value;
  if (array.element !== declared.element)
    throw ctx.fail(
      node,
      `${of}${array.name} holds ${array.element}, the function takes ${declared.element}`,
      `pass an array of ${declared.element}`,
    );
  if (declared.access === "write" && !array.writable)
    throw ctx.fail(
      node,
      `${of}${array.name} is declared with read(…), the function writes it`,
      `declare it with write(${array.element})`,
    );
  return { kind: "array", array: { ...array, writable: declared.access === "write" } };
}

function scalarArgument(ctx: Context, node: Node, draft: Draft, declared: Declaration, out: DraftStatement[]): Value {
  if (declared.kind === "record")
    throw ctx.fail(node, "a record is expected here", `pass { ${Object.keys(declared.fields).join(", ")} }`);
  if (declared.kind !== "scalar")
    throw ctx.fail(node, "an array is expected here", "pass a buffer, a private or a shared array by its name");
  const type = typeVariable(declared.type);
  ctx.unifyTypes(node, draft.type, type, draft);
  // A function is not specialised for a literal that becomes a run-time value.
  const isLiteral = draft.kind === "const" && draft.origin !== undefined && declared.type === "real";
  const value = isLiteral ? ctx.settle(node, draft, out, "a") : ctx.materialise(node, draft, out, "a");
  return { kind: "scalar", draft: value };
}

/**
 * Checks the value that a call passes for a parameter or one of its fields, and returns it in the parameter's form.
 * @param path the position in the record, such as "mesh.first"
 */
function conform(ctx: Context, node: Node, path: string, declared: Declaration, value: Value, fn: FunctionSpec): Value {
  const of = path === "" ? "" : `${path}: `;
  if (declared.kind === "buffer") return arrayArgument(ctx, node, declared, value, of);
  if (declared.kind === "record") return conformRecord(ctx, node, path, declared, value, fn);
  if (value.kind === "array" || value.kind === "record")
    throw ctx.fail(
      node,
      `${of}a number is expected here (${declared.type}), got ${value.kind === "array" ? `the array ${value.array.name}` : "a record"}`,
      value.kind === "array"
        ? `index it: ${value.array.name}[i]`
        : `pick one: .${[...value.fields.keys()].join(", .")}`,
    );
  const draft = scalarOf(ctx, node, value);
  ctx.unifyTypes(node, draft.type, typeVariable(declared.type), draft);
  return value;
}

function conformRecord(
  ctx: Context,
  node: Node,
  path: string,
  declared: RecordDeclaration,
  value: Value,
  fn: FunctionSpec,
): Value {
  const wanted = Object.keys(declared.fields);
  const shown = `{ ${wanted.join(", ")} }`;
  const what = path === "" ? fn.functionName : `${path} of ${fn.functionName}`;
  if (value.kind !== "record")
    throw ctx.fail(
      node,
      `${what} takes a record, got ${value.kind === "array" ? `the array ${value.array.name}` : "a number"}`,
      `pass ${shown}`,
    );
  const inner = withoutParentheses(node as Expression);
  const written = inner.type === "ObjectExpression" ? inner.properties : [];
  const placeOf = (name: string): Node => written.find((property) => nameOf(property) === name) ?? node;
  const missing = wanted.find((name) => !value.fields.has(name));
  if (missing !== undefined)
    throw ctx.fail(node, `${what} takes a field ${missing}, which is missing here`, `pass ${shown}`);
  // As in TypeScript: a record by its name may have more fields than the function looks at.
  const unknown = written.map(nameOf).find((name) => !wanted.includes(name));
  if (unknown !== undefined)
    throw ctx.fail(placeOf(unknown), `${what} takes no field ${unknown}`, `its fields are ${wanted.join(", ")}`);
  const fields = new Map<string, Value>();
  for (const [name, field] of Object.entries(declared.fields)) {
    const place = placeOf(name);
    const part = place === node ? node : (place as Property).value;
    fields.set(name, conform(ctx, part, path === "" ? name : `${path}.${name}`, field, value.fields.get(name)!, fn));
  }
  return { ...value, fields };
}

function nameOf(property: Node): string {
  const { key } = property as Property;
  return key.type === "Identifier" ? key.name : String((key as { value: unknown }).value);
}

/** Lowers a called function in place and returns its result. */
export function inlineValues(
  ctx: Context,
  node: Node,
  fn: FunctionSpec,
  args: readonly Value[],
  out: DraftStatement[],
): Value {
  if (fn.differentiated !== undefined) {
    checkDepth(ctx, node, fn);
    return ctx.lowering.differentiated(ctx, node, fn.differentiated, args, out);
  }
  const derivative = ctx.differentiating === 0 ? undefined : ctx.lowering.partialDerivativesOf(fn);
  return derivative === undefined
    ? inlineBody(ctx, node, fn, args, out)
    : inlineWhole(ctx, node, fn, derivative, args, out);
}

/** Lowers the call of a function that has a derivative of its own, so that it can still be told from statements. */
function inlineWhole(
  ctx: Context,
  node: Node,
  fn: FunctionSpec,
  derivative: readonly (FunctionSpec | undefined)[],
  args: readonly Value[],
  out: DraftStatement[],
): Value {
  const [first] = args;
  const parts = first?.kind === "record" ? Object.keys(fn.params).map((name) => first.fields.get(name)!) : args;
  const drafts = parts.map((part) => ctx.materialise(node, scalarOf(ctx, node, part), out, "a"));
  if (drafts.every(({ kind }) => kind === "const")) return inlineBody(ctx, node, fn, args, out);
  const scalars = drafts.map((draft): Value => ({ kind: "scalar", draft }));
  const fields = (): Value => ({
    kind: "record",
    fields: new Map(Object.keys(fn.params).map((name, k) => [name, scalars[k]])),
  });
  const body: DraftStatement[] = [];
  const value = inlineBody(ctx, node, fn, first?.kind === "record" ? [fields()] : scalars, body);
  const result = ctx.settle(node, scalarOf(ctx, node, value), body, "r");
  const { id } = result as Extract<Draft, { kind: "local" }>;
  out.push({ kind: "call", fn, derivative, args: drafts, result: id, body, place: ctx.place(node) });
  return { kind: "scalar", draft: result };
}

/**
 * Lowers the body of a called function in place and returns the function's result. The body does not see the caller's
 * names.
 */
function inlineBody(ctx: Context, node: Node, fn: FunctionSpec, args: readonly Value[], out: DraftStatement[]): Value {
  const unit = ctx.unit(fn.functionName, fn, fn.source);
  checkDepth(ctx, node, fn);
  checkInstrumentation(unit);
  const scope = new Scope(null);
  const { frame: caller, repetitions } = ctx;
  // A function whose literals are run-time values is lowered as by itself, wherever it is called: see `liftLiterals`.
  const bound = fn.lifted === undefined ? args : args.map((arg) => settled(ctx, node, arg, out));
  if (fn.lifted !== undefined) ctx.repetitions = 1;
  ctx.frame = newFrame(unit, fn, scope, caller, out);
  ctx.frame.literals = ctx.literalsOf?.(fn) ?? literalArguments(fn, bound);
  const { params } = unit.syntax;
  if (fn.userWritten === "plain") params.forEach((pattern, k) => bindPattern(ctx, pattern, bound[k], scope, out));
  else bindParameters(ctx, params, fn, bound, scope, out);
  const result = lowerBody(ctx, unit.syntax, scope, out);
  startLoopBudget(ctx, node);
  const { literals } = ctx.frame;
  ctx.frame = caller;
  ctx.repetitions = repetitions;
  return literals === undefined ? result : withoutLiterals(ctx, node, result, out);
}

/**
 * Returns a function's result as a value that no caller folds, if the function's literals are run-time values.
 * Otherwise functions that differ only in these literals would need separate kernels.
 */
function withoutLiterals(ctx: Context, node: Node, value: Value, out: DraftStatement[]): Value {
  if (value.kind === "record") {
    const fields = [...value.fields].map(([name, of]) => [name, withoutLiterals(ctx, node, of, out)] as const);
    return { ...value, fields: new Map(fields) };
  }
  const isConstant = value.kind === "constant" || (value.kind === "scalar" && value.draft.kind === "const");
  if (!isConstant) return value;
  const draft = value.kind === "constant" ? ctx.constant(node, value.value, value.origin) : value.draft;
  if (draft.kind !== "const" || draft.origin === undefined) return value;
  if (typeof draft.value !== "number" || !isLiftable(draft.value)) return value;
  return { kind: "scalar", draft: ctx.settle(node, draft, out, "result") };
}

/** Returns an argument as a value that is not a constant. */
function settled(ctx: Context, node: Node, arg: Value, out: DraftStatement[]): Value {
  if (arg.kind !== "scalar" || arg.draft.kind !== "const") return arg;
  return { kind: "scalar", draft: ctx.settle(node, arg.draft, out, "a") };
}

/** Binds the arguments, `gpu` and the compile-time values to the parameters in a function's text. */
function bindParameters(
  ctx: Context,
  [args, gpu, env]: readonly Pattern[],
  fn: FunctionSpec,
  bound: readonly Value[],
  scope: Scope,
  out: DraftStatement[],
): void {
  if (args) bindPattern(ctx, args, argumentsOf(fn, bound), scope, out);
  if (gpu) bindPattern(ctx, gpu, { kind: "namespace", name: "gpu" }, scope, out);
  if (env) bindPattern(ctx, env, environmentValue(fn.env), scope, out);
}

/**
 * Returns the first argument of a function's body: a tuple, the record that a call passes, or a record by names for a
 * user's function.
 */
function argumentsOf({ argumentNames, params }: FunctionSpec, args: readonly Value[]): Value {
  if (argumentNames !== undefined)
    return { kind: "record", fields: new Map(argumentNames.map((name, k) => [name, args[k]])) };
  return isTuple(params) ? { kind: "tuple", items: args } : args[0];
}

function checkDepth(ctx: Context, node: Node, fn: FunctionSpec): void {
  let depth = 0;
  for (let frame: Frame | null = ctx.frame; frame; frame = frame.caller) {
    if (frame.declared === fn || ++depth > MAX_DEPTH)
      throw ctx.fail(
        node,
        `${fn.functionName} calls itself, directly or through others`,
        "kernel functions are inlined: write a loop",
      );
  }
}
