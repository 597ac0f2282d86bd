/** The interface of a method of trades on rates: a file beside this one, and a line in `kind.ts`. */
import type { RatesTrade } from "../../../book/index.ts";
import type { Device } from "../../../device/index.ts";
import type { Precision } from "../../../kernel/index.ts";
import type { TimeBudget } from "../../plan/method.ts";
import type { RatesMarket } from "./rates-market.ts";

/** A trade to be valued at a date, and the rates at that date, shifted if a scenario requires it. */
export interface RatesRow {
  /** The trade, with times in years from that date. */
  readonly trade: RatesTrade;
  readonly market: RatesMarket;
  /** The requested sensitivities; "none" in a scenario. */
  readonly greeks: "all" | "grid" | "none";
  /** The target error, relative to the largest cash flow; undefined for the method's default. */
  readonly accuracy: number | undefined;
  /** The time of the batch's trades, and the index of this one. */
  readonly time: { readonly budget: TimeBudget; readonly index: number };
}

/**
 * The value of a trade with its sensitivities. They are NaN where they were not requested, and undefined where they
 * have no meaning.
 */
export interface RatesValue {
  readonly value: number;
  readonly errorEstimate: number;
  /** The derivative ∂V/∂t per year, if the market follows its forward rates. */
  readonly theta: number;
  /**
   * The derivative with respect to a parallel shift of all volatilities of the model, or of the quoted volatility, per
   * 1.00.
   */
  readonly vega: number;
  /** The derivative with respect to a parallel shift of the rates, per 1.00. */
  readonly rho: number;
  /** The derivatives with respect to the zero rates at `KEY_TIMES`, per 1.00. */
  readonly keyRates?: readonly number[];
  /** The derivatives with respect to the parameters of the model, by their names in the book. */
  readonly parameters?: Readonly<Record<string, number>>;
  /** The bits of its warnings (`WARNING`). */
  readonly warnings?: number;
}

/** The value of a trade, or the error that prevented it. */
export type RatesOutcome = RatesValue | Error;

/** A pricing method for trades on interest rates. */
export interface RatesMethod {
  /** The name of the method in options and in results. */
  readonly name: "closed-form" | "convolution" | "lattice" | "fdm";
  /**
   * Returns the reason why the method does not price a trade, as text that completes "it has …"; undefined where it
   * does.
   */
  refuses(trade: RatesTrade): string | undefined;
  open(device: Device, precision: Precision): RatesSession;
}

/** The state that a method keeps on one device. Only one batch uses it at a time. */
export interface RatesSession extends Disposable {
  /** Returns one outcome for each row, in order. @throws the signal's reason; the error of a lost device */
  price(rows: readonly RatesRow[], signal: AbortSignal | undefined): Promise<readonly RatesOutcome[]>;
}

/** Returns the largest payment of a trade, to which accuracies and rounding errors are relative. */
export function largestPayment({ product }: RatesTrade): number {
  if (!("bond" in product)) return product.notional;
  return product.bond.flows.reduce((largest, [, amount]) => Math.max(largest, Math.abs(amount)), 0);
}
