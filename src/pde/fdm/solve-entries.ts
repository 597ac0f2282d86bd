import { type Device, offeredPrecision, Pace } from "../../device/index.ts";
import { SpecError } from "../../base/errors.ts";
import type { Precision } from "../../kernel/index.ts";
import {
  companionLevels,
  endlessLoops,
  FINE,
  type LevelSolver,
  roundingOf,
  solveLevels,
  UNIT_ROUNDOFF,
} from "./adaptive/levels.ts";
import { AxesSolver } from "./execute/axes-batch.ts";
import { BatchSolver, type Solved } from "./execute/equation-batch.ts";
import { type EquationExecutor, kernelOf } from "./execute/equation-split.ts";
import type { WorkOptions } from "../../base/event-loop.ts";
import type { TimeProgram } from "./time/timeline.ts";
import { STATUS } from "./operator/status.ts";
import type { AnyProblem } from "./problem/equation.ts";
import { type AxesModel, axesModelOf, type FullGridModel, type OneAxisModel } from "./model/full-grid.ts";
import { type ParameterValues, parametersOf } from "./problem/settings.ts";
import { lazily } from "./problem/lowered.ts";
import { AxesEntrySolution, type AxesSolution } from "./read/axes-solution.ts";
import {
  type MovedProblem,
  movedProblem,
  type OwnColumns,
  type ReadableGrid,
  readColumns,
  thetaOf,
} from "./read/columns.ts";
import { type EntryContents, named } from "./read/entry.ts";
import { EntrySolution, type ExerciseBoundary, type Solution } from "./read/equation-solution.ts";
import { type GridValues, PointReader, type Rounding } from "./read/point-reader.ts";
import { axisReportOf, type Report, reportOf } from "./read/report.ts";

/** A solution at the nodes of its window, with the largest |V| of all nodes or a bound of it. */
type OnGrid = ReadableGrid & { readonly largest: number; readonly program: TimeProgram };

/** The common contents of an entry, and its solution on all nodes; undefined where it was never solved. */
interface Entry<S> {
  readonly contents: EntryContents;
  readonly fine: S | undefined;
}

/** The solutions of a model's entries, of which nothing is made before it is read. */
interface SolvedEntries<S> {
  /** Returns functions for the contents of each entry. */
  readonly each: () => readonly (() => Entry<S>)[];
  /** Returns all entries at the problem's point. @throws SpecError a problem without one */
  readonly columns: (order: 2 | 4) => OwnColumns;
}

/** The setting of a solution: a device, the precision there, `solve`'s options, and its call for messages. */
interface Solving extends WorkOptions {
  readonly device: Device;
  readonly wanted: Precision;
  readonly called: Error;
}

/** Solves all entries of a model at all levels. `reports`: what became of one of the solutions. */
async function solveEntries<P, S extends OnGrid>(
  solver: LevelSolver<P, S>,
  model: FullGridModel,
  moved: MovedProblem,
  pace: Pace,
  reports: (solved: readonly S[]) => (entry: ParameterValues, one: S) => Report,
): Promise<SolvedEntries<S>> {
  const { names, batch } = model;
  const { entries } = batch;
  const unit = UNIT_ROUNDOFF[solver.kernel.precision];
  const companions = companionLevels(model.companions);
  const { errors, good, solved } = await solveLevels(solver, entries.length, [FINE, ...companions], pace);
  const reportOn = lazily(() => reports(solved.flat()));
  const theta = thetaOf(model, unit);
  const rounding = (fine: S): Rounding => roundingOf(fine, unit);
  const readers = { 2: new PointReader(names, companions, 2), 4: new PointReader(names, companions, 4) };
  const readerOf = (order: 2 | 4): PointReader => readers[order];
  const solvedEntry = (index: number, i: number): Entry<S> => {
    const entry = entries[index];
    const fine = solved[0][i];
    const told = solved.map((level) => reportOn()(entry, level[i]));
    const contents: EntryContents = {
      names,
      parameters: parametersOf(batch, index),
      warnings: told[0].warnings,
      // A companion looks at times of its own.
      error: told.find(({ error }) => error !== undefined)?.error,
      fine,
      companions: companions.map(({ order, corrects }, k) => ({ ...gridOf(solved[k + 1][i]), order, corrects })),
      isPart: model.pointOf !== undefined,
      theta: (x, found) => theta(entry, x, found),
      rounding: () => rounding(fine),
      readerOf,
    };
    return { contents, fine };
  };
  return {
    each: () => {
      const places = new Map(good.map((index, i) => [index, i]));
      return errors.map((error, index) => {
        const i = places.get(index);
        return () =>
          i === undefined
            ? { contents: { ...NOTHING, names, parameters: parametersOf(batch, index), error }, fine: undefined }
            : solvedEntry(index, i);
      });
    },
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

const gridOf = ({ nodes, values, start }: OnGrid): GridValues => ({ nodes, values, start });

/** Solves all entries of a compiled problem on one axis. @throws as `solve` does */
export async function solveOnAxis(
  model: OneAxisModel,
  moved: MovedProblem,
  { device, wanted, called, ...options }: Solving,
): Promise<Solution> {
  const pace = new Pace(device, options);
  const solver = await BatchSolver.create(device, model, wanted, pace);
  const { each, columns } = await solveEntries(solver, model, moved, pace, (all) => {
    const endless = endlessLoopsOf(solver, all, called);
    return (entry, one) => axisReportOf(model, entry, one, endless.get(one.executor) ?? new Map());
  });
  const hasBoundary = model.exercise !== undefined;
  const entries = lazily(() =>
    moved.apart(
      each().map(
        (entry) =>
          new EntrySolution(() => {
            const { contents, fine } = entry();
            return { ...contents, exerciseBoundary: hasBoundary && fine !== undefined ? boundaryOf(fine) : undefined };
          }),
      ),
    ),
  );
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
  const pace = new Pace(device, options);
  const solver = await AxesSolver.create(device, model, wanted, pace);
  const { each, columns } = await solveEntries(solver, model, moved, pace, (all) => {
    const found = all.map(({ status }) => status.endless);
    const endless = endlessLoops(solver, found, called);
    return (entry, one) => reportOf(model, entry, one, endless);
  });
  const entries = lazily(() =>
    moved.apart(
      each().map(
        (entry) =>
          new AxesEntrySolution(() => {
            const { contents, fine } = entry();
            return { ...contents, exercised: fine?.exercised };
          }),
      ),
    ),
  );
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

/** Errors of loops by their numbers, which are a kernel's own. */
type LoopErrors = ReadonlyMap<EquationExecutor, ReadonlyMap<number, SpecError>>;

function endlessLoopsOf({ kernel }: BatchSolver, solved: readonly Solved[], called: Error): LoopErrors {
  const ended = solved.filter(({ status }) => status[STATUS.endless] !== 0);
  const executors = [...new Set(ended.map(({ executor }) => executor))];
  return new Map(
    executors.map((executor) => {
      const found = ended.filter((one) => one.executor === executor).map(({ status }) => status[STATUS.endless]);
      return [executor, endlessLoops({ kernel, source: kernelOf(executor) }, found, called)];
    }),
  );
}

/** Recorded from expiry to today; given the other way round. */
function boundaryOf({ program, timeline: { dates }, boundary }: Solved): ExerciseBoundary {
  const times = program.records.map(
    ({ segment, place }) => dates[segment] + place * (dates[segment + 1] - dates[segment]),
  );
  return { times: Float64Array.from(times).reverse(), levels: boundary.slice().reverse() };
}
