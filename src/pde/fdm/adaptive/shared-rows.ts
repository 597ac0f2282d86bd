import { coarserInTime, type Grid, grids, type Resolution } from "../mesh/grid.ts";
import { instance } from "../execute/instance.ts";
import type { OneFactorProblem } from "../problem/one-factor.ts";
import { type AdaptiveBatch, AdaptiveRow, addPairTo, type RowSettings, type SolvedGrids } from "./adaptive-row.ts";

/**
 * The solutions of problems that differ in rates, yield and volatility alone, at the spots after today's.
 *
 * They share a mesh, a time grid and a resolution. The resolution is found from some of them, whose errors are assessed
 * as those of any other problem (`AdaptiveRow`); all others are solved on a fine and a coarse grid, or on the fine one
 * alone, and their error is taken for the largest of the assessed ones. So these should be the extremes of what the
 * problems differ in.
 *
 * The grids are those of the problem that needs the widest mesh. Where the nodes are values of the forward coordinate,
 * each problem has grids of its own.
 */
export class SharedRows {
  readonly #batch: AdaptiveBatch;
  readonly #widest: OneFactorProblem;
  readonly #assessed: readonly AdaptiveRow[];
  /** The pool index of the pair of each problem: the assessed ones first. */
  readonly #pairs: number[] = [];
  #size: Resolution;
  #grids: SolvedGrids | undefined;

  /** Adds the first instances of the assessed problems to the pool. @throws errors of the payoff or volatility */
  constructor(
    batch: AdaptiveBatch,
    { assessed, widest }: { readonly assessed: readonly OneFactorProblem[]; readonly widest: OneFactorProblem },
    spec: RowSettings,
  ) {
    this.#batch = batch;
    this.#widest = widest;
    this.#size = spec.size;
    this.#assessed = assessed.map(
      (problem) =>
        new AdaptiveRow(
          batch,
          { problem, subtracted: undefined },
          { ...spec, reading: "points", sharedGrids: () => this.#gridsOf(problem) },
        ),
    );
  }

  /**
   * Assesses the solved problems. Where one of them is not exact enough, all are to be solved at a finer resolution,
   * whose instances it adds to the pool. @returns true if it did @throws as the constructor
   */
  refine(): boolean {
    let next: Resolution | undefined;
    for (const row of this.#assessed) {
      const { nodes, steps } = row.assess() ?? this.#size;
      if (nodes <= this.#size.nodes && steps <= this.#size.steps) continue;
      next = { nodes: Math.max(nodes, next?.nodes ?? 0), steps: Math.max(steps, next?.steps ?? 0) };
    }
    if (next === undefined) {
      this.#pairs.push(...this.#assessed.map(({ pairs }) => pairs));
      return false;
    }
    this.#size = next;
    this.#grids = undefined;
    for (const row of this.#assessed) row.refine(next);
    return true;
  }

  /**
   * Adds the instances of a further problem at the resolution that was found: on both grids, or on the fine one alone.
   * @throws as the constructor
   */
  add(problem: OneFactorProblem, isFineAlone: boolean): void {
    const { pool, arena } = this.#batch;
    const { pair } = this.#gridsOf(problem);
    this.#pairs.push(pool.count);
    if (isFineAlone) pool.add(instance(pair[0], problem, arena, "points"), 0);
    else addPairTo(this.#batch, pair, problem, "points");
  }

  /**
   * Writes the values of solved problem k at its spots into `column`, the assessed ones in their order first.
   * @returns the largest size of a value
   */
  read(k: number, column: Float64Array): number {
    column.set(this.#batch.reader.read(this.#pairs[k], 1, false).values);
    return largestOf(column);
  }

  /**
   * Does the same for a problem that was solved on the fine grid alone, with `lift` added where it is not exercised.
   */
  readFine(k: number, column: Float64Array, lift: Float64Array): number {
    const { values, exercised } = this.#batch.reader.readOne(this.#pairs[k]);
    for (let s = 0; s < column.length; s++) column[s] = exercised[s] === 0 ? values[s] + lift[s] : values[s];
    return largestOf(column);
  }

  /** Returns what extrapolation adds to the fine solution of assessed problem k at its spots. */
  extrapolation(k: number): Float64Array {
    const { values, fine } = this.#batch.reader.read(this.#pairs[k], 1, false);
    return values.map((value, s) => value - fine.values[s]);
  }

  /** The largest error estimate of the assessed problems at their spots, in the currency; NaN where one is unknown. */
  get estimate(): number {
    const { spots } = this.#widest;
    let largest = 0;
    for (const row of this.#assessed)
      for (let k = 1; k < spots.length; k++) {
        const own = row.estimate(k);
        if (!(own <= largest)) largest = own;
      }
    return largest;
  }

  /** Tells whether drift dominates diffusion in one of the assessed problems. */
  get isDriftDominated(): boolean {
    return this.#assessed.some((row) => row.isDriftDominated);
  }

  #gridsOf(problem: OneFactorProblem): SolvedGrids {
    const shared = (this.#grids ??= this.#made(this.#widest));
    return shared.pair[0].forward === undefined ? shared : this.#made(problem);
  }

  #made(problem: OneFactorProblem): SolvedGrids {
    const size = this.#size;
    const pair = grids(problem, size, this.#batch.arena);
    let between: Grid | undefined;
    return { pair, between: () => (between ??= coarserInTime(pair[0], size)) };
  }
}

const largestOf = (values: Float64Array): number => values.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
