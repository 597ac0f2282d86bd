import { type Device, offeredPrecision, openDevice } from "../../device/index.ts";
import { BatchSolver, type Level, type Solved } from "./batch-solver.ts";
import { type Accuracy, type Model, modelOf } from "./model.ts";
import type { EquationProblem } from "./problem.ts";
import { reportOf } from "./report.ts";
import { type Companion, type EntryContents, EntrySolution, type ExerciseBoundary, type Solution } from "./solution.ts";

/**
 * Solves a one-factor parabolic equation that the user wrote, backward from its terminal condition,
 *
 *   ∂V/∂t + SS ∂²V/∂S² + S ∂V/∂S + V·V + source = 0,
 *
 * for every entry of its parameters at once: one compilation, one launch. docs/pde.md tells how to write a problem.
 *
 * Accuracy: second order in space, and in time by the default scheme; `errorEstimate` and `extrapolate`. Without a `device` the best of this machine
 * is opened, and closed again. Verified: test/fdm/equation, against closed forms and published American prices.
 * @throws SpecError | KernelError (the place in the problem, and the remedy) | PrecisionError | whatever the device throws
 */
export async function solve<const A extends string, const P extends string = never>(
  problem: EquationProblem<A, P>,
  device?: Device,
): Promise<Solution> {
  const model = modelOf(problem);
  if (device !== undefined) return solveOn(device, model, problem.precision);
  using opened = await openDevice(problem.precision === undefined ? {} : { precision: problem.precision });
  return await solveOn(opened, model, problem.precision);
}

const FINE: Level = { mesh: 0, halfSteps: false };

async function solveOn(
  device: Device,
  model: Model,
  precision: EquationProblem<string>["precision"],
): Promise<Solution> {
  const solver = await BatchSolver.create(device, model, await offeredPrecision(device, precision ?? "f64"));
  const all = model.batch.entries.map((_, index) => index);
  const fine = await solver.solve(FINE, all);
  const others: { readonly companion: CompanionLevel; readonly solved: readonly Solved[] }[] = [];
  for (const companion of companionLevels(model.accuracy))
    others.push({ companion, solved: await solver.solve(companion, all) });
  const entries = fine.map((solved, index) => {
    const { warnings, error } = reportOf(model, model.batch.entries[index], solved);
    const companions = others.map(({ companion: { order, corrects }, solved: level }): Companion => ({
      nodes: level[index].mesh.values,
      values: level[index].values,
      order,
      corrects,
    }));
    return new EntrySolution({
      parameters: Object.fromEntries(model.batch.names.map((name, k) => [name, model.batch.entries[index][k]])),
      warnings,
      error,
      fine: { nodes: solved.mesh.values, values: solved.values },
      companions,
      exerciseBoundary: model.exercise === undefined ? undefined : boundaryOf(solved),
      rounding: roundingOf(solved, UNIT_ROUNDOFF[solver.precision]),
    });
  });
  return { entries, backend: device.backend, precision: solver.precision };
}

interface CompanionLevel extends Level {
  readonly order: number;
  readonly corrects: boolean;
}

/** Each extrapolation takes a solution that is coarser in it alone; an error estimate one that is coarser in both. */
function companionLevels({ extrapolate, errorEstimate, order }: Accuracy): CompanionLevel[] {
  const levels: CompanionLevel[] = [];
  if (extrapolate === "time" || extrapolate === "both")
    levels.push({ mesh: 0, halfSteps: true, order, corrects: true });
  if (extrapolate === "space" || extrapolate === "both")
    levels.push({ mesh: 1, halfSteps: false, order: 2, corrects: true });
  if (errorEstimate && extrapolate === "none") levels.push({ mesh: 1, halfSteps: true, order, corrects: false });
  return levels;
}

/** Recorded from expiry to today; given the other way round. */
function boundaryOf({ program, timeline: { dates }, boundary }: Solved): ExerciseBoundary {
  const times = program.records.map(
    ({ segment, place }) => dates[segment] + place * (dates[segment + 1] - dates[segment]),
  );
  return { times: Float64Array.from(times).reverse(), levels: boundary.slice().reverse() };
}

const UNIT_ROUNDOFF = { f64: 2 ** -53, f32: 2 ** -24, f32x2: 2 ** -44 } as const;

/**
 * The factors of a matrix are rounded once and then used in every stage, so that their errors add up: some two units of y a stage, which
 * Crank–Nicolson doubles. The rest is a random walk in units of the largest value. Measured: test/fdm/equation/devices.
 */
function roundingOf({ values, program }: Solved, unit: number): EntryContents["rounding"] {
  const stages = program.words.length / 2;
  const largest = values.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
  return { relative: 4 * unit * stages, absolute: 2 * unit * largest };
}
