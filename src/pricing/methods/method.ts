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
  /** The equations of the rows, for the methods that solve them. */
  readonly problems: RowProblems;
  readonly settings: Settings;
  /** The time that the trades have taken, and whether they may take more. */
  readonly budget: TimeBudget;
  readonly precision: Precision;
}

/** The expected cost of a trade on one core, in microseconds, or the reason why the method does not price it. */
export type Acceptance = number | string;

/**
 * A pricing method for options: it takes trades as columns and returns columns. A method is a folder beside this file,
 * and a line in `choose.ts`.
 */
export interface PricingMethod {
  readonly name: Exclude<MethodName, "auto">;
  /** A lower bound of the costs from `accepts`; where another method costs no more, this one is not tried. */
  readonly minCost: number;
  /** The method that prices its trades of several factors, if it has one. */
  readonly ofSeveralFactors?: PricingMethod;
  /** The default target error, relative to the largest spot; undefined where rounding is the only error. */
  readonly accuracy?: number;
  /**
   * Returns the expected cost of a trade with all its scenarios, or the reason why the method cannot price it, which
   * completes the sentence "it has …". @throws the error of the trade itself
   */
  accepts(batch: Batch, trade: number): Acceptance;
  /** Opens the method on a device. */
  open(device: Device, precision: Precision): MethodSession;
}

/**
 * The state that a method keeps on one device from batch to batch: compiled kernels, buffers. One batch uses it at a
 * time.
 */
export interface MethodSession extends Disposable {
  /** Prepares the trades that the method has accepted. @throws the signal's reason */
  plan(batch: Batch, trades: readonly number[], signal: AbortSignal | undefined): Promise<MethodPlan>;
}

/** The trades of one batch that a method prices. */
export interface MethodPlan extends Disposable {
  /**
   * Computes the trades. The error of a trade is kept for `read`. @throws the signal's reason; the error of a lost
   * device
   */
  run(signal: AbortSignal | undefined): Promise<void>;
  /** Stores the result or the error of each of its trades in the columns. @throws the signal's reason */
  read(results: ResultColumns, signal: AbortSignal | undefined): Promise<void>;
}
