/** The quotes that every fit of one underlying takes, and the surface that it gives. */
import { SpecError } from "../errors.ts";
import type { LocalSurface, StochasticVolatility } from "../market/index.ts";

/** The quotes of one expiry. */
export interface ExpiryQuotes {
  /** The time to expiry in years, > 0. */
  readonly time: number;
  /** The forward to the expiry. */
  readonly forward: number;
  readonly discount: number;
  /** The log-moneyness k = ln(K/F), strictly increasing. */
  readonly logMoneyness: Float64Array;
  /** The implied volatilities per √year. */
  readonly implied: Float64Array;
  /** The weights of squared errors of implied volatility; 0 leaves a quote out. */
  readonly weights: Float64Array;
}

/** The quotes of one underlying. */
export interface UnderlyingQuotes {
  readonly spot: number;
  /** The expiries in increasing order of time. */
  readonly expiries: readonly ExpiryQuotes[];
}

/** The result of a check for static arbitrage, with the place of its smallest value. */
export interface ArbitrageCheck {
  /** True where `min` is not below 0, to rounding. */
  readonly free: boolean;
  /** The smallest g of Gatheral, or the smallest increase of total variance from one expiry to the next. */
  readonly min: number;
  /** The place of `min`; undefined where there is nothing to check, such as a calendar of one expiry. */
  readonly at: { readonly time: number; readonly logMoneyness: number } | undefined;
}

/** The fit of one underlying. */
export interface SurfaceFit {
  /** The status; "infeasible" where no surface of the model fits the quotes, with the reason in the message. */
  readonly status: "converged" | "not converged" | "infeasible";
  readonly message?: string;
  readonly model: "svi" | "ssvi" | "essvi" | "andreasen-huge" | "local" | "heston" | "sabr" | "stochastic-local";
  /** The parameters by name; a list has one number for each expiry. */
  readonly parameters: Readonly<Record<string, number | readonly number[]>>;
  /**
   * The standard errors by the names of `parameters`; NaN where a parameter is at a bound, or there are too few quotes.
   */
  readonly standardErrors?: Readonly<Record<string, number | readonly number[]>>;
  /** Returns the implied volatility at k = ln(K/F) and t years. */
  readonly impliedVolatility: (k: number, t: number) => number;
  readonly butterfly: ArbitrageCheck;
  readonly calendar: ArbitrageCheck;
  /** The volatility that prices trades: local, stochastic and local, or the parameters of Heston's model. */
  readonly volatility:
    | { readonly kind: "surface"; readonly surface: Pick<LocalSurface, "times" | "spots" | "volatility"> }
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

/** Returns √(Σ wᵢ·eᵢ²/Σ wᵢ) of implied volatilities. */
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

/** Returns the number of quotes with a weight. */
export function countOf(expiries: readonly ExpiryQuotes[]): number {
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
