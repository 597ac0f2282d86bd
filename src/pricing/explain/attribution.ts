import type { AnyTrade, PricedTrade, Trade } from "../../book/index.ts";
import type { ExplainTerms, MarketMoves } from "./types.ts";

/** A trade in both markets, on the same terms. */
export interface Pair {
  readonly before: Trade;
  /** The trade `before` at the later date, along its own market's forwards. */
  readonly rolled: Trade;
  readonly after: Trade;
  readonly moves: MarketMoves;
}

/** The further trades that an explanation needs priced, and the terms computed from their values. */
export interface Attribution {
  readonly views: readonly AnyTrade[];
  /** Returns the terms; `values` has the prices in the order of the trades. */
  terms(before: PricedTrade, after: PricedTrade, values: readonly PricedTrade[]): ExplainTerms;
}
