/** Cells of trades: joint moves of the market, under which some methods price a trade from a few numbers each. */

/** Joint moves of the market as a trade on one underlying sees them, a number for each cell. */
export interface CellMoves {
  /** The number of cells. */
  readonly count: number;
  /** The factors by which the spot is multiplied. */
  readonly spot: Float64Array;
  /** What is added to the volatility, to the rates of the currency, and to the yield. */
  readonly volatility: Float64Array;
  readonly rate: Float64Array;
  readonly dividend: Float64Array;
}

/** A trade of a batch with its cells, and the values that a method finds for them. */
export interface TradeCells {
  /** The index in the batch. */
  readonly trade: number;
  readonly moves: CellMoves;
  /** The values, NaN for a cell that is to be priced as a trade of its own, and the estimates of their errors. */
  readonly values: Float64Array;
  readonly errors: Float64Array;
}
