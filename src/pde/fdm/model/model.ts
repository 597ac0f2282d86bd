import type { BoundaryCode, Coefficients, DatedCode, RegionCode, StateNumber } from "../operator/state.ts";
import { type Timeline, timelineOf } from "../time/timeline.ts";
import { boundariesOf, boundaryCode, type GivenEnds } from "./boundaries.ts";
import { type GivenCondition, givenConditions } from "../problem/conditions.ts";
import type { EquationParts } from "../problem/equation.ts";
import { type Given, givenEquation, givenNumber, stateOf } from "../problem/functions.ts";
import { type Batch, batchOf, type ParameterValues, quantityOf } from "../problem/quantity.ts";
import { axesOf, checkNames, convectionOf } from "../problem/settings.ts";
import {
  type AxisPair,
  coefficientLabels,
  type GivenCoefficients,
  jumpsOf,
  pairsOf,
  pointwiseOf,
  regionOf,
  stateCoefficients,
  stateNumber,
} from "./state-functions.ts";

/** The functions and choices of a problem on any number of axes that the code of its kernels depends on. */
export interface EquationCode extends DatedCode {
  /**
   * The number of parameters in the table of an instance, before its dates: the user's own, then the literals of all
   * functions.
   */
  readonly parameters: number;
  readonly coefficients: Coefficients;
  /** The axis numbers of each mixed derivative in the equation. */
  readonly pairs: readonly AxisPair[];
  /** True where the equation's source or a Neumann slope adds to the right-hand side. */
  readonly hasSource: boolean;
  /** True where diffusion is raised at nodes at which drift dominates it. */
  readonly fitted: boolean;
  readonly terminal: StateNumber;
  readonly axes: readonly AxisEnds[];
  /** The knock-outs at all times; undefined without any. */
  readonly region: RegionCode | undefined;
  /** The payoff of exercise, at all times or on dates. */
  readonly payoff: StateNumber | undefined;
}

/**
 * An axis as the kernels see it: its name, whether its coordinate is the logarithm, and the boundary conditions at its
 * ends.
 */
export interface AxisEnds {
  readonly name: string;
  readonly log: boolean;
  readonly first: BoundaryCode;
  readonly last: BoundaryCode;
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
