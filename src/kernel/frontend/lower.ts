/** Lowers a kernel's declaration to IR. */
import { KernelError } from "../../base/errors.ts";
import { partialDerivativesOf, inlineDifferentiated } from "../differentiate/inline.ts";
import type { ArrayRef, KernelIR, Place, Precision, SourceText, Stmt } from "../ir.ts";
import type { Declaration, FunctionSpec, Kernel, LaunchDeclaration } from "../language.ts";
import { bindPattern, environmentValue } from "./bind.ts";
import { Context, i32Type, type LoweringFunctions, newFrame, Scope, type Value } from "./context.ts";
import { lowerNode, lowerNodeEffect } from "./dispatch.ts";
import type { Draft, DraftStatement } from "./draft.ts";
import { propagateCopies } from "../copies.ts";
import { scalariseSmallArrays } from "../scalars.ts";
import { finalizeStatements } from "./finalize.ts";
import { inlineValues, positionalParams } from "./inline.ts";
import { checkInstrumentation, errorWithCaret, placeOf, type SourceUnit } from "./source.ts";
import { lowerBody, lowerList } from "./statements.ts";
import { BOOL, REAL, type TypeVariable, typeVariable } from "./types.ts";
import { analyseUniformity } from "../uniform.ts";
import { nestedLists } from "../visit.ts";

const LOWERING: LoweringFunctions = {
  expression: lowerNode,
  effect: lowerNodeEffect,
  statements: lowerList,
  differentiated: inlineDifferentiated,
  partialDerivativesOf,
};

/**
 * Returns the initial state of lowering a kernel. `literalsOf` returns the run-time values that replace a function's
 * literals.
 */
export function newContext(
  kernel: Pick<Kernel, "name" | "groupSize" | "loopBudget">,
  precision: Precision,
  literalsOf?: Context["literalsOf"],
): Context {
  return new Context(kernel, precision, LOWERING, literalsOf);
}

/**
 * Compiles a kernel to IR for one precision. It parses the kernel's text, inlines every kernel function that it calls,
 * infers types, folds constants, and unrolls short loops with constant bounds.
 *
 * @throws KernelError with line, column, a caret and a remedy
 */
export function lower(kernel: Kernel, precision: Precision): KernelIR {
  return lowerInContext(newContext(kernel, precision), kernel);
}

/** Compiles a kernel to IR in a context from `newContext`. */
export function lowerInContext(ctx: Context, kernel: Kernel): KernelIR {
  try {
    return lowerIn(ctx, kernel);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new KernelError(`kernel "${kernel.name}": nested too deeply\n  remedy: split it`, undefined, {
      cause: error,
    });
  }
}

function lowerIn(ctx: Context, kernel: Kernel): KernelIR {
  const unit = ctx.unit(kernel.name, kernel, kernel.source);
  const out: DraftStatement[] = [];
  const scope = new Scope(null);
  ctx.frame = newFrame(unit, kernel, scope, null, out);
  checkInstrumentation(unit);
  bindArguments(ctx, unit, kernel, scope, out);
  lowerBody(ctx, unit.syntax, scope, out);
  if (ctx.endlessLoop !== null) {
    const place = placeOf(unit, unit.offset);
    const none: Draft = { kind: "const", value: 0, type: i32Type(), unit, start: unit.offset };
    out.unshift({ kind: "assign", local: ctx.endlessLoop, value: none, place });
  }
  const body = finalizeStatements(ctx, out);
  const { residentGroups: groups } = kernel;
  const made = assemble(ctx, body, typeof groups === "object" ? groups[ctx.precision] : groups);
  const plain = { ...made, ...scalariseSmallArrays(made) };
  const ir = { ...plain, ...propagateCopies(plain) };
  checkBarriers(ir, (place, what, remedy) => errorAtPlace(ir, place, what, remedy));
  return ir;
}

/** The kind of a function's result: "real", another type in words, or several results by name. */
export type ResultKind = string | ReadonlyMap<string, ResultKind>;

/**
 * Returns the kind of the result of a function of scalars. @throws KernelError with a position in the function's text
 */
export function resultKindOf(fn: FunctionSpec, precision: Precision): ResultKind {
  const ctx = newContext({ name: fn.functionName, groupSize: 1 }, precision);
  const unit = ctx.unit(fn.functionName, fn, fn.source);
  const out: DraftStatement[] = [];
  ctx.frame = newFrame(unit, {}, new Scope(null), null, out);
  const args = positionalParams(fn).map((declared, k) => argument(ctx, `x${k}`, declared, unit));
  return kindOf(inlineValues(ctx, unit.syntax.body, fn, args, out), ctx);
}

function kindOf(value: Value, ctx: Context): ResultKind {
  const typeOf = ({ possible }: TypeVariable): ResultKind =>
    (possible & REAL) !== 0 ? "number" : possible === BOOL ? "true or false" : "an integer";
  switch (value.kind) {
    case "scalar":
      return typeOf(value.draft.type);
    case "local":
      return typeOf(ctx.locals[value.id].type);
    case "constant":
      return typeof value.value === "boolean" ? "true or false" : "number";
    case "record":
      return new Map([...value.fields].map(([name, field]) => [name, kindOf(field, ctx)]));
    case "nothing":
      return "nothing";
    case "text":
      return "a string";
    default:
      return "what is no number";
  }
}

function bindArguments(ctx: Context, unit: SourceUnit, kernel: Kernel, scope: Scope, out: DraftStatement[]): void {
  const fields = new Map<string, Value>();
  for (const [name, declared] of Object.entries(kernel.params)) fields.set(name, parameter(ctx, name, declared, unit));
  const [args, gpu, env, ...more] = unit.syntax.params;
  if (more.length > 0)
    throw ctx.fail(more[0], "a body takes three arguments: parameters, gpu, env", "declare run-time values in params");
  if (args) bindPattern(ctx, args, { kind: "record", fields }, scope, out);
  if (gpu) bindPattern(ctx, gpu, { kind: "namespace", name: "gpu" }, scope, out);
  if (env) bindPattern(ctx, env, environmentValue(kernel.env), scope, out);
}

function argument(ctx: Context, name: string, declared: Declaration, unit: SourceUnit): Value {
  if (declared.kind !== "record") return parameter(ctx, name, declared, unit);
  const fields = Object.entries(declared.fields).map(([key, field]) => [key, argument(ctx, key, field, unit)] as const);
  return { kind: "record", fields: new Map(fields) };
}

function parameter(ctx: Context, name: string, declared: LaunchDeclaration, unit: SourceUnit): Value {
  if (declared.kind === "scalar") {
    ctx.scalars.push({ name, type: declared.type });
    return {
      kind: "scalar",
      draft: { kind: "param", id: ctx.scalars.length - 1, type: typeVariable(declared.type), unit, start: unit.offset },
    };
  }
  ctx.buffers.push({ name, element: declared.element, access: declared.access });
  const ref: ArrayRef = { space: "buffer", id: ctx.buffers.length - 1 };
  return {
    kind: "array",
    array: { ref, name, element: declared.element, length: null, writable: declared.access === "write" },
  };
}

function assemble(ctx: Context, body: KernelIR["body"], residentGroups: number | undefined): KernelIR {
  return {
    name: ctx.kernelName,
    precision: ctx.precision,
    scalars: ctx.scalars,
    buffers: ctx.buffers.map((buffer, id) => ({ ...buffer, atomic: ctx.atomics.has(`buffer ${id}`) })),
    privates: ctx.privates.map((array) => ({ ...array, atomic: false })),
    workgroups: ctx.workgroups.map((array, id) => ({ ...array, atomic: ctx.atomics.has(`workgroup ${id}`) })),
    locals: ctx.locals.map(({ name, type }) => ({ name, type: type.resolve() })),
    groupSize: ctx.groupSize,
    ...(residentGroups === undefined ? {} : { residentGroups }),
    cooperative: ctx.cooperative,
    body,
    ...(ctx.countedLoops.length === 0 ? {} : { countedLoops: ctx.countedLoops }),
    sources: ctx.units.map(sourceText),
  };
}

function sourceText({ name, text, declared }: SourceUnit): SourceText {
  return { name, text, declared };
}

function errorAtPlace(ir: KernelIR, place: Place, what: string, remedy: string): KernelError {
  const { name, text, declared } = ir.sources[place.source];
  return errorWithCaret(name, text, declared(), place.line, place.column, what, remedy);
}

type Report = (place: Place, what: string, remedy: string) => KernelError;

/**
 * Checks that all work items of a workgroup reach every barrier. @throws KernelError for a barrier in control flow that
 * differs between work items
 */
function checkBarriers(ir: KernelIR, report: Report): void {
  if (!ir.cooperative) return;
  // Loads of memory that the kernel writes count as varying: WGSL demands a proof, so every back end gets the same
  // rule.
  const uniformity = analyseUniformity(ir, { writable: "varying" });
  const visit = (statements: readonly Stmt[]): void => {
    for (const s of statements) {
      if ((s.kind === "barrier" || s.kind === "subgroup") && uniformity.isDivergent(s))
        throw report(
          s.place,
          `${s.kind === "barrier" ? "a barrier" : "a subgroup operation"} in divergent flow: only some items of the workgroup may reach it`,
          "move it out of the if, loop or early return that depends on the item, and guard the work between barriers instead",
        );
      for (const body of nestedLists(s)) visit(body);
    }
  };
  visit(ir.body);
}
