import type { AnyTrade, PricedTrade, Trade } from "../../book/index.ts";
import type { ExplainTerms, MarketMoves } from "./types.ts";

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
  /** Returns the terms of the explanation; `values` has the prices of `views`, in their order. */
  terms(before: PricedTrade, after: PricedTrade, values: readonly PricedTrade[]): ExplainTerms;
}
