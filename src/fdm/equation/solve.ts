import { type Device, offeredPrecision, openDevice } from "../../device/index.ts";
import type { SpecError } from "../../errors.ts";
import { BatchSolver, type Level, type Solved } from "./batch-solver.ts";
import { type Accuracy, type Model, modelOf } from "./model.ts";
import type { AnyProblem, EquationProblem } from "./problem.ts";
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
 * An entry that fails, by its parameters or by coefficients that are not finite, has an `error`; the others are solved.
 * @throws SpecError | KernelError (the place in the problem, and the remedy; of the entries, if all fail) | PrecisionError | whatever the device throws
 */
export async function solve<const A extends string, const P extends string = never, C extends string = never>(
  problem: EquationProblem<A, P, C>,
  device?: Device,
): Promise<Solution> {
  const model = modelOf(problem as AnyProblem);
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
  const companions = companionLevels(model.accuracy);
  const errors = model.batch.entries.map((_, index) => solver.check(index, [FINE, ...companions]));
  const good = [...errors.keys()].filter((index) => errors[index] === undefined);
  // Nothing to solve is no result: a lone problem that makes no sense is refused.
  if (good.length === 0) throw errors[0]!;
  const fine = await solver.solve(FINE, good);
  const coarse: (readonly Solved[])[] = [];
  for (const level of companions) coarse.push(await solver.solve(level, good));
  const solved = new Map(
    good.map((index, i) => [
      index,
      contentsOf(
        model,
        index,
        fine[i],
        companions,
        coarse.map((level) => level[i]),
        UNIT_ROUNDOFF[solver.precision],
      ),
    ]),
  );
  const entries = errors.map((error, index) => new EntrySolution(solved.get(index) ?? failed(model, index, error)));
  return { entries, backend: device.backend, precision: solver.precision };
}

const parametersOf = ({ batch: { names, entries } }: Model, index: number): Readonly<Record<string, number>> =>
  Object.fromEntries(names.map((name, k) => [name, entries[index][k]]));

/** An entry that was never solved: all it has is its error. */
function failed(model: Model, index: number, error: SpecError | undefined): EntryContents {
  const nothing = { nodes: new Float64Array(0), values: new Float64Array(0) };
  return {
    parameters: parametersOf(model, index),
    warnings: [],
    error,
    fine: nothing,
    companions: [],
    exerciseBoundary: undefined,
    rounding: { relative: 0, absolute: 0 },
  };
}

function contentsOf(
  model: Model,
  index: number,
  fine: Solved,
  levels: readonly CompanionLevel[],
  coarse: readonly Solved[],
  unit: number,
): EntryContents {
  return {
    parameters: parametersOf(model, index),
    ...reportOf(model, model.batch.entries[index], fine),
    fine: { nodes: fine.mesh.values, values: fine.values },
    companions: coarse.map(({ mesh, values }, k): Companion => {
      const { order, corrects } = levels[k];
      return { nodes: mesh.values, values, order, corrects };
    }),
    exerciseBoundary: model.exercise === undefined ? undefined : boundaryOf(fine),
    rounding: roundingOf(fine, unit),
  };
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
