/** Trades that a method prices in many markets together. */
import type { Asset } from "../terms.ts";
import type { Batch } from "./method.ts";

/** A trade that is to be priced in several markets, its nodes. */
export interface TradeAtNodes {
  /** The index of the trade in a batch, in the market of one of its nodes. */
  readonly trade: number;
  /**
   * Returns the nodes that are wanted next, once the values at all before them have been taken; none where it has all.
   * The first ones, whose errors decide on the resolution of all, are to be the extremes of its markets.
   */
  wanted(): readonly number[];
  /** Returns the underlying and the volatility at a node, whose spot is that of the batch. */
  assetAt(node: number): Asset;
  /**
   * Returns the place of a node in the range of each factor: 0 for the one in the centre, −1 for the lowest move and 1
   * for the highest.
   */
  placeOf(node: number): readonly number[];
  /** Takes the values at a node, one for each spot of the batch's scenarios, and their error estimate. */
  take(node: number, values: Float64Array, error: number): void;
}

/** What prices trades at nodes by one method on one device. */
export interface NodeSolver extends Disposable {
  /**
   * Prices trades whose method it has at their nodes. @returns those that are to be priced node by node as trades of
   * their own
   * @throws the signal's reason; the error of a lost device
   */
  price<T extends TradeAtNodes>(
    batch: Batch,
    trades: readonly T[],
    signal: AbortSignal | undefined,
  ): Promise<readonly T[]>;
}
