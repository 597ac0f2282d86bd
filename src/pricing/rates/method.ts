/** The interface of a method of trades on rates: a folder or file beside this one, and a line in `price-rates.ts`. */
import type { RatesTrade } from "../../book/index.ts";
import type { Device } from "../../device/index.ts";
import type { Precision } from "../../kernel/index.ts";
import type { ResultMethod } from "../columns/result-columns.ts";
import type { RatesMarket } from "./rates-market.ts";

/** A trade at a date, under the rates of that date as moved by a scenario. */
export interface RatesRow {
  /** The trade, with times in years from the date. */
  readonly trade: RatesTrade;
  readonly market: RatesMarket;
  /** The requested sensitivities; none in a scenario. */
  readonly greeks: "all" | "grid" | "none";
  /** The target error, relative to the largest cash flow; undefined for the default. */
  readonly accuracy: number | undefined;
}

/** The value of a row; sensitivities are NaN where they were not requested, and absent where they have no meaning. */
export interface RatesValue {
  readonly value: number;
  readonly errorEstimate: number;
  /** The derivative ∂V/∂t per year, when the market rolls along its forward rates and is otherwise unchanged. */
  readonly theta: number;
  /** The change ∂V per 1.00 of all volatilities of the model, or of the quote. */
  readonly vega: number;
  /** The change ∂V per 1.00 of a parallel move of the rates. */
  readonly rho: number;
  /** The derivatives ∂V/∂z by the zero rates at `KEY_TIMES`. */
  readonly keyRates?: readonly number[];
  /** The derivatives ∂V by parameter of the model, as the book names them. */
  readonly parameters?: Readonly<Record<string, number>>;
  readonly warnings?: readonly string[];
}

/** The value of a row, or its error. */
export type RatesOutcome = RatesValue | Error;

/** A pricing method for trades on rates. */
export interface RatesMethod {
  /** The name of the method in options. */
  readonly name: "closed-form" | "convolution" | "lattice" | "fdm";
  /** The name of the method in results. */
  readonly resultName: ResultMethod;
  /** Returns why the method does not price the trade, which completes "it has …"; undefined where it does. */
  refuses(trade: RatesTrade): string | undefined;
  open(device: Device, precision: Precision): RatesSession;
}

/** The state that a method keeps on one device. One batch uses it at a time. */
export interface RatesSession extends Disposable {
  /** Returns one outcome for each row, in order. @throws the signal's reason; the error of a lost device */
  price(rows: readonly RatesRow[], signal: AbortSignal | undefined): Promise<readonly RatesOutcome[]>;
}
