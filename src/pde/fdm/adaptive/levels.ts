/** The solutions that a problem takes: the one asked for, and coarser ones for extrapolation and error estimates. */
import type { CompiledKernel, Pace } from "../../../device/index.ts";
import { SpecError } from "../../../base/errors.ts";
import { type Kernel, lower, whatIsWrong } from "../../../kernel/index.ts";
import type { Level } from "../execute/plan.ts";
import { LOOP_BUDGET } from "../problem/lowered.ts";
import { titleOf } from "../problem/place.ts";
import type { Companions } from "../problem/settings.ts";

/** The finest level of resolution: all nodes and all time steps. */
export const FINE: Level = { mesh: 0, halfSteps: false };

/** A coarser level of resolution, solved besides the finest one for extrapolation or an error estimate. */
export interface CompanionLevel extends Level {
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
export function companionLevels({ extrapolate, errorEstimate, order, apart }: Companions): CompanionLevel[] {
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

/**
 * A solver of a batch of problems that share their kernel, at any level of resolution. P is the type of the launch plan
 * of a level, S of a solution.
 */
export interface LevelSolver<P, S> {
  readonly kernel: CompiledKernel;
  /** Returns the error for which entry `index` cannot be solved at one of the `levels`; undefined if it can. */
  readonly check: (index: number, levels: readonly Level[]) => SpecError | undefined;
  /** Plans the launches that solve entries, given by index, at a level. */
  readonly plan: (level: Level, entries: readonly number[]) => Promise<P>;
  /** Solves a plan, and returns the solutions in the order of its entries. */
  readonly solve: (plan: P) => Promise<S[]>;
}

/**
 * The solutions of a batch. `errors` has an item for each entry, undefined where it could be solved; `good` has the
 * indices of these entries. `solved[level][i]` is the solution of entry `good[i]`.
 */
export interface SolvedLevels<S> {
  readonly errors: readonly (SpecError | undefined)[];
  readonly good: readonly number[];
  readonly solved: readonly (readonly S[])[];
}

/**
 * Solves each valid entry of a batch on all `levels`. @throws SpecError the first entry's error if no entry is valid |
 * the signal's reason
 */
export async function solveLevels<P, S>(
  solver: LevelSolver<P, S>,
  entries: number,
  levels: readonly Level[],
  pace: Pace,
): Promise<SolvedLevels<S>> {
  const errors: (SpecError | undefined)[] = [];
  for (let index = 0; index < entries; index++) {
    await pace.turn();
    errors.push(solver.check(index, levels));
  }
  const good = [...errors.keys()].filter((index) => errors[index] === undefined);
  // Nothing to solve is no result: a lone problem that makes no sense is refused.
  if (good.length === 0) throw errors[0]!;
  const plans: P[] = [];
  for (const level of levels) plans.push(await solver.plan(level, good));
  const solved: (readonly S[])[] = [];
  for (const plan of plans) solved.push(await solver.solve(plan));
  return { errors, good, solved };
}

/**
 * The errors of endless loops in users' functions, by the number that the kernel gave each loop. `found` has the loop
 * numbers that instances reported; 0 means none.
 */
export function endlessLoops(
  solver: { readonly kernel: CompiledKernel; readonly source: Kernel },
  found: readonly number[],
  called: Error,
): ReadonlyMap<number, SpecError> {
  const errors = new Map<number, SpecError>();
  const numbers = new Set(found);
  numbers.delete(0);
  if (numbers.size === 0) return errors;
  const { countedLoops = [], sources } = lower(solver.source, solver.kernel.precision);
  for (const number of numbers) {
    const { line, column, source } = countedLoops[number - 1];
    const { name, text } = sources[source];
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
export const UNIT_ROUNDOFF = { f64: 2 ** -53, f32: 2 ** -24, f32x2: 2 ** -44 } as const;

/**
 * Estimates the rounding errors of a solution, from its time `program` and the largest absolute value in it. The
 * factors of a matrix are rounded once and used in every stage, so their errors accumulate linearly, some two units a
 * stage, doubled by Crank–Nicolson; they are the `relative` error. The other errors are a random walk in units of the
 * largest value; they are the `absolute` error. Measured: test/pde/fdm/equation/devices.
 */
export function roundingOf(
  { program, largest }: { readonly program: { readonly words: Int32Array }; readonly largest: number },
  unit: number,
): { readonly relative: number; readonly absolute: number } {
  const stages = program.words.length / 2;
  return { relative: 4 * unit * stages, absolute: 2 * unit * largest };
}
