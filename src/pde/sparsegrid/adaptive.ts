/** Grids chosen one after another where they change the value most: Gerstner & Griebel (2003). */
import { allowedError } from "../../base/accuracy.ts";
import { SpecError } from "../../base/errors.ts";
import { type ParameterValues } from "../fdm/index.ts";
import { IndexSet } from "./combination.ts";
import type { SparseGridEquation } from "./problem/model.ts";
import type { SparseAccuracy } from "./problem/problem.ts";
import { checkedPoint, combinedValue, type CombinedGrid, type EndValue, type SparseContents } from "./solution.ts";
import type { SolvedGrids } from "./solved-grids.ts";

/** Grids are refined together whose surplus is at least this part of the largest. */
const SHARE = 0.3;
const MAX_STEPS = 5000;
const DEFAULT_UNKNOWNS = 20e6;

/**
 * Computes the combination of grids that reaches a target accuracy at a point, by adaptive refinement. The surplus of
 * the grid with levels l,
 *
 *   Δ(l) = Σ_{z ∈ {0, 1}^d} (−1)^|z|·V_(l − z)(point),
 *
 * is its contribution to the value. Grids without solved finer neighbours are active. As long as the sum of the active
 * surpluses is too large, the active grid with the largest surplus is refined along every axis. Before that, the number
 * of time steps is doubled until halving it changes the value on a small combination by at most a third of the
 * tolerance.
 * @throws SpecError where `maxUnknowns` do not suffice, with the accuracy that was reached
 */
export async function adaptiveGrids(
  runs: SolvedGrids,
  model: SparseGridEquation,
  accuracy: SparseAccuracy<string>,
  endValue: EndValue,
): Promise<Pick<SparseContents, "error" | "warnings"> & Partial<SparseContents>> {
  const { initialLevel: initial, maxLevel: max } = model.combination;
  const point = pointOf(model, accuracy, runs.entry);
  const none = point.map(() => 0);
  const { maxUnknowns = DEFAULT_UNKNOWNS } = accuracy;
  const allowed = (value: number): number => allowedError(accuracy, value);
  const read = (of: readonly CombinedGrid[]): number => combinedValue(of, point, none, 4, endValue);
  const by = 2 ** model.order - 1;
  const set = new IndexSet();
  set.add(initial);
  initial.forEach((level, k) => level < max[k] && set.add(initial.with(k, level + 1)));
  const small = set.combination();
  let time: SparseContents["time"];
  for (;;) {
    await runs.solve(
      set.members.map((levels) => ({ levels })),
      "all",
    );
    await runs.solve(small, "half");
    const failed = runs.outcome(0);
    if (failed.error !== undefined) return failed;
    time = { all: runs.combined(small, 0, "all"), half: runs.combined(small, 0, "half"), by };
    const change = Math.abs(read(time.all) - read(time.half)) / by;
    if (3 * change <= allowed(read(time.all)) || 2 * runs.steps > MAX_STEPS) break;
    runs.steps *= 2;
  }
  const valueOf = (levels: readonly number[]): number => read(runs.combined([{ levels, coefficient: 1 }], 0, "all"));
  const surpluses = new Map<string, number>();
  const surplusOf = (levels: readonly number[]): number => {
    const key = levels.join();
    const known = surpluses.get(key) ?? surplus(levels, initial, valueOf);
    surpluses.set(key, known);
    return known;
  };
  let unknowns = set.members.reduce((sum, levels) => sum + runs.unknownsOf(levels), 0);
  for (;;) {
    const active = set.members.filter((levels) =>
      levels.some((level, k) => level < max[k] && !set.has(levels.with(k, level + 1))),
    );
    const fine = runs.combined(set.combination(), 0, "all");
    const open = active.filter((levels) => refinementsOf(levels, set, initial, max).length > 0);
    // With errors of order h² what is left out along an axis is a third of the last surplus; half, for logarithms.
    const estimate = open.reduce((sum, levels) => sum + 0.5 * Math.abs(surplusOf(levels)), 0);
    const value = read(fine);
    if (estimate <= 0.6 * allowed(value) || open.length === 0) return { ...runs.outcome(0), fine, time, estimate };
    const largest = Math.max(...open.map((levels) => Math.abs(surplusOf(levels))));
    const added = new Map<string, readonly number[]>();
    for (const levels of open)
      if (Math.abs(surplusOf(levels)) >= SHARE * largest)
        for (const next of refinementsOf(levels, set, initial, max)) added.set(next.join(), next);
    for (const levels of added.values()) unknowns += runs.unknownsOf(levels);
    if (unknowns > maxUnknowns)
      return {
        error: new SpecError(
          `accuracy: ${allowed(value).toPrecision(2)} takes more than ${maxUnknowns.toLocaleString("en")} unknowns; ` +
            `${estimate.toPrecision(2)} was reached with a value of ${value}. Ask for less, raise maxUnknowns, or give the ` +
            "axes points and narrower ends",
        ),
        warnings: [],
      };
    await runs.solve(
      [...added.values()].map((levels) => ({ levels })),
      "all",
    );
    const failed = runs.outcome(0);
    if (failed.error !== undefined) return failed;
    for (const levels of added.values()) set.add(levels);
  }
}

/**
 * Returns the grids that refine a grid along one axis each, as far as `max` allows and all of their coarser neighbours
 * down to `initial` are in `set`.
 */
export function refinementsOf(
  levels: readonly number[],
  set: IndexSet,
  initial: readonly number[],
  max: readonly number[],
): readonly (readonly number[])[] {
  return levels.flatMap((level, k) => {
    const next = levels.with(k, level + 1);
    const isOpen = level < max[k] && !set.has(next);
    const hasAll = next.every((one, axis) => one === initial[axis] || set.has(next.with(axis, one - 1)));
    return isOpen && hasAll ? [next] : [];
  });
}

function surplus(
  levels: readonly number[],
  initial: readonly number[],
  valueOf: (levels: readonly number[]) => number,
  axis = 0,
): number {
  if (axis === levels.length) return valueOf(levels);
  const here = surplus(levels, initial, valueOf, axis + 1);
  if (levels[axis] === initial[axis]) return here;
  return here - surplus(levels.with(axis, levels[axis] - 1), initial, valueOf, axis + 1);
}

/** @throws SpecError */
function pointOf(
  { names, axesOf }: SparseGridEquation,
  { at }: SparseAccuracy<string>,
  entry: ParameterValues,
): readonly number[] {
  const axes = axesOf(entry);
  return checkedPoint("accuracy.at", at, names, (k) => [axes[k].from, axes[k].to]);
}
