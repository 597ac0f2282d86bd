import { EventLoopYielder } from "../../base/event-loop.ts";
import type { MethodName } from "../../book/index.ts";
import type { Device } from "../../device/index.ts";
import type { Precision } from "../../kernel/index.ts";
import type { ResultColumns } from "../columns/result-columns.ts";
import type { TradeColumns } from "../columns/trade-columns.ts";
import type { Settings } from "../options.ts";
import type { RowProblems } from "../trade-problem.ts";
import type { TradeCells } from "./cells.ts";
import type { Direction } from "./directions.ts";

/** A batch of trades as pricing methods see it. */
export interface Batch {
  readonly columns: TradeColumns;
  /** The one-factor problems of the rows, for methods that solve equations. */
  readonly problems: RowProblems;
  readonly settings: Settings;
  /** The time that each trade has taken, and whether it may take more. */
  readonly budget: TimeBudget;
  readonly precision: Precision;
  /**
   * Returns the moves of the market along which slopes of a trade's value are wanted; undefined if none are. A method
   * that knows slopes puts them into `ResultColumns.slopes` (`directions.ts`).
   */
  readonly directionsOf?: ((trade: number) => readonly Direction[]) | undefined;
}

/**
 * The expected cost of a trade by a method, in microseconds of one core, or the reason why the method does not price
 * it.
 */
export type Acceptance = number | string;

/**
 * A pricing method. It returns results as typed arrays. Each method is a folder or file in `methods/`, and a line of
 * the kind of trade that it prices.
 */
export interface PricingMethod {
  readonly name: Exclude<MethodName, "auto"> | "lattice";
  /**
   * A lower bound of the costs that `accepts` returns. The method is not tried where another one costs no more than
   * this.
   */
  readonly minCost: number;
  /** The method whose work is alike on every device, which tells how fast one does it; by default the method itself. */
  readonly worksLike?: Exclude<MethodName, "auto">;
  /** Another name by which the method may be requested. */
  readonly alias?: Exclude<MethodName, "auto">;
  /** The default target error, relative to the largest spot; undefined where rounding is the only error. */
  readonly accuracy?: number;
  /**
   * Returns the expected cost of a trade with all its scenarios, or the reason why the method cannot price it, as text
   * that completes the sentence "it has …". @throws the error of the trade itself
   */
  accepts(batch: Batch, trade: number): Acceptance;
  /**
   * Tells whether sessions have `priceCells`, and whether that prices cells of a trade which the method has accepted.
   */
  pricesCells?(batch: Batch, trade: number): boolean;
  /** Opens a session of the method on a device. */
  open(device: Device, precision: Precision): MethodSession;
}

/**
 * The compiled kernels and buffers that a method keeps on one device from batch to batch. Only one batch uses a session
 * at a time.
 */
export interface MethodSession extends Disposable {
  /** Prepares the trades of a batch that the method has accepted. @throws the signal's reason */
  plan(batch: Batch, trades: readonly number[], signal: AbortSignal | undefined): Promise<MethodPlan>;
  /**
   * Adds to results what follows from their values, once these are within their bounds. @throws the signal's reason;
   * the error of a lost device
   */
  finish?(
    batch: Batch,
    trades: readonly number[],
    results: ResultColumns,
    signal: AbortSignal | undefined,
  ): Promise<void>;
  /**
   * Prices trades in many markets each, which differ from the market of the batch by a few numbers (`pricesCells`).
   * @throws the signal's reason; the error of a lost device
   */
  priceCells?(batch: Batch, cells: readonly TradeCells[], signal: AbortSignal | undefined): Promise<void>;
}

/** The trades of one batch that a method prices, prepared for their computation. */
export interface MethodPlan extends Disposable {
  /**
   * Computes the values. An error of a single trade is kept for `read`. @throws the signal's reason; the error of a
   * lost device
   */
  run(signal: AbortSignal | undefined): Promise<void>;
  /** Stores the result or the error of each trade. @throws the signal's reason */
  read(results: ResultColumns, signal: AbortSignal | undefined): Promise<void>;
}

/**
 * The time that each trade of a batch has taken, and its limit. A method that refines its values asks it before each
 * step. If the step may not be taken, the method returns its result so far, with its error estimate and a warning
 * (`WARNING.outOfTime`).
 */
export class TimeBudget {
  /** Seconds; undefined where there is no limit. */
  readonly #limit: number | undefined;
  readonly #now: () => number;
  readonly #spent = new Map<number, number>();

  /** Starts with no time taken. `limit` is in seconds; `now` is a clock in milliseconds. */
  constructor(limit: number | undefined, now: () => number = () => performance.now()) {
    this.#limit = limit;
    this.#now = now;
  }

  /** Runs `work` for some trades of the batch, and charges each of them an equal share of its time. */
  async spend<T>(trades: readonly number[], work: () => Promise<T>): Promise<T> {
    const start = this.#now();
    try {
      return await work();
    } finally {
      const part = (this.#now() - start) / 1000 / trades.length;
      for (const trade of trades) this.#spent.set(trade, this.spentOn(trade) + part);
    }
  }

  /** Returns the seconds that the trade with an index in the batch has taken so far. */
  spentOn(trade: number): number {
    return this.#spent.get(trade) ?? 0;
  }

  /**
   * Tells whether a trade may take a next step that is expected to last `times` the time that the trade has taken so
   * far.
   */
  allowsTimes(trade: number, times: number): boolean {
    return this.#limit === undefined || (1 + times) * this.spentOn(trade) <= this.#limit;
  }
}

/**
 * Calls `read` for one trade after another. An error that it throws becomes the result of its trade. @throws the
 * signal's reason
 */
export async function readEach(
  trades: readonly number[],
  results: ResultColumns,
  signal: AbortSignal | undefined,
  read: (trade: number, results: ResultColumns) => void,
): Promise<void> {
  const yielder = new EventLoopYielder(signal);
  for (const trade of trades) {
    if (yielder.isDue) await yielder.yieldNow();
    try {
      read(trade, results);
    } catch (error) {
      results.fail(trade, error);
    }
  }
}

/**
 * The default target errors of values by method, relative to the spot: to the largest of several, and for swings to
 * that of all units.
 */
export const TARGET_ERRORS = {
  integral: 1e-5,
  fdm: 1e-5,
  adi: 1e-4,
  "sparse-grid": 1e-3,
  montecarlo: 1e-3,
  quantization: 1e-3,
  convolution: 1e-3,
} as const;

/**
 * Returns the estimated rounding error of a value at a spot, in the currency; in f32 it limits the attainable accuracy.
 * Its constants were measured on the reference cases.
 *
 * @param size the size of the value; of a difference the sum of the sizes of both values.
 */
export function roundingError(precision: Precision, spot: number, size: number): number {
  return precision === "f32" ? 3e-6 * spot + 1e-5 * Math.abs(size) : 1e-12 * (spot + Math.abs(size));
}

/** The error of the bounds of a value, relative to spot and value, beside rounding. */
const OF_BOUNDS = 1e-9;

/** Returns the rounding error of a value and of its bounds. */
export const boundsRounding = (precision: Precision, spot: number, value: number): number =>
  roundingError(precision, spot, value) + OF_BOUNDS * (spot + Math.abs(value));
