import { KernelError, SpecError } from "../../../base/errors.ts";
import { formula, formulaMessage } from "../../../kernel/index.ts";
import { memoize } from "../../../base/memoize.ts";
import {
  checkList,
  checkObject,
  checkKeys,
  checkOneOf,
  typeInWords,
  checkWholeNumber,
} from "../../../base/argument-checks.ts";
import type { AnyProblem, Condition, EquationParts, ExerciseMethod, Quantity } from "./equation.ts";
import { type CompiledFunction, compileNumber, type FunctionScope } from "./functions.ts";

/** The values of the parameters of one batch entry, in the order of `Batch.names`. */
export type ParameterValues = readonly number[];

/** The names of the parameters, and their values for each entry of the batch. */
export interface Batch {
  readonly names: readonly string[];
  readonly entries: readonly ParameterValues[];
}

/**
 * Returns the batch that the parameters define: one entry for each element of their arrays. @throws SpecError arrays of
 * different lengths, no arrays
 */
export function batchOf(parameters: Readonly<Record<string, number | readonly number[]>>): Batch {
  const names = Object.keys(parameters);
  let size: number | undefined;
  for (const name of names) {
    const value = parameters[name];
    if (typeof value === "number") continue;
    if (!Array.isArray(value) && !ArrayBuffer.isView(value))
      throw new SpecError(`parameters.${name}: got ${typeInWords(value)}, expected a number or an array of numbers`);
    const { length } = value;
    if (length === 0 || (size !== undefined && size !== length))
      throw new SpecError(
        `parameters.${name}: ${length} values${size === undefined ? "" : `, others have ${size}`}; expected as many as the batch has entries`,
      );
    size = length;
  }
  const entry = (l: number): number[] =>
    names.map((name) => {
      const given = parameters[name];
      return typeof given === "number" ? given : given[l];
    });
  return { names, entries: Array.from({ length: size ?? 1 }, (_, l) => entry(l)) };
}

/** Checks the parameters of the entry with index `l`. @throws SpecError a parameter that is not a number */
export function checkParameters({ names, entries }: Batch, l: number): void {
  const bad = entries[l].findIndex((value) => !Number.isFinite(value));
  if (bad < 0) return;
  const path = entries.length === 1 ? "" : `[${l}]`;
  const got: unknown = entries[l][bad];
  throw new SpecError(
    `parameters.${names[bad]}${path}: got ${typeof got === "number" ? got : typeInWords(got)}, expected a finite number`,
  );
}

/**
 * Returns the SpecError that `f` throws for one entry, which fails that entry and not the batch; undefined if it throws
 * none. Other errors are rethrown.
 */
export function entryError(f: () => unknown): SpecError | undefined {
  try {
    f();
    return undefined;
  } catch (error) {
    if (error instanceof SpecError) return error;
    throw error;
  }
}

/** Returns a function that evaluates a quantity of the user for an entry. A formula is parsed only once. */
export function quantityOf(
  path: string,
  quantity: Quantity,
  names: readonly string[],
): (entry: ParameterValues) => number {
  const evaluate = evaluatorOf(path, quantity, names);
  return (entry) => {
    const value = evaluate(entry);
    if (!Number.isFinite(value))
      throw new SpecError(`${path}: ${value} for ${formattedParameters(names, entry)}; expected a finite number`);
    return value;
  };
}

const formulaOf = memoize((text: string, names: readonly string[]) => formula(text, names), 256);

function evaluatorOf(path: string, quantity: Quantity, names: readonly string[]): (entry: ParameterValues) => number {
  if (typeof quantity === "number") return () => quantity;
  if (typeof quantity !== "string")
    throw new SpecError(`${path}: got ${typeInWords(quantity)}, expected a number or a formula of the parameters`);
  try {
    const evaluate = formulaOf(quantity, names);
    return (entry) => evaluate(...entry);
  } catch (error) {
    if (!(error instanceof KernelError)) throw error;
    throw new SpecError(`${path}: ${formulaMessage(error)}`, { cause: error });
  }
}

/** Returns the parameters as text for a message: "sigma = 0.2, r = 0.05". */
export function formattedParameters(names: readonly string[], entry: ParameterValues): string {
  return names.length === 0 ? "no parameters" : names.map((name, k) => `${name} = ${entry[k]}`).join(", ");
}

/** Returns the parameters of an entry by name. */
export const parametersOf = ({ names, entries }: Batch, index: number): Readonly<Record<string, number>> =>
  Object.fromEntries(names.map((name, k) => [name, entries[index][k]]));

/**
 * The extrapolation and error estimate that a problem asks for. They determine which coarser solutions, its companions,
 * are computed.
 */
export interface CompanionSettings {
  readonly extrapolate: "none" | "time" | "space" | "both";
  readonly errorEstimate: boolean;
  /** The order of the time-stepping scheme. */
  readonly order: 1 | 2;
  /** True where errors in time and in space are estimated by two separate solutions. */
  readonly apart: boolean;
}

type AskedCompanions = Pick<CompanionSettings, "extrapolate" | "errorEstimate">;

/** The names of the fields that problems on full grids and on sparse grids share. */
export const EQUATION_KEYS = [
  "axes",
  "parameters",
  "functions",
  "equation",
  "terminal",
  "expiry",
  "boundaries",
  "conditions",
  "scheme",
  "steps",
  "grading",
  "extrapolate",
  "errorEstimate",
  "convection",
  "precision",
] as const;
/** The names of all fields that a problem on a full grid may have. */
export const PROBLEM_KEYS = [...EQUATION_KEYS, "sensitivities", "at"] as const;

/** The largest number of axes of a full grid. */
export const MAX_AXES = 3;
const COUNTS = ["none", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"];

/**
 * Returns the names of a problem's axes, after a check that it has at most `max` axes and only the fields in `keys`.
 * @throws SpecError
 */
export function axesOf(problem: EquationParts, keys: readonly string[], max: number): readonly string[] {
  checkObject("problem", problem, "an object with axes, equation, terminal and expiry");
  checkKeys("", problem, keys);
  if (problem.conditions !== undefined) checkList("conditions", problem.conditions, "conditions");
  const { axes } = problem;
  if (axes !== undefined) checkObject("axes", axes, "an axis by name: { S: { from: 0, to: 200 } }");
  const names = Object.keys(axes ?? {});
  if (names.length < 1 || names.length > max)
    throw new SpecError(
      `axes: ${names.length} axes${names.length > 0 ? ` (${names.join(", ")})` : ""}, expected one to ${COUNTS[max]}`,
    );
  if (problem.parameters !== undefined) checkObject("parameters", problem.parameters, "numbers by name");
  return names;
}

/** Checks that names are distinct identifiers, as variables of formulas and functions must be. @throws SpecError */
export function checkNames(axes: readonly string[], parameters: readonly string[]): void {
  const taken = new Map([["t", "the time"]]);
  for (const [name, path] of [
    ...axes.map((name) => [name, `axes.${name}`]),
    ...parameters.map((name) => [name, `parameters.${name}`]),
  ]) {
    if (!/^[A-Za-z_$][\w$]*$/.test(name)) throw new SpecError(`${path}: "${name}" is not an identifier; rename it`);
    const other = taken.get(name);
    if (other !== undefined) throw new SpecError(`${path}: the name ${name} is taken by ${other}; rename it`);
    taken.set(name, path);
  }
  const coefficients = new Set(["V", "source", ...axes.flatMap((a) => axes.map((b) => a + b))]);
  const axis = axes.find((name) => coefficients.has(name));
  if (axis !== undefined)
    throw new SpecError(`axes.${axis}: ${axis} names a coefficient of the equation; rename the axis`);
}

/** Returns the extrapolation and error estimate that a problem asks for. @throws SpecError */
export function companionsOf({ extrapolate, errorEstimate = false }: AnyProblem): AskedCompanions {
  if (extrapolate !== undefined) checkOneOf("extrapolate", extrapolate, ["time", "space", "both"]);
  return { extrapolate: extrapolate ?? "none", errorEstimate };
}

/** Tells whether a problem needs a solution on a mesh with half the intervals. */
export const needsHalf = ({ extrapolate, errorEstimate }: AskedCompanions): boolean =>
  extrapolate === "space" || extrapolate === "both" || (errorEstimate && extrapolate === "none");

/** Returns the number of time steps of a problem. @throws SpecError */
export function stepsOf({ steps = 100 }: AnyProblem, { extrapolate, errorEstimate }: AskedCompanions): number {
  checkWholeNumber("steps", steps, 2, 100_000);
  const halved = extrapolate === "time" || extrapolate === "both" || errorEstimate;
  if (halved && steps % 2 === 1)
    throw new SpecError(
      `steps: got ${steps}, expected an even number, so that there is a solution of half as many; use ${steps + 1}`,
    );
  return steps;
}

/** Returns the treatment of drift-dominated nodes that a problem chooses, or the default. @throws SpecError */
export function convectionOf({ convection }: EquationParts, byDefault: "fitted" | "central"): "fitted" | "central" {
  if (convection === undefined) return byDefault;
  checkOneOf("convection", convection, ["fitted", "central"]);
  return convection;
}

/**
 * Returns the grading of a problem's time steps (`EquationProblem.grading`). `always` says whether it may be exercised
 * at all times. On several axes, where operator splitting imposes exercise, more than three step sizes would leave too
 * few steps for the rest of the life (design/factors.md). @throws SpecError
 */
export function gradingOf({ axes, grading, steps = 100 }: AnyProblem, always: boolean): number {
  const phases = Object.keys(axes).length === 1 ? Math.max(3, 6 + Math.round(Math.log2(steps / 48))) : 3;
  const chosen = grading ?? (always ? phases : 1);
  checkWholeNumber("grading", chosen, 1, 20);
  return chosen;
}

type DateOf = (entry: ParameterValues) => number;

/**
 * A condition of the user with its functions compiled. Its dates are functions of the parameters; `dates` is undefined
 * for a condition at all times.
 */
export type CompiledCondition = { readonly path: string } & (
  | {
      readonly kind: "exercise";
      readonly dates: readonly DateOf[] | undefined;
      readonly payoff: CompiledFunction;
      readonly method: ExerciseMethod;
      readonly side: "low" | "high" | undefined;
    }
  | { readonly kind: "jump"; readonly axis: number; readonly dates: readonly DateOf[]; readonly to: CompiledFunction }
  | {
      readonly kind: "knock-out";
      readonly axis: number;
      readonly dates: readonly DateOf[] | undefined;
      readonly where: CompiledFunction | undefined;
      readonly below: CompiledFunction | undefined;
      readonly above: CompiledFunction | undefined;
      readonly value: CompiledFunction;
      readonly from: DateOf | undefined;
      readonly until: DateOf | undefined;
    }
);

/** Conditions are numbered in 6 bits of a word, those at all times in 8 bits of another. */
const MAX_CONDITIONS = 60;
const MAX_REGIONS = 8;

/**
 * Returns the compiled conditions of a problem. @throws SpecError | KernelError with the path, such as
 * `conditions[1].to`
 */
export function compileConditions(
  conditions: readonly Condition<string, never>[],
  state: FunctionScope,
  names: readonly string[],
): CompiledCondition[] {
  const all = conditions.map((condition, k) => givenCondition(`conditions[${k}]`, condition, state, names));
  const exercises = all.filter(({ kind }) => kind === "exercise");
  if (exercises.length > 1)
    throw new SpecError(
      `${exercises[1].path}: a second "exercise"; expected at most one, with the larger payoff by Math.max`,
    );
  if (all.length > MAX_CONDITIONS) throw new SpecError(`conditions: ${all.length}, expected at most ${MAX_CONDITIONS}`);
  if (all.filter(({ kind, dates }) => kind === "knock-out" && dates === undefined).length > MAX_REGIONS)
    throw new SpecError(`conditions: more than ${MAX_REGIONS} knock-outs at all times; join their regions in one`);
  return all;
}

function givenCondition(
  path: string,
  condition: Condition<string, never>,
  state: FunctionScope,
  names: readonly string[],
): CompiledCondition {
  checkObject(path, condition, "an object with its kind");
  if (condition.at !== undefined) checkList(`${path}.at`, condition.at, "dates");
  const quantity = (field: string, value: Quantity): DateOf => quantityOf(`${path}.${field}`, value, names);
  const number = (field: string, value: unknown): CompiledFunction => compileNumber(`${path}.${field}`, value, state);
  const dates = condition.at?.map((date, k) => quantity(`at[${k}]`, date));
  if (dates?.length === 0) throw new SpecError(`${path}.at: no dates; leave the condition out`);
  switch (condition.kind) {
    case "exercise": {
      checkKeys(path, condition, ["kind", "payoff", "at", "method", "side"]);
      const { method = state.axes === 1 ? "penalty" : "operator-splitting", side } = condition;
      checkOneOf(`${path}.method`, method, ["penalty", "brennan-schwartz", "operator-splitting"]);
      if (state.axes > 1 && method !== "operator-splitting")
        throw new SpecError(`${path}.method: "${method}" is for one axis; of several, expected "operator-splitting"`);
      if (side !== undefined) checkOneOf(`${path}.side`, side, ["low", "high"]);
      return { path, kind: "exercise", dates, payoff: number("payoff", condition.payoff), method, side };
    }
    case "jump":
      checkKeys(path, condition, ["kind", "axis", "at", "to"]);
      if (dates === undefined) throw new SpecError(`${path}.at: missing; a jump needs dates`);
      return { path, kind: "jump", axis: axisOf(path, condition.axis, state), dates, to: number("to", condition.to) };
    case "knock-out": {
      checkKeys(path, condition, ["kind", "axis", "below", "above", "where", "value", "at", "from", "until"]);
      if (dates !== undefined && (condition.from !== undefined || condition.until !== undefined))
        throw new SpecError(`${path}: both dates and a window; leave at, or from and until, out`);
      const { below, above, where, value = 0, from, until } = condition;
      if (where !== undefined && state.axes === 1)
        throw new SpecError(`${path}.where: for several axes; of one, say below or above`);
      if (below === undefined && above === undefined && where === undefined)
        throw new SpecError(`${path}: neither below nor above; expected one of them, the region's edge`);
      return {
        path,
        kind: "knock-out",
        axis: axisOf(path, condition.axis, state),
        dates,
        where: where === undefined ? undefined : number("where", where),
        below: below === undefined ? undefined : number("below", below),
        above: above === undefined ? undefined : number("above", above),
        value: number("value", value),
        from: from === undefined ? undefined : quantity("from", from),
        until: until === undefined ? undefined : quantity("until", until),
      };
    }
    default:
      throw new SpecError(
        `${path}.kind: got ${JSON.stringify((condition satisfies never as { kind: unknown }).kind)}, expected exercise, jump or knock-out`,
      );
  }
}

/** The number of the axis that a condition names, the first one unless it does. @throws SpecError */
function axisOf(path: string, name: string | undefined, { names, axes }: FunctionScope): number {
  if (name === undefined) return 0;
  const known = names.slice(1, 1 + axes);
  checkOneOf(`${path}.axis`, name, known);
  return known.indexOf(name);
}
