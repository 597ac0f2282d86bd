/** The settings that problems on one axis and on several have alike: names, companion solutions, steps. */
import { SpecError } from "../../../base/errors.ts";
import { isList, isObject, knownKeys, oneOf, wholeNumber } from "../../../base/argument-checks.ts";
import type { AnyProblem, EquationParts } from "./equation.ts";

/** The extrapolation and error estimate that a problem asks for, which decide on its coarser companion solutions. */
export interface Companions {
  readonly extrapolate: "none" | "time" | "space" | "both";
  readonly errorEstimate: boolean;
  /** The order of the time-stepping scheme. */
  readonly order: 1 | 2;
  /** True where errors in time and in space are estimated by two separate solutions. */
  readonly apart: boolean;
}

type AskedCompanions = Pick<Companions, "extrapolate" | "errorEstimate">;

/** The names of the fields that all problems have alike. */
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
  isObject("problem", problem, "an object with axes, equation, terminal and expiry");
  knownKeys("", problem, keys);
  if (problem.conditions !== undefined) isList("conditions", problem.conditions, "conditions");
  const { axes } = problem;
  if (axes !== undefined) isObject("axes", axes, "an axis by name: { S: { from: 0, to: 200 } }");
  const names = Object.keys(axes ?? {});
  if (names.length < 1 || names.length > max)
    throw new SpecError(
      `axes: ${names.length} axes${names.length > 0 ? ` (${names.join(", ")})` : ""}, expected one to ${COUNTS[max]}`,
    );
  if (problem.parameters !== undefined) isObject("parameters", problem.parameters, "numbers by name");
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
  if (extrapolate !== undefined) oneOf("extrapolate", extrapolate, ["time", "space", "both"]);
  return { extrapolate: extrapolate ?? "none", errorEstimate };
}

/** Tells whether a problem needs a solution on a mesh with half the intervals. */
export const needsHalf = ({ extrapolate, errorEstimate }: AskedCompanions): boolean =>
  extrapolate === "space" || extrapolate === "both" || (errorEstimate && extrapolate === "none");

/** Returns the number of time steps of a problem. @throws SpecError */
export function stepsOf({ steps = 100 }: AnyProblem, { extrapolate, errorEstimate }: AskedCompanions): number {
  wholeNumber("steps", steps, 2, 100_000);
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
  oneOf("convection", convection, ["fitted", "central"]);
  return convection;
}

/**
 * The grading of a problem's time steps (`EquationProblem.grading`). `always`: whether it may be exercised at all
 * times. On several axes, where operator splitting imposes exercise, more than three step sizes would leave too few
 * steps for the rest of the life (design/factors.md). @throws SpecError
 */
export function gradingOf({ axes, grading, steps = 100 }: AnyProblem, always: boolean): number {
  const phases = Object.keys(axes).length === 1 ? Math.max(3, 6 + Math.round(Math.log2(steps / 48))) : 3;
  const chosen = grading ?? (always ? phases : 1);
  wholeNumber("grading", chosen, 1, 20);
  return chosen;
}
