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

/**
 * What simpler solutions of a trade are off by, told by its first nodes: a parabola in each factor, through the centre
 * and both ends.
 */
export interface Lift {
  /** The largest change from the centre, half of which a value with the parabola is taken to miss. */
  readonly change: number;
  /** Returns what is to be added to values at a node, [spot], given its place in the range of each factor. */
  at(place: readonly number[]): Float64Array;
}

/** Returns the lift of a trade given what its simpler solutions are off by at its first nodes, [node][spot]. */
export function liftOf([centre, ...ends]: readonly Float64Array[]): Lift {
  let change = 0;
  for (const end of ends) end.forEach((by, s) => (change = Math.max(change, Math.abs(by - centre[s]))));
  const at = (place: readonly number[]): Float64Array =>
    centre.map((by, s) =>
      place.reduce((sum, x, d) => {
        const [low, high] = [ends[2 * d][s] - by, ends[2 * d + 1][s] - by];
        return sum + 0.5 * x * ((x - 1) * low + (x + 1) * high);
      }, by),
    );
  return { change, at };
}

/** The part of the largest change of a lift that a value with it is taken to miss. */
export const OF_CHANGE = 0.5;

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
