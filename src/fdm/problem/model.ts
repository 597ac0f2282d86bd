import { SpecError } from "../../errors.ts";
import { axisOf, DEFAULT_NODES } from "./axis.ts";
import { boundariesOf, boundaryCode, type GivenBoundary, type GivenEnds } from "./boundaries.ts";
import { chosenScheme } from "../time/schemes/choose-scheme.ts";
import { type GivenCondition, givenConditions } from "./conditions.ts";
import {
  axesEquation,
  type AxesEquation,
  axesJumps,
  axesNumber,
  axesPointwise,
  axesRegion,
  labelsOnAxes,
} from "./axes-functions.ts";
import { type Given, givenEquation, givenNumber, stateOf } from "./functions.ts";
import type { EquationVariant } from "../operator/equation-variant.ts";
import type { MeshDescription } from "../mesh/axis-mesh.ts";
import type { AnyProblem } from "./equation.ts";
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
import { type Batch, batchOf, entryError, type ParameterValues, quantityOf } from "./quantity.ts";
import { type ProgramSpec, type Timeline, timelineOf } from "../time/timeline.ts";

/** A problem that has been checked and understood: what all of its solutions share. */
export interface Model {
  /** The name of the axis. */
  readonly names: readonly string[];
  readonly batch: Batch;
  /** Rows of parameters behind the user's own: the literals of all functions. */
  readonly literals: readonly number[];
  readonly equation: AxesEquation;
  readonly terminal: Given;
  readonly ends: readonly GivenEnds[];
  readonly conditions: readonly GivenCondition[];
  readonly exercise: (GivenCondition & { kind: "exercise" }) | undefined;
  readonly nodes: number;
  readonly meshesOf: (entry: ParameterValues) => readonly MeshDescription[];
  readonly timelineOf: (entry: ParameterValues) => Timeline;
  readonly steps: number;
  readonly program: Omit<ProgramSpec, "steps" | "refinement">;
  /** Whether nodes run from high to low: the exercise region is to be at the first ones. */
  readonly descending: boolean;
  /** All but the capacity. */
  readonly variant: Omit<EquationVariant, "capacity">;
  readonly accuracy: Accuracy;
}

/** @throws SpecError | KernelError, with the place */
export function modelOf(problem: AnyProblem): Model {
  const [axisName] = axesOf(problem);
  const batch = batchOf(problem.parameters ?? {});
  checkNames([axisName], batch.names);
  const state = stateOf([axisName], batch.names, problem.functions);
  const accuracy = accuracyOf(problem);
  const equation: AxesEquation = givenEquation(problem.equation, labelsOnAxes([axisName]), state);
  const terminal = givenNumber("terminal", problem.terminal, state);
  const conditions = givenConditions(problem.conditions ?? [], state, batch.names);
  const meshOf = axisOf(axisName, problem.axes[axisName], batch.names, needsHalf(accuracy));
  const exercise = conditions.find((condition) => condition.kind === "exercise");
  const expiryOf = quantityOf("expiry", problem.expiry, batch.names);
  const descending = exercise !== undefined && sideOf(exercise, meshOf, expiryOf, batch) === "high";
  const ends = boundariesOf(problem, axisName, state);
  const program = programOf(problem, conditions, equation, ends, exercise);
  return {
    names: [axisName],
    batch,
    literals: state.literals,
    equation,
    terminal,
    ends: [ends],
    conditions,
    exercise,
    nodes: problem.axes[axisName].nodes ?? DEFAULT_NODES,
    meshesOf: (entry) => [meshOf(entry)],
    timelineOf: (entry) => timelineOf(conditions, expiryOf(entry), entry, batch.names),
    steps: stepsOf(problem, accuracy),
    program,
    descending,
    variant: {
      name: axisName,
      parameters: batch.names.length + state.literals.length,
      coefficients: axesEquation(equation),
      hasSource: equation.reads.d !== "0.0" || [ends.low, ends.high].some(({ kind }) => kind === "neumann"),
      log: problem.axes[axisName].coordinate === "log",
      fitted: convectionOf(problem) === "fitted",
      terminal: axesNumber(terminal),
      first: boundaryCode(descending ? ends.high : ends.low),
      last: boundaryCode(descending ? ends.low : ends.high),
      twoStages: program.scheme.stages.length > 1,
      ...exerciseCode(exercise),
      region: axesRegion(conditions),
      pointwise: axesPointwise(conditions),
      ...axesJumps(conditions),
    },
    accuracy: { ...accuracy, order: program.scheme.order, apart: false },
  };
}

function programOf(
  problem: AnyProblem,
  conditions: readonly GivenCondition[],
  equation: AxesEquation,
  { low, high }: GivenEnds,
  exercise: Model["exercise"],
): Model["program"] {
  const { kind, scheme, rannacherSteps } = chosenScheme(problem.scheme ?? { kind: "crank-nicolson" });
  const always = exercise !== undefined && exercise.dates === undefined;
  const grading = gradingOf(problem, always);
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
  const obstacle = axesNumber(exercise.payoff);
  const always = exercise.dates === undefined;
  return { exercise: always ? exercise.method : "none", obstacle, recordsEvents: !always };
}

/**
 * Where the payoff is larger at expiry, unless it is said. All entries run through their nodes the same way.
 * @throws SpecError entries that differ
 */
function sideOf(
  { side, payoff, path }: NonNullable<Model["exercise"]>,
  meshOf: (entry: ParameterValues) => MeshDescription,
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
