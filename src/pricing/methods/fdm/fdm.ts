import { DeviceLostError } from "../../../base/errors.ts";
import {
  type AdaptiveBatch,
  AdaptiveRow,
  BatchSolver,
  errorModelOf,
  firstResolution,
  InstancePool,
  lacksErrorExpansion,
  needsItems,
  type OneFactorProblem,
  type ProblemDifference,
  type Resolution,
  type RowSettings,
  SpotReader,
  totalVariance,
  volatilityAt,
} from "../../../pde/fdm/index.ts";
import type { Device } from "../../../device/index.ts";
import type { Precision } from "../../../kernel/index.ts";
import { EventLoopYielder } from "../../../base/event-loop.ts";
import { type NamedSensitivities, type ResultColumns, WARNING } from "../../columns/result-columns.ts";
import type { TradeColumns } from "../../columns/trade-columns.ts";
import {
  isDeterministic,
  isKnown,
  breachedNow,
  readDeterministic,
  readKnockedOut,
  readKnownScenarios,
} from "../deterministic/known.ts";
import {
  type Acceptance,
  type Batch,
  type MethodPlan,
  type MethodSession,
  type PricingMethod,
  readEach,
  roundingError,
  TARGET_ERRORS,
} from "../../plan/method.ts";
import { type SpotMarket, thetaOf } from "../../plan/greeks.ts";
import { costOf, MIN_COST } from "./cost.ts";
import { FINEST_F32, goalOf } from "./goal.ts";
import { lessLastDividends } from "./expiry-dividend.ts";
import { maxNodesOf, RHO, TradeSlopes, VEGA } from "./slopes.ts";
import { smoothingTime } from "./smoothing-time.ts";

/** The cost of a finer resolution, relative to all before it: twice the nodes and twice the steps. */
const FINER = 4;

/**
 * The method of finite differences in one factor, refined to a target accuracy (`AdaptiveRow`). It prices every option
 * on one factor.
 *
 * Cost: 0.1 to 1 ms for a trade with all Greeks on one core at the default accuracy. Verified: test/pricing, against
 * closed forms, published references and QuantLib.
 */
export const fdm = {
  name: "fdm",
  minCost: MIN_COST,
  accuracy: TARGET_ERRORS.fdm,
  accepts: ({ columns }, trade): Acceptance =>
    columns.severalFactors[trade] !== 0
      ? "several factors"
      : (columns.beyondEquations(trade) ?? costOf(columns, trade)),
  open,
} as const satisfies PricingMethod;

function open(device: Device, precision: Precision): MethodSession {
  const solver = new BatchSolver(device, precision);
  return {
    async plan(batch, trades, signal) {
      solver.readsSpotsNext = batch.settings.isUnderNamed === true;
      const plan = new FdmPlan(batch, trades, device, solver);
      try {
        await plan.start(signal);
        return plan;
      } catch (error) {
        plan[Symbol.dispose]();
        throw error;
      }
    },
    [Symbol.dispose]: () => solver[Symbol.dispose](),
  };
}

/**
 * Trades on their way through the solver: pass by pass each names the instances that it wants solved next, until its
 * values are as exact as was asked for.
 *
 *   first    the trade alone, coarsely: its errors in space and in time predict the resolution for the accuracy
 *   second   at that resolution, with vega and rho, and every case of the scenarios; those alone if the first was
 *            enough
 *   then     finer once more each case whose error estimate is still above the accuracy
 *
 * One solve serves every spot; each time, volatility and rate of the scenarios is a row of its own, and as exact as a
 * trade would be. Rows are those of the plan's trades: row i·cases + case for `trades[i]`.
 */
class FdmPlan implements MethodPlan {
  readonly #batch: Batch;
  readonly #columns: TradeColumns;
  readonly #trades: readonly number[];
  readonly #device: Device;
  readonly #solver: BatchSolver;
  readonly #pool = new InstancePool();
  readonly #adaptive: AdaptiveBatch;
  /** The rows that are solved, and the slopes of trades. */
  readonly #rows: AdaptiveRow[] = [];
  readonly #slopes: TradeSlopes[] = [];
  readonly #accuracy: number;
  readonly #cases: number;
  /** The problems of rows that are not settled; a dividend on expiry is in their payoffs. */
  readonly #problems: ProblemDifference[] = [];
  /** 1 for a row that needs no solver. */
  readonly #known: Uint8Array;
  // One entry a trade: 1 once its slopes and scenarios are under way; what its first row is solved with.
  readonly #started: Uint8Array;
  readonly #specs: RowSettings[] = [];
  /** Trades with instances to be solved, by their place in `trades`, and the number after each one's last instance. */
  #going: number[] = [];
  #ends: number[] = [];
  readonly #failures = new Map<number, unknown>();
  /** Trades that would have been refined. */
  readonly #outOfTime = new Set<number>();

  constructor(batch: Batch, trades: readonly number[], device: Device, solver: BatchSolver) {
    const { columns, settings, precision } = batch;
    const { cases } = columns;
    const rows = trades.length * cases.count;
    const goal = goalOf(settings, precision);
    this.#accuracy = goal.accuracy;
    this.#batch = batch;
    this.#columns = columns;
    this.#trades = trades;
    this.#device = device;
    this.#solver = solver;
    this.#cases = cases.count;
    const reader = new SpotReader(this.#pool, cases.spots);
    this.#adaptive = { goal, pool: this.#pool, arena: solver.arena, reader };
    this.#known = new Uint8Array(rows);
    this.#started = new Uint8Array(trades.length);
  }

  /** Makes the first instances of every trade. @throws the signal's reason */
  start(signal: AbortSignal | undefined): Promise<void> {
    return this.#forEach(
      this.#trades.map((_, i) => i),
      signal,
      (i) => this.#startTrade(i),
    );
  }

  async run(signal: AbortSignal | undefined): Promise<void> {
    const { budget } = this.#batch;
    while (this.#going.length > 0) {
      const trades = this.#going.map((i) => this.#trades[i]);
      await budget.spend(trades, () => this.#solve(signal));
      await this.#forEach(
        this.#going.filter((i) => !this.#failures.has(i)),
        signal,
        (i) => this.#advance(i),
      );
    }
  }

  read(results: ResultColumns, signal: AbortSignal | undefined): Promise<void> {
    let next = 0;
    return readEach(this.#trades, results, signal, (trade) => {
      const i = next++;
      if (this.#failures.has(i)) throw this.#failures.get(i);
      this.#readTrade(i, trade, results);
      if (this.#columns.cases.scenarios !== undefined) this.#readScenarios(i, trade, results);
    });
  }

  [Symbol.dispose](): void {
    this.#solver.arena.clear();
  }

  /**
   * Calls `step` for some trades, each of which may put instances into the pool; what one throws is its own failure.
   */
  async #forEach(some: readonly number[], signal: AbortSignal | undefined, step: (i: number) => void): Promise<void> {
    const yielder = new EventLoopYielder(signal);
    const going: number[] = [];
    const ends: number[] = [];
    for (const i of some) {
      if (yielder.isDue) await yielder.yieldNow();
      const { count } = this.#pool;
      try {
        step(i);
      } catch (error) {
        this.#pool.truncate(count);
        this.#failures.set(i, error);
      }
      if (this.#pool.count === count) continue;
      going.push(i);
      ends.push(this.#pool.count);
    }
    this.#going = going;
    this.#ends = ends;
  }

  /**
   * Solves all that is pending together. If that fails for another reason than the device's loss, each trade goes on by
   * itself: one bad formula must not take the others along.
   */
  async #solve(signal: AbortSignal | undefined): Promise<void> {
    const solver = this.#solver;
    const pool = this.#pool;
    const solveUpTo = async (end: number): Promise<{ readonly error: unknown } | undefined> => {
      try {
        await pool.solve(solver, end, signal);
        return undefined;
      } catch (error) {
        if (error instanceof DeviceLostError || signal?.aborted === true) throw error;
        return { error };
      }
    };
    if (this.#going.length > 1 && (await solveUpTo(pool.count)) === undefined) return;
    for (const [k, i] of this.#going.entries()) {
      const failed = await solveUpTo(this.#ends[k]);
      if (failed === undefined) continue;
      this.#failures.set(i, failed.error);
      pool.skip(this.#ends[k]);
    }
  }

  #startTrade(i: number): void {
    const { columns, problems, settings, precision } = this.#batch;
    const first = columns.rowOf(this.#trades[i]);
    const base = i * this.#cases;
    const isAllKnown = this.#isDeterministic(first);
    let inItems = false;
    for (let c = 0; c < this.#cases; c++) {
      if (columns.settled[first + c] !== 0) continue;
      const own = problems.at(first + c);
      inItems ||= needsItems(own.problem);
      const solved = isAllKnown ? own : lessLastDividends(own);
      this.#problems[base + c] = solved;
      this.#known[base + c] = isAllKnown || isKnown(solved.problem) ? 1 : 0;
    }
    const maxNodes = maxNodesOf(this.#device, precision, problems.at(first).problem, inItems);
    const errorModel = errorModelOf(this.#problems[base]);
    const size = firstResolution(this.#accuracy, errorModel, settings.greeks !== "none", maxNodes);
    this.#specs[i] = { size, maxNodes, errorModel, reading: "both" };
    if (this.#known[base] !== 0) this.#startScenarios(i, size);
    else this.#rows[base] = new AdaptiveRow(this.#adaptive, this.#problems[base], this.#specs[i]);
  }

  /** Tells whether nothing moves at random in any of the rows of a trade. */
  #isDeterministic(first: number): boolean {
    for (let c = 0; c < this.#cases; c++) if (!isDeterministic(this.#batch, first + c)) return false;
    return true;
  }

  /** Continues with a trade all of whose instances have their values. */
  #advance(i: number): void {
    const base = i * this.#cases;
    const { settings, precision, budget } = this.#batch;
    const mayRefine = budget.allowsTimes(this.#trades[i], FINER);
    for (const row of this.#rows.slice(base, base + this.#cases))
      if (row?.advance(mayRefine) === true) this.#outOfTime.add(i);
    if (this.#started[i] !== 0) return;
    const { pairs, size } = this.#rows[base];
    const problems = this.#problems[base];
    if (settings.greeks === "all" && breachedNow(problems.problem) === undefined)
      this.#slopes[i] = new TradeSlopes(
        this.#adaptive,
        problems,
        pairs,
        this.#device,
        { precision, tellsErrors: settings.sensitivityErrorEstimates },
        this.#batch.directionsOf?.(this.#trades[i]) ?? [],
      );
    this.#startScenarios(i, size);
  }

  /** The scenarios' cases, the base case left out, on meshes of their own. */
  #startScenarios(i: number, size: Resolution): void {
    this.#started[i] = 1;
    const base = i * this.#cases;
    const spec: RowSettings = { ...this.#specs[i], size, reading: "points" };
    for (let row = base + 1; row < base + this.#cases; row++)
      if (this.#problems[row] !== undefined && this.#known[row] === 0)
        this.#rows[row] = new AdaptiveRow(this.#adaptive, this.#problems[row], spec);
  }

  #readTrade(i: number, trade: number, results: ResultColumns): void {
    const row = i * this.#cases;
    const { settings, precision } = this.#batch;
    const problems = this.#problems[row];
    const { problem } = problems;
    if (this.#known[row] !== 0) {
      readDeterministic(problems, trade, results);
      return;
    }
    if (precision === "f32" && (settings.accuracy ?? TARGET_ERRORS.fdm) < FINEST_F32)
      results.warnings[trade] |= WARNING.beyondF32;
    const paid = breachedNow(problem);
    if (paid !== undefined) {
      readKnockedOut(problem, paid, trade, results);
      return;
    }
    const solved = this.#rows[row];
    const spot = problem.spots[0];
    const { delta, gamma } = solved;
    const value = solved.value(0);
    const estimate = solved.estimate(0);
    const error = estimate + roundingError(precision, spot, solved.magnitude(0));
    const theta = solved.isExercised ? 0 : thetaOf(marketOf(problem), value, delta, gamma);
    const known = this.#slopes[i];
    const slopes = { vega: known?.slopes.slope(VEGA), rho: known?.slopes.slope(RHO) };
    if (known !== undefined && this.#batch.directionsOf !== undefined) results.slopes.set(trade, known.along(error));
    const measures = settings.greeks === "none" ? slopes : { delta, gamma, theta, ...slopes };
    results.setToday(trade, value, error, measures, settings.sensitivityErrorEstimates ? this.#errorsOf(i, error) : {});
    if (this.#outOfTime.has(i)) results.warnings[trade] |= WARNING.outOfTime;
    const rough = lacksErrorExpansion(problem);
    if (solved.isDriftDominated && (rough || estimate > this.#accuracy * spot))
      results.warnings[trade] |= rough ? WARNING.roughVolatility : WARNING.driftDominates;
    results.priced(trade, "fdm");
  }

  /**
   * Error estimates of the sensitivities: what extrapolation moved them by, and the value's own estimate over the width
   * in which the value changes much: a standard deviation of the spot, and what of volatility and rates is one.
   */
  #errorsOf(i: number, estimate: number): NamedSensitivities {
    const row = i * this.#cases;
    const { problem } = this.#problems[row];
    const { spot, rate, dividendYield, sigma } = marketOf(problem);
    const deviation = Math.sqrt(totalVariance(problem));
    const solved = this.#rows[row];
    const slopes = this.#slopes[i]?.slopes;
    // Where the trade is exercised, all that is not known is on which node the boundary is.
    const width = solved.isExercised ? solved.cellWidth : spot * Math.min(0.5 * deviation, 1);
    const [volatility, rates] = [deviation / Math.sqrt(problem.expiry), deviation / problem.expiry];
    const delta = 2 * solved.deltaMove + estimate / width;
    const gamma = 2 * solved.gammaMove + (estimate / width ** 2) * (problem.expiry / smoothingTime(problem));
    return {
      delta,
      gamma,
      theta:
        Math.abs(rate) * estimate + Math.abs(rate - dividendYield) * spot * delta + 0.5 * (sigma * spot) ** 2 * gamma,
      vega: slopes?.error(VEGA, estimate, 0.5 * volatility),
      rho: slopes?.error(RHO, estimate, 0.5 * rates),
    };
  }

  #readScenarios(i: number, trade: number, results: ResultColumns): void {
    const base = i * this.#cases;
    const first = this.#columns.rowOf(trade);
    for (let c = 0; c < this.#cases; c++) {
      const problems = this.#problems[base + c];
      if (problems === undefined) continue; // settled
      if (this.#known[base + c] !== 0) readKnownScenarios(problems, first + c, results);
      else this.#readSolved(base + c, first + c, results);
    }
    if (this.#known[base] === 0) this.#keepToday(base, first, results);
  }

  #readSolved(row: number, to: number, results: ResultColumns): void {
    const { spots } = this.#problems[row].problem;
    const solved = this.#rows[row];
    results.setScenarios(
      to,
      (k) => solved.value(k + 1),
      (k) => solved.estimate(k + 1) + roundingError(this.#batch.precision, spots[k + 1], solved.magnitude(k + 1)),
    );
  }

  /**
   * The scenario that moves nothing is the trade's value, to the last bit: not another reading of the same solution.
   */
  #keepToday(row: number, to: number, { scenarioValues }: ResultColumns): void {
    const [today, ...spots] = this.#problems[row].problem.spots;
    const value = this.#rows[row].value(0);
    for (let k = 0; k < spots.length; k++) if (spots[k] === today) scenarioValues[to * spots.length + k] = value;
  }
}

function marketOf({ spots, rates, dividendYield, diffusion }: OneFactorProblem): SpotMarket {
  const [spot] = spots;
  return { spot, rate: rates.values[0], dividendYield, sigma: volatilityAt(diffusion, spot, 0) };
}
