import type { MethodName } from "../../book/index.ts";
import type { Device } from "../../device/index.ts";
import type { Precision } from "../../kernel/index.ts";
import type { ResultColumns } from "../columns/result-columns.ts";
import type { TradeColumns } from "../columns/trade-columns.ts";
import type { Settings } from "../options.ts";
import type { TimeBudget } from "../time-budget.ts";
import type { RowProblems } from "../trade-problem.ts";

/** A batch as methods see it. */
export interface Batch {
  readonly columns: TradeColumns;
  /** The equations of the rows, for the methods that solve one. */
  readonly problems: RowProblems;
  readonly settings: Settings;
  /** The time that its trades have taken, and whether they may take more. */
  readonly budget: TimeBudget;
  readonly precision: Precision;
}

/** The expected cost of a trade on one core, in microseconds, or the reason why the method does not price it. */
export type Acceptance = number | string;

/**
 * One numerical method of the book. It takes trades as columns and gives columns; the caller knows nothing else of it.
 * A method is a folder beside this file, and a line in `batch.ts`.
 */
export interface PricingMethod {
  readonly name: Exclude<MethodName, "auto">;
  /** The least that `accepts` gives: where another method costs no more, this one is not asked. */
  readonly minCost: number;
  /** The method by which it prices trades of several factors, where that is one of its own. */
  readonly ofSeveralFactors?: PricingMethod;
  /** The error aimed at where nothing is said, relative to the largest spot; none where rounding is all there is. */
  readonly accuracy?: number;
  /**
   * Returns the expected cost of a trade with all its scenarios, or the reason why the method cannot price it, which
   * completes the sentence "it has …".
   * @throws what is wrong with the trade itself
   */
  accepts(batch: Batch, trade: number): Acceptance;
  /** The method on a device. */
  open(device: Device, precision: Precision): MethodSession;
}

/**
 * The state that a method keeps on one device from batch to batch: compiled kernels, buffers. One batch uses it at a
 * time.
 */
export interface MethodSession extends Disposable {
  /** Gets the trades that the method has accepted ready. @throws the signal's reason */
  plan(batch: Batch, trades: readonly number[], signal: AbortSignal | undefined): Promise<MethodPlan>;
}

/** Trades of one batch on their way through a method. */
export interface MethodPlan extends Disposable {
  /**
   * Computes the trades. What is wrong with one trade is kept for `read`.
   * @throws the signal's reason; what the device throws
   */
  run(signal: AbortSignal | undefined): Promise<void>;
  /** Puts the result or the error of each of its trades into the columns. @throws the signal's reason */
  read(results: ResultColumns, signal: AbortSignal | undefined): Promise<void>;
}
