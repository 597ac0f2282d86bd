/** The solutions that a problem takes: the one asked for, and coarser ones for extrapolation and error estimates. */
import type { CompiledKernel, Pace } from "../../device/index.ts";
import { SpecError } from "../../errors.ts";
import { type Kernel, lower, whatIsWrong } from "../../kernel/index.ts";
import type { Level } from "../execute/plan.ts";
import { LOOP_BUDGET } from "../problem/lowered.ts";
import { titleOf } from "../problem/place.ts";
import type { Accuracy } from "../problem/settings.ts";

/** The finest level: all nodes and all steps. */
export const FINE: Level = { mesh: 0, halfSteps: false };

export interface CompanionLevel extends Level {
  readonly order: number;
  readonly corrects: boolean;
}

/**
 * Returns the companion levels of an accuracy. Each extrapolation takes a solution that is coarser in it alone; an
 * error estimate one that is coarser in both, or, `apart`, one for each, whose differences cannot cancel.
 */
export function companionLevels({ extrapolate, errorEstimate, order, apart }: Accuracy): CompanionLevel[] {
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

/** The solver of a batch of problems of one shape on one mesh and time grid after another; P: a plan, S: a solution. */
export interface LevelSolver<P, S> {
  readonly kernel: CompiledKernel;
  /** Returns why entry `index` cannot be solved at some of `levels`, if so. */
  readonly check: (index: number, levels: readonly Level[]) => SpecError | undefined;
  readonly plan: (level: Level, entries: readonly number[]) => Promise<P>;
  readonly solve: (plan: P) => Promise<S[]>;
}

/** The solutions of all entries: `errors` by entry; `solved` by level, in the order of the `good` entries. */
export interface SolvedLevels<S> {
  readonly errors: readonly (SpecError | undefined)[];
  readonly good: readonly number[];
  readonly solved: readonly (readonly S[])[];
}

/**
 * Solves entries on the levels that they need.
 * @throws SpecError that of the first entry, if all fail before they are solved | the signal's reason
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
 * The errors of loops in the user's functions that did not end, by the numbers that solutions have `found`. `source`:
 * what was compiled, in the model's own functions; it is made when it is read.
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

export const UNIT_ROUNDOFF = { f64: 2 ** -53, f32: 2 ** -24, f32x2: 2 ** -44 } as const;

/**
 * The factors of a matrix are rounded once and then used in every stage, so that their errors add up: some two units of
 * y a stage, which Crank–Nicolson doubles. The rest is a random walk in units of the largest value. Measured:
 * test/fdm/equation/devices.
 */
export function roundingOf(
  { values, program }: { readonly values: Float64Array; readonly program: { readonly words: Int32Array } },
  unit: number,
): { readonly relative: number; readonly absolute: number } {
  const stages = program.words.length / 2;
  let largest = 0;
  for (const value of values) largest = Math.max(largest, Math.abs(value));
  return { relative: 4 * unit * stages, absolute: 2 * unit * largest };
}
