import { SpecError } from "../../base/errors.ts";
import { checkObject, checkKeys, checkOneOf } from "../../base/argument-checks.ts";

/**
 * A grid of the combination: its level along each axis, and its coefficient in the sum. An axis of level l has 2^l
 * intervals.
 * @experimental
 */
export interface CombinationGrid {
  /** The level of each axis. */
  readonly levels: readonly number[];
  /** The factor of the grid's solution in the combination. */
  readonly coefficient: number;
}

/** The settings of `combinationGrids`. @experimental */
export interface CombinationSettings {
  /**
   * The largest number of refinements of a grid above the initial levels, summed over the axes: Σ (lₖ − initialₖ) ≤
   * level.
   */
  readonly level: number;
  /** The coarsest level of each axis (truncated combination technique). One number applies to every axis. */
  readonly initialLevel: number | readonly number[];
  /** The finest level of each axis; no limit by default. */
  readonly maxLevel?: number | readonly number[];
  /** The number of axes; required where `initialLevel` is a single number. */
  readonly axes?: number;
  /**
   * The kind of Richardson extrapolation, if any. `true` extrapolates along every axis, (4·V₍ₗ₊₁₎ − Vₗ)/3, which needs
   * up to `axes` further refinements. "levels" extrapolates from the combinations of two levels, (4·V_level − V_(level
   * − 1))/3, without further refinements.
   */
  readonly extrapolate?: boolean | "levels";
}

/**
 * Returns the grids of the combination technique and their coefficients,
 *
 *   V = Σ c(l)·V_l,   c(l) = Σ_{z ∈ {0, 1}^d} (−1)^|z|·[l + z in the set],
 *
 * for the set of all levels l ≥ initial, l ≤ max with Σ (lₖ − initialₖ) ≤ level. Without a max, layer q below the
 * finest has (−1)^q·C(d−1, q).
 *
 * Source: Griebel, Schneider & Zenger (1992); the general formula is that of Gerstner & Griebel (2003) for any set that
 * is closed downwards. Verified: test/pde/sparsegrid/combination, against closed counts and the published 85 grids of
 * three axes on level 10.
 *
 * @param settings the level, the initial levels, and the limits.
 * @returns the grids whose coefficient is not zero, in lexicographic order of their levels; the coefficients add to 1.
 * @throws SpecError naming the field, its value, and what was expected.
 * @example
 * import { combinationGrids } from "feynkac/sparsegrid";
 *
 * const grids = combinationGrids({ axes: 2, initialLevel: 1, level: 1 });
 * console.log(grids.map(({ levels, coefficient }) => `${levels.join(" × ")}: ${coefficient}`).join(", "));
 * // 1 × 1: -1, 1 × 2: 1, 2 × 1: 1
 * @experimental
 */
export function combinationGrids(settings: CombinationSettings): readonly CombinationGrid[] {
  checkObject("combinationGrids", settings, "an object with level and initialLevel");
  checkKeys("combinationGrids", settings, ["level", "initialLevel", "maxLevel", "axes", "extrapolate"]);
  const { level, initialLevel, maxLevel, axes, extrapolate = false } = settings;
  checkOneOf("extrapolate", extrapolate, [false, true, "levels"]);
  const lows = perAxis("initialLevel", initialLevel, axes);
  const highs = maxLevel === undefined ? lows.map(() => MAX_LEVEL) : perAxis("maxLevel", maxLevel, lows.length);
  if (!Number.isInteger(level) || level < 0 || level > MAX_LEVEL)
    throw new SpecError(`level: got ${level}, expected a whole number from 0 to ${MAX_LEVEL}`);
  lows.forEach((low, k) => {
    if (low > highs[k])
      throw new SpecError(`maxLevel[${k}]: got ${highs[k]}, expected at least the initial level ${low}`);
  });
  if (extrapolate === "levels" && level > 0) {
    const of = (at: number, weight: number): readonly CombinationGrid[] =>
      combinationGrids({ ...settings, level: at, extrapolate: false }).map((grid) => ({
        ...grid,
        coefficient: weight * grid.coefficient,
      }));
    return summed([...of(level, 4 / 3), ...of(level - 1, -1 / 3)]);
  }
  const set = new IndexSet();
  const visit = (levels: readonly number[], k: number, left: number): void => {
    if (k === lows.length) return set.add(levels);
    for (let more = 0; more <= left && lows[k] + more <= highs[k]; more++)
      visit([...levels, lows[k] + more], k + 1, left - more);
  };
  visit([], 0, level);
  return extrapolate === true ? extrapolated(set.combination()) : set.combination();
}

/** The finest level of an axis: 2^20 intervals. */
const MAX_LEVEL = 20;

/** Returns the levels of all axes from a number for all of them or an array. @throws SpecError */
export function perAxis(name: string, value: number | readonly number[], axes: number | undefined): readonly number[] {
  if (axes !== undefined && (!Number.isInteger(axes) || axes < 1))
    throw new SpecError(`axes: got ${axes}, expected a whole number of at least 1`);
  const list = typeof value === "number" ? new Array<number>(axes ?? 0).fill(value) : value;
  if (!Array.isArray(list)) throw new SpecError(`${name}: missing; expected a level, or a list of them`);
  if (list.length === 0) throw new SpecError(`axes: missing; expected the number of axes, or a list of levels`);
  if (axes !== undefined && list.length !== axes)
    throw new SpecError(`${name}: ${list.length} levels, expected ${axes}, one for each axis`);
  const bad = list.findIndex((one) => !Number.isInteger(one) || one < 0 || one > MAX_LEVEL);
  if (bad >= 0)
    throw new SpecError(`${name}[${bad}]: got ${list[bad]}, expected a whole number from 0 to ${MAX_LEVEL}`);
  return list;
}

/**
 * A set of grids, by their levels, that is closed downwards: with a grid it contains all coarser ones down to the
 * initial levels.
 */
export class IndexSet {
  readonly #members = new Map<string, readonly number[]>();

  /** Adds a grid, by the level of each axis. */
  add(levels: readonly number[]): void {
    this.#members.set(levels.join(), levels);
  }

  /** Tells whether the set contains a grid. */
  has(levels: readonly number[]): boolean {
    return this.#members.has(levels.join());
  }

  /** The grids of the set, by their levels. */
  get members(): readonly (readonly number[])[] {
    return [...this.#members.values()];
  }

  /**
   * Returns the grids of the combination with their coefficients (Griebel, Schneider & Zenger), without those of
   * coefficient 0.
   */
  combination(): readonly CombinationGrid[] {
    return this.members
      .map((levels) => ({ levels, coefficient: this.#coefficient(levels) }))
      .filter(({ coefficient }) => coefficient !== 0)
      .sort((a, b) => compare(a.levels, b.levels));
  }

  /** Inclusion and exclusion, axis by axis: where l + z is not in the set, nothing above it is. */
  #coefficient(levels: readonly number[]): number {
    const sum = (raised: readonly number[], from: number): number => {
      let total = 1;
      for (let k = from; k < levels.length; k++) {
        const next = raised.with(k, raised[k] + 1);
        if (this.has(next)) total -= sum(next, k + 1);
      }
      return total;
    };
    return sum(levels, 0);
  }
}

const compare = (a: readonly number[], b: readonly number[]): number => {
  const k = a.findIndex((one, i) => one !== b[i]);
  return k < 0 ? 0 : a[k] - b[k];
};

/** (4·V₍ₗ₊₁₎ − Vₗ)/3 along each axis, of every grid. */
function extrapolated(grids: readonly CombinationGrid[]): readonly CombinationGrid[] {
  let now = grids;
  for (const k of grids[0].levels.keys())
    now = summed(
      now.flatMap(({ levels, coefficient }) => [
        { levels, coefficient: -coefficient / 3 },
        { levels: levels.with(k, levels[k] + 1), coefficient: (4 * coefficient) / 3 },
      ]),
    );
  return now;
}

/** Each grid once, those that count for nothing left out. */
function summed(grids: readonly CombinationGrid[]): readonly CombinationGrid[] {
  const sums = new Map<string, CombinationGrid>();
  for (const { levels, coefficient } of grids) {
    const key = levels.join();
    sums.set(key, { levels, coefficient: (sums.get(key)?.coefficient ?? 0) + coefficient });
  }
  return [...sums.values()]
    .filter(({ coefficient }) => Math.abs(coefficient) > 1e-12)
    .sort((a, b) => compare(a.levels, b.levels));
}
