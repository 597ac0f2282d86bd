/** The solution of equations on full grids: on all levels that companions need, and as their entries are read. */
import { type Device, offeredPrecision, Pace } from "../../device/index.ts";
import { SpecError } from "../../base/errors.ts";
import type { WorkOptions } from "../../base/event-loop.ts";
import { type Kernel, lower, type Precision, whatIsWrong } from "../../kernel/index.ts";
import { axesSolver } from "./execute/axes-launch.ts";
import { axisSolver, type InstanceResult } from "./execute/equation-launch.ts";
import type { GridSolution, Level, LevelSolver } from "./execute/plan.ts";
import { type AxesModel, axesModelOf, type FullGridModel, type OneAxisModel } from "./model/full-grid.ts";
import { STATUS } from "./operator/status.ts";
import type { AnyProblem } from "./problem/equation.ts";
import { lazily, LOOP_BUDGET } from "./problem/lowered.ts";
import { titleOf } from "./problem/place.ts";
import { type Companions, type ParameterValues, parametersOf } from "./problem/settings.ts";
import { AxesEntrySolution, type AxesSolution } from "./read/axes-solution.ts";
import { type MovedProblem, movedProblem, type OwnColumns, readColumns, thetaOf } from "./read/columns.ts";
import { type EntryContents, named, PointReader, type Rounding } from "./read/point-reader.ts";
import { EntrySolution, type ExerciseBoundary, type Solution } from "./read/equation-solution.ts";
import { axisReportOf, type Report, reportOf } from "./read/report.ts";

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
function companionLevels({ extrapolate, errorEstimate, order, apart }: Companions): CompanionLevel[] {
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
  model: FullGridModel,
  moved: MovedProblem,
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
  const rounding = (fine: S): Rounding => roundingOf(fine, unit);
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
export async function solveOnAxis(
  model: OneAxisModel,
  moved: MovedProblem,
  { device, wanted, called, ...options }: Solving,
): Promise<Solution> {
  const solver = await axisSolver(device, model, wanted, new Pace(device, options));
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
export async function solveOnAxes(
  model: AxesModel,
  moved: MovedProblem,
  { device, wanted, called, ...options }: Solving,
): Promise<AxesSolution> {
  const solver = await axesSolver(device, model, wanted, new Pace(device, options));
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
  const moved = movedProblem(problem);
  const wanted = await offeredPrecision(device, problem.precision ?? "f64");
  return solveOnAxes(axesModelOf(moved.problem), moved, { ...options, device, wanted, called: new Error("solve") });
}

/** Recorded from expiry to today; given the other way round. */
function boundaryOf({ program, timeline: { dates }, boundary }: InstanceResult): ExerciseBoundary {
  const times = program.records.map(
    ({ segment, place }) => dates[segment] + place * (dates[segment + 1] - dates[segment]),
  );
  return { times: Float64Array.from(times).reverse(), levels: boundary.slice().reverse() };
}

/**
 * The errors of endless loops in users' functions, by the number that a kernel gave each loop. `found` has the loop
 * numbers that instances reported; 0 means none.
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
    const what = whatIsWrong(
      text,
      line,
      column,
      `this loop does not end: it was stopped after ${LOOP_BUDGET.toLocaleString("en")} rounds in one call`,
      "look at its condition for all values of t, the axis and the parameters; bound its rounds: for (let i = 0; i < 100; i++)",
    );
    errors.set(number, new SpecError(`${titleOf({ name, source: text, line, column }, called)}: ${what}`));
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
function roundingOf({ program, largest }: GridSolution, unit: number): Rounding {
  const stages = program.words.length / 2;
  return { relative: 4 * unit * stages, absolute: 2 * unit * largest };
}
