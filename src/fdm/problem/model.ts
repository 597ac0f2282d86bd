import { SpecError } from "../../errors.ts";
import { axisOf, DEFAULT_NODES } from "./axis.ts";
import { boundariesOf, boundaryCode, type GivenBoundary, type GivenEnds } from "./boundaries.ts";
import { isList, isObject, knownKeys, oneOf } from "./checks.ts";
import { chosenScheme } from "../time/schemes/choose-scheme.ts";
import { type GivenCondition, givenConditions } from "./conditions.ts";
import {
  equationAdapter,
  type Given,
  type GivenEquation,
  givenEquation,
  givenNumber,
  numberAdapter,
  type State,
} from "./functions.ts";
import { jumpFunctions, pointwiseFunction, regionFunctions } from "../conditions/by-number.ts";
import type { EquationVariant } from "../operator/equation-variant.ts";
import type { MeshDescription } from "../mesh/axis-mesh.ts";
import type { AnyProblem } from "./equation.ts";
import { type Batch, batchOf, entryError, type ParameterValues, quantityOf } from "./quantity.ts";
import { type ProgramSpec, type Timeline, timelineOf } from "../time/timeline.ts";

/** A problem that has been checked and understood: what all of its solutions share. */
export interface Model {
  readonly axisName: string;
  readonly batch: Batch;
  /** Rows of parameters behind the user's own: the literals of all functions. */
  readonly literals: readonly number[];
  readonly equation: GivenEquation;
  readonly terminal: Given;
  readonly ends: GivenEnds;
  readonly conditions: readonly GivenCondition[];
  readonly exercise: (GivenCondition & { kind: "exercise" }) | undefined;
  readonly nodes: number;
  readonly meshOf: (entry: ParameterValues) => MeshDescription;
  readonly timelineOf: (entry: ParameterValues) => Timeline;
  readonly steps: number;
  readonly program: Omit<ProgramSpec, "steps" | "refinement">;
  /** Whether nodes run from high to low: the exercise region is to be at the first ones. */
  readonly descending: boolean;
  /** All but the capacity. */
  readonly variant: Omit<EquationVariant, "capacity">;
  readonly accuracy: Accuracy;
}

/** Which other solutions there are besides the one asked for, and what they are for. */
export interface Accuracy {
  readonly extrapolate: "none" | "time" | "space" | "both";
  readonly errorEstimate: boolean;
  /** Order in time. */
  readonly order: 1 | 2;
}

const PROBLEM_KEYS = [
  "axes",
  "parameters",
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

/** @throws SpecError | KernelError, with the place */
export function modelOf(problem: AnyProblem): Model {
  isObject("problem", problem, "an object with axes, equation, terminal and expiry");
  knownKeys("", problem, PROBLEM_KEYS);
  if (problem.conditions !== undefined) isList("conditions", problem.conditions, "conditions");
  const axisName = onlyAxis(problem);
  if (problem.parameters !== undefined) isObject("parameters", problem.parameters, "numbers by name");
  const batch = batchOf(problem.parameters ?? {});
  const state: State = { names: ["t", axisName, ...batch.names], literals: [] };
  checkNames(axisName, batch.names);
  const accuracy = accuracyOf(problem);
  const equation = givenEquation(problem.equation, axisName, state);
  const terminal = givenNumber("terminal", problem.terminal, state);
  const conditions = givenConditions(problem.conditions ?? [], state, batch.names);
  const meshOf = axisOf(axisName, problem.axes[axisName], batch.names, needsHalf(accuracy));
  const exercise = conditions.find((condition) => condition.kind === "exercise");
  const expiryOf = quantityOf("expiry", problem.expiry, batch.names);
  const descending = exercise !== undefined && sideOf(exercise, meshOf, expiryOf, batch) === "high";
  const ends = boundariesOf(problem, axisName, state);
  const program = programOf(problem, conditions, equation, ends, exercise);
  return {
    axisName,
    batch,
    literals: state.literals,
    equation,
    terminal,
    ends,
    conditions,
    exercise,
    nodes: problem.axes[axisName].nodes ?? DEFAULT_NODES,
    meshOf,
    timelineOf: (entry) => timelineOf(conditions, expiryOf(entry), entry, batch.names),
    steps: stepsOf(problem, accuracy),
    program,
    descending,
    variant: {
      name: axisName,
      parameters: batch.names.length + state.literals.length,
      coefficients: equationAdapter(equation),
      hasSource: equation.reads.d !== "0.0" || [ends.low, ends.high].some(({ kind }) => kind === "neumann"),
      log: problem.axes[axisName].coordinate === "log",
      fitted: convectionOf(problem) === "fitted",
      terminal: numberAdapter(terminal),
      first: boundaryCode(descending ? ends.high : ends.low),
      last: boundaryCode(descending ? ends.low : ends.high),
      twoStages: program.scheme.stages.length > 1,
      ...exerciseCode(exercise),
      region: regionFunctions(conditions),
      pointwise: pointwiseFunction(conditions),
      jump: jumpFunctions(conditions)?.jump,
      isJump: jumpFunctions(conditions)?.isJump,
    },
    accuracy: { ...accuracy, order: program.scheme.order },
  };
}

function onlyAxis({ axes }: AnyProblem): string {
  if (axes !== undefined) isObject("axes", axes, "an axis by name: { S: { from: 0, to: 200 } }");
  const names = Object.keys(axes ?? {});
  if (names.length !== 1)
    throw new SpecError(`axes: ${names.length} axes${names.length > 0 ? ` (${names.join(", ")})` : ""}, expected one`);
  return names[0];
}

/** Names are variables of formulas and of functions, so they must be identifiers and differ. */
function checkNames(axis: string, parameters: readonly string[]): void {
  const taken = new Map([["t", "the time"]]);
  for (const [name, path] of [[axis, `axes.${axis}`], ...parameters.map((name) => [name, `parameters.${name}`])]) {
    if (!/^[A-Za-z_$][\w$]*$/.test(name)) throw new SpecError(`${path}: "${name}" is not an identifier; rename it`);
    const other = taken.get(name);
    if (other !== undefined) throw new SpecError(`${path}: the name ${name} is taken by ${other}; rename it`);
    taken.set(name, path);
  }
  if (axis === "V" || axis === "source")
    throw new SpecError(`axes.${axis}: ${axis} names a coefficient of the equation; rename the axis`);
}

function accuracyOf({ extrapolate, errorEstimate = false }: AnyProblem): Omit<Accuracy, "order"> {
  if (extrapolate !== undefined) oneOf("extrapolate", extrapolate, ["time", "space", "both"]);
  return { extrapolate: extrapolate ?? "none", errorEstimate };
}

const needsHalf = ({ extrapolate, errorEstimate }: Omit<Accuracy, "order">): boolean =>
  extrapolate === "space" || extrapolate === "both" || (errorEstimate && extrapolate === "none");

function stepsOf({ steps = 100 }: AnyProblem, { extrapolate, errorEstimate }: Omit<Accuracy, "order">): number {
  if (!Number.isInteger(steps) || steps < 2 || steps > 100_000)
    throw new SpecError(`steps: got ${steps}, expected a whole number from 2 to 100,000`);
  const halved = extrapolate === "time" || extrapolate === "both" || errorEstimate;
  if (halved && steps % 2 === 1)
    throw new SpecError(
      `steps: got ${steps}, expected an even number, so that there is a solution of half as many; use ${steps + 1}`,
    );
  return steps;
}

function convectionOf({ convection = "fitted" }: AnyProblem): "fitted" | "central" {
  oneOf("convection", convection, ["fitted", "central"]);
  return convection;
}

function programOf(
  problem: AnyProblem,
  conditions: readonly GivenCondition[],
  equation: GivenEquation,
  { low, high }: GivenEnds,
  exercise: Model["exercise"],
): Model["program"] {
  const { kind, scheme, rannacherSteps } = chosenScheme(problem.scheme ?? { kind: "crank-nicolson" });
  const always = exercise !== undefined && exercise.dates === undefined;
  const grading = problem.grading ?? (always ? Math.max(3, 6 + Math.round(Math.log2((problem.steps ?? 100) / 48))) : 1);
  if (!Number.isInteger(grading) || grading < 1 || grading > 20)
    throw new SpecError(`grading: got ${grading}, expected a whole number from 1 to 20`);
  const regions = conditions.flatMap((condition) =>
    condition.kind === "knock-out" && condition.dates === undefined ? [condition.below, condition.above] : [],
  );
  return {
    scheme,
    grading,
    rannacherSteps,
    damped: always && kind === "crank-nicolson",
    // A slope is part of the source, which is made with the matrix.
    matrixInTime: equation.dependsOnTime || inTime(regions) || inTime([low, high].map(slopeOf)),
    obstacleInTime: (always && exercise.payoff.dependsOnTime) || inTime(regions),
    record: exercise === undefined ? "none" : always ? "steps" : "events",
    exercise: exercise === undefined ? -1 : conditions.indexOf(exercise),
  };
}

const inTime = (functions: readonly (Given | undefined)[]): boolean =>
  functions.some((given) => given?.dependsOnTime === true);
const slopeOf = ({ kind, number }: GivenBoundary): Given | undefined => (kind === "neumann" ? number : undefined);

function exerciseCode(exercise: Model["exercise"]): Pick<EquationVariant, "exercise" | "obstacle" | "recordsEvents"> {
  if (exercise === undefined) return { exercise: "none", obstacle: undefined, recordsEvents: false };
  const obstacle = numberAdapter(exercise.payoff);
  const always = exercise.dates === undefined;
  return { exercise: always ? exercise.method : "none", obstacle, recordsEvents: !always };
}

/**
 * Where the payoff is larger at expiry, unless it is said. All entries run through their nodes the same way.
 * @throws SpecError entries that differ
 */
function sideOf(
  { side, payoff, path }: NonNullable<Model["exercise"]>,
  meshOf: Model["meshOf"],
  expiryOf: (entry: ParameterValues) => number,
  { entries }: Batch,
): "low" | "high" {
  if (side !== undefined) return side;
  const sides = entries.map((entry): "low" | "high" | undefined => {
    // An entry that fails is told so when its turn comes.
    if (entryError(() => meshOf(entry)) !== undefined) return undefined;
    const { from, to } = meshOf(entry);
    const at = (S: number): number => payoff.at(expiryOf(entry), S, ...entry);
    const rise = at(to) - at(from);
    return Number.isNaN(rise) ? undefined : rise > 0 ? "high" : "low";
  });
  const [first, second] = [sides.indexOf("low"), sides.indexOf("high")].toSorted((a, b) => a - b);
  if (first < 0) return sides[second] ?? "low";
  throw new SpecError(
    `${path}.side: the payoff is larger at the ${sides[first]} end for entry ${first} and at the ${sides[second]} end for entry ${second}; ` +
      "solve them apart, or say side",
  );
}
