import { type Device, offeredPrecision, Pace } from "../device/index.ts";
import type { SpecError } from "../errors.ts";
import type { Precision } from "../kernel/index.ts";
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
import type { WorkOptions } from "../turns.ts";
import type { TimeProgram } from "./time/timeline.ts";
import { STATUS } from "./operator/status.ts";
import type { AnyProblem } from "./problem/equation.ts";
import { type AxesModel, axesModelOf, type FullGridModel, type OneAxisModel } from "./problem/full-grid.ts";
import { type ParameterValues, parametersOf } from "./problem/quantity.ts";
import { AxesEntrySolution, type AxesSolution } from "./read/axes-solution.ts";
import type { EntryContents, GridValues } from "./read/entry.ts";
import { EntrySolution, type ExerciseBoundary, type Solution } from "./read/equation-solution.ts";
import { axisReportOf, type Report, reportOf } from "./read/report.ts";
import { thetaOf } from "./read/theta.ts";

/** A solution at the nodes of its window, with the largest |V| of all nodes or a bound of it. */
type OnGrid = GridValues & { readonly largest: number; readonly program: TimeProgram };

/** The common contents of an entry, and its solution on all nodes; undefined where it was never solved. */
interface Entry<S> {
  readonly contents: EntryContents;
  readonly fine: S | undefined;
}

/**
 * Solves all entries of a model at all levels, and returns functions for their contents, which are made when they are
 * read. `reports`: what became of one of the solutions.
 */
async function solveEntries<P, S extends OnGrid>(
  solver: LevelSolver<P, S>,
  model: FullGridModel,
  pace: Pace,
  reports: (solved: readonly S[]) => (entry: ParameterValues, one: S) => Report,
): Promise<readonly (() => Entry<S>)[]> {
  const { names, batch } = model;
  const unit = UNIT_ROUNDOFF[solver.kernel.precision];
  const companions = companionLevels(model.accuracy);
  const { errors, good, solved } = await solveLevels(solver, batch.entries.length, [FINE, ...companions], pace);
  const reportOn = reports(solved.flat());
  const solvedEntry = (index: number, i: number): Entry<S> => {
    const entry = batch.entries[index];
    const fine = solved[0][i];
    const told = solved.map((level) => reportOn(entry, level[i]));
    const contents: EntryContents = {
      names,
      parameters: parametersOf(batch, index),
      warnings: told[0].warnings,
      // A companion looks at times of its own.
      error: told.find(({ error }) => error !== undefined)?.error,
      fine: gridOf(fine),
      companions: companions.map(({ order, corrects }, k) => ({ ...gridOf(solved[k + 1][i]), order, corrects })),
      isPart: model.pointOf !== undefined,
      theta: thetaOf(model, entry, unit),
      rounding: () => roundingOf(fine, unit),
    };
    return { contents, fine };
  };
  const places = new Map(good.map((index, i) => [index, i]));
  return errors.map((error, index) => {
    const i = places.get(index);
    return () =>
      i === undefined
        ? { contents: { ...NOTHING, names, parameters: parametersOf(batch, index), error }, fine: undefined }
        : solvedEntry(index, i);
  });
}

/** The contents of an entry that was never solved. */
const NOTHING = {
  warnings: [],
  fine: { nodes: [], values: new Float64Array(0) },
  companions: [],
  isPart: false,
  theta: () => Number.NaN,
  rounding: () => ({ relative: 0, absolute: 0 }),
};

const gridOf = ({ nodes, values }: OnGrid): GridValues => ({ nodes, values });

/** Solves all entries of a compiled problem on one axis. @throws as `solve` does */
export async function solveOnAxis(
  device: Device,
  model: OneAxisModel,
  wanted: Precision,
  options: WorkOptions,
  called: Error,
): Promise<Solution> {
  const pace = new Pace(device, options);
  const solver = await BatchSolver.create(device, model, wanted, pace);
  const solved = await solveEntries(solver, model, pace, (all) => {
    const endless = endlessLoopsOf(solver, all, called);
    return (entry, one) => axisReportOf(model, entry, one, endless.get(one.executor) ?? new Map());
  });
  const entries = solved.map(
    (entry) =>
      new EntrySolution(() => {
        const { contents, fine } = entry();
        const hasBoundary = model.exercise !== undefined && fine !== undefined;
        return { ...contents, exerciseBoundary: hasBoundary ? boundaryOf(fine) : undefined };
      }),
  );
  return { entries, backend: device.backend, precision: solver.kernel.precision };
}

/** Solves all entries of a compiled problem on two or three axes. @throws as `solve` does */
export async function solveOnAxes(
  device: Device,
  model: AxesModel,
  wanted: Precision,
  options: WorkOptions,
  called: Error,
): Promise<AxesSolution> {
  const pace = new Pace(device, options);
  const solver = await AxesSolver.create(device, model, wanted, pace);
  const solved = await solveEntries(solver, model, pace, (all) => {
    const found = all.map(({ status }) => status.endless);
    const endless = endlessLoops(solver, found, called);
    return (entry, one) => reportOf(model, entry, one, endless);
  });
  const entries = solved.map(
    (entry) =>
      new AxesEntrySolution(() => {
        const { contents, fine } = entry();
        return { ...contents, exercised: fine?.exercised };
      }),
  );
  return { entries, backend: device.backend, precision: solver.kernel.precision };
}

/**
 * Solves a problem on two or three axes whose names are not known at compile time, as in the pricing of books. @throws
 * as `solve` does
 */
export async function solveAxes(
  problem: AnyProblem,
  { device, ...options }: WorkOptions & { readonly device: Device },
): Promise<AxesSolution> {
  const precision = await offeredPrecision(device, problem.precision ?? "f64");
  return solveOnAxes(device, axesModelOf(problem), precision, options, new Error("solve"));
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
