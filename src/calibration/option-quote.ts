/** Quotes of options, and their implied volatilities. */
import { blackDeviation, QuoteStatus } from "./implied/volatility.ts";

/** A quoted option: its implied volatility, or its present value. */
export interface OptionQuote {
  /** The time to expiry in years, > 0. */
  readonly time: number;
  /** The forward price at expiry. */
  readonly forward: number;
  /** The discount factor to expiry. */
  readonly discount: number;
  readonly strike: number;
  /** The sign: 1 for a call, −1 for a put. */
  readonly sign: number;
  /** The implied volatility per √year, if that is quoted. */
  readonly implied?: number | undefined;
  /** The present value, if that is quoted. */
  readonly price?: number | undefined;
  /** The weight of the squared error of the implied volatility. */
  readonly weight: number;
  /** True for an American option; `implied` is then the constant volatility that reproduces its American price. */
  readonly american?: boolean | undefined;
}

/** The implied volatility of a quote, and its volatility on the fitted surface. */
export interface FittedQuote {
  /** The implied volatility; undefined if no volatility gives the price. */
  readonly implied: number | undefined;
  /** The volatility of the fitted surface; undefined if there is no fit. */
  readonly fitted: number | undefined;
  /** The early-exercise premium in the price of an American option. */
  readonly premium?: number;
  /** The price of an American option under the fit; undefined if there is no local volatility. */
  readonly repriced?: number;
  /** The difference between `repriced` and the quote, as a difference of volatilities. */
  readonly repricingError?: number;
  /** The reason why the quote was left out of the fit. */
  readonly problem?: string;
}

/** The text of `FittedQuote.problem` for a strike that the spot cannot fall below. */
export const BELOW_CASH = "the strike is not above the cash dividends to come, below which the spot does not fall";

const PROBLEMS: Readonly<Record<number, string>> = {
  [QuoteStatus.belowIntrinsic]: "the price is below its arbitrage bound, the discounted intrinsic value on the forward",
  [QuoteStatus.aboveBound]: "the price is not below its arbitrage bound, the discounted forward (call) or strike (put)",
  [QuoteStatus.notPositive]: "forward and strike have to be above 0",
};

/** Returns the implied volatility of a European quote, or the reason why there is none. */
export function impliedOf(quote: OptionQuote): FittedQuote {
  if (quote.implied !== undefined) return { implied: quote.implied, fitted: undefined };
  const { forward, strike, sign, discount, time, price = Number.NaN } = quote;
  const { deviation, status } = blackDeviation({ quoted: { forward, strike, price: price / discount, sign } });
  if (status !== QuoteStatus.implied) return { implied: undefined, fitted: undefined, problem: PROBLEMS[status] };
  const implied = deviation / Math.sqrt(time);
  return deviation > 0
    ? { implied, fitted: undefined }
    : { implied, fitted: undefined, problem: "the price has no time value, so that it says nothing of a volatility" };
}
