import { SpecError } from "../../errors.ts";
import type { KernelFunction } from "../../kernel/index.ts";
import { axisOf, oneOf } from "./axis.ts";
import { type GivenCondition, givenConditions } from "./conditions.ts";
import {
  equationAdapter,
  type Given,
  type GivenEquation,
  givenEquation,
  givenNumber,
  numberAdapter,
} from "./functions.ts";
import { jumpFunctions, pointwiseFunction, regionFunctions } from "./kernel/conditions.ts";
import type { BoundaryCode, EquationVariant } from "./kernel/variant.ts";
import type { MeshDescription } from "./mesh/mesh.ts";
import type { AnyProblem, Boundary, SchemeChoice } from "./problem.ts";
import { type Batch, batchOf, type ParameterValues, quantityOf } from "./quantity.ts";
import { implicitEuler } from "./schemes/implicit-euler.ts";
import type { TimeScheme } from "./schemes/scheme.ts";
import { crankNicolson, theta } from "./schemes/theta.ts";
import { trBdf2 } from "./schemes/tr-bdf2.ts";
import { type ProgramSpec, type Timeline, timelineOf } from "./timeline.ts";

/** A problem that has been checked and understood: what all of its solutions share. */
export interface Model {
  readonly axisName: string;
  readonly batch: Batch;
  /** t, the axis, the parameters: the order in which functions take the state. */
  readonly state: readonly string[];
  readonly equation: GivenEquation;
  readonly exercise: (GivenCondition & { kind: "exercise" }) | undefined;
  readonly meshOf: (entry: ParameterValues) => MeshDescription;
  readonly timelineOf: (entry: ParameterValues) => Timeline;
  readonly expiryOf: (entry: ParameterValues) => number;
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

/** @throws SpecError | KernelError, with the place */
export function modelOf(problem: AnyProblem): Model {
  const axisName = onlyAxis(problem);
  const batch = batchOf(problem.parameters ?? {});
  const state = ["t", axisName, ...batch.names];
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
    state,
    equation,
    exercise,
    meshOf,
    expiryOf,
    timelineOf: (entry) => timelineOf(conditions, expiryOf(entry), entry, batch.names),
    steps: stepsOf(problem, accuracy),
    program,
    descending,
    variant: {
      name: axisName,
      parameters: batch.names.length,
      coefficients: equationAdapter(equation, state),
      hasSource: equation.reads.d !== "0.0" || [ends.low, ends.high].some(({ kind }) => kind === "neumann"),
      log: problem.axes[axisName].coordinate === "log",
      fitted: convectionOf(problem) === "fitted",
      terminal: numberAdapter(terminal, state),
      first: boundaryCode(descending ? ends.high : ends.low, state),
      last: boundaryCode(descending ? ends.low : ends.high, state),
      twoStages: program.scheme.stages.length > 1,
      ...exerciseCode(exercise, state),
      region: regionFunctions(conditions, state),
      pointwise: pointwiseFunction(conditions, state),
      jump: jumpFunctions(conditions, state)?.jump,
      isJump: jumpFunctions(conditions, state)?.isJump,
    },
    accuracy: { ...accuracy, order: program.scheme.order },
  };
}

function onlyAxis({ axes }: AnyProblem): string {
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
  const { kind, scheme, rannacherSteps } = schemeOf(problem.scheme ?? { kind: "crank-nicolson" });
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

interface ChosenScheme {
  readonly kind: SchemeChoice["kind"];
  readonly scheme: TimeScheme;
  readonly rannacherSteps: number;
}

function schemeOf(choice: SchemeChoice): ChosenScheme {
  const { kind } = choice;
  const rannacherSteps = (byDefault: number): number => {
    const steps = ("rannacherSteps" in choice ? choice.rannacherSteps : undefined) ?? byDefault;
    if (!Number.isInteger(steps) || steps < 0 || steps > 7)
      throw new SpecError(`scheme.rannacherSteps: got ${steps}, expected a whole number from 0 to 7`);
    return steps;
  };
  switch (kind) {
    case "implicit-euler":
      return { kind, scheme: implicitEuler, rannacherSteps: 0 };
    case "crank-nicolson":
      return { kind, scheme: crankNicolson, rannacherSteps: rannacherSteps(2) };
    case "theta":
      if (!(choice.theta >= 0.5 && choice.theta <= 1))
        throw new SpecError(
          `scheme.theta: got ${choice.theta}, expected ½ … 1; below ½ the scheme is not stable for large steps`,
        );
      return { kind, scheme: theta(choice.theta), rannacherSteps: rannacherSteps(choice.theta < 1 ? 2 : 0) };
    case "tr-bdf2":
      return { kind, scheme: trBdf2, rannacherSteps: rannacherSteps(0) };
    default:
      throw new SpecError(
        `scheme.kind: got ${JSON.stringify(kind satisfies never)}, expected implicit-euler, crank-nicolson, theta or tr-bdf2`,
      );
  }
}

interface GivenBoundary {
  readonly kind: Boundary<string>["kind"];
  readonly number: Given | undefined;
}

interface GivenEnds {
  readonly low: GivenBoundary;
  readonly high: GivenBoundary;
}

function boundariesOf({ boundaries }: AnyProblem, axis: string, state: readonly string[]): GivenEnds {
  const stray = Object.keys(boundaries ?? {}).find((name) => name !== axis);
  if (stray !== undefined) throw new SpecError(`boundaries.${stray}: there is no such axis; expected ${axis}`);
  const { low = { kind: "linear" }, high = { kind: "linear" } } = boundaries?.[axis] ?? {};
  const path = `boundaries.${axis}`;
  return { low: givenBoundary(`${path}.low`, low, state), high: givenBoundary(`${path}.high`, high, state) };
}

function givenBoundary(path: string, boundary: Boundary<string>, state: readonly string[]): GivenBoundary {
  switch (boundary.kind) {
    case "dirichlet":
      return { kind: boundary.kind, number: givenNumber(`${path}.value`, boundary.value, state) };
    case "neumann":
      return { kind: boundary.kind, number: givenNumber(`${path}.slope`, boundary.slope, state) };
    default:
      oneOf(`${path}.kind`, boundary.kind, ["linear", "zero-curvature", "dirichlet", "neumann"] as never[]);
      return { kind: boundary.kind, number: undefined };
  }
}

function boundaryCode({ kind, number }: GivenBoundary, state: readonly string[]): BoundaryCode {
  return { kind, number: number === undefined ? undefined : numberAdapter(number, state) };
}

function exerciseCode(
  exercise: Model["exercise"],
  state: readonly string[],
): Pick<EquationVariant, "exercise" | "obstacle" | "recordsEvents"> {
  if (exercise === undefined) return { exercise: "none", obstacle: undefined, recordsEvents: false };
  const obstacle: KernelFunction<any, number> = numberAdapter(exercise.payoff, state);
  const always = exercise.dates === undefined;
  return { exercise: always ? exercise.method : "none", obstacle, recordsEvents: !always };
}

/** Where the payoff is larger at expiry, of the first entry, unless it is said. */
function sideOf(
  { side, payoff }: NonNullable<Model["exercise"]>,
  meshOf: Model["meshOf"],
  expiryOf: Model["expiryOf"],
  { entries: [entry] }: Batch,
): "low" | "high" {
  if (side !== undefined) return side;
  const { from, to } = meshOf(entry);
  const at = (S: number): number => payoff.call(expiryOf(entry), S, ...entry) as number;
  return at(to) > at(from) ? "high" : "low";
}
