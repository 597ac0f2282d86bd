/** Lowers calls of the functions that `tangent` and `gradient` make. */
import type { Node } from "acorn";
import type { ArrayValue, Context, RecordValue, Value } from "../frontend/context.ts";
import type { Draft, DraftStatement } from "../frontend/draft.ts";
import { scalarOf, scalar } from "../frontend/expressions.ts";
import { inlineValues } from "../frontend/inline.ts";
import { REAL } from "../frontend/types.ts";
import { type Declaration, type Differentiated, type FunctionSpec, isTuple } from "../language.ts";
import { ExpressionBuilder } from "./algebra.ts";
import { elementaryDerivatives } from "./elementary.ts";
import { type DirectionTangents, ForwardDifferentiation } from "./forward.ts";
import { keyOfArray, type TangentArray } from "./linearise.ts";
import { ReverseDifferentiation } from "./reverse.ts";

/**
 * Returns the declared partial derivatives of a function, in the order of its parameters. The result is undefined if
 * the function has none, so that its statements are differentiated instead.
 */
export const partialDerivativesOf = (fn: FunctionSpec): readonly (FunctionSpec | undefined)[] | undefined =>
  fn.derivative ?? elementaryDerivatives().get(fn);

/** A real input of a function that is differentiated: its path in results, and its variable or array. */
interface Input {
  readonly path: readonly string[];
  readonly local?: number;
  readonly array?: ArrayValue;
}

/** Lowers a call of a differentiated function: the statements of the function, and those of its derivatives. */
export function inlineDifferentiated(
  ctx: Context,
  node: Node,
  { of: f, mode, inputs: labels, directions }: Differentiated,
  args: readonly Value[],
  out: DraftStatement[],
): Value {
  const make = new ExpressionBuilder(ctx, node);
  const named = isTuple(f.params) ? undefined : (args[0] as RecordValue).fields;
  const given = (name: string): Value => (named ? named.get(name)! : args[Number(name)]);
  const extra = named ?? (args[f.params.length as number] as RecordValue | undefined)?.fields;
  const inputs: Input[] = [];
  const own = new Map<string, Value>();
  for (const name of Object.keys(f.params)) {
    const declared = (f.params as Readonly<Record<string, Declaration>>)[name];
    const label = Object.hasOwn(labels, name) ? labels[name] : undefined;
    own.set(name, label === undefined ? given(name) : inputOf(make, declared, given(name), [label], inputs, out));
  }
  const body: DraftStatement[] = [];
  ctx.differentiating++;
  const passed: readonly Value[] = named ? [{ kind: "record", fields: own }] : [...own.values()];
  const value = inlineValues(ctx, node, f, passed, body);
  ctx.differentiating--;
  if (mode === "gradient") return gradient(make, inputs, value, extra, body, out);
  return tangents(make, inputs, directions, extra, value, body, out);
}

/** Binds an input to variables of its own, so that no constant is folded into what depends on it. */
function inputOf(
  make: ExpressionBuilder,
  declared: Declaration,
  value: Value,
  path: readonly string[],
  inputs: Input[],
  out: DraftStatement[],
): Value {
  const { ctx, node } = make;
  if (declared.kind === "record") {
    const { fields } = value as RecordValue;
    const bound = Object.entries(declared.fields).map(
      ([name, field]) => [name, inputOf(make, field, fields.get(name)!, [...path, name], inputs, out)] as const,
    );
    return { kind: "record", fields: new Map(bound) };
  }
  if (declared.kind === "buffer" && value.kind === "array") {
    if (declared.element === "real") inputs.push({ path, array: value.array });
    return value;
  }
  if (declared.kind !== "scalar" || declared.type !== "real") return value;
  const draft = ctx.settle(node, scalarOf(ctx, node, value), out, path.at(-1)!);
  inputs.push({ path, local: (draft as Extract<Draft, { kind: "local" }>).id });
  return scalar(draft);
}

function tangents(
  make: ExpressionBuilder,
  inputs: readonly Input[],
  names: readonly string[] | undefined,
  given: ReadonlyMap<string, Value> | undefined,
  value: Value,
  body: readonly DraftStatement[],
  out: DraftStatement[],
): Value {
  const directions: readonly DirectionTangents[] =
    names?.map((name) => seeded(make, inputs, given!.get(name)!, out)) ??
    inputs.map(({ local }) => ({ locals: new Map([[local!, make.constant(1)]]), arrays: new Map() }));
  const forward = new ForwardDifferentiation(make, directions);
  out.push(...forward.transformed(body));
  const reals = mapReals(make, value, (draft) =>
    forward.tangents(draft, out).map((tangent) => scalar(make.keep(tangent ?? make.constant(0), out, "d"))),
  );
  const of = (k: number): Value => picked(reals, k);
  const d = names ? new Map(names.map((name, k) => [name, of(k)])) : nested(inputs.map(({ path }, k) => [path, of(k)]));
  return {
    kind: "record",
    fields: new Map<string, Value>([
      ["value", value],
      ["d", { kind: "record", fields: d }],
    ]),
  };
}

/** Returns the direction that a call gives for each input. */
function seeded(
  make: ExpressionBuilder,
  inputs: readonly Input[],
  given: Value,
  out: DraftStatement[],
): DirectionTangents {
  const direction: DirectionTangents = { locals: new Map(), arrays: new Map() };
  for (const { path, local, array } of inputs) {
    const seed = path.reduce((value, name) => (value as RecordValue).fields.get(name)!, given);
    if (array !== undefined && seed.kind === "array") moveArray(make, array, seed.array, direction.arrays, out);
    if (local === undefined) continue;
    const draft = scalarOf(make.ctx, make.node, seed);
    // A direction that does not move this input leaves no trace.
    if (!(draft.kind === "const" && draft.value === 0)) direction.locals.set(local, draft);
  }
  return direction;
}

/** Lets one array be the tangents or adjoints of another, or a part of it. */
function moveArray(
  make: ExpressionBuilder,
  array: ArrayValue,
  by: ArrayValue,
  arrays: Map<string, TangentArray>,
  out: DraftStatement[],
): void {
  const key = keyOfArray(array.ref);
  const distance = make.distance(array.from, by.from);
  const tangents = { ref: by.ref, offset: distance && make.keep(distance, out, "offset") };
  const known = arrays.get(key);
  const isKnown = known === undefined || keyOfArray(known.ref) === keyOfArray(by.ref);
  if (!isKnown || (known !== undefined && make.distance(known.offset, tangents.offset) !== undefined))
    throw make.ctx.fail(
      make.node,
      `the array ${array.name} is passed for two inputs and has two arrays of derivatives`,
      "pass one array of derivatives for both, or copies of the array",
    );
  arrays.set(key, tangents);
}

function gradient(
  make: ExpressionBuilder,
  inputs: readonly Input[],
  value: Value,
  extra: ReadonlyMap<string, Value> | undefined,
  body: readonly DraftStatement[],
  out: DraftStatement[],
): Value {
  const arrays = new Map<string, TangentArray>();
  for (const { path, array } of inputs) {
    const by = array && (extra!.get("adjoints") as RecordValue).fields.get(path[0]);
    if (array !== undefined && by?.kind === "array") moveArray(make, array, by.array, arrays, out);
  }
  const scalars = inputs.flatMap(({ path, local }) => (local === undefined ? [] : [{ path, local }]));
  const reverse = new ReverseDifferentiation(
    make,
    scalars.map(({ local }) => local),
    arrays,
  );
  const given = extra?.get("adjoint");
  out.push(...reverse.forward(body));
  const results: (readonly [Draft, Draft])[] = [];
  mapReals(make, value, (draft, path) => {
    const adjoint = given && path.reduce((at, name) => (at as RecordValue).fields.get(name)!, given);
    results.push([draft, adjoint ? scalarOf(make.ctx, make.node, adjoint) : make.constant(1)]);
    return [];
  });
  out.push(...reverse.backward(results));
  const d = nested(scalars.map(({ path, local }) => [path, scalar(reverse.adjointOf(local))]));
  return {
    kind: "record",
    fields: new Map<string, Value>([
      ["value", value],
      ["d", { kind: "record", fields: d }],
    ]),
  };
}

/** The tangents of a result's numbers, in each direction, by the names of its fields. */
type Reals = readonly Value[] | ReadonlyMap<string, Reals>;

/** Calls a function for each real number of a function's result. Other fields are left out. */
function mapReals(
  make: ExpressionBuilder,
  value: Value,
  f: (draft: Draft, path: readonly string[]) => readonly Value[],
  path: readonly string[] = [],
): Reals {
  if (value.kind === "record")
    return new Map(
      [...value.fields].flatMap(([name, field]) =>
        isReal(make.ctx, field) ? [[name, mapReals(make, field, f, [...path, name])]] : [],
      ),
    );
  return isReal(make.ctx, value) ? f(scalarOf(make.ctx, make.node, value), path) : new Map();
}

function isReal(ctx: Context, value: Value): boolean {
  if (value.kind === "record") return true;
  if (value.kind === "scalar") return (value.draft.type.possible & REAL) !== 0;
  if (value.kind === "local") return (ctx.locals[value.id].type.possible & REAL) !== 0;
  return value.kind === "constant" && typeof value.value === "number";
}

function picked(reals: Reals, k: number): Value {
  if (!(reals instanceof Map)) return (reals as readonly Value[])[k];
  return {
    kind: "record",
    fields: new Map([...(reals as ReadonlyMap<string, Reals>)].map(([n, r]) => [n, picked(r, k)])),
  };
}

/** Returns values at paths as records in records. */
function nested(entries: readonly (readonly [readonly string[], Value])[]): Map<string, Value> {
  const groups = new Map<string, (readonly [readonly string[], Value])[]>();
  for (const [[name, ...rest], value] of entries) groups.set(name, [...(groups.get(name) ?? []), [rest, value]]);
  return new Map(
    [...groups].map(([name, group]) => [
      name,
      group[0][0].length === 0 ? group[0][1] : { kind: "record", fields: nested(group) },
    ]),
  );
}
