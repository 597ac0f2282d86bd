import {
  type CallOptions,
  type Device,
  offeredPrecision,
  LaunchScheduler,
  withDevice,
  type WorkOptions,
} from "../../device/index.ts";
import { SpecError } from "../../base/errors.ts";
import {
  checkParameters,
  type CoefficientName,
  entryError,
  parametersOf,
  withSourcePosition,
  timeProgram,
  type Timeline,
} from "../fdm/index.ts";
import { checkObject, checkKeys } from "../../base/argument-checks.ts";
import type { Precision, UserFunctions } from "../../kernel/index.ts";
import { adaptiveGrids } from "./adaptive.ts";
import { combinationGrids, type CombinationGrid } from "./combination.ts";
import { GridSolver } from "./grids.ts";
import { type SparseGridEquation, compileSparseGridEquation } from "./problem/model.ts";
import type { AnySparseProblem, SparseGridProblem } from "./problem/problem.ts";
import { SolvedGrids } from "./solved-grids.ts";
import { type SparseContents, SparseEntrySolution, type SparseSolution } from "./solution.ts";

/** The options of `solveOnSparseGrid`. @experimental */
export interface SparseOptions extends CallOptions {
  /**
   * Several devices of one kind to use in place of `device`, such as every GPU of a machine; they are not disposed.
   * Grids are distributed over them, the longest first. Results are those of one device.
   */
  readonly devices?: readonly Device[] | undefined;
}

/**
 * Solves a parabolic equation on one to ten axes on a combination of grids, backward from its terminal condition to
 * today. The equation, its parameters, boundaries and conditions are those of `solve`:
 *
 *   ∂V/∂t + Σ aᵢⱼ ∂²V/∂xᵢ∂xⱼ + Σ bᵢ ∂V/∂xᵢ + c·V + d = 0,   V(expiry, x) = terminal(x).
 *
 * Every grid is solved by implicit Euler, Crank–Nicolson or TR-BDF2 with BiCGStab or CGS, the whole time loop by one
 * workgroup; grids are distributed over cores or multiprocessors, longest first. Results do not depend on their number.
 * docs/sparsegrid.md shows how to choose levels and meshes.
 *
 * Accuracy: with means over cells at expiry, of order h² up to powers of its logarithm; see `errorEstimate` and
 * `accuracy`. Verified: test/pde/sparsegrid, against closed forms of best-of barrier options and baskets, published
 * tables of the technique, and `solve`.
 * Source: Griebel, Schneider & Zenger (1992); Reisinger & Wittum (2007) for options; Gerstner & Griebel (2003) for the
 * adaptive choice of grids.
 *
 * @param problem the axes, the equation, the terminal condition, and its other properties. Times are in years.
 * @param options `{ device, devices, signal, onProgress }`. Without a device, the best one of the machine is
 *   opened for the solution and disposed afterwards.
 * @returns one solution per entry of the parameters, in order.
 * @throws SpecError or KernelError with the place in the problem and in your code, and the remedy (that of an entry if
 *   all entries fail); PrecisionError; the signal's reason; whatever the device throws.
 * @example
 * import { solveOnSparseGrid } from "feynkac/sparsegrid";
 *
 * // X and Y are independent Brownian motions: the expectation of X·Y² in one year is X·(Y² + 1).
 * const { entries } = await solveOnSparseGrid({
 *   axes: { X: { from: -6, to: 6 }, Y: { from: -6, to: 6 } },
 *   equation: { XX: 0.5, YY: 0.5 },
 *   terminal: "X*Y^2",
 *   expiry: 1,
 *   level: 6,
 * });
 * const { value, first } = entries[0]!.at({ X: 1, Y: 0.5 });
 * console.log(value.toFixed(2), first.X.toFixed(2)); // 1.25 1.25
 * @experimental
 */
export async function solveOnSparseGrid<
  const A extends string,
  const P extends string = never,
  C extends string = CoefficientName<A>,
  F extends UserFunctions = Record<never, never>,
>(problem: SparseGridProblem<A, P, C, F>, options: SparseOptions = {}): Promise<SparseSolution<A>> {
  const called = new Error("solve");
  try {
    checkObject("solveOnSparseGrid's second argument", options, "an object with device, devices, signal, onProgress");
    checkKeys("", options, ["device", "devices", "signal", "onProgress"]);
    const borrowed = devicesOf(options);
    const given = problem as unknown as AnySparseProblem;
    // What is wrong with a problem is said before a device is opened.
    const model = compileSparseGridEquation(given);
    const wanted = given.precision ?? "f64";
    if (borrowed.length > 0) return await solveOn(borrowed, model, wanted, options, called);
    return await withDevice(undefined, given, (opened) => solveOn([opened], model, wanted, options, called));
  } catch (error) {
    throw withSourcePosition(error, called);
  }
}

/** @throws SpecError */
function devicesOf({ device, devices }: SparseOptions): readonly Device[] {
  if (devices === undefined) return device === undefined ? [] : [device];
  if (device !== undefined) throw new SpecError("devices: got device, too; give one of them");
  if (!Array.isArray(devices) || devices.length === 0)
    throw new SpecError("devices: got none, expected a list of devices; leave it out for the best one of the machine");
  const kinds = new Set(devices.map(({ backend }) => backend));
  if (kinds.size > 1)
    throw new SpecError(`devices: got ${[...kinds].join(" and ")}, expected one kind, whose numbers are the same`);
  return devices;
}

async function solveOn(
  devices: readonly Device[],
  model: SparseGridEquation,
  wanted: Precision,
  options: WorkOptions,
  called: Error,
): Promise<SparseSolution> {
  const [device] = devices;
  const offered = await Promise.all(devices.map((one) => offeredPrecision(one, wanted)));
  const [precision] = offered;
  const other = offered.findIndex((one) => one !== precision);
  if (other > 0)
    throw new SpecError(
      `devices: ${device.name} offers ${precision} for ${wanted}, ${devices[other].name} ${offered[other]}; ` +
        'take one of them, or ask for precision "f32"',
    );
  const counted = { done: 0, total: 0 };
  const paces = devices.map((one) => new LaunchScheduler(one, options, counted));
  const [pace] = paces;
  const solvers = devices.map((one, k) => new GridSolver(one, model, precision, paces[k]));
  const { entries } = model.batch;
  const contents = new Array<SparseContents>(entries.length);
  const groups = new Map<string, { readonly index: number; readonly timeline: Timeline }[]>();
  entries.forEach((entry, index) => {
    let timeline: Timeline | undefined;
    const error = entryError(() => {
      checkParameters(model.batch, index);
      timeline = model.timelineOf(entry);
      model.axesOf(entry);
    });
    contents[index] = emptyContents(model, index, error);
    if (timeline === undefined || error !== undefined) return;
    const { key } = timeProgram({ ...model.program, steps: model.steps, refinement: 1 }, timeline);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [{ index, timeline }]);
    else group.push({ index, timeline });
  });
  const { combination, accuracy } = model;
  const failed = contents.find(({ error }) => error !== undefined);
  if (groups.size === 0 && failed?.error !== undefined) throw failed.error;
  for (const members of groups.values()) {
    if (accuracy !== undefined) {
      for (const { index, timeline } of members) {
        const runs = new SolvedGrids(solvers, model, [{ index, timeline }], pace, called);
        contents[index] = {
          ...contents[index],
          ...(await adaptiveGrids(runs, model, accuracy, contents[index].endValue)),
        };
      }
      continue;
    }
    const runs = new SolvedGrids(solvers, model, members, pace, called);
    const fine = combinationGrids(combination);
    const { level } = combination;
    const below = (levels: number): readonly CombinationGrid[] =>
      combinationGrids({ ...combination, level: Math.max(level - levels, 0) });
    const coarser = model.errorEstimate ? [1, 2].filter((k) => k <= level).map(below) : [];
    const isOfLevels = model.errorEstimate && combination.extrapolate === "levels";
    const plain = isOfLevels ? combinationGrids({ ...combination, extrapolate: false }) : undefined;
    const small = model.errorEstimate ? below(2) : undefined;
    await runs.solve([...fine, ...coarser.flat(), ...(plain ?? []), ...(small ?? [])], "all");
    if (small !== undefined) await runs.solve(small, "half");
    members.forEach(({ index }, m) => {
      const by = 2 ** model.order - 1;
      contents[index] = {
        ...contents[index],
        ...runs.outcome(m),
        fine: runs.combined(fine, m, "all"),
        coarser: coarser.map((grids) => runs.combined(grids, m, "all")),
        plain: plain && runs.combined(plain, m, "all"),
        time: small && { all: runs.combined(small, m, "all"), half: runs.combined(small, m, "half"), by },
      };
    });
  }
  return { entries: contents.map((one) => new SparseEntrySolution(one)), backend: device.backend, precision };
}

function emptyContents(model: SparseGridEquation, index: number, error: SpecError | undefined): SparseContents {
  const { names, batch, ends } = model;
  const entry = batch.entries[index];
  return {
    axes: names,
    parameters: parametersOf(batch, index),
    warnings: [],
    error,
    endValue: (axis, high, x) => {
      const { number } = high ? ends[axis].high : ends[axis].low;
      return number === undefined ? 0 : number.at(0, ...x, ...entry);
    },
    fine: [],
    coarser: [],
    plain: undefined,
    time: undefined,
    estimate: undefined,
  };
}
