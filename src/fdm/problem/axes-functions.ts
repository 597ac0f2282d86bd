/**
 * The functions that a user writes of a problem on one to three axes, as kernel functions of the state; see
 * `functions.ts`.
 */
import { type FunctionParams, type FunctionSpec, functionFromSource, i32 } from "../../kernel/index.ts";
import {
  AXES_COEFFICIENTS,
  type AxesCoefficientName,
  type AxesCoefficients,
  type AxesNumber,
  AxesState,
  type DatedCode,
  DatedState,
  MaskedState,
  type RegionCode,
} from "../operator/state.ts";
import type { GivenCondition } from "./conditions.ts";
import { COORDINATES, type Given, type GivenEquation } from "./functions.ts";
import { adapterOf } from "./lowered.ts";

/** The equation; coefficients of axes that there are not are not read. */
export type AxesEquation = Omit<GivenEquation<string>, "reads" | "labels"> &
  Readonly<Record<"reads" | "labels", Partial<Record<AxesCoefficientName, string>>>>;

/** A state as adapters take it apart. */
const STATE = "{ t, x0, x1, x2, parameters: { values: parameters, pitch, instance } }";

/** A kernel function of the state → number. */
export function axesNumber({ call, args, path }: Given): AxesNumber {
  const source = `(${STATE}, gpu, { f }) => f(${args})`;
  return adapterOf(call, source, () =>
    functionFromSource({ name: path, params: AxesState.fields, env: { f: call }, source }),
  );
}

/** A kernel function of the state → all coefficients. */
export function axesEquation({ call, args, reads }: AxesEquation): AxesCoefficients {
  const fields = AXES_COEFFICIENTS.map((name) => `${name}: ${reads[name] ?? "0.0"}`);
  const source = `(${STATE}, gpu, { f }) => { const k = f(${args}); return { ${fields.join(", ")} }; }`;
  return adapterOf(call, source, () =>
    functionFromSource({ name: "equation", params: AxesState.fields, env: { f: call }, source }),
  );
}

/** The names of an equation's coefficients on some axes, as `givenEquation` takes them. */
export function labelsOnAxes(axes: readonly string[]): Readonly<Record<string, string>> {
  const labels: Partial<Record<AxesCoefficientName, string>> = {};
  axes.forEach((name, i) => {
    labels[`a${i as 0 | 1 | 2}${i as 0 | 1 | 2}` as AxesCoefficientName] = name + name;
    labels[`b${i as 0 | 1 | 2}`] = name;
    for (let j = i + 1; j < axes.length; j++)
      labels[`a${i}${j}` as AxesCoefficientName] = `${name}${axes[j]}|${axes[j]}${name}`;
  });
  return { ...labels, c: "V", d: "source" };
}

type Environment = Record<string, FunctionSpec>;

/**
 * The relative distance from its edge up to which a region reaches: a node on the edge may have been rounded to its
 * other side.
 */
const SLACK = 'const slack = gpu.precision === "f32" ? 1e-6 : 1e-12;';
/** The name of a state as an argument, in the words of `COORDINATES`. */
const ARGUMENT = "state";

/** The form in which states are handed to functions of conditions: as fields (`AxesState`), or otherwise. */
export interface StateForm {
  readonly number: (given: Given) => FunctionSpec;
  /** The code that makes the coordinates of a `state` variables. */
  readonly take: string;
  readonly masked: FunctionParams;
  readonly dated: FunctionParams;
}

/** Text that is true inside a knock-out's region. */
function insideText(
  condition: GivenCondition & { kind: "knock-out" },
  k: number,
  env: Environment,
  form: StateForm,
): string {
  const { axis, below, above, where } = condition;
  const x = COORDINATES[axis];
  const level = (name: string, given: Given): string => {
    env[`${name}${k}`] = form.number(given);
    return `env.${name}${k}(${ARGUMENT})`;
  };
  return [
    ...(below === undefined ? [] : [`${x} - slack * Math.abs(${x}) <= ${level("below", below)}`]),
    ...(above === undefined ? [] : [`${x} + slack * Math.abs(${x}) >= ${level("above", above)}`]),
    ...(where === undefined ? [] : [`${level("where", where)} >= 0`]),
  ].join(" || ");
}

/** Statements for where an edge of a knock-out is NaN, which nothing is beyond. */
function edgeTests({ below, above, where }: GivenCondition & { kind: "knock-out" }, k: number): string {
  return Object.entries({ below, above, where })
    .filter(([, given]) => given !== undefined)
    .map(([name]) => `if (Number.isNaN(env.${name}${k}(${ARGUMENT}))) ok = false;`)
    .join(" ");
}

const AXES_FORM: StateForm = {
  number: axesNumber,
  take: "const { x0, x1, x2 } = state;",
  masked: MaskedState.fields,
  dated: DatedState.fields,
};

/** The knock-outs at all times. Undefined where there are none. */
export function axesRegion(conditions: readonly GivenCondition[], form = AXES_FORM): RegionCode | undefined {
  const regions = conditions.flatMap((condition) =>
    condition.kind === "knock-out" && condition.dates === undefined ? [condition] : [],
  );
  if (regions.length === 0) return undefined;
  const env: Environment = {};
  const inside = regions.map((region, k) => `(mask & ${1 << k}) !== 0 && (${insideText(region, k, env, form)})`);
  const values: Environment = { ...env };
  const edges = regions.map((region, k) => `if ((mask & ${1 << k}) !== 0) { ${edgeTests(region, k)} }`);
  const cases = regions.map((region, k) => {
    values[`value${k}`] = form.number(region.value);
    return `if (${inside[k]}) value = env.value${k}(${ARGUMENT});`;
  });
  return {
    inside: made("knocked out", form.masked, env, [
      "({ state, mask }, gpu, env) => {",
      form.take,
      SLACK,
      "let inside = false;",
      ...inside.map((text) => `if (${text}) inside = true;`),
      "return inside; }",
    ]),
    hasEdges: made("edges of knock-outs", form.masked, env, [
      "({ state, mask }, gpu, env) => {",
      form.take,
      "let ok = true;",
      ...edges,
      "return ok; }",
    ]),
    value: made("value of a knock-out", form.masked, values, [
      "({ state, mask }, gpu, env) => {",
      form.take,
      SLACK,
      "let value = 0.0;",
      ...cases,
      "return value; }",
    ]),
  };
}

/** The function of exercise and knock-outs on dates, by the number of the condition; u where that is neither. */
export function axesPointwise(conditions: readonly GivenCondition[], form = AXES_FORM): DatedCode["pointwise"] {
  const env: Environment = {};
  const cases = conditions.flatMap((condition, k) => {
    if (condition.kind === "jump" || condition.dates === undefined) return [];
    if (condition.kind === "exercise") {
      env[`payoff${k}`] = form.number(condition.payoff);
      return [
        `if (k === ${k}) { const payoff = env.payoff${k}(${ARGUMENT}); ok = Number.isFinite(payoff); value = Math.max(u, payoff); }`,
      ];
    }
    env[`value${k}`] = form.number(condition.value);
    const paid = `value = env.value${k}(${ARGUMENT}); ok = Number.isFinite(value);`;
    return [`if (k === ${k}) { if (${insideText(condition, k, env, form)}) { ${paid} } ${edgeTests(condition, k)} }`];
  });
  if (cases.length === 0) return undefined;
  return made("conditions on dates", form.dated, env, [
    "({ state, k, u }, gpu, env) => {",
    form.take,
    SLACK,
    "let value = u;",
    "let ok = true;",
    ...cases,
    "return { value, ok }; }",
  ]);
}

/**
 * The function that gives where jumps take the state along their axes, and the one that gives which axis; undefined
 * where there are none.
 */
export function axesJumps(conditions: readonly GivenCondition[]): Pick<DatedCode, "jump" | "jumpAxis"> {
  const jumps = conditions.flatMap((condition, k) => (condition.kind === "jump" ? [{ ...condition, k }] : []));
  if (jumps.length === 0) return { jump: undefined, jumpAxis: undefined };
  const env: Environment = Object.fromEntries(jumps.map(({ k, to }) => [`to${k}`, axesNumber(to)]));
  return {
    jump: made("jumps", DatedState.fields, env, [
      "({ state, k, u }, gpu, env) => {",
      "let value = 0.0;",
      ...jumps.map(({ k }) => `if (k === ${k}) value = env.to${k}(${ARGUMENT});`),
      "return value; }",
    ]),
    jumpAxis: functionFromSource({
      name: "jumpAxis",
      params: [i32],
      source: `([k]) => ${jumps.map(({ k, axis }) => `k === ${k} ? ${axis} : `).join("")}-1`,
    }),
  };
}

/** A function of generated text. */
function made<R extends FunctionSpec>(
  name: string,
  params: FunctionParams,
  env: Environment,
  lines: readonly string[],
): R {
  return functionFromSource({ name, params, env, source: lines.join(" ") }) as unknown as R;
}
