/** The quotes to which the surfaces of one underlying are fitted, and the result of a fit. */
import { SpecError } from "../base/errors.ts";
import type { DividendTimeChange, LocalSurface, SmileSurface, StochasticVolatility } from "../market/index.ts";

/** The option quotes of one expiry. */
export interface ExpiryQuotes {
  /** The time to expiry in years, > 0. */
  readonly time: number;
  /** The forward price at the expiry. */
  readonly forward: number;
  /** The discount factor to the expiry. */
  readonly discount: number;
  /** The log-moneyness k = ln(K/F) of each quote, strictly increasing. */
  readonly logMoneyness: Float64Array;
  /** The implied volatility of each quote, per √year. */
  readonly implied: Float64Array;
  /** The weight of each quote's squared error of implied volatility; 0 excludes a quote. */
  readonly weights: Float64Array;
}

/** The option quotes of one underlying, by expiry. */
export interface UnderlyingQuotes {
  readonly spot: number;
  /** The expiries in increasing order of time. */
  readonly expiries: readonly ExpiryQuotes[];
  /** The time change by which total variance grows between expiries; calendar time by default. */
  readonly clock?: DividendTimeChange | undefined;
}

/**
 * The result of a check for static arbitrage: the smallest value of a function that must not be negative, and its
 * position.
 */
export interface ArbitrageCheck {
  /** True if `min` is not negative beyond rounding. */
  readonly free: boolean;
  /**
   * The smallest value of Gatheral's g (butterfly arbitrage), or the smallest increase of total variance from one
   * expiry to the next (calendar arbitrage).
   */
  readonly min: number;
  /**
   * The expiry in years and k = ln(K/F) of `min`; undefined if there is nothing to check, as for calendar arbitrage
   * with one expiry.
   */
  readonly at: { readonly time: number; readonly logMoneyness: number } | undefined;
}

/** A local volatility with the implied volatilities that it reproduces, with which European options are priced. */
interface LocalWithSmile {
  readonly kind: "surface";
  readonly surface: Pick<LocalSurface, "times" | "spots" | "volatility">;
  readonly smile: SmileSurface;
}

/**
 * Returns the fit to quotes with small moves, to first order, given the moves of implied volatilities by the index of
 * their expiry.
 */
export type NearbyFit = (moves: ReadonlyMap<number, Float64Array>) => LocalWithSmile;

/** A volatility surface fitted to the quotes of one underlying. */
export interface SurfaceFit {
  /** The status of the fit; "infeasible" if no surface of the model fits the quotes, for the reason in `message`. */
  readonly status: "converged" | "not converged" | "infeasible";
  readonly message?: string;
  /** The parts of the message that are warnings about prices on the surface; the whole message by default. */
  readonly doubts?: readonly string[];
  readonly model: "svi" | "ssvi" | "essvi" | "andreasen-huge" | "local" | "heston" | "sabr" | "stochastic-local";
  /** The parameters by name; an array has one number for each expiry. */
  readonly parameters: Readonly<Record<string, number | readonly number[]>>;
  /**
   * The standard errors, by the names of `parameters`; NaN if a parameter is at a bound, or if there are too few
   * quotes.
   */
  readonly standardErrors?: Readonly<Record<string, number | readonly number[]>>;
  /** Returns the implied volatility at k = ln(K/F) and t years. */
  readonly impliedVolatility: (k: number, t: number) => number;
  /** The check for butterfly arbitrage. */
  readonly butterfly: ArbitrageCheck;
  /** The check for calendar arbitrage. */
  readonly calendar: ArbitrageCheck;
  /** The fits to quotes nearby, where the derivatives of the fit's parameters by the quotes are known. */
  readonly near?: NearbyFit;
  /**
   * The volatility with which trades are priced: a local volatility, a stochastic local volatility, or Heston's
   * parameters.
   */
  readonly volatility:
    | LocalWithSmile
    | {
        readonly kind: "stochasticLocal";
        readonly variance: StochasticVolatility;
        readonly surface: Pick<LocalSurface, "times" | "spots" | "volatility">;
      }
    | {
        readonly kind: "heston";
        readonly heston: Readonly<Record<"v0" | "kappa" | "theta" | "sigma" | "rho", number>>;
      };
}

/** Returns the weighted root mean square error of a surface's implied volatilities, √(Σ wᵢ·eᵢ²/Σ wᵢ). */
export function rmseOf(quotes: UnderlyingQuotes, impliedVolatility: (k: number, t: number) => number): number {
  let [sum, weight] = [0, 0];
  for (const { time, logMoneyness, implied, weights } of quotes.expiries) {
    logMoneyness.forEach((k, i) => {
      sum += weights[i] * (impliedVolatility(k, time) - implied[i]) ** 2;
      weight += weights[i];
    });
  }
  return Math.sqrt(sum / weight);
}

/** Returns the implied volatility of the quote nearest to the forward. */
export function atTheMoney({ logMoneyness, implied }: ExpiryQuotes): number {
  let nearest = 0;
  for (let i = 1; i < logMoneyness.length; i++)
    if (Math.abs(logMoneyness[i]) < Math.abs(logMoneyness[nearest])) nearest = i;
  return implied[nearest];
}

/**
 * Returns a count followed by the words that agree with it in number: `countWithWords(few, "expiry has", "expiries
 * have")`.
 */
export const countWithWords = (count: number, one: string, several: string): string =>
  `${count} ${count === 1 ? one : several}`;

/** Returns the number of quotes whose weight is positive. */
export function quoteCountOf(expiries: readonly ExpiryQuotes[]): number {
  return expiries.reduce((sum, { weights }) => sum + weights.filter((weight) => weight > 0).length, 0);
}

/** Checks quotes and returns them. @throws SpecError for quotes that cannot be fitted */
export function checkedQuotes(quotes: UnderlyingQuotes): UnderlyingQuotes {
  const { spot, expiries } = quotes;
  if (expiries.length === 0) throw new SpecError("quotes: got none, expected at least one; give quotes to fit");
  if (!(spot > 0 && spot < Infinity)) throw new SpecError(`spot: got ${spot}, expected a price above 0`);
  expiries.forEach(({ time, forward, discount, logMoneyness, implied, weights }, i) => {
    const fault = (name: string, value: number, expected: string): never => {
      throw new SpecError(`expiries[${i}].${name}: got ${value}, expected ${expected}`);
    };
    const before = i > 0 ? expiries[i - 1].time : 0;
    if (!(time > before && time < Infinity)) fault("time", time, `a number of years above ${before}`);
    if (!(forward > 0 && forward < Infinity)) fault("forward", forward, "a price above 0");
    if (!(discount > 0 && discount < Infinity)) fault("discount", discount, "a discount factor above 0");
    if (logMoneyness.length === 0) fault("logMoneyness", 0, "at least one quote; leave the expiry out");
    logMoneyness.forEach((k, l) => {
      if (!(k > (l > 0 ? logMoneyness[l - 1] : -Infinity) && k < Infinity))
        fault(`logMoneyness[${l}]`, k, "finite numbers that increase");
      if (!(implied[l] > 0 && implied[l] < Infinity)) fault(`implied[${l}]`, implied[l], "a volatility above 0");
      if (!(weights[l] >= 0 && weights[l] < Infinity)) fault(`weights[${l}]`, weights[l], "a weight, at least 0");
    });
    if (!weights.some((weight) => weight > 0)) fault("weights", 0, "a weight above 0; leave the expiry out");
  });
  return quotes;
}
