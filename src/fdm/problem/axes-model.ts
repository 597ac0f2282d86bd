import type { AxesVariant } from "../operator/axes-variant.ts";
import type { AxesCoefficientName } from "../operator/state.ts";
import type { MeshDescription } from "../mesh/axis-mesh.ts";
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
import { boundariesOf, boundaryCode, type GivenEnds } from "./boundaries.ts";
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

/** A problem on two or three axes that has been checked and understood. */
export interface AxesModel {
  readonly names: readonly string[];
  readonly batch: Batch;
  /** Rows of parameters behind the user's own: the literals of all functions. */
  readonly literals: readonly number[];
  readonly equation: AxesEquation;
  readonly terminal: Given;
  readonly ends: readonly GivenEnds[];
  readonly conditions: readonly GivenCondition[];
  readonly exercise: (GivenCondition & { kind: "exercise" }) | undefined;
  /** Of each axis, before any refinement. */
  readonly nodes: readonly number[];
  readonly meshesOf: (entry: ParameterValues) => readonly MeshDescription[];
  readonly timelineOf: (entry: ParameterValues) => Timeline;
  readonly steps: number;
  readonly program: Omit<ProgramSpec, "steps" | "refinement">;
  readonly variant: Omit<AxesVariant, "groupSize" | "runs">;
  readonly accuracy: Accuracy;
}

/** Nodes of an axis where nothing is said. */
const DEFAULT_NODES = { 2: 101, 3: 41 };

/** @throws SpecError | KernelError, with the place */
export function axesModelOf(problem: AnyProblem): AxesModel {
  const names = axesOf(problem);
  const batch = batchOf(problem.parameters ?? {});
  checkNames(names, batch.names);
  const state = stateOf(names, batch.names, problem.functions);
  const accuracy = accuracyOf(problem);
  const equation: AxesEquation = givenEquation(problem.equation, labelsOnAxes(names), state);
  const terminal = givenNumber("terminal", problem.terminal, state);
  const conditions = givenConditions(problem.conditions ?? [], state, batch.names);
  const nodes = DEFAULT_NODES[names.length as 2 | 3];
  const meshes = names.map((name) => axisOf(name, { nodes, ...problem.axes[name] }, batch.names, needsHalf(accuracy)));
  const exercise = conditions.find((condition) => condition.kind === "exercise");
  const expiryOf = quantityOf("expiry", problem.expiry, batch.names);
  const ends = names.map((name) => boundariesOf(problem, name, state));
  const mixed = (["a01", "a02", "a12"] as const).map((name) => (equation.reads[name] ?? "0.0") !== "0.0");
  const chosen = chosenScheme(problem.scheme ?? { kind: "modified-craig-sneyd" }, names.length, mixed.includes(true));
  const always = exercise !== undefined && exercise.dates === undefined;
  const regions = conditions.flatMap((condition) =>
    condition.kind === "knock-out" && condition.dates === undefined
      ? [condition.below, condition.above, condition.where]
      : [],
  );
  // A pinned node's row is that of the identity.
  const pins = regions.length > 0 || ends.some(({ low, high }) => [low.kind, high.kind].includes("dirichlet"));
  const depends = (coefficients: readonly AxesCoefficientName[], axis: number): boolean =>
    pins || coefficients.some((name) => equation.coefficientDepends(name, axis));
  const others = names.map((_, k) => k).slice(1);
  const isFree = (name: "a01" | "a02" | "a12", axis: number): boolean => names.length > 2 && !depends([name], axis);
  const slopes = ends.flatMap(({ low, high }) => [low, high]).filter(({ kind }) => kind === "neumann");
  const inTime = (functions: readonly (Given | undefined)[]): boolean =>
    functions.some((given) => given?.dependsOnTime === true);
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
    timelineOf: (entry) => timelineOf(conditions, expiryOf(entry), entry, batch.names),
    steps: stepsOf(problem, accuracy),
    program: {
      scheme: chosen.scheme,
      grading: gradingOf(problem, always),
      rannacherSteps: chosen.rannacherSteps,
      // A step on several axes costs too much to take more than one from day to day.
      unit: 1,
      damped: false,
      matrixInTime: equation.dependsOnTime || inTime(regions) || inTime(slopes.map(({ number }) => number)),
      obstacleInTime: (always && exercise.payoff.dependsOnTime) || inTime(regions),
      record: "none",
      exercise: exercise === undefined ? -1 : conditions.indexOf(exercise),
    },
    variant: {
      axes: names.map((name, k) => ({
        name,
        log: problem.axes[name].coordinate === "log",
        first: boundaryCode(ends[k].low),
        last: boundaryCode(ends[k].high),
        averaged: terminal.dependsOnAxis(k),
        isUniform: k > 0 && !depends([`a${k}${k}` as AxesCoefficientName, `b${k}` as AxesCoefficientName, "c"], 0),
      })),
      parameters: batch.names.length + state.literals.length,
      coefficients: axesEquation(equation),
      mixed: [mixed[0], mixed[1], mixed[2]],
      isFirstUniform: !others.some((axis) => depends(["a00", "b0", "c"], axis)),
      isMixedUniform: [isFree("a01", 2), isFree("a02", 1), isFree("a12", 0)],
      hasSource: (equation.reads.d ?? "0.0") !== "0.0" || slopes.length > 0,
      fitted: convectionOf(problem) === "fitted",
      terminal: axesNumber(terminal),
      correction: chosen.scheme.correction,
      obstacle: always ? axesNumber(exercise.payoff) : undefined,
      region: axesRegion(conditions),
      pointwise: axesPointwise(conditions),
      ...axesJumps(conditions),
    },
    // Operator splitting is of first order, whatever the scheme.
    accuracy: { ...accuracy, order: always ? 1 : chosen.scheme.order, apart: true },
  };
}
