import type { Dividends } from "./dividends.ts";
import type { ForwardCurve, HullWhite } from "./rates.ts";
import type { Volatility } from "./volatility.ts";

/**
 * One underlying with the rates of its currency. It is plain and frozen, and trades share it by reference, so that it
 * may key a cache.
 */
export interface Underlying {
  readonly name: string;
  /** The spot, > 0, in `currency`. */
  readonly spot: number;
  readonly currency: string;
  /** The rates of `currency`; drift and discounting both use them. */
  readonly rates: ForwardCurve;
  /** The model of these rates; without one they are deterministic. */
  readonly shortRate?: HullWhite | undefined;
  readonly dividends: Dividends;
  /** The volatility; absent where every trade has its own. */
  readonly volatility: Volatility | undefined;
}

/** The instantaneous correlation of two drivers, −1 … 1: underlyings by name, short rates by currency. */
export interface Correlation {
  readonly first: string;
  readonly second: string;
  readonly value: number;
}
