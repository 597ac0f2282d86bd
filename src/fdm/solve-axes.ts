import type { Device } from "../device/index.ts";
import type { SpecError } from "../errors.ts";
import type { Precision } from "../kernel/index.ts";
import { companionLevels, endlessLoops, FINE, roundingOf, solveLevels, UNIT_ROUNDOFF } from "./adaptive/levels.ts";
import { type AxesSolved, AxesSolver } from "./execute/axes-batch.ts";
import { Pace, type PaceOptions } from "./execute/pace.ts";
import type { AxesModel } from "./problem/axes-model.ts";
import { parametersOf } from "./problem/quantity.ts";
import { reportOf } from "./read/report.ts";
import { thetaOf } from "./read/theta.ts";
import { type AxesContents, AxesEntrySolution, type AxesSolution, type GridValues } from "./read/axes-solution.ts";

/** Solves a problem on two or three axes. @throws as `solve` does */
export async function solveOnAxes(
  device: Device,
  model: AxesModel,
  wanted: Precision,
  options: PaceOptions,
  called: Error,
): Promise<AxesSolution> {
  const pace = new Pace(device, options);
  const solver = await AxesSolver.create(device, model, wanted, pace);
  const { precision } = solver.kernel;
  const companions = companionLevels(model.accuracy);
  const levels = [FINE, ...companions];
  const { errors, good, solved } = await solveLevels(solver, model.batch.entries.length, levels, pace);
  const found = solved.flat().map(({ status }) => status.endless);
  const endless = endlessLoops(solver, found, called);
  const failed = (index: number, error: SpecError | undefined): AxesContents => ({
    axes: model.names,
    parameters: parametersOf(model.batch, index),
    warnings: [],
    error,
    fine: { nodes: [], values: new Float64Array(0) },
    companions: [],
    exercised: undefined,
    theta: () => Number.NaN,
    rounding: () => ({ relative: 0, absolute: 0 }),
  });
  const contents = errors.map((error, index) => failed(index, error));
  good.forEach((index, i) => {
    const [fine, ...coarse] = solved.map((level) => level[i]);
    const reports = [fine, ...coarse].map((one) => reportOf(model, model.batch.entries[index], one, endless));
    contents[index] = {
      ...contents[index],
      warnings: reports[0].warnings,
      // A companion looks at times of its own.
      error: reports.map(({ error }) => error).find((error) => error !== undefined),
      fine: gridOf(fine),
      companions: coarse.map((one, k) => ({
        ...gridOf(one),
        order: companions[k].order,
        corrects: companions[k].corrects,
      })),
      exercised: fine.exercised,
      theta: thetaOf(model, model.batch.entries[index], UNIT_ROUNDOFF[precision]),
      rounding: () => roundingOf(fine, UNIT_ROUNDOFF[precision]),
    };
  });
  return { entries: contents.map((one) => new AxesEntrySolution(one)), backend: device.backend, precision };
}

const gridOf = ({ meshes, values }: AxesSolved): GridValues => ({ nodes: meshes.map((mesh) => mesh.values), values });
