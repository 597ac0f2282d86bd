import { SpecError } from "../../../base/errors.ts";
import { isObject, knownKeys, oneOf } from "../../../base/argument-checks.ts";
import {
  coefficientLabels,
  type GivenCoefficients,
  jumpsOf,
  pairsOf,
  pointwiseOf,
  regionOf,
  stateCoefficients,
  stateNumber,
} from "./state-functions.ts";
import { type Given, givenEquation, givenNumber, type State, stateOf } from "../problem/functions.ts";
import type { BoundaryCode, EquationCode } from "../operator/state.ts";
import type { AnyProblem, Boundary, EquationParts } from "../problem/equation.ts";
import { type Timeline, timelineOf } from "../time/timeline.ts";
import { type GivenCondition, givenConditions } from "../problem/conditions.ts";
import {
  axesOf,
  type Batch,
  batchOf,
  checkNames,
  convectionOf,
  type ParameterValues,
  quantityOf,
} from "../problem/settings.ts";

/** A boundary condition of the user: its kind, and the prescribed value or slope as a compiled function. */
interface GivenBoundary {
  readonly kind: Boundary<string>["kind"];
  readonly number: Given | undefined;
}

/** The boundary conditions at the two ends of an axis. */
interface GivenEnds {
  readonly low: GivenBoundary;
  readonly high: GivenBoundary;
}

/**
 * Returns the boundary conditions of an axis, the default where the user gave none. @throws SpecError | KernelError
 * with the path in the problem
 */
function boundariesOf({ boundaries }: Pick<AnyProblem, "boundaries">, axis: string, state: State): GivenEnds {
  const axes = state.names.slice(1, 1 + state.axes);
  const stray = Object.keys(boundaries ?? {}).find((name) => !axes.includes(name));
  if (stray !== undefined)
    throw new SpecError(`boundaries.${stray}: there is no such axis; expected ${axes.join(" or ")}`);
  const ends = boundaries?.[axis] ?? {};
  isObject(`boundaries.${axis}`, ends, "an object with low and high");
  knownKeys(`boundaries.${axis}`, ends, ["low", "high"]);
  const { low = { kind: "linear" }, high = { kind: "linear" } } = ends;
  const path = `boundaries.${axis}`;
  return { low: givenBoundary(`${path}.low`, low, state), high: givenBoundary(`${path}.high`, high, state) };
}

function givenBoundary(path: string, boundary: Boundary<string, never>, state: State): GivenBoundary {
  isObject(path, boundary, "an object with its kind");
  switch (boundary.kind) {
    case "dirichlet":
      knownKeys(path, boundary, ["kind", "value"]);
      return { kind: boundary.kind, number: givenNumber(`${path}.value`, boundary.value, state) };
    case "neumann":
      knownKeys(path, boundary, ["kind", "slope"]);
      return { kind: boundary.kind, number: givenNumber(`${path}.slope`, boundary.slope, state) };
    default:
      knownKeys(path, boundary, ["kind"]);
      oneOf(`${path}.kind`, boundary.kind, ["linear", "zero-curvature", "dirichlet", "neumann"] as never[]);
      return { kind: boundary.kind, number: undefined };
  }
}

/** Compiles a boundary condition for a kernel. */
function boundaryCode({ kind, number }: GivenBoundary): BoundaryCode {
  return { kind, number: number === undefined ? undefined : stateNumber(number) };
}

/** An equation on one to ten axes, checked and compiled. Solvers on full and on sparse grids extend it. */
export interface Model {
  /** The names of the axes. */
  readonly names: readonly string[];
  readonly batch: Batch;
  /** The numeric literals of all functions, which follow the user's own parameters in the table of an instance. */
  readonly literals: readonly number[];
  readonly equation: GivenCoefficients;
  readonly terminal: Given;
  readonly ends: readonly GivenEnds[];
  readonly conditions: readonly GivenCondition[];
  /** The condition that is the right to exercise; undefined without one. */
  readonly exercise: (GivenCondition & { kind: "exercise" }) | undefined;
  /** True where the problem may be exercised at all times. */
  readonly isAmerican: boolean;
  /** Returns the time to expiry of an entry in years. */
  readonly expiryOf: (entry: ParameterValues) => number;
  readonly timelineOf: (entry: ParameterValues) => Timeline;
  readonly code: EquationCode;
}

/** The limits of what a solver takes. */
interface Takes {
  /** The names of a problem's fields. */
  readonly keys: readonly string[];
  readonly axes: number;
  /** The treatment of convection that a problem does not name. */
  readonly convection: (axes: number) => "fitted" | "central";
}

/** Checks and compiles an equation on any number of axes. @throws SpecError | KernelError, with the path */
export function modelOf(problem: EquationParts, takes: Takes): Model {
  const names = axesOf(problem, takes.keys, takes.axes);
  const axes = names.length;
  const batch = batchOf(problem.parameters ?? {});
  checkNames(names, batch.names);
  const state = stateOf(names, batch.names, problem.functions);
  const equation: GivenCoefficients = givenEquation(problem.equation, coefficientLabels(names), state);
  const terminal = givenNumber("terminal", problem.terminal, state);
  const conditions = givenConditions(problem.conditions ?? [], state, batch.names);
  const exercise = conditions.find((condition) => condition.kind === "exercise");
  const expiryOf = quantityOf("expiry", problem.expiry, batch.names);
  const ends = names.map((name) => boundariesOf(problem, name, state));
  const pairs = pairsOf(equation, axes);
  return {
    names,
    batch,
    literals: state.literals,
    equation,
    terminal,
    ends,
    conditions,
    exercise,
    isAmerican: exercise !== undefined && exercise.dates === undefined,
    expiryOf,
    timelineOf: (entry) => timelineOf(conditions, expiryOf(entry), entry, batch.names),
    code: {
      parameters: batch.names.length + state.literals.length,
      coefficients: stateCoefficients(equation, axes, pairs),
      pairs,
      hasSource: equation.reads.d !== "0.0" || slopesOf(ends).length > 0,
      fitted: convectionOf(problem, takes.convection(axes)) === "fitted",
      terminal: stateNumber(terminal),
      axes: names.map((name, k) => ({
        name,
        log: problem.axes[name].coordinate === "log",
        first: boundaryCode(ends[k].low),
        last: boundaryCode(ends[k].high),
      })),
      region: regionOf(conditions),
      pointwise: pointwiseOf(conditions),
      ...jumpsOf(conditions),
      payoff: exercise === undefined ? undefined : stateNumber(exercise.payoff),
    },
  };
}

/** The prescribed slopes of all Neumann ends. */
export const slopesOf = (ends: readonly GivenEnds[]): (Given | undefined)[] =>
  ends.flatMap(({ low, high }) => [low, high]).flatMap(({ kind, number }) => (kind === "neumann" ? [number] : []));

/** The barriers of all knock-outs at all times (not on dates), as functions of the state. */
export const edgesOf = (conditions: readonly GivenCondition[]): (Given | undefined)[] =>
  conditions.flatMap((condition) =>
    condition.kind === "knock-out" && condition.dates === undefined
      ? [condition.below, condition.above, condition.where]
      : [],
  );

/** Tells whether any of these functions depends on time. */
export const inTime = (functions: readonly (Given | undefined)[]): boolean =>
  functions.some((given) => given?.dependsOnTime === true);
