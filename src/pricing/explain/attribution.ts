import type { PricedTrade, Trade } from "../../book/index.ts";
import type { ExplainTerms, MarketMoves } from "./types.ts";

/** A trade in both markets, on the same terms. */
export interface Pair {
  readonly before: Trade;
  /** `before` at the later date, along its own market's forwards. */
  readonly rolled: Trade;
  readonly after: Trade;
  readonly moves: MarketMoves;
}

/** What a method has to have priced besides the two trades, and what it makes of that. */
export interface Attribution {
  readonly views: readonly Trade[];
  /** `values` as the views, in their order. */
  terms(before: PricedTrade, after: PricedTrade, values: readonly PricedTrade[]): ExplainTerms;
}
