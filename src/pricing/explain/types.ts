import type { BookReport, GroupTotals, TradeError, TradeLabels } from "../../book/index.ts";
import type { PricingOptions } from "../options.ts";
import type { MarketMoves } from "../plan/kind.ts";

export type { MarketMoves } from "../plan/kind.ts";

/**
 * The method that explains a change of value: "taylor" by an expansion of second order about the earlier market,
 * "revaluation" by pricing again with one market input changed at a time.
 * @stable
 */
export type ExplainMethod = "taylor" | "revaluation";

/** What the quotes of a volatility keep while the spot moves: their strikes, or their moneyness K/F. @stable */
export type Sticky = "strike" | "delta";

/**
 * The options of `explainBook`: those of `priceBook`, except `greeks`, `sensitivityErrorEstimates` and `method`.
 * @stable
 */
export interface ExplainOptions extends Omit<PricingOptions, "greeks" | "sensitivityErrorEstimates" | "method"> {
  /** The method of the explanation, "taylor" by default. */
  readonly method?: ExplainMethod;
  /**
   * What the quotes of fitted volatilities keep while the spot moves, "strike" by default. Their moves are those at a
   * strike or at a moneyness, and delta is the sensitivity that goes with it.
   */
  readonly sticky?: Sticky | undefined;
  /** Adds totals for each group of trades: by `"underlying"`, `"currency"`, or a tag, `"tag.desk"` or `"desk"`. */
  readonly groupBy?: readonly string[] | undefined;
}

/**
 * The terms of each method, in the order in which they are reported.
 *
 * Taylor: `theta`, `delta`, `vega` and `rho` are sensitivities times moves, and `gamma` is ½·V_SS·ΔS². `exDividend`
 * reverses what `delta` and `gamma` count for the dividends paid, because the option's value does not drop with the
 * spot on an ex-date. `dividends` is the effect of a changed forecast of dividends and yield, found by pricing again.
 * The other terms of second order are `thetaTime` ½·V_tt, `charm` V_St, `vanna` V_Sσ, `volga` ½·V_σσ, `veta` V_σt,
 * `rhoSpot` V_Sr, `rhoTime` V_rt, `rhoVolatility` V_σr and `rhoRate` ½·V_rr, each times its moves. `dividendCross` is
 * the effect of the changed forecast on delta and theta.
 *
 * For volatilities that are fitted to quotes, `vega`, `skew` and `curvature` are the effects of the level, slope and
 * curvature of the fitted smile's move, summed over the expiries. `smileRest` is the effect of what these leave of the
 * move. For these trades and for those on several underlyings first derivatives are differences of prices, `gamma`,
 * `volga` and the joint terms are full effects, and `correlation` is the effect of changed correlations.
 *
 * Revaluation: `time` comes first, along the earlier market's forwards, with the spot reduced by the dividends paid.
 * `exDividend` reverses that reduction. From there `spot`, `volatility`, `rate` and `dividends` are changed, each
 * alone; for a convertible bond also `credit`, the issuer's credit, and for several underlyings `correlation`. `cross`
 * is their joint effect beyond the sum of the single ones.
 * @stable
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
    "skew",
    "curvature",
    "smileRest",
    "correlation",
  ],
  revaluation: ["time", "exDividend", "spot", "volatility", "rate", "dividends", "credit", "correlation", "cross"],
} as const satisfies Record<ExplainMethod, readonly string[]>;

/** The name of a term, of either method (`EXPLAIN_TERMS`). @stable */
export type ExplainTerm = (typeof EXPLAIN_TERMS)[ExplainMethod][number];

/** The terms of an explanation by name, in the currency. @stable */
export type ExplainTerms = Readonly<Partial<Record<ExplainTerm, number>>>;

/**
 * The effects of the move of a fitted smile at one of its expiries, and the move: c₀ + c₁·k + c₂·k² in k = ln(K/F) with
 * the level c₀, the slope c₁ and the curvature c₂.
 * @stable
 */
export interface SmileTerm {
  readonly underlying: string;
  /** The expiry of the quotes, as the earlier book writes it. */
  readonly expiry: number | string;
  /** The effect of the level's move, in the currency. */
  readonly level: number;
  readonly slope: number;
  readonly curvature: number;
  readonly moves: Readonly<Record<"level" | "slope" | "curvature", number>>;
}

/**
 * The status of an explained trade.
 * * `matured`: expired between the two dates; `cash` is its payoff.
 * * `new`, `gone`: in one book only, and not expired.
 * * `changed`: in both books, on different terms; `reason` says which.
 * * `error`: cannot be read or priced.
 * @stable
 */
export type ExplainStatus = "explained" | "matured" | "new" | "gone" | "changed" | "error";

/**
 * The explanation of one trade, per unit of quantity, in the underlying's currency:
 *
 *   change = after + cash − before = Σ terms + unexplained.
 *
 * These numbers are null for trades that are neither explained nor matured.
 * @stable
 */
export interface ExplainedTrade extends Partial<Pick<TradeLabels, "underlying" | "currency" | "tags">> {
  readonly id: string | null;
  readonly status: ExplainStatus;
  /** The value in the earlier book. */
  readonly before: number | null;
  /** The value in the later book. */
  readonly after: number | null;
  /** The cash that the holder received between the dates. */
  readonly cash: number | null;
  /** The change of value, `after` + `cash` − `before`. */
  readonly change: number | null;
  /** The effects into which the change is split, by name. */
  readonly terms: ExplainTerms | null;
  /** The part of the change that the terms do not explain. */
  readonly unexplained: number | null;
  /** The changes of the trade's market inputs; null for several underlyings, which have `assetMoves`. */
  readonly moves: MarketMoves | null;
  /** The changes of the market inputs of each of several underlyings, by name. */
  readonly assetMoves?: Readonly<Record<string, MarketMoves>>;
  /** The effects of moves of fitted smiles by expiry, which `vega`, `skew` and `curvature` sum up. */
  readonly smile?: readonly SmileTerm[];
  /** The quantity in the earlier book; null where the trade is not in it. */
  readonly quantityBefore: number | null;
  /** The quantity in the later book; null where the trade is not in it. */
  readonly quantityAfter: number | null;
  /** The error estimate of `after` − `before`, which covers both values. */
  readonly errorEstimate: number | null;
  readonly warnings: readonly string[];
  /** The term in which the trades of both books differ, for the status "changed". */
  readonly reason?: string;
  /** The error, for the status "error". */
  readonly error?: TradeError;
}

/**
 * The sums over the trades of one currency, weighted by quantity:
 *
 *   change = after + cash − before = Σ terms + unexplained + trading.
 *
 * The terms are for the earlier quantities. `trading` is the value of new, gone and changed trades, and of changed
 * quantities.
 * @stable
 */
export interface ExplainTotals {
  readonly currency: string;
  /** The number of trades with a value in either book. */
  readonly trades: number;
  /** The sum of quantity times value in the earlier book. */
  readonly before: number;
  /** The sum of quantity times value in the later book. */
  readonly after: number;
  /** The cash received between the dates, for the earlier quantities. */
  readonly cash: number;
  readonly change: number;
  readonly terms: ExplainTerms;
  readonly unexplained: number;
  /** The value of new, gone and changed trades, and of changed quantities. */
  readonly trading: number;
  /** The sum Σ |quantity|·errorEstimate. */
  readonly errorEstimate: number;
  /** The effects of moves of fitted smiles, by underlying and expiry, for the earlier quantities. */
  readonly smile?: readonly SmileTerm[];
}

/** The sums over one group of trades in one currency. @stable */
export interface ExplainGroupTotals extends ExplainTotals {
  /** The group's value of each name in `groupBy`; null for trades without such a tag. */
  readonly group: GroupTotals["group"];
}

/** The result of `explainBook`. @stable */
export interface ExplainReport {
  readonly method: ExplainMethod;
  /** The dates of the two books, as they give them. */
  readonly asOf: { readonly before: string; readonly after: string };
  /** The time in years between the dates of the books, Act/365F. */
  readonly years: number;
  /** The device on which the trades were priced. */
  readonly device: BookReport["device"];
  /** The number of trades whose change of value is split into terms. */
  readonly explained: number;
  /** The number of trades with the status "error". */
  readonly failed: number;
  /** The totals by currency, in the order of their first trades. */
  readonly totals: readonly ExplainTotals[];
  /** The totals by group and currency, if `groupBy` was given, in the order of their first trades. */
  readonly groups?: readonly ExplainGroupTotals[];
  /** The lines in the order of the earlier book, then those of trades that only the later book has. */
  readonly results: readonly ExplainedTrade[];
}
