import type { AnyTrade, PricedTrade, Trade } from "../../book/index.ts";
import type { Greeks } from "../options.ts";
import type { ExplainTerms, MarketMoves, SmileTerm } from "./types.ts";

/** A trade in both markets with the same terms. */
export interface Pair {
  readonly before: Trade;
  /** The trade `before` at the later date, if its own market had followed its forwards. */
  readonly rolled: Trade;
  readonly after: Trade;
  readonly moves: MarketMoves;
}

/** The further trades to be priced for an explanation, and the function that computes its terms from their values. */
export interface Attribution {
  /** The further trades to be priced. */
  readonly views: readonly AnyTrade[];
  /** The sensitivities that the terms need of any of these trades; by default those of the method. */
  readonly greeks?: Greeks;
  /** Returns the terms of the explanation; `values` has the prices of `views`, in their order. */
  terms(before: PricedTrade, after: PricedTrade, values: readonly PricedTrade[]): ExplainTerms;
  /** Returns the effects of moves of fitted smiles by expiry, for a method that has them. */
  readonly smile?: (before: PricedTrade, values: readonly PricedTrade[]) => readonly SmileTerm[];
}
