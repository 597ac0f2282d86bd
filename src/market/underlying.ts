import type { Dividends } from "./dividends.ts";
import { combined, type ForwardCurve, type HullWhite, type PiecewiseConstant, rollCurve } from "./rates.ts";
import type { Volatility } from "./volatility.ts";

/** A quoted pair from whose spot another one follows: the spot of the other is the product of spot^power. */
export interface PairPower {
  readonly pair: string;
  readonly power: 1 | -1;
}

/**
 * A currency whose price is in another one. Forward prices are spot·exp(∫(domestic − foreign)) from the spot date to
 * the delivery. The rates of its `Underlying` are chosen such that they less its yield are that drift.
 */
export interface CurrencyPair {
  /** The currency that is bought and sold. */
  readonly base: string;
  readonly domestic: ForwardCurve;
  readonly foreign: ForwardCurve;
  /** The years from the valuation to the spot date. */
  readonly lag: number;
  /** The quoted pairs from which the spot follows; itself alone where it is quoted. */
  readonly quoted: readonly PairPower[];
}

/** Returns the rates that less a constant yield are the drift of a pair's spot, from spot date to spot date. */
export const pairRates = ({ domestic, foreign, lag }: CurrencyPair, yields: number): PiecewiseConstant =>
  combined(rollCurve(domestic, lag), rollCurve(foreign, lag), (r, f) => r - f + yields);

/**
 * An underlying with the interest rates of its currency. It is a frozen plain object that trades share by reference, so
 * that it may be the key of a cache.
 */
export interface Underlying {
  readonly name: string;
  /** The spot, > 0, in `currency`. */
  readonly spot: number;
  readonly currency: string;
  /** The interest rates of `currency`, for both drift and discounting unless `pair` says otherwise. */
  readonly rates: ForwardCurve;
  /** Where the underlying is a currency: how its spot is delivered, and the curves of both currencies. */
  readonly pair?: CurrencyPair | undefined;
  /** The model of these rates; if it is undefined they are deterministic. */
  readonly shortRate?: HullWhite | undefined;
  readonly dividends: Dividends;
  /** The volatility; undefined if every trade has its own. */
  readonly volatility: Volatility | undefined;
}

/**
 * The instantaneous correlation of two risk factors, −1 … 1. A factor is an underlying, named by its name, or a short
 * rate, named by its currency.
 */
export interface Correlation {
  readonly first: string;
  readonly second: string;
  readonly value: number;
}
