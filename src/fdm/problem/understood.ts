import type { MeshDescription } from "../mesh/axis-mesh.ts";
import type { AxesVariant } from "../operator/axes-variant.ts";
import { chosenScheme } from "../time/schemes/choose-scheme.ts";
import { type ProgramSpec, type Timeline, timelineOf } from "../time/timeline.ts";
import {
  axesEquation,
  type AxesEquation,
  axesJumps,
  axesNumber,
  axesPointwise,
  axesRegion,
  labelsOnAxes,
} from "./axes-functions.ts";
import { axisOf } from "./axis.ts";
import { boundariesOf, type GivenEnds } from "./boundaries.ts";
import { type GivenCondition, givenConditions } from "./conditions.ts";
import type { AnyProblem } from "./equation.ts";
import { type Given, givenEquation, givenNumber, stateOf } from "./functions.ts";
import { type Batch, batchOf, type ParameterValues, quantityOf } from "./quantity.ts";
import {
  type Accuracy,
  accuracyOf,
  axesOf,
  checkNames,
  convectionOf,
  gradingOf,
  needsHalf,
  stepsOf,
} from "./settings.ts";

/** A problem on one to three axes that has been checked and understood: what all of its solutions share. */
export interface Understood {
  readonly names: readonly string[];
  readonly batch: Batch;
  /** Rows of parameters behind the user's own: the literals of all functions. */
  readonly literals: readonly number[];
  readonly equation: AxesEquation;
  readonly terminal: Given;
  readonly ends: readonly GivenEnds[];
  readonly conditions: readonly GivenCondition[];
  readonly exercise: (GivenCondition & { kind: "exercise" }) | undefined;
  /** The nodes of each axis, before any refinement. */
  readonly nodes: readonly number[];
  readonly meshesOf: (entry: ParameterValues) => readonly MeshDescription[];
  readonly expiryOf: (entry: ParameterValues) => number;
  readonly timelineOf: (entry: ParameterValues) => Timeline;
  readonly steps: number;
  readonly program: Omit<ProgramSpec, "steps" | "refinement">;
  readonly accuracy: Accuracy;
}

/** Nodes of an axis where nothing is said, by the number of axes. */
const DEFAULT_NODES = [201, 101, 41];

/** Reads and checks a problem of any number of axes. @throws SpecError | KernelError, with the place */
export function understood(problem: AnyProblem): Understood {
  const names = axesOf(problem);
  const isOne = names.length === 1;
  const batch = batchOf(problem.parameters ?? {});
  checkNames(names, batch.names);
  const state = stateOf(names, batch.names, problem.functions);
  const accuracy = accuracyOf(problem);
  const equation: AxesEquation = givenEquation(problem.equation, labelsOnAxes(names), state);
  const terminal = givenNumber("terminal", problem.terminal, state);
  const conditions = givenConditions(problem.conditions ?? [], state, batch.names);
  const nodes = DEFAULT_NODES[names.length - 1];
  const halved = needsHalf(accuracy);
  const meshes = names.map((name) => axisOf(name, problem.axes[name], batch.names, { halved, nodes }));
  const exercise = conditions.find((condition) => condition.kind === "exercise");
  const expiryOf = quantityOf("expiry", problem.expiry, batch.names);
  const ends = names.map((name) => boundariesOf(problem, name, state));
  const byDefault = { kind: isOne ? "crank-nicolson" : "modified-craig-sneyd" } as const;
  const chosen = chosenScheme(problem.scheme ?? byDefault, names.length, mixedOf(equation).includes(true));
  const always = exercise !== undefined && exercise.dates === undefined;
  const regions = conditions.flatMap((condition) =>
    condition.kind === "knock-out" && condition.dates === undefined
      ? [condition.below, condition.above, condition.where]
      : [],
  );
  return {
    names,
    batch,
    literals: state.literals,
    equation,
    terminal,
    ends,
    conditions,
    exercise,
    nodes: names.map((name) => problem.axes[name].nodes ?? nodes),
    meshesOf: (entry) => meshes.map((mesh) => mesh(entry)),
    expiryOf,
    timelineOf: (entry) => timelineOf(conditions, expiryOf(entry), entry, batch.names),
    steps: stepsOf(problem, accuracy),
    program: {
      scheme: chosen.scheme,
      grading: gradingOf(problem, always),
      rannacherSteps: chosen.rannacherSteps,
      // A step on several axes costs too much to take more than one from day to day.
      ...(isOne ? {} : { unit: 1 }),
      damped: always && chosen.kind === "crank-nicolson",
      // A slope is part of the source, which is made with the matrix.
      matrixInTime: equation.dependsOnTime || inTime(regions) || inTime(slopesOf(ends)),
      obstacleInTime: (always && exercise.payoff.dependsOnTime) || inTime(regions),
      record: exercise === undefined || !isOne ? "none" : always ? "steps" : "events",
      exercise: exercise === undefined ? -1 : conditions.indexOf(exercise),
    },
    // Operator splitting on several axes is of first order, whatever the scheme.
    accuracy: { ...accuracy, order: always && !isOne ? 1 : chosen.scheme.order, apart: !isOne },
  };
}

const inTime = (functions: readonly (Given | undefined)[]): boolean =>
  functions.some((given) => given?.dependsOnTime === true);

/** The slopes of Neumann ends. */
const slopesOf = (ends: readonly GivenEnds[]): (Given | undefined)[] =>
  ends.flatMap(({ low, high }) => [low, high]).flatMap(({ kind, number }) => (kind === "neumann" ? [number] : []));

/** Tells which of the mixed derivatives of two or three axes there are. */
export const mixedOf = ({ reads }: AxesEquation): boolean[] =>
  (["a01", "a02", "a12"] as const).map((name) => (reads[name] ?? "0.0") !== "0.0");

/** The code that kernels of any number of axes are compiled for. */
export function codeOf(
  problem: AnyProblem,
  { batch, literals, equation, ends, terminal, conditions }: Understood,
): Pick<
  AxesVariant,
  "parameters" | "coefficients" | "hasSource" | "fitted" | "terminal" | "region" | "pointwise" | "jump" | "jumpAxis"
> {
  return {
    parameters: batch.names.length + literals.length,
    coefficients: axesEquation(equation),
    hasSource: (equation.reads.d ?? "0.0") !== "0.0" || slopesOf(ends).length > 0,
    fitted: convectionOf(problem) === "fitted",
    terminal: axesNumber(terminal),
    region: axesRegion(conditions),
    pointwise: axesPointwise(conditions),
    ...axesJumps(conditions),
  };
}
