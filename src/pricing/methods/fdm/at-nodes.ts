/** Finite differences for trades in many markets that differ in rates, yield and volatility alone. */
import { DeviceLostError } from "../../../base/errors.ts";
import { EventLoopYielder } from "../../../base/event-loop.ts";
import type { Device } from "../../../device/index.ts";
import type { Precision } from "../../../kernel/index.ts";
import { integrate } from "../../../market/index.ts";
import {
  type AdaptiveBatch,
  BatchSolver,
  type ErrorModel,
  errorModelOf,
  firstResolution,
  InstancePool,
  type OneFactorProblem,
  SharedRows,
  SpotReader,
  totalVariance,
} from "../../../pde/fdm/index.ts";
import type { Opens } from "../../backend.ts";
import { type Lift, liftOf, type NodeSolver, OF_CHANGE, type TradeAtNodes } from "../../plan/at-nodes.ts";
import { type Batch, roundingError } from "../../plan/method.ts";
import { isKnown } from "../deterministic/known.ts";
import { lessLastDividends } from "./expiry-dividend.ts";
import { goalOf } from "./goal.ts";
import { maxNodesOf } from "./slopes.ts";

/** Largest variance over the least that one mesh serves: nodes are as wide as the former needs them. */
const MAX_VARIANCES = 6;

/** The part of the target error that may be missed where a fine solution with a lift stands for an extrapolated one. */
const OF_TARGET = 0.25;

/** What prices trades at nodes on one device. */
class FdmAtNodes implements NodeSolver {
  readonly #device: Device;
  readonly #solver: BatchSolver;

  constructor(device: Device, precision: Precision) {
    this.#device = device;
    this.#solver = new BatchSolver(device, precision);
  }

  /**
   * Prices trades whose method is finite differences at their nodes.
   * @returns those that are to be priced node by node as trades of their own: with a volatility that depends on the
   *   spot, a knock-in, nothing that is random, too wide a range of variances, or a resolution that did not suffice
   * @throws the signal's reason; the error of a lost device
   */
  async price<T extends TradeAtNodes>(
    batch: Batch,
    trades: readonly T[],
    signal: AbortSignal | undefined,
  ): Promise<readonly T[]> {
    const pool = new InstancePool();
    const { spots } = batch.columns.cases;
    const adaptive: AdaptiveBatch = {
      goal: goalOf(batch.settings, batch.precision),
      pool,
      arena: this.#solver.arena,
      reader: new SpotReader(pool, spots),
    };
    const yielder = new EventLoopYielder(signal);
    const left: T[] = [];
    let going: Going<T>[] = [];
    const advance = async (one: Going<T>, next: Going<T>[]): Promise<void> => {
      if (yielder.isDue) await yielder.yieldNow();
      const { count } = pool;
      try {
        const state = one.advance();
        if (state === "left") left.push(one.at);
        else if (state === "going") next.push(one);
      } catch {
        // What is wrong with it is said of the trade in its own market, or of a copy.
        pool.truncate(count);
        left.push(one.at);
      }
    };
    try {
      const all = trades.map((at) => new Going(at, batch, adaptive, this.#device));
      for (const one of all) await advance(one, going);
      while (going.length > 0) {
        if (!(await this.#solve(pool, signal))) return [...left, ...going.map(({ at }) => at)];
        const next: Going<T>[] = [];
        for (const one of going) await advance(one, next);
        going = next;
      }
      return left;
    } finally {
      this.#solver.arena.clear();
    }
  }

  /** Solves what is in the pool; returns false if that fails for a reason of a trade's own. */
  async #solve(pool: InstancePool, signal: AbortSignal | undefined): Promise<boolean> {
    try {
      await pool.solve(this.#solver, pool.count, signal);
      return true;
    } catch (error) {
      if (error instanceof DeviceLostError || signal?.aborted === true) throw error;
      return false;
    }
  }

  [Symbol.dispose](): void {
    this.#solver[Symbol.dispose]();
  }
}

/** The solver of trades at nodes, which an engine opens (`SessionOf`). */
export const fdmAtNodes = {
  open: (device, precision) => new FdmAtNodes(device, precision),
} as const satisfies Opens<NodeSolver>;

/** A trade on its way through the solver: its first nodes at finer and finer resolutions, then the others. */
class Going<T extends TradeAtNodes> {
  readonly at: T;
  readonly #batch: Batch;
  readonly #adaptive: AdaptiveBatch;
  readonly #device: Device;
  #problem: OneFactorProblem | undefined;
  #rows: SharedRows | undefined;
  /** The nodes that are being solved, and the number of those before them. */
  #wanted: readonly number[] = [];
  #taken = 0;
  /** The error estimate of the values, once the resolution is found. */
  #error: number | undefined;
  /** What fine solutions are off by; undefined where all are extrapolated. */
  #lift: Lift | undefined;

  constructor(at: T, batch: Batch, adaptive: AdaptiveBatch, device: Device) {
    this.at = at;
    this.#batch = batch;
    this.#adaptive = adaptive;
    this.#device = device;
  }

  /**
   * Puts into the pool what is to be solved next. @returns whether there is any, or the trade is not priced in this way
   * @throws the error of the trade at a node
   */
  advance(): "going" | "done" | "left" {
    if (this.#rows === undefined) return this.#start() ? "going" : "left";
    if (this.#error === undefined) {
      if (this.#rows.refine()) return "going";
      const estimate = this.#rows.estimate;
      const { spots } = this.#problem!;
      const most = this.#adaptive.goal.accuracy * Math.max(spots[0], spots[1], spots[spots.length - 1]);
      if (!(estimate <= most) || this.#rows.isDriftDominated) return "left";
      this.#error = estimate;
      for (const node of this.#wanted) this.#take(node, (values) => this.#rows!.read(this.#taken, values));
      const lift = liftOf(this.#wanted.map((_, k) => this.#rows!.extrapolation(k)));
      if (OF_CHANGE * lift.change <= OF_TARGET * most) {
        this.#error += OF_CHANGE * lift.change;
        this.#lift = lift;
      }
    } else
      for (const node of this.#wanted) {
        const lift = this.#lift?.at(this.at.placeOf(node));
        this.#take(node, (values) =>
          lift === undefined ? this.#rows!.read(this.#taken, values) : this.#rows!.readFine(this.#taken, values, lift),
        );
      }
    this.#wanted = this.at.wanted();
    for (const node of this.#wanted) this.#rows.add(this.#problemAt(node), this.#lift !== undefined);
    return this.#wanted.length > 0 ? "going" : "done";
  }

  /** Hands out the values at a node, as `read` writes them and returns the largest size of one. */
  #take(node: number, read: (values: Float64Array) => number): void {
    const values = new Float64Array(this.#batch.columns.cases.spots);
    const size = read(values);
    this.#taken++;
    this.at.take(node, values, this.#error! + roundingError(this.#batch.precision, this.#problem!.spots[0], size));
  }

  #start(): boolean {
    const { columns, problems, precision } = this.#batch;
    const { problem, subtracted } = lessLastDividends(problems.at(columns.rowOf(this.at.trade)));
    if (subtracted !== undefined || problem.knockIns !== undefined || problem.diffusion.kind !== "deterministic")
      return false;
    this.#problem = problem;
    this.#wanted = this.at.wanted();
    const assessed = this.#wanted.map((node) => this.#problemAt(node));
    const variances = assessed.map(totalVariance);
    const [least, most] = [Math.min(...variances), Math.max(...variances)];
    const narrow = assessed[variances.indexOf(least)];
    const widest = widestOf(assessed, variances.indexOf(most));
    if (isKnown(narrow) || !(most <= MAX_VARIANCES * least)) return false;
    const errorModel = errorModelOf({ problem: widest, subtracted });
    if (!isSameModel(errorModel, errorModelOf({ problem: narrow, subtracted }))) return false;
    const maxNodes = maxNodesOf(this.#device, precision, problem, false);
    const size = firstResolution(this.#adaptive.goal.accuracy, errorModel, false, maxNodes);
    this.#rows = new SharedRows(
      this.#adaptive,
      { assessed, widest },
      { size, maxNodes, errorModel, reading: "points" },
    );
    return true;
  }

  /** The problem at a node. @throws Error a market that has moved more than the rates, the yield and the volatility */
  #problemAt(node: number): OneFactorProblem {
    const { underlying, volatility } = this.at.assetAt(node);
    const problem = this.#problem!;
    if (volatility.kind !== "deterministic" || underlying.spot !== problem.spots[0])
      throw new Error("nodes differ in more than coefficients");
    const { rates, dividends } = underlying;
    const diffusion = { kind: "deterministic", sigma: volatility.sigma } as const;
    return { ...problem, rates, dividendYield: dividends.yield, diffusion };
  }
}

/**
 * Returns the problem that needs the widest mesh: that with the largest variance, with the rates and the yield under
 * which early exercise is the furthest off, so that a mesh that ends where it is certain serves all others.
 */
function widestOf(problems: readonly OneFactorProblem[], mostVariable: number): OneFactorProblem {
  const widest = problems[mostVariable];
  const { payoff, expiry } = widest;
  const growthOf = ({ rates }: OneFactorProblem): number => integrate(rates, expiry);
  const isCall = payoff.exerciseSide === "high" && !payoff.jumps;
  const cautious = problems.reduce((a, b) => (growthOf(b) < growthOf(a) !== isCall ? b : a));
  const yields = problems.map(({ dividendYield }) => dividendYield);
  return {
    ...widest,
    rates: cautious.rates,
    dividendYield: isCall ? Math.min(...yields) : Math.max(...yields),
  };
}

/** Tells whether two error models are the same. */
function isSameModel(a: ErrorModel, b: ErrorModel): boolean {
  const numbersOf = ({ first, space, time, beyond, min }: ErrorModel): readonly number[] => [
    ...[first.value, first.rough].flatMap(({ nodes, steps }) => [nodes, steps]),
    ...[space, time].flatMap(({ part, order, certain }) => [part, order, certain]),
    beyond,
    min,
  ];
  const others = numbersOf(b);
  return numbersOf(a).every((number, i) => number === others[i]);
}
