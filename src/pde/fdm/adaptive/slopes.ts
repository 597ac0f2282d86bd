import { instance } from "../execute/instance.ts";
import { weighedInputs } from "../execute/inputs.ts";
import type { OneFactorProblem } from "../problem/one-factor.ts";
import { forwardOf } from "../time/forward.ts";
import type { AdaptiveBatch } from "./adaptive-row.ts";
import { BOUNDARY_NOISE, boundaryNoise } from "./error-estimate.ts";
import { pointOf, type ProblemDifference } from "./extrapolation.ts";

/**
 * A direction in which inputs of a problem move: between `down`, which may be the problem as it is, and `up` they
 * change by `apart`. The change is small enough that inputs of a scheme change in proportion.
 */
export interface Direction {
  readonly up: ProblemDifference;
  readonly down: ProblemDifference;
  readonly apart: number;
}

/** A slope on the fine mesh and the coarse one (NaN if it is not used), and what the second difference says of it. */
interface Slope {
  readonly fine: number;
  readonly coarse: number;
  readonly curved: number;
}

/** The multiple of the leading error of a slope, a third of what two meshes differ by, that its estimate has. */
const LEADING = 2;
/** The same where drift dominates diffusion, so that errors are of first order. */
const DRIFT = 9;
/**
 * The part of the noise of an exercise boundary that a slope has: of 1,400 random American options, as much as leaves
 * 98 % of errors within estimates (design/one-factor-slopes.md).
 */
const NOISE = 0.9;
/** Beside the boundary few steps' noise is added, and no more of it cancels: so much more of it there is at most. */
const BESIDE = 7;

/**
 * The slopes of a trade's value in some directions of its inputs, from the derivatives of the two solutions of an
 * extrapolation by the inputs of their schemes (`item/adjoint.ts`): a slope costs the inputs of two moved problems, and
 * no solution. With `moves`, for what has no such derivatives, the moved problems are solved on the same meshes.
 */
export class Slopes {
  readonly #batch: Pick<AdaptiveBatch, "pool" | "arena" | "goal">;
  readonly #problems: ProblemDifference;
  readonly #directions: readonly Direction[];
  readonly #tellsErrors: boolean;
  /** The pool index of the solution of each part of the difference on the fine mesh and, if it is used, the coarse. */
  readonly #pairs: readonly (readonly number[])[];
  /**
   * For each direction, where moved problems are solved, the pool index of its first instance: for each part and mesh
   * that moved up and, unless `down` is the problem as it is, that moved down.
   */
  readonly #moved: readonly number[] | undefined;
  readonly #slopes: (Slope | undefined)[] = [];
  /** By the index of an instance. */
  readonly #linearNow = new Map<number, number>();

  /**
   * Names the instances that the slopes need: `base` is the pool index of the first pair of the trade, solved or not.
   * `tellsErrors` says whether error estimates are wanted, too.
   */
  constructor(
    batch: Pick<AdaptiveBatch, "pool" | "arena" | "goal">,
    base: number,
    problems: ProblemDifference,
    directions: readonly Direction[],
    { moves, tellsErrors }: { readonly moves: boolean; readonly tellsErrors: boolean },
  ) {
    this.#batch = batch;
    this.#problems = problems;
    this.#tellsErrors = tellsErrors;
    this.#directions = directions;
    const { pool, arena } = batch;
    const { count } = pool;
    const parts = problems.subtracted === undefined ? [0] : [0, 1];
    try {
      // A slope that is not extrapolated needs the coarse mesh for its error alone.
      const meshes = problems.problem.american && !tellsErrors ? [0] : [0, 1];
      const pairs = parts.map((part) => meshes.map((mesh) => base + 2 * part + mesh));
      this.#pairs = moves ? pairs : pairs.map((pair) => pair.map((number) => pool.differentiate(number)));
      this.#moved = !moves
        ? undefined
        : directions.map((direction) => {
            const start = pool.count;
            for (const [part, pair] of pairs.entries())
              for (const number of pair)
                for (const moved of this.#solved(direction)) {
                  const { grid } = pool.instance(number);
                  const problem = part === 0 ? moved.problem : moved.subtracted!;
                  pool.add(instance(grid, problem, arena, "window"), pool.cellPeclet(number));
                }
            return start;
          });
    } catch (error) {
      pool.truncate(count);
      throw error;
    }
  }

  /**
   * Returns the slope in direction k. Two meshes are extrapolated as values are, but where the holder may exercise at
   * all times: as the boundary moves between nodes a slope there has noise, which extrapolation would increase.
   */
  slope(k: number): number {
    const { fine, coarse } = this.#slopeOf(k);
    return this.#isExpanded ? fine + (fine - coarse) / 3 : fine;
  }

  /**
   * Returns the error estimate of the slope in direction k. `estimate` is the error estimate of the value, and `scale`
   * a change of the input that changes the value substantially. It is the leading error of the slope, the noise of an
   * exercise boundary, what the value's own error changes by, and rounding; NaN where no estimates were requested.
   */
  error(k: number, estimate: number, scale: number): number {
    if (!this.#tellsErrors) return Number.NaN;
    const { fine, coarse, curved } = this.#slopeOf(k);
    const leading = Math.abs(fine - coarse) / 3;
    const [spot] = this.#problems.problem.spots;
    const { apart } = this.#directions[k];
    const rounding = this.#moved === undefined ? scale : 0.5 * apart;
    const isDrift = this.#drift > 1;
    return (
      (isDrift ? DRIFT : LEADING) * leading +
      this.#noise(k, leading) +
      estimate / scale +
      0.5 * curved +
      (4 * this.#batch.goal.rounding * spot) / rounding
    );
  }

  /** Tells whether errors of slopes on two meshes are in the ratio of four, as far as is known. */
  get #isExpanded(): boolean {
    return !this.#problems.problem.american && this.#drift <= 1;
  }

  get #drift(): number {
    return Math.max(...this.#pairs.map(([fine]) => this.#batch.pool.cellPeclet(fine)));
  }

  /**
   * The noise of a slope on the fine mesh: that of the value over a cell, times what the direction moves the boundary
   * by. Near expiry the boundary goes with the gain of exercise, which a formula of the boundary misses. Where nothing
   * is known of the boundary it is the leading error once more.
   */
  #noise(k: number, leading: number): number {
    const { problem } = this.#problems;
    if (!problem.american) return 0;
    const { up, down, apart } = this.#directions[k];
    const { pool, goal } = this.#batch;
    const [[fine]] = this.#pairs;
    const { mesh } = pool.instance(fine).grid;
    const [above, below] = [up, down].map((moved) => boundaryNoise({ problem: moved.problem, mesh }));
    if (above === "none" && below === "none") return 0;
    if (typeof above === "string" || typeof below === "string") return LEADING * leading;
    const ofGain = Math.abs((above.gain - below.gain) / below.gain);
    const moved = Math.abs(above.boundary - below.boundary) + 0.5 * below.deviation * below.boundary * ofGain;
    // The premium over the payoff is ½·J·d² at a distance d, the noise a part of J·h²: this is 1 + ¼·(d/h)².
    const [spot] = problem.spots;
    const premium = pointOf(pool, fine, goal.rounding).value - problem.payoff.exercised(spot);
    const nearness = 1 / (1 + (0.2 * BOUNDARY_NOISE * Math.max(premium, 0)) / below.noise);
    return (NOISE * (1 + BESIDE * nearness) * below.noise * moved) / (apart * below.cell);
  }

  #slopeOf(k: number): Slope {
    return (this.#slopes[k] ??= this.#moved === undefined ? this.#byInputs(k) : this.#byMoves(k, this.#moved[k]));
  }

  #byInputs(k: number): Slope {
    const { up, down, apart } = this.#directions[k];
    const [fine, coarse = Number.NaN] = this.#pairs[0].map((_, mesh) => {
      let slope = 0;
      for (const [part, pair] of this.#pairs.entries()) {
        const [one, other] = [up, down].map((moved) => (part === 0 ? moved.problem : moved.subtracted!));
        const below = down === this.#problems ? this.#unmoved(pair[mesh], other) : this.#linear(pair[mesh], other);
        slope += (part === 0 ? 1 : -1) * (this.#linear(pair[mesh], one) - below);
      }
      return slope / apart;
    });
    return { fine, coarse, curved: 0 };
  }

  /**
   * The value of an instance that is linear in the inputs of its scheme and has the derivatives of the very value. In
   * the forward coordinate the mesh moves with the payoff's kink K, and w is homogeneous of degree 1 in x and K:
   * K·∂w/∂K is w − x·∂w/∂x. V has the factor e^{−qT}, too.
   */
  #linear(number: number, problem: OneFactorProblem): number {
    const { pool, goal } = this.#batch;
    const { grid } = pool.instance(number);
    const { value, delta, exercised } = pointOf(pool, number, goal.rounding);
    if (exercised) return 0;
    const values = pool.values(number);
    const sum = weighedInputs(grid, problem, (k) => values.derivative(k));
    if (grid.forward === undefined) return sum;
    const { flat, weight } = forwardOf(problem);
    const byKink = value - grid.problem.spots[0] * delta;
    const moved = Math.log(flat.payoff.kinks[0] / grid.forward.flat.payoff.kinks[0]);
    return sum + value * Math.log(weight / grid.forward.weight) + byKink * moved;
  }

  /** The same for the problem as it is, computed once. */
  #unmoved(number: number, problem: OneFactorProblem): number {
    let known = this.#linearNow.get(number);
    if (known === undefined) this.#linearNow.set(number, (known = this.#linear(number, problem)));
    return known;
  }

  /** The moved problems of a direction that are solved. */
  #solved({ up, down }: Direction): readonly ProblemDifference[] {
    return down === this.#problems ? [up] : [up, down];
  }

  #byMoves(k: number, first: number): Slope {
    const { pool, goal } = this.#batch;
    const { apart } = this.#directions[k];
    const valueOf = (number: number): number => pointOf(pool, number, goal.rounding).value;
    const copies = this.#solved(this.#directions[k]).length;
    const slopes = this.#pairs[0].map((_, mesh) => {
      let [change, bend] = [0, 0];
      for (const [part, pair] of this.#pairs.entries()) {
        const sign = part === 0 ? 1 : -1;
        const at = first + copies * (pair.length * part + mesh);
        const value = valueOf(pair[mesh]);
        const [up, down] = [valueOf(at), copies === 2 ? valueOf(at + 1) : value];
        change += sign * (up - down);
        if (copies === 2) bend += sign * (up - 2 * value + down);
      }
      return { slope: change / apart, curved: Math.abs(bend) / (0.5 * apart) };
    });
    return { fine: slopes[0].slope, coarse: slopes[1]?.slope ?? Number.NaN, curved: slopes[0].curved };
  }
}
