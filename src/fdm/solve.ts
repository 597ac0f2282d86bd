import { type Device, offeredPrecision, openDevice } from "../device/index.ts";
import { SpecError } from "../errors.ts";
import { type KernelIR, lower, type Precision, whatIsWrong } from "../kernel/index.ts";
import { BatchSolver, type Level, type Solved } from "./execute/equation-batch.ts";
import { type EquationExecutor, kernelOf } from "./execute/equation-split.ts";
import { isObject, knownKeys } from "./problem/checks.ts";
import { LOOP_BUDGET } from "./problem/functions.ts";
import { STATUS } from "./operator/status.ts";
import { type Accuracy, type Model, modelOf } from "./problem/model.ts";
import type { AnyProblem, EquationProblem } from "./problem/equation.ts";
import { placed, titleOf } from "./problem/place.ts";
import { type Report, reportOf } from "./read/report.ts";
import {
  type Companion,
  type EntryContents,
  EntrySolution,
  type ExerciseBoundary,
  type Solution,
} from "./read/equation-solution.ts";
import { Pace, type PaceOptions } from "./execute/pace.ts";

/** Where and how an equation is solved. */
export interface SolveOptions extends PaceOptions {
  /** Borrowed. Without one, the best device of the machine is opened and disposed afterwards. */
  readonly device?: Device | undefined;
}

/**
 * Solves a one-factor parabolic equation that you write, backward from its terminal condition to today,
 *
 *   ∂V/∂t + SS ∂²V/∂S² + S ∂V/∂S + V·V + source = 0,
 *
 * for all entries of its parameters at once: one compilation, one launch. docs/pde.md shows how to write a problem.
 *
 * An entry that fails has an `error`, and the others are solved. It fails by its parameters, by coefficients that are
 * not finite, by a negative diffusion, or by a loop in one of its functions that does not end. The event loop keeps
 * running during the solution.
 *
 * Accuracy: second order in space, and in time by the default scheme; see `errorEstimate` and `extrapolate`.
 * Verified: test/fdm/equation, against closed forms and published American prices.
 *
 * @param problem the axis, the equation, the terminal condition, and whatever else it has. Times are in years.
 * @param on a device, or `{ device, signal, onProgress }`. Without a device, the best one of the machine is opened for
 *   the solution and disposed afterwards.
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
 */
export async function solve<const A extends string, const P extends string = never, C extends string = never>(
  problem: EquationProblem<A, P, C>,
  on: Device | SolveOptions = {},
): Promise<Solution> {
  const called = new Error("solve");
  try {
    isObject("solve's second argument", on, "a device, or an object with device, signal, onProgress");
    const options = "launch" in on ? { device: on } : on;
    knownKeys("", options, ["device", "signal", "onProgress"]);
    const model = modelOf(problem as AnyProblem);
    if (options.device !== undefined) return await solveOn(options.device, model, problem.precision, options, called);
    using opened = await openDevice(problem.precision === undefined ? {} : { precision: problem.precision });
    return await solveOn(opened, model, problem.precision, options, called);
  } catch (error) {
    throw placed(error, called);
  }
}

const FINE: Level = { mesh: 0, halfSteps: false };

async function solveOn(
  device: Device,
  model: Model,
  wanted: EquationProblem<string>["precision"],
  options: PaceOptions,
  called: Error,
): Promise<Solution> {
  const pace = new Pace(device, options);
  const solver = await BatchSolver.create(device, model, await offeredPrecision(device, wanted ?? "f64"), pace);
  const { precision } = solver.kernel;
  const companions = companionLevels(model.accuracy);
  const levels = [FINE, ...companions];
  const errors: (SpecError | undefined)[] = [];
  for (const index of model.batch.entries.keys()) {
    await pace.turn();
    errors.push(solver.check(index, levels));
  }
  const good = [...errors.keys()].filter((index) => errors[index] === undefined);
  // Nothing to solve is no result: a lone problem that makes no sense is refused.
  if (good.length === 0) throw errors[0]!;
  const plans = [];
  for (const level of levels) plans.push(await solver.plan(level, good));
  const solved: (readonly Solved[])[] = [];
  for (const plan of plans) solved.push(await solver.solve(plan));
  const endless = endlessLoops(precision, solved.flat(), called);
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

/** The errors of loops in the user's functions that did not end, by the solutions that they stand in. */
function endlessLoops(precision: Precision, solved: readonly Solved[], called: Error): ReadonlyMap<Solved, SpecError> {
  const errors = new Map<Solved, SpecError>();
  // In this very model's functions: what was launched may have those of another model.
  const lowered = new Map<EquationExecutor, KernelIR>();
  for (const one of solved) {
    const number = one.status[STATUS.endless];
    if (number === 0) continue;
    const ir = lowered.get(one.executor) ?? lower(kernelOf(one.executor), precision);
    lowered.set(one.executor, ir);
    const { line, column, source } = ir.countedLoops![number - 1];
    const { name, text } = ir.sources[source];
    const what = whatIsWrong(
      text,
      line,
      column,
      `this loop does not end: it was stopped after ${LOOP_BUDGET.toLocaleString("en")} rounds in one call`,
      "look at its condition for all values of t, the axis and the parameters; bound its rounds: for (let i = 0; i < 100; i++)",
    );
    errors.set(one, new SpecError(`${titleOf({ name, source: text, line, column }, called)}: ${what}`));
  }
  return errors;
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
  [fine, ...coarse]: readonly Solved[],
  levels: readonly CompanionLevel[],
  unit: number,
  endless: ReadonlyMap<Solved, SpecError>,
): EntryContents {
  const report = (solved: Solved): Report => reportOf(model, model.batch.entries[index], solved, endless);
  const { warnings, error } = report(fine);
  return {
    parameters: parametersOf(model, index),
    warnings,
    // A companion looks at times of its own.
    error: error ?? coarse.map((solved) => report(solved).error).find((other) => other !== undefined),
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
 * The factors of a matrix are rounded once and then used in every stage, so that their errors add up: some two units of
 * y a stage, which Crank–Nicolson doubles. The rest is a random walk in units of the largest value. Measured:
 * test/fdm/equation/devices.
 */
function roundingOf({ values, program }: Solved, unit: number): EntryContents["rounding"] {
  const stages = program.words.length / 2;
  const largest = values.reduce((max, value) => Math.max(max, Math.abs(value)), 0);
  return { relative: 4 * unit * stages, absolute: 2 * unit * largest };
}
