import type { AnyTrade, PricedTrade, Trade } from "../../book/index.ts";
import type { ExplainTerms, MarketMoves } from "./types.ts";

/** A trade in both markets, on the same terms. */
export interface Pair {
  readonly before: Trade;
  /** `before` at the later date, along its own market's forwards. */
  readonly rolled: Trade;
  readonly after: Trade;
  readonly moves: MarketMoves;
}

/** The further trades that a method needs priced for an explanation, and the terms that it makes of their values. */
export interface Attribution {
  readonly views: readonly AnyTrade[];
  /** `values` as the views, in their order. */
  terms(before: PricedTrade, after: PricedTrade, values: readonly PricedTrade[]): ExplainTerms;
}
