import type { Device } from "../device/index.ts";
import type { SpecError } from "../errors.ts";
import type { Precision } from "../kernel/index.ts";
import {
  type CompanionLevel,
  companionLevels,
  endlessLoops,
  FINE,
  roundingOf,
  solveLevels,
  UNIT_ROUNDOFF,
} from "./adaptive/levels.ts";
import { BatchSolver, type Solved } from "./execute/equation-batch.ts";
import { type EquationExecutor, kernelOf } from "./execute/equation-split.ts";
import { Pace, type PaceOptions } from "./execute/pace.ts";
import { STATUS } from "./operator/status.ts";
import type { Model } from "./problem/model.ts";
import { parametersOf } from "./problem/quantity.ts";
import {
  type Companion,
  type EntryContents,
  EntrySolution,
  type ExerciseBoundary,
  type Solution,
} from "./read/equation-solution.ts";
import { axisReportOf, type Report } from "./read/report.ts";
import { thetaOf } from "./read/theta.ts";

/** Solves a problem on one axis. @throws as `solve` does */
export async function solveOnAxis(
  device: Device,
  model: Model,
  wanted: Precision,
  options: PaceOptions,
  called: Error,
): Promise<Solution> {
  const pace = new Pace(device, options);
  const solver = await BatchSolver.create(device, model, wanted, pace);
  const { precision } = solver.kernel;
  const companions = companionLevels(model.accuracy);
  const levels = [FINE, ...companions];
  const { errors, good, solved } = await solveLevels(solver, model.batch.entries.length, levels, pace);
  const endless = endlessLoopsOf(solver, solved.flat(), called);
  const contents = new Map(
    good.map((index, i) => [
      index,
      contentsOf(
        model,
        index,
        solved.map((level) => level[i]),
        companions,
        UNIT_ROUNDOFF[precision],
        endless,
      ),
    ]),
  );
  const entries = errors.map((error, index) => new EntrySolution(contents.get(index) ?? failed(model, index, error)));
  return { entries, backend: device.backend, precision };
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

/** An entry that was never solved: all it has is its error. */
function failed(model: Model, index: number, error: SpecError | undefined): EntryContents {
  const nothing = { nodes: new Float64Array(0), values: new Float64Array(0) };
  return {
    parameters: parametersOf(model.batch, index),
    warnings: [],
    error,
    fine: nothing,
    companions: [],
    exerciseBoundary: undefined,
    axis: model.names[0],
    theta: () => Number.NaN,
    rounding: { relative: 0, absolute: 0 },
  };
}

function contentsOf(
  model: Model,
  index: number,
  [fine, ...coarse]: readonly Solved[],
  levels: readonly CompanionLevel[],
  unit: number,
  endless: LoopErrors,
): EntryContents {
  const report = (solved: Solved): Report =>
    axisReportOf(model, model.batch.entries[index], solved, endless.get(solved.executor) ?? new Map());
  const { warnings, error } = report(fine);
  return {
    parameters: parametersOf(model.batch, index),
    warnings,
    // A companion looks at times of its own.
    error: error ?? coarse.map((solved) => report(solved).error).find((other) => other !== undefined),
    fine: { nodes: fine.mesh.values, values: fine.values },
    companions: coarse.map(({ mesh, values }, k): Companion => {
      const { order, corrects } = levels[k];
      return { nodes: mesh.values, values, order, corrects };
    }),
    exerciseBoundary: model.exercise === undefined ? undefined : boundaryOf(fine),
    axis: model.names[0],
    theta: thetaOf(model, model.batch.entries[index], unit),
    rounding: roundingOf(fine, unit),
  };
}

/** Recorded from expiry to today; given the other way round. */
function boundaryOf({ program, timeline: { dates }, boundary }: Solved): ExerciseBoundary {
  const times = program.records.map(
    ({ segment, place }) => dates[segment] + place * (dates[segment + 1] - dates[segment]),
  );
  return { times: Float64Array.from(times).reverse(), levels: boundary.slice().reverse() };
}
