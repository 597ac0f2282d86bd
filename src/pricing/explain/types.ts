import type { BookReport, TradeError } from "../../book/index.ts";
import type { PricingOptions } from "../options.ts";

/**
 * The method that explains a change of value: "taylor" by an expansion of second order about the earlier market,
 * "revaluation" by pricing again with one part of the market moved at a time.
 */
export type ExplainMethod = "taylor" | "revaluation";

/** The options of `explainBook`: those of `priceBook`, except `greeks`, `sensitivityErrorEstimates` and `method`. */
export interface ExplainOptions extends Omit<PricingOptions, "greeks" | "sensitivityErrorEstimates" | "method"> {
  /** The method of the explanation, "taylor" by default. */
  readonly method?: ExplainMethod;
}

/**
 * The terms of each method, in the order in which they are reported.
 *
 * Taylor: `theta`, `delta`, `vega` and `rho` are sensitivities times moves; `gamma` is ½·V_SS·ΔS². `exDividend`
 * reverses what `delta` and `gamma` count for the dividends paid, because the option's value does not drop with the
 * spot on an ex-date. `dividends` is the changed forecast of dividends and yield, found by pricing again. The terms of
 * second order are `thetaTime` ½·V_tt, `charm` V_St, `vanna` V_Sσ, `volga` ½·V_σσ, `veta` V_σt, `rhoSpot`, `rhoTime`,
 * `rhoVolatility` and `rhoRate` ½·V_rr, each times its moves. `dividendCross` is the effect of the changed forecast on
 * delta and theta.
 *
 * Revaluation: `time` comes first, along the earlier market's forwards, with the spot reduced by the dividends paid.
 * `exDividend` reverses that reduction. From there `spot`, `volatility`, `rate` and `dividends` are changed, each
 * alone, and so is `credit`, that of a convertible bond's issuer. `cross` is their joint effect beyond the sum of the
 * single ones.
 */
export const EXPLAIN_TERMS = {
  taylor: [
    "theta",
    "delta",
    "gamma",
    "vega",
    "rho",
    "exDividend",
    "dividends",
    "thetaTime",
    "charm",
    "vanna",
    "volga",
    "veta",
    "rhoSpot",
    "rhoTime",
    "rhoVolatility",
    "rhoRate",
    "dividendCross",
    "credit",
  ],
  revaluation: ["time", "exDividend", "spot", "volatility", "rate", "dividends", "credit", "cross"],
} as const satisfies Record<ExplainMethod, readonly string[]>;

/** The name of a term, of either method. */
export type ExplainTerm = (typeof EXPLAIN_TERMS)[ExplainMethod][number];

/** The terms of the report's method, in the currency. */
export type ExplainTerms = Readonly<Partial<Record<ExplainTerm, number>>>;

/** The changes of one trade's market inputs between the two dates. */
export interface MarketMoves {
  /** The time between the two dates, or to the expiry between them. */
  readonly years: number;
  /** The change of the spot, as quoted. */
  readonly spot: number;
  /** The amount by which dividends paid in between reduced the spot. */
  readonly paid: number;
  /**
   * The parallel move of the volatility that gives the later total variance to expiry; for a σ that depends on S, its
   * move at the earlier spot.
   */
  readonly volatility: number;
  /** The parallel move of rates that gives the later discount factor to expiry. */
  readonly rate: number;
}

/**
 * The status of an explained trade.
 * * `matured`: expired between the two dates; `cash` is its payoff.
 * * `new`, `gone`: in one book only, and not expired.
 * * `changed`: in both books, on different terms; `reason` says which.
 * * `error`: cannot be read or priced.
 */
export type ExplainStatus = "explained" | "matured" | "new" | "gone" | "changed" | "error";

/**
 * One trade, per unit of quantity, in the underlying's currency:
 *
 *   change = after + cash − before = Σ terms + unexplained,
 *
 * for explained and matured trades; otherwise null.
 */
export interface ExplainedTrade {
  readonly id: string | null;
  readonly status: ExplainStatus;
  readonly before: number | null;
  readonly after: number | null;
  /** The cash that the holder received in between. */
  readonly cash: number | null;
  readonly change: number | null;
  readonly terms: ExplainTerms | null;
  readonly unexplained: number | null;
  readonly moves: MarketMoves | null;
  readonly quantityBefore: number | null;
  readonly quantityAfter: number | null;
  /** The error estimate of both values together. */
  readonly errorEstimate: number | null;
  readonly warnings: readonly string[];
  readonly reason?: string;
  readonly error?: TradeError;
}

/**
 * Sums over the trades of one currency, times quantity:
 *
 *   change = after + cash − before = Σ terms + unexplained + trading.
 *
 * Terms are for the earlier quantity; `trading` is the value of new, gone and changed trades and of changed quantities.
 */
export interface ExplainTotals {
  readonly currency: string;
  /** The number of trades with a value on either side. */
  readonly trades: number;
  readonly before: number;
  readonly after: number;
  readonly cash: number;
  readonly change: number;
  readonly terms: ExplainTerms;
  readonly unexplained: number;
  readonly trading: number;
  /** The sum Σ |quantity|·errorEstimate. */
  readonly errorEstimate: number;
}

/** The result of `explainBook`. */
export interface ExplainReport {
  readonly method: ExplainMethod;
  readonly asOf: { readonly before: string; readonly after: string };
  /** The time between the dates, Act/365F. */
  readonly years: number;
  readonly device: BookReport["device"];
  readonly explained: number;
  readonly failed: number;
  /** The totals by currency, in the order of their first trades. */
  readonly totals: readonly ExplainTotals[];
  /** The results in the order of the earlier book, then those of trades that only the later one has. */
  readonly results: readonly ExplainedTrade[];
}
