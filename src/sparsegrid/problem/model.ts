import { SpecError } from "../../errors.ts";
import {
  type AnyProblem,
  type AxesEquation,
  axesOf,
  type AxisPoint,
  type Batch,
  batchOf,
  boundariesOf,
  checkNames,
  chosenScheme,
  type Given,
  type GivenCondition,
  givenConditions,
  givenEquation,
  type GivenEnds,
  givenNumber,
  isObject,
  knownKeys,
  oneOf,
  type ParameterValues,
  type ProgramSpec,
  quantityOf,
  shown,
  stateOf,
  type Timeline,
  timelineOf,
} from "../../fdm/index.ts";
import { perAxis } from "../combination.ts";
import type { GridVariant } from "../kernel/variant.ts";
import type { GradedAxis } from "../mesh.ts";
import { gridCoefficients, gridConditions, gridEnds, gridNumber } from "./functions.ts";
import type { AnySparseProblem, GridSolver, SparseAccuracy, SparseAxis } from "./problem.ts";

const PROBLEM_KEYS = [
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
  "level",
  "extrapolate",
  "errorEstimate",
  "averaging",
  "convection",
  "solver",
  "accuracy",
  "precision",
] as const;
const MAX_AXES = 10;
const DEFAULT_STEPS = 40;

/** A problem that has been checked and understood. */
export interface SparseModel {
  readonly names: readonly string[];
  readonly batch: Batch;
  readonly literals: readonly number[];
  readonly equation: AxesEquation;
  readonly terminal: Given;
  readonly ends: readonly GivenEnds[];
  readonly conditions: readonly GivenCondition[];
  readonly exercise: (GivenCondition & { kind: "exercise" }) | undefined;
  readonly axesOf: (entry: ParameterValues) => readonly GradedAxis[];
  readonly timelineOf: (entry: ParameterValues) => Timeline;
  readonly steps: number;
  readonly program: Omit<ProgramSpec, "steps" | "refinement">;
  readonly order: 1 | 2;
  readonly variant: Omit<GridVariant, "groupSize" | "shuffles" | "residentRows">;
  readonly combination: {
    readonly level: number;
    readonly initial: readonly number[];
    readonly max: readonly number[];
    readonly extrapolate: boolean | "levels";
  };
  readonly errorEstimate: boolean;
  readonly accuracy: SparseAccuracy<string> | undefined;
  readonly solver: GridSolver;
}

/** Makes the model of a problem on sparse grids. @throws SpecError | KernelError, with the place */
export function sparseModelOf(problem: AnySparseProblem): SparseModel {
  const given = problem as unknown as AnyProblem;
  const names = axesOf(given, PROBLEM_KEYS, MAX_AXES);
  const batch = batchOf(problem.parameters ?? {});
  checkNames(names, batch.names);
  const state = stateOf(names, batch.names, problem.functions);
  const labels = labelsOn(names);
  const equation = givenEquation(problem.equation, labels, state);
  const terminal = givenNumber("terminal", problem.terminal, state);
  const conditions = givenConditions(problem.conditions ?? [], state, batch.names);
  const jump = conditions.find(({ kind }) => kind === "jump");
  if (jump !== undefined)
    throw new SpecError(
      `${jump.path}: a jump, which sparse grids do not have; expected exercise or knock-out. For dividends, take a ` +
        "coordinate that does not jump (affineDividends)",
    );
  const exercise = conditions.find((condition) => condition.kind === "exercise");
  const ends = names.map((name) => boundariesOf(given, name, state));
  const meshes = names.map((name) => axisOf(name, problem.axes[name], batch.names));
  const expiryOf = quantityOf("expiry", problem.expiry, batch.names);
  const chosen = chosenScheme(problem.scheme ?? { kind: "crank-nicolson" });
  const always = exercise !== undefined && exercise.dates === undefined;
  const pairs = names.flatMap((_, i) =>
    names.slice(i + 1).flatMap((__, k) => {
      const pair = [i, i + 1 + k] as const;
      return equation.reads[`m${pair.join("_")}`] === "0.0" ? [] : [pair];
    }),
  );
  const mixed = pairs.map((pair) => `m${pair.join("_")}`);
  const keys = [...names.map((_, k) => `a${k}`), ...names.map((_, k) => `b${k}`), "c", "d", ...mixed];
  const regions = conditions.flatMap((condition) =>
    condition.kind === "knock-out" && condition.dates === undefined
      ? [condition.below, condition.above, condition.where, condition.value]
      : [],
  );
  const numbers = ends.flatMap(({ low, high }) => [low.number, high.number]);
  const inTime = [...regions, ...numbers].some((one) => one?.dependsOnTime === true);
  const { averaging = true, errorEstimate = false, convection = "central" } = problem;
  oneOf("convection", convection, ["central", "fitted"]);
  oneOf("averaging", averaging, [true, false]);
  if (problem.extrapolate !== undefined) oneOf("extrapolate", problem.extrapolate, ["space", "levels"]);
  const levels = (field: "initialLevel" | "maxLevel", otherwise: number): readonly number[] =>
    names.map((name) => perAxis(`axes.${name}.${field}`, [problem.axes[name][field] ?? otherwise], 1)[0]);
  const [initial, max] = [levels("initialLevel", 2), levels("maxLevel", 20)];
  names.forEach((name, k) => {
    if (max[k] < initial[k])
      throw new SpecError(`axes.${name}.maxLevel: got ${max[k]}, expected at least the initial level ${initial[k]}`);
  });
  const { region, pointwise } = gridConditions(conditions, names.length);
  return {
    names,
    batch,
    literals: state.literals,
    equation: equation,
    terminal,
    ends,
    conditions,
    exercise,
    axesOf: (entry) => meshes.map((mesh) => mesh(entry)),
    timelineOf: (entry) => timelineOf(conditions, expiryOf(entry), entry, batch.names),
    steps: stepsOf(problem),
    program: {
      scheme: chosen.scheme,
      grading: gradingOf(problem),
      rannacherSteps: chosen.rannacherSteps,
      damped: false,
      matrixInTime: equation.dependsOnTime || inTime,
      obstacleInTime: false,
      record: "none",
      exercise: -1,
    },
    order: always ? 1 : chosen.scheme.order,
    variant: {
      axes: names.length,
      pairs: pairs.length,
      parameters: batch.names.length + state.literals.length,
      coefficients: gridCoefficients(equation, names.length, { keys, pairs }),
      pairsOf: pairs,
      logs: names.map((name) => problem.axes[name].coordinate === "log"),
      kinds: ends.map(({ low, high }) => [low.kind, high.kind] as const),
      ends: gridEnds(ends),
      fitted: convection === "fitted",
      terminal: gridNumber(names.length)(terminal),
      averaging,
      obstacle: always ? gridNumber(names.length)(exercise.payoff) : undefined,
      region,
      pointwise,
      method: problem.solver?.method ?? "bicgstab",
    },
    combination: {
      level: problem.level ?? 3,
      initial,
      max,
      extrapolate: problem.extrapolate === "levels" ? "levels" : problem.extrapolate === "space",
    },
    errorEstimate,
    accuracy: accuracyOf(problem, names),
    solver: solverOf(problem),
  };
}

/** Names of the coefficients: of ∂²/∂xᵢ², ∂/∂xᵢ, V, the source, and the mixed derivatives in either order. */
function labelsOn(axes: readonly string[]): Readonly<Record<string, string>> {
  const labels: Record<string, string> = { c: "V", d: "source" };
  axes.forEach((name, i) => {
    labels[`a${i}`] = name + name;
    labels[`b${i}`] = name;
    for (let j = i + 1; j < axes.length; j++) labels[`m${i}_${j}`] = `${name}${axes[j]}|${axes[j]}${name}`;
  });
  return labels;
}

/** @throws SpecError with the field's place */
function axisOf(name: string, axis: SparseAxis, parameters: readonly string[]): (entry: ParameterValues) => GradedAxis {
  const path = `axes.${name}`;
  isObject(path, axis, "an object with from and to");
  if ("nodes" in axis)
    throw new SpecError(`${path}.nodes: grids have 2^level intervals; leave it out, or say initialLevel and maxLevel`);
  knownKeys(path, axis, ["from", "to", "coordinate", "points", "density", "width", "initialLevel", "maxLevel"]);
  const { coordinate = "linear", density = "sinh" } = axis;
  const points: readonly Quantity[] = axis.points ?? [];
  oneOf(`${path}.coordinate`, coordinate, ["linear", "log"]);
  oneOf(`${path}.density`, density, ["uniform", "sinh"]);
  if (!Array.isArray(points) || points.length > 1)
    throw new SpecError(
      `${path}.points: expected at most one, which is a node of every grid; terminal values are averaged over cells, ` +
        "so that other kinks need no node",
    );
  const point = points.at(0);
  const isDense =
    density === "sinh" && point !== undefined && (typeof point !== "object" || point.concentrate !== false);
  const at = typeof point === "object" ? point.at : point;
  const from = quantityOf(`${path}.from`, axis.from, parameters);
  const to = quantityOf(`${path}.to`, axis.to, parameters);
  const centreOf = at === undefined ? undefined : quantityOf(`${path}.points[0]`, at, parameters);
  const widthOf = axis.width === undefined ? undefined : quantityOf(`${path}.width`, axis.width, parameters);
  return (entry) => {
    const [low, high] = [from(entry), to(entry)];
    const of = `for ${shown(parameters, entry)}`;
    if (!(low < high)) throw new SpecError(`${path}: from ${low} to ${high} ${of}; expected from below to`);
    if (coordinate === "log" && !(low > 0))
      throw new SpecError(
        `${path}.from: got ${low}, expected a positive number with the coordinate "log"; or take "linear"`,
      );
    const centre = centreOf?.(entry);
    if (centre !== undefined && !(centre > low && centre < high))
      throw new SpecError(`${path}.points[0]: ${centre} is not inside the axis, ${low} to ${high}, ${of}; widen it`);
    const length = coordinate === "log" ? Math.log(high / low) : high - low;
    const width = widthOf?.(entry) ?? length / 5;
    if (!(width > 0)) throw new SpecError(`${path}.width: ${width}, expected a positive length`);
    return { coordinate, from: low, to: high, centre, width: isDense ? width : undefined };
  };
}

type Quantity = number | string | AxisPoint;

/** @throws SpecError */
function stepsOf({ steps = DEFAULT_STEPS, errorEstimate, accuracy }: AnySparseProblem): number {
  if (!Number.isInteger(steps) || steps < 2 || steps > 100_000)
    throw new SpecError(`steps: got ${steps}, expected a whole number from 2 to 100,000`);
  if ((errorEstimate === true || accuracy !== undefined) && steps % 2 === 1)
    throw new SpecError(
      `steps: got ${steps}, expected an even number, so that there is a solution of half as many; use ${steps + 1}`,
    );
  return steps;
}

/** @throws SpecError */
function gradingOf({ grading = 1 }: AnySparseProblem): number {
  if (!Number.isInteger(grading) || grading < 1 || grading > 20)
    throw new SpecError(`grading: got ${grading}, expected a whole number from 1 to 20`);
  return grading;
}

/** @throws SpecError */
function solverOf({ solver = {}, precision = "f64" }: AnySparseProblem): GridSolver {
  isObject("solver", solver, "an object with method, relative or maxIterations");
  knownKeys("solver", solver, ["method", "relative", "maxIterations"]);
  const { method = "bicgstab", relative = precision === "f32" ? 1e-5 : 1e-9, maxIterations = 1000 } = solver;
  oneOf("solver.method", method, ["bicgstab", "cgs"]);
  if (!(relative > 0 && relative < 1))
    throw new SpecError(`solver.relative: got ${relative}, expected a number between 0 and 1`);
  if (!Number.isInteger(maxIterations) || maxIterations < 1)
    throw new SpecError(`solver.maxIterations: got ${maxIterations}, expected a whole number of at least 1`);
  return { method, relative, maxIterations };
}

/** @throws SpecError */
function accuracyOf({ accuracy, level }: AnySparseProblem, names: readonly string[]): SparseModel["accuracy"] {
  if (accuracy === undefined) return undefined;
  isObject("accuracy", accuracy, "an object with at, and relative or absolute");
  knownKeys("accuracy", accuracy, ["at", "relative", "absolute", "maxUnknowns"]);
  if (level !== undefined) throw new SpecError("level: given beside accuracy, which chooses the grids; leave one out");
  isObject("accuracy.at", accuracy.at, `the values of ${names.join(", ")}`);
  const { relative, absolute, maxUnknowns = 20e6 } = accuracy;
  if (relative === undefined && absolute === undefined)
    throw new SpecError("accuracy: neither relative nor absolute; expected one of them");
  for (const [name, value] of Object.entries({ relative, absolute, maxUnknowns }))
    if (value !== undefined && !(value > 0))
      throw new SpecError(`accuracy.${name}: got ${value}, expected a positive number`);
  return accuracy;
}
