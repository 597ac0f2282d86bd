/** The interface of a method of trades on rates: a folder or file beside this one, and a line in `price-rates.ts`. */
import type { RatesTrade } from "../../book/index.ts";
import type { Device } from "../../device/index.ts";
import type { Precision } from "../../kernel/index.ts";
import type { ResultMethod } from "../columns/result-columns.ts";
import type { RatesMarket } from "./rates-market.ts";

/** A trade as it stands at a date, under the rates of that date as a scenario moves them. */
export interface RatesRow {
  /** Its times are years from the date. */
  readonly trade: RatesTrade;
  readonly market: RatesMarket;
  /** The sensitivities that are asked for; none of a scenario. */
  readonly greeks: "all" | "grid" | "none";
  /** The error to aim at, relative to the largest cash flow; undefined where nothing is asked. */
  readonly accuracy: number | undefined;
}

/** The value of a row; sensitivities are NaN where they were not asked for, and absent where they mean nothing. */
export interface RatesValue {
  readonly value: number;
  readonly errorEstimate: number;
  /** ∂V/∂t per year: the market rolls along its forward rates, and nothing else moves. */
  readonly theta: number;
  /** ∂V per 1.00 of all volatilities of the model, or of the quote. */
  readonly vega: number;
  /** ∂V per 1.00 of a parallel move of the rates. */
  readonly rho: number;
  /** ∂V/∂z of the zero rates at `KEY_TIMES`. */
  readonly keyRates?: readonly number[];
  /** ∂V by parameter of the model, as the book names them. */
  readonly parameters?: Readonly<Record<string, number>>;
  readonly warnings?: readonly string[];
}

/** A row's value, or why it has none. */
export type RatesOutcome = RatesValue | Error;

export interface RatesMethod {
  /** The name by which options call it. */
  readonly name: "closed-form" | "convolution" | "lattice" | "fdm";
  /** The name by which results call it. */
  readonly resultName: ResultMethod;
  /** Why the method does not price the trade, which completes "it has …"; undefined where it does. */
  refuses(trade: RatesTrade): string | undefined;
  open(device: Device, precision: Precision): RatesSession;
}

/** The state that a method keeps on one device. One batch uses it at a time. */
export interface RatesSession extends Disposable {
  /** One outcome for each row, in their order. @throws the signal's reason; what the device throws */
  price(rows: readonly RatesRow[], signal: AbortSignal | undefined): Promise<readonly RatesOutcome[]>;
}
