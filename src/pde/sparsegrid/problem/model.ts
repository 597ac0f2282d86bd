import { checkAccuracy } from "../../../base/accuracy.ts";
import { SpecError } from "../../../base/errors.ts";
import {
  type AxisPoint,
  chosenScheme,
  EQUATION_KEYS,
  continuousBarriersOf,
  anyDependsOnTime,
  type CompiledEquation,
  compileEquation,
  type ParameterValues,
  type ProgramSpec,
  quantityOf,
  formattedParameters,
} from "../../fdm/index.ts";
import { checkObject, checkKeys, checkOneOf, checkWholeNumber } from "../../../base/argument-checks.ts";
import { perAxis } from "../combination.ts";
import type { GridVariant } from "../kernel/variant.ts";
import type { GradedAxis } from "../mesh.ts";
import type { AnySparseProblem, GridSolver, SparseAccuracy, SparseAxis } from "./problem.ts";

const PROBLEM_KEYS = [...EQUATION_KEYS, "level", "averaging", "solver", "accuracy"] as const;
const MAX_AXES = 10;
const DEFAULT_STEPS = 40;

/**
 * A user's equation on sparse grids after it has been checked and compiled: its levels, the solver of its linear
 * systems, and the target accuracy.
 */
export interface SparseGridEquation extends CompiledEquation {
  /** Returns the axes of an entry. */
  readonly axesOf: (entry: ParameterValues) => readonly GradedAxis[];
  readonly steps: number;
  readonly program: Omit<ProgramSpec, "steps" | "refinement">;
  /** The order of the time-stepping scheme. */
  readonly order: 1 | 2;
  readonly variant: Omit<GridVariant, "groupSize" | "shuffles" | "residentRows">;
  readonly combination: {
    readonly level: number;
    readonly initialLevel: readonly number[];
    readonly maxLevel: readonly number[];
    readonly extrapolate: boolean | "levels";
  };
  readonly errorEstimate: boolean;
  readonly accuracy: SparseAccuracy<string> | undefined;
  readonly solver: Required<GridSolver>;
}

/** Checks and compiles a problem on sparse grids. @throws SpecError | KernelError, with the path in the problem */
export function compileSparseGridEquation(problem: AnySparseProblem): SparseGridEquation {
  const model = compileEquation(problem, { keys: PROBLEM_KEYS, axes: MAX_AXES, convection: () => "central" });
  const { names, batch, equation, ends, conditions, isAmerican, code } = model;
  const jump = conditions.find(({ kind }) => kind === "jump");
  if (jump !== undefined)
    throw new SpecError(
      `${jump.path}: a jump, which sparse grids do not have; expected exercise or knock-out. For dividends, take a ` +
        "coordinate that does not jump (affineDividends)",
    );
  const meshes = names.map((name) => axisOf(name, problem.axes[name], batch.names));
  const chosen = chosenScheme(problem.scheme ?? { kind: "crank-nicolson" });
  // The values of pinned nodes are made with the matrix.
  const values = conditions.flatMap((one) => (one.kind === "knock-out" && one.dates === undefined ? [one.value] : []));
  const numbers = ends.flatMap(({ low, high }) => [low.number, high.number]);
  const { averaging = true, errorEstimate = false, grading = 1 } = problem;
  checkWholeNumber("grading", grading, 1, 20);
  checkOneOf("averaging", averaging, [true, false]);
  if (problem.extrapolate !== undefined) checkOneOf("extrapolate", problem.extrapolate, ["space", "levels"]);
  const levels = (field: "initialLevel" | "maxLevel", otherwise: number): readonly number[] =>
    names.map((name) => perAxis(`axes.${name}.${field}`, [problem.axes[name][field] ?? otherwise], 1)[0]);
  const [initial, max] = [levels("initialLevel", 2), levels("maxLevel", 20)];
  names.forEach((name, k) => {
    if (max[k] < initial[k])
      throw new SpecError(`axes.${name}.maxLevel: got ${max[k]}, expected at least the initial level ${initial[k]}`);
  });
  return {
    ...model,
    axesOf: (entry) => meshes.map((mesh) => mesh(entry)),
    steps: stepsOf(problem),
    program: {
      scheme: chosen.scheme,
      grading,
      rannacherSteps: chosen.rannacherSteps,
      damped: false,
      matrixInTime:
        equation.dependsOnTime || anyDependsOnTime([...continuousBarriersOf(conditions), ...values, ...numbers]),
      obstacleInTime: false,
      record: "none",
      exercise: -1,
    },
    order: isAmerican ? 1 : chosen.scheme.order,
    variant: {
      ...code,
      obstacle: isAmerican ? code.payoff : undefined,
      averaging,
      method: problem.solver?.method ?? "bicgstab",
    },
    combination: {
      level: problem.level ?? 3,
      initialLevel: initial,
      maxLevel: max,
      extrapolate: problem.extrapolate === "levels" ? "levels" : problem.extrapolate === "space",
    },
    errorEstimate,
    accuracy: accuracyOf(problem, names),
    solver: solverOf(problem),
  };
}

/** @throws SpecError with the field's place */
function axisOf(name: string, axis: SparseAxis, parameters: readonly string[]): (entry: ParameterValues) => GradedAxis {
  const path = `axes.${name}`;
  checkObject(path, axis, "an object with from and to");
  if ("nodes" in axis)
    throw new SpecError(`${path}.nodes: grids have 2^level intervals; leave it out, or say initialLevel and maxLevel`);
  checkKeys(path, axis, ["from", "to", "coordinate", "points", "density", "width", "initialLevel", "maxLevel"]);
  const { coordinate = "linear", density = "sinh" } = axis;
  const points: readonly Quantity[] = axis.points ?? [];
  checkOneOf(`${path}.coordinate`, coordinate, ["linear", "log"]);
  checkOneOf(`${path}.density`, density, ["uniform", "sinh"]);
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
    const of = `for ${formattedParameters(parameters, entry)}`;
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
  checkWholeNumber("steps", steps, 2, 100_000);
  if ((errorEstimate === true || accuracy !== undefined) && steps % 2 === 1)
    throw new SpecError(
      `steps: got ${steps}, expected an even number, so that there is a solution of half as many; use ${steps + 1}`,
    );
  return steps;
}

/** @throws SpecError */
function solverOf({ solver = {}, precision = "f64" }: AnySparseProblem): Required<GridSolver> {
  checkObject("solver", solver, "an object with method, tolerance or maxIterations");
  checkKeys("solver", solver, ["method", "tolerance", "maxIterations"]);
  const { method = "bicgstab", maxIterations = 1000 } = solver;
  const { tolerance = { relative: precision === "f32" ? 1e-5 : 1e-9 } } = solver;
  checkAccuracy("solver.tolerance", tolerance, ["relative"]);
  const { relative } = tolerance;
  checkOneOf("solver.method", method, ["bicgstab", "cgs"]);
  if (!(relative > 0 && relative < 1))
    throw new SpecError(`solver.tolerance.relative: got ${relative}, expected a number between 0 and 1`);
  checkWholeNumber("solver.maxIterations", maxIterations, 1, 2 ** 30);
  return { method, tolerance: { relative }, maxIterations };
}

/** @throws SpecError */
function accuracyOf({ accuracy, level }: AnySparseProblem, names: readonly string[]): SparseGridEquation["accuracy"] {
  if (accuracy === undefined) return undefined;
  checkAccuracy("accuracy", accuracy, ["absolute", "relative"], ["at", "maxUnknowns"]);
  if (level !== undefined) throw new SpecError("level: given beside accuracy, which chooses the grids; leave one out");
  checkObject("accuracy.at", accuracy.at, `the values of ${names.join(", ")}`);
  const { relative, absolute, maxUnknowns = 20e6 } = accuracy;
  for (const [name, value] of Object.entries({ relative, absolute, maxUnknowns }))
    if (value !== undefined && !(value > 0))
      throw new SpecError(`accuracy.${name}: got ${value}, expected a positive number`);
  return accuracy;
}
