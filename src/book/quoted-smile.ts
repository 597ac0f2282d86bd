/** The fitted quotes of an underlying, and how to fit them again in another market. */
import type { Volatility } from "../market/index.ts";
import type { Carry } from "./carry.ts";

/** The fitted quotes of an underlying: their implied volatilities, those of the fit, and how to fit them again. */
export interface QuotedSmile {
  /** The quotes that were fitted. */
  readonly quotes: readonly ImpliedQuote[];
  /** True if a quote moves the fit after the expiry before its own alone. */
  readonly isLocal: boolean;
  /** Returns the implied volatility of the fit at a time in years and a strike; NaN where there is none. */
  readonly impliedAt: (time: number, strike: number) => number;
  /** Fits the quotes again in another market. It returns undefined if no volatility for pricing results. */
  readonly refit: (market: TargetMarket) => Volatility | undefined;
}

/** A quote by its expiry in years, its strike, and its implied volatility. */
export interface ImpliedQuote {
  /** The expiry as the book writes it, a date or years. */
  readonly expiry: number | string;
  readonly time: number;
  readonly strike: number;
  /** The forward price at the expiry. */
  readonly forward: number;
  /** The implied volatility of the quote, that of a European option. */
  readonly implied: number;
  readonly weight: number;
}

/** A market to which the quotes of an underlying are transferred. */
export interface TargetMarket {
  /** Spot, rates and dividends, as they are after `years`. */
  readonly carry: Carry;
  /** The years that have passed, 0 by default. Quotes that have expired are left out. */
  readonly years?: number;
  /** The quotes keep their strikes, or their moneyness K/F. */
  readonly keep: "strike" | "moneyness";
  /** The move of each quote's implied volatility, in the order of `QuotedSmile.quotes`; none by default. */
  readonly moves?: readonly number[] | undefined;
  /** True for small moves in the market of the fit, which its parameters may follow to first order. */
  readonly areSmall?: boolean;
}
