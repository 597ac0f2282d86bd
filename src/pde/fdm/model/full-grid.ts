import { SpecError } from "../../../base/errors.ts";
import { checkList, checkObject, checkKeys, checkOneOf } from "../../../base/argument-checks.ts";
import { type MeshDescription, type MeshPoint, toCoordinate } from "../mesh/axis-mesh.ts";
import type { AnyProblem, Axis, AxisPoint } from "../problem/equation.ts";
import {
  type CompanionSettings,
  companionsOf,
  entryError,
  gradingOf,
  MAX_AXES,
  needsHalf,
  type ParameterValues,
  PROBLEM_KEYS,
  quantityOf,
  formattedParameters,
  stepsOf,
} from "../problem/settings.ts";
import type { AxesVariant } from "../operator/axes-variant.ts";
import type { EquationVariant } from "../operator/equation-row.ts";
import { chosenScheme } from "../time/schemes.ts";
import type { ProgramSpec } from "../time/timeline.ts";
import {
  continuousBarriersOf,
  anyDependsOnTime,
  type CompiledEquation,
  compileEquation,
  neumannSlopesOf,
} from "./model.ts";

/** The smallest number of nodes: what a stencil of order 4 for a second derivative takes. */
const MIN_NODES = 7;

/**
 * Returns a function that describes the mesh of an axis for each entry of a batch. `halved` requires that half the
 * intervals make a mesh too. `nodes` is the default number of nodes. @throws SpecError with the path of the field
 */
function axisOf(
  name: string,
  axis: Axis,
  names: readonly string[],
  { halved, nodes: byDefault }: { readonly halved: boolean; readonly nodes: number },
): (entry: ParameterValues) => MeshDescription {
  const path = `axes.${name}`;
  checkObject(path, axis, "an object with from and to");
  if (axis.points !== undefined) checkList(`${path}.points`, axis.points, "points");
  checkKeys(path, axis, ["from", "to", "nodes", "coordinate", "points", "density", "width"]);
  const { nodes = byDefault, coordinate = "linear", density = "sinh" } = axis;
  checkOneOf(`${path}.coordinate`, coordinate, ["linear", "log"]);
  checkOneOf(`${path}.density`, density, ["uniform", "sinh", "tanh"]);
  checkNodes(path, nodes, halved);
  const from = quantityOf(`${path}.from`, axis.from, names);
  const to = quantityOf(`${path}.to`, axis.to, names);
  const width = axis.width === undefined ? undefined : quantityOf(`${path}.width`, axis.width, names);
  const points = (axis.points ?? []).map((point, k) => meshPointOf(`${path}.points[${k}]`, point, names));
  return (entry) => {
    const [low, high] = [from(entry), to(entry)];
    checkEnds(path, low, high, coordinate, names, entry);
    const length = toCoordinate(coordinate, high) - toCoordinate(coordinate, low);
    const wide = width?.(entry) ?? length / 20;
    if (!(wide > 0)) throw new SpecError(`${path}.width: ${wide}, expected a positive length`);
    const inside = points.map((point) => point(entry, low, high));
    return { coordinate, from: low, to: high, nodes, density, width: wide, points: inside };
  };
}

function checkNodes(path: string, nodes: number, halved: boolean): void {
  const min = halved ? 2 * MIN_NODES - 1 : MIN_NODES;
  if (!Number.isInteger(nodes) || nodes < min)
    throw new SpecError(`${path}.nodes: got ${nodes}, expected a whole number from ${min}`);
  if (halved && nodes % 2 === 0)
    throw new SpecError(
      `${path}.nodes: got ${nodes}, expected an odd number, so that every second node makes a mesh; use ${nodes + 1}`,
    );
}

function checkEnds(
  path: string,
  from: number,
  to: number,
  coordinate: string,
  names: readonly string[],
  entry: ParameterValues,
): void {
  if (!(from < to))
    throw new SpecError(
      `${path}: from ${from} to ${to} for ${formattedParameters(names, entry)}; expected from below to`,
    );
  if (coordinate === "log" && !(from > 0))
    throw new SpecError(
      `${path}.from: got ${from}, expected a positive number with the coordinate "log"; or take "linear"`,
    );
}

/** One point, checked against the ends when they are known. */
function meshPointOf(
  path: string,
  point: Required<Axis>["points"][number],
  names: readonly string[],
): (entry: ParameterValues, from: number, to: number) => MeshPoint {
  const given: AxisPoint = typeof point === "object" ? point : { at: point };
  checkKeys(path, given, ["at", "align", "concentrate"]);
  const { align = "node", concentrate = true } = given;
  checkOneOf(`${path}.align`, align, ["node", "midway", "none"]);
  const quantity = quantityOf(path, given.at, names);
  return (entry, from, to) => {
    const at = quantity(entry);
    if (!(at >= from && at <= to))
      throw new SpecError(
        `${path}: ${at} is outside the axis, ${from} to ${to}, for ${formattedParameters(names, entry)}; widen the axis`,
      );
    return { at, align, concentrate, path };
  };
}

/** A user's equation on a full (not a sparse) grid after it has been checked and compiled. */
export interface FullGridEquation extends CompiledEquation {
  /** The number of nodes of each axis, before any refinement. */
  readonly nodes: readonly number[];
  /** Returns the description of each axis' mesh for an entry. */
  readonly meshesOf: (entry: ParameterValues) => readonly MeshDescription[];
  /** The number of time steps, before any refinement. */
  readonly steps: number;
  /** The specification of the time program, without the number of steps. */
  readonly program: Omit<ProgramSpec, "steps" | "refinement">;
  readonly companions: CompanionSettings;
  /**
   * The indices of the parameters on which meshes, dates and points depend. Entries with equal values of them share
   * meshes and time grids.
   */
  readonly gridParameters: readonly number[];
  /**
   * Returns the point at which an entry's solution is wanted; undefined where it is wanted at all nodes. @throws
   * SpecError
   */
  readonly pointOf: ((entry: ParameterValues) => readonly number[]) | undefined;
}

/** A compiled equation on one axis, with everything that its kernel depends on except the number of nodes. */
export interface OneAxisEquation extends FullGridEquation {
  /** True where nodes run from high to low, because the exercise region must be at the first nodes. */
  readonly descending: boolean;
  readonly variant: Omit<EquationVariant, "capacity">;
}

/** A compiled equation on two or three axes, with everything that its kernel depends on except the work group. */
export interface AxesEquation extends FullGridEquation {
  readonly variant: Omit<AxesVariant, "groupSize" | "segments">;
}

/** The default number of nodes of an axis, by the number of axes. */
const DEFAULT_NODES = [201, 101, 41];

/** Reads and checks a problem on full grids. @throws SpecError | KernelError, with the place */
function fullGridModelOf(problem: AnyProblem): FullGridEquation {
  const model = compileEquation(problem, {
    keys: PROBLEM_KEYS,
    axes: MAX_AXES,
    convection: (axes) => (axes === 1 ? "fitted" : "central"),
  });
  const { names, batch, equation, ends, conditions, exercise, isAmerican, code } = model;
  const isOne = names.length === 1;
  const companions = companionsOf(problem);
  const nodes = DEFAULT_NODES[names.length - 1];
  const halved = needsHalf(companions);
  const meshes = names.map((name) => axisOf(name, problem.axes[name], batch.names, { halved, nodes }));
  const byDefault = { kind: isOne ? "crank-nicolson" : "modified-craig-sneyd" } as const;
  const chosen = chosenScheme(problem.scheme ?? byDefault, names.length, code.pairs.length > 0);
  const edges = continuousBarriersOf(conditions);
  return {
    ...model,
    nodes: names.map((name) => problem.axes[name].nodes ?? nodes),
    meshesOf: (entry) => meshes.map((mesh) => mesh(entry)),
    steps: stepsOf(problem, companions),
    program: {
      scheme: chosen.scheme,
      grading: gradingOf(problem, isAmerican),
      rannacherSteps: chosen.rannacherSteps,
      // A step on several axes costs too much to take more than one from day to day.
      ...(isOne ? {} : { unit: 1 }),
      damped: isAmerican && chosen.kind === "crank-nicolson",
      // A slope is part of the source, which is made with the matrix.
      matrixInTime: equation.dependsOnTime || anyDependsOnTime(edges) || anyDependsOnTime(neumannSlopesOf(ends)),
      obstacleInTime: (isAmerican && exercise?.payoff.dependsOnTime === true) || anyDependsOnTime(edges),
      record: exercise === undefined || !isOne ? "none" : isAmerican ? "steps" : "events",
      exercise: exercise === undefined ? -1 : conditions.indexOf(exercise),
    },
    // Operator splitting on several axes is of first order, whatever the scheme.
    companions: { ...companions, order: isAmerican && !isOne ? 1 : chosen.scheme.order, apart: !isOne },
    gridParameters: parametersIn([problem.axes, problem.expiry, problem.conditions, problem.at], batch.names),
    pointOf: problem.at === undefined ? undefined : pointOf(names, problem.at, batch.names),
  };
}

/** The indices of the parameters that formulas in a part of a problem may name. */
function parametersIn(part: unknown, names: readonly string[]): readonly number[] {
  const found = new Set<string>();
  const search = (value: unknown): void => {
    if (typeof value === "string") for (const [name] of value.matchAll(/[A-Za-z_$][\w$]*/g)) found.add(name);
    else if (typeof value === "object" && value !== null) Object.values(value).forEach(search);
  };
  search(part);
  return [...names.keys()].filter((k) => found.has(names[k]));
}

/** Returns the function that computes the values of a problem's `at`. @throws SpecError with the field's path */
function pointOf(
  names: readonly string[],
  at: NonNullable<AnyProblem["at"]>,
  parameters: readonly string[],
): (entry: ParameterValues) => readonly number[] {
  checkObject("at", at, `the values of ${names.join(", ")}`);
  checkKeys("at", at, names);
  const values = names.map((name) => quantityOf(`at.${name}`, at[name], parameters));
  return (entry) => values.map((value) => value(entry));
}

/** Checks and compiles a problem on one axis. @throws SpecError | KernelError, with the path in the problem */
export function compileOneAxisEquation(problem: AnyProblem): OneAxisEquation {
  const model = fullGridModelOf(problem);
  const { exercise, isAmerican, program, code } = model;
  const [{ name, log, first, last }] = code.axes;
  const descending = exercise !== undefined && sideOf(exercise, model) === "high";
  return {
    ...model,
    descending,
    variant: {
      ...code,
      name,
      log,
      first: descending ? last : first,
      last: descending ? first : last,
      twoStages: program.scheme.stages.length > 1,
      exercise: exercise !== undefined && isAmerican ? exercise.method : "none",
      obstacle: code.payoff,
      recordsEvents: exercise !== undefined && !isAmerican,
    },
  };
}

/**
 * The end of the axis at which the payoff is larger at expiry, unless it is given. All entries run through their nodes
 * the same way.
 * @throws SpecError entries that differ
 */
function sideOf(
  { side, payoff, path }: NonNullable<CompiledEquation["exercise"]>,
  { meshesOf, expiryOf, batch: { entries } }: FullGridEquation,
): "low" | "high" {
  if (side !== undefined) return side;
  const sides = entries.map((entry): "low" | "high" | undefined => {
    // An entry that fails is told so when its turn comes.
    if (entryError(() => meshesOf(entry)) !== undefined) return undefined;
    const [{ from, to }] = meshesOf(entry);
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

/** Checks and compiles a problem on two or three axes. @throws SpecError | KernelError, with the path in the problem */
export function compileAxesEquation(problem: AnyProblem): AxesEquation {
  const model = fullGridModelOf(problem);
  const { names, equation, terminal, ends, isAmerican, program, code } = model;
  // A pinned node's row is that of the identity.
  const pins = code.region !== undefined || ends.some(({ low, high }) => [low.kind, high.kind].includes("dirichlet"));
  const depends = (coefficients: readonly string[], axis: number): boolean =>
    pins || coefficients.some((name) => equation.coefficientDepends(name, axis));
  const rowDepends = (of: number, axis: number): boolean => depends([`a${of}`, `b${of}`, "c"], axis);
  const hasPair = (j: number, k: number): boolean => code.pairs.some(([a, b]) => a === j && b === k);
  const isFree = (name: string, axis: number): boolean => names.length > 2 && !depends([name], axis);
  return {
    ...model,
    variant: {
      ...code,
      axes: code.axes.map((axis, k) => ({
        ...axis,
        averaged: terminal.dependsOnAxis(k),
        isUniform: k > 0 && !rowDepends(k, 0),
      })),
      mixed: [hasPair(0, 1), hasPair(0, 2), hasPair(1, 2)],
      isFirstUniform: !names.some((_, k) => k > 0 && rowDepends(0, k)),
      isMixedUniform: [isFree("m0_1", 2), isFree("m0_2", 1), isFree("m1_2", 0)],
      correction: program.scheme.correction,
      obstacle: isAmerican ? code.payoff : undefined,
    },
  };
}
