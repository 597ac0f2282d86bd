import { type CallOptions, type Device, offeredPrecision, LaunchScheduler, withDevice } from "../../device/index.ts";
import { type Kernel, lower, type Precision, type UserFunctions, messageWithCaret } from "../../kernel/index.ts";
import type { WorkOptions } from "../../base/event-loop.ts";
import { checkObject, checkKeys } from "../../base/argument-checks.ts";
import type { AnyProblem, EquationProblem } from "./problem/equation.ts";
import {
  type AxesEquation,
  compileAxesEquation,
  type FullGridEquation,
  type OneAxisEquation,
  compileOneAxisEquation,
} from "./model/full-grid.ts";
import { lazily, LOOP_BUDGET, withSourcePosition, positionText } from "./problem/lowered.ts";
import {
  axesOf,
  type CompanionSettings,
  MAX_AXES,
  parametersOf,
  type ParameterValues,
  PROBLEM_KEYS,
} from "./problem/settings.ts";
import {
  AxesEntrySolution,
  type AxesSolution,
  EntrySolution,
  type ExerciseBoundary,
  type Solution,
} from "./read/entry-solution.ts";
import { withBumpedEntries, type BumpedProblem, type OwnColumns, readColumns, thetaOf } from "./read/columns.ts";
import { SpecError } from "../../base/errors.ts";
import { axesSolver } from "./execute/axes-launch.ts";
import { axisSolver, type InstanceResult } from "./execute/equation-launch.ts";
import type { GridSolution, Level, LevelSolver } from "./execute/plan.ts";
import { STATUS } from "./operator/status.ts";
import { type EntryContents, named, PointReader, type RoundingError } from "./read/point-reader.ts";
import { axisReportOf, type Report, reportOf } from "./read/report.ts";

/** True where a type of names has more than one. */
type HasSeveral<A extends string, Each = A> = Each extends unknown ? ([A] extends [Each] ? false : true) : never;

/** The result type of `solve`: `Solution` for one axis, `AxesSolution` for several. @experimental */
export type SolutionOn<A extends string> = true extends HasSeveral<A> ? AxesSolution<A> : Solution;

/**
 * Solves a parabolic equation on one to three axes that you write, backward from its terminal condition to today,
 *
 *   ∂V/∂t + SS ∂²V/∂S² + S ∂V/∂S + V·V + source = 0,
 *
 * on several axes with all first, second and mixed derivatives, for all entries of its parameters at once: one
 * compilation, one launch. docs/pde.md shows how to write a problem.
 *
 * An entry that fails has an `error`, and the others are solved. It fails by its parameters, by coefficients that are
 * not finite, by a negative diffusion, or by a loop in one of its functions that does not end. The event loop keeps
 * running during the solution.
 *
 * Accuracy: second order in space, and in time by the default scheme; see `errorEstimate` and `extrapolate`.
 * Verified: test/pde/fdm/equation and test/pde/fdm/axes, against closed forms and published prices.
 *
 * @param problem the axes, the equation, the terminal condition, and whatever else it has. Times are in years.
 * @param options the device, a signal that ends the solution, and a callback for its progress in stages of time steps.
 * @returns one solution per entry of the parameters, in order.
 * @throws SpecError or KernelError with the place in the problem and in your code, and the remedy (that of an entry if
 *   all entries fail before they are solved); PrecisionError; the signal's reason; whatever the device throws.
 * @example
 * import { solve } from "feynkac";
 *
 * const { entries } = await solve({
 *   axes: { S: { from: 0, to: "4*K", points: ["K"] } },
 *   parameters: { K: 100, r: 0.05, sigma: [0.2, 0.3] },
 *   equation: ({ S, r, sigma }) => ({ SS: 0.5 * sigma ** 2 * S ** 2, S: r * S, V: -r }),
 *   terminal: ({ S, K }) => Math.max(K - S, 0),
 *   expiry: 1,
 *   conditions: [{ kind: "exercise", payoff: ({ S, K }) => Math.max(K - S, 0) }],
 * });
 * for (const entry of entries) console.log(entry.parameters["sigma"], entry.at(100).value.toFixed(2));
 * // 0.2 6.09; then 0.3 9.87
 * @stable
 */
export async function solve<
  const A extends string,
  const P extends string = never,
  C extends string = never,
  F extends UserFunctions = Record<never, never>,
>(problem: EquationProblem<A, P, C, F>, options: CallOptions = {}): Promise<SolutionOn<A>> {
  const called = new Error("solve");
  try {
    checkObject("solve's second argument", options, "an object with device, signal, onProgress");
    checkKeys("", options, ["device", "signal", "onProgress"]);
    const given = problem as unknown as AnyProblem;
    // What is wrong with a problem is said before a device is opened.
    const solver = solverOf(given, options, called);
    const wanted = given.precision ?? "f64";
    return (await withDevice(options.device, given, (device) => solver(device, wanted))) as SolutionOn<A>;
  } catch (error) {
    throw withSourcePosition(error, called);
  }
}

/** Solves a problem that has been understood on a device. */
function solverOf(
  problem: AnyProblem,
  options: WorkOptions,
  called: Error,
): (device: Device, wanted: Precision) => Promise<Solution | AxesSolution> {
  const isOne = axesOf(problem, PROBLEM_KEYS, MAX_AXES).length === 1;
  const moved = withBumpedEntries(problem);
  const solver = isOne
    ? solveOnAxis.bind(undefined, compileOneAxisEquation(moved.problem))
    : solveOnAxes.bind(undefined, compileAxesEquation(moved.problem));
  return async (device, wanted) =>
    solver(moved, { ...options, device, called, wanted: await offeredPrecision(device, wanted) });
}

/** The finest level of resolution: all nodes and all time steps. */
const FINE: Level = { mesh: 0, halfSteps: false };

/** A coarser level of resolution, solved besides the finest one for extrapolation or an error estimate. */
interface CompanionLevel extends Level {
  /** The order of the error in the variable that is coarser. */
  readonly order: number;
  /** True where the solution corrects the finest one (extrapolation), false where it only estimates the error. */
  readonly corrects: boolean;
}

/**
 * Returns the coarser levels that companions need besides the finest. Extrapolation needs a solution that is coarser
 * in the extrapolated variable only, time or space. An error estimate needs one that is coarser in both; with `apart`
 * it needs one for each, so that errors in space and time cannot cancel.
 */
function companionLevels({ extrapolate, errorEstimate, order, apart }: CompanionSettings): CompanionLevel[] {
  const levels: CompanionLevel[] = [];
  if (extrapolate === "time" || extrapolate === "both")
    levels.push({ mesh: 0, halfSteps: true, order, corrects: true });
  if (extrapolate === "space" || extrapolate === "both")
    levels.push({ mesh: 1, halfSteps: false, order: 2, corrects: true });
  if (errorEstimate && extrapolate === "none")
    if (apart) {
      levels.push({ mesh: 0, halfSteps: true, order, corrects: false });
      levels.push({ mesh: 1, halfSteps: false, order: 2, corrects: false });
    } else levels.push({ mesh: 1, halfSteps: true, order, corrects: false });
  return levels;
}

/** The setting of a solution: a device, the precision there, `solve`'s options, and its call for messages. */
interface Solving extends WorkOptions {
  readonly device: Device;
  readonly wanted: Precision;
  readonly called: Error;
}

/** What returns the kernel of a solution. */
type Source = () => Kernel;

/** The errors of loops that do not end, by the number that a kernel gave each. */
type LoopErrors = ReadonlyMap<number, SpecError>;

/** How solutions S become the entries E that users read. */
interface Entries<S, E> {
  /** The number of a loop that did not end; 0 for none. */
  readonly endlessOf: (solved: S) => number;
  readonly report: (entry: ParameterValues, solved: S, endless: LoopErrors) => Report;
  /** Makes an entry; `fine` is undefined where it was never solved. */
  readonly entryOf: (contents: () => { readonly contents: EntryContents; readonly fine: S | undefined }) => E;
}

/** The solutions of a model's entries, of which nothing is made before it is read. */
interface SolvedEntries<E> {
  readonly entries: () => readonly E[];
  /** Returns all entries at the problem's point. @throws SpecError a problem without one */
  readonly columns: (order: 2 | 4) => OwnColumns;
}

/** Solves all entries of a model at all levels. */
async function solveEntries<S extends GridSolution, E extends EntrySolution | AxesEntrySolution>(
  solver: LevelSolver<S>,
  model: FullGridEquation,
  moved: BumpedProblem,
  called: Error,
  { endlessOf, report, entryOf }: Entries<S, E>,
): Promise<SolvedEntries<E>> {
  const { names, batch } = model;
  const { entries } = batch;
  const { precision } = solver.kernel;
  const unit = UNIT_ROUNDOFF[precision];
  const companions = companionLevels(model.companions);
  const { errors, good, solved } = await solver.solveLevels([FINE, ...companions]);
  // A kernel numbers its loops; several may have solved a batch.
  const endless = lazily(() => {
    const all = solved.flat();
    const sources = [...new Set(all.map(({ source }) => source))];
    const found = (of: Source): readonly number[] => all.filter(({ source }) => source === of).map(endlessOf);
    return new Map(sources.map((of) => [of, endlessLoops(of, precision, found(of), called)]));
  });
  const theta = thetaOf(model, unit);
  const rounding = (fine: S): RoundingError => roundingOf(fine, unit);
  const readers = { 2: new PointReader(names, companions, 2), 4: new PointReader(names, companions, 4) };
  const readerOf = (order: 2 | 4): PointReader => readers[order];
  const contentsOf = (index: number, i: number): EntryContents => {
    const entry = entries[index];
    const fine = solved[0][i];
    const told = solved.map((level) => report(entry, level[i], endless().get(level[i].source)!));
    return {
      names,
      parameters: parametersOf(batch, index),
      warnings: told[0].warnings,
      // A companion looks at times of its own.
      error: told.find(({ error }) => error !== undefined)?.error,
      fine,
      companions: companions.map(({ order, corrects }, k) => {
        const { nodes, values, start } = solved[k + 1][i];
        return { nodes, values, start, order, corrects };
      }),
      isPart: model.pointOf !== undefined,
      theta: (x, found) => theta(entry, x, found),
      rounding: () => rounding(fine),
      readerOf,
    };
  };
  const all = (): readonly E[] => {
    const places = new Map(good.map((index, i) => [index, i]));
    const made = errors.map((error, index) =>
      entryOf(() => {
        const i = places.get(index);
        const contents =
          i === undefined ? { ...NOTHING, names, parameters: parametersOf(batch, index), error } : contentsOf(index, i);
        return { contents, fine: i === undefined ? undefined : solved[0][i] };
      }),
    );
    return moved.apart(made as never[]);
  };
  return {
    entries: lazily(all),
    columns: (order) => {
      if (model.pointOf === undefined)
        throw new SpecError(
          `columns: the problem names no point; give it at: { ${names.map((name) => `${name}: …`).join(", ")} }, ` +
            "with numbers or formulas of the parameters, or read entries[k].at(…)",
        );
      const { ownerOf } = moved;
      return moved.ownColumns(readColumns({ entries, good, solved, theta, rounding, ownerOf }, readerOf(order)));
    },
  };
}

/** The contents of an entry that was never solved. */
const NOTHING = {
  warnings: [],
  fine: { nodes: [], values: new Float64Array(0), start: 0 },
  companions: [],
  isPart: false,
  theta: () => Number.NaN,
  rounding: () => ({ relative: 0, absolute: 0 }),
  readerOf: (order: 2 | 4) => new PointReader([], [], order),
};

/** Solves all entries of a compiled problem on one axis. @throws as `solve` does */
async function solveOnAxis(
  model: OneAxisEquation,
  moved: BumpedProblem,
  { device, wanted, called, ...options }: Solving,
): Promise<Solution> {
  const solver = await axisSolver(device, model, wanted, new LaunchScheduler(device, options));
  const hasBoundary = model.exercise !== undefined;
  const { entries, columns } = await solveEntries(solver, model, moved, called, {
    endlessOf: ({ status }) => status[STATUS.endless],
    report: (entry, solved, endless) => axisReportOf(model, entry, solved, endless),
    entryOf: (read) =>
      new EntrySolution(() => {
        const { contents, fine } = read();
        return { ...contents, exerciseBoundary: hasBoundary && fine !== undefined ? boundaryOf(fine) : undefined };
      }),
  });
  return {
    get entries() {
      return entries();
    },
    columns: ({ order = 4 } = {}) => {
      const { derivatives, ...others } = columns(order);
      const [value, first, second] = derivatives;
      return { value, first, second, ...others };
    },
    backend: device.backend,
    precision: solver.kernel.precision,
  };
}

/** Solves all entries of a compiled problem on two or three axes. @throws as `solve` does */
async function solveOnAxes(
  model: AxesEquation,
  moved: BumpedProblem,
  { device, wanted, called, ...options }: Solving,
): Promise<AxesSolution> {
  const solver = await axesSolver(device, model, wanted, new LaunchScheduler(device, options));
  const { entries, columns } = await solveEntries(solver, model, moved, called, {
    endlessOf: ({ status }) => status.endless,
    report: (entry, solved, endless) => reportOf(model, entry, solved, endless),
    entryOf: (read) =>
      new AxesEntrySolution(() => {
        const { contents, fine } = read();
        return { ...contents, exercised: fine?.exercised };
      }),
  });
  return {
    get entries() {
      return entries();
    },
    columns: ({ order = 4 } = {}) => {
      const { derivatives, ...others } = columns(order);
      return { ...named<string, Float64Array>(model.names, derivatives), ...others };
    },
    backend: device.backend,
    precision: solver.kernel.precision,
  };
}

/**
 * Solves a problem on two or three axes whose names are not known at compile time, as in the pricing of books. @throws
 * as `solve` does
 */
export async function solveAxes(
  problem: AnyProblem,
  { device, ...options }: WorkOptions & { readonly device: Device },
): Promise<AxesSolution> {
  const moved = withBumpedEntries(problem);
  const wanted = await offeredPrecision(device, problem.precision ?? "f64");
  return solveOnAxes(compileAxesEquation(moved.problem), moved, {
    ...options,
    device,
    wanted,
    called: new Error("solve"),
  });
}

/** Recorded from expiry to today; given the other way round. */
function boundaryOf({ program, timeline: { dates }, boundary }: InstanceResult): ExerciseBoundary {
  const times = program.records.map(
    ({ segment, position }) => dates[segment] + position * (dates[segment + 1] - dates[segment]),
  );
  return { times: Float64Array.from(times).reverse(), levels: boundary.slice().reverse() };
}

/**
 * Returns the errors of endless loops in users' functions, by the number that a kernel gave each loop. `found` has the
 * loop numbers that instances reported; 0 means none.
 */
export function endlessLoops(
  source: Source,
  precision: Precision,
  found: readonly number[],
  called: Error,
): LoopErrors {
  const errors = new Map<number, SpecError>();
  const numbers = new Set(found);
  numbers.delete(0);
  if (numbers.size === 0) return errors;
  const { countedLoops = [], sources } = lower(source(), precision);
  for (const number of numbers) {
    const { line, column, source: at } = countedLoops[number - 1];
    const { name, text } = sources[at];
    const what = messageWithCaret(
      text,
      line,
      column,
      `this loop does not end: it was stopped after ${LOOP_BUDGET.toLocaleString("en")} rounds in one call`,
      "look at its condition for all values of t, the axis and the parameters; bound its rounds: for (let i = 0; i < 100; i++)",
    );
    errors.set(number, new SpecError(`${positionText({ name, source: text, line, column }, called)}: ${what}`));
  }
  return errors;
}

/** The unit roundoff of each precision. */
const UNIT_ROUNDOFF = { f64: 2 ** -53, f32: 2 ** -24, f32x2: 2 ** -44 } as const;

/**
 * Estimates the rounding errors of a solution, from its time `program` and the largest absolute value in it. The
 * factors of a matrix are rounded once and used in every stage, so their errors accumulate linearly, some two units a
 * stage, doubled by Crank–Nicolson; they are the `relative` error. The other errors are a random walk in units of the
 * largest value; they are the `absolute` error. Measured: test/pde/fdm/equation/devices.
 */
function roundingOf({ program, largest }: GridSolution, unit: number): RoundingError {
  const stages = program.words.length / 2;
  return { relative: 4 * unit * stages, absolute: 2 * unit * largest };
}
