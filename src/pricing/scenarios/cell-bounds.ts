/** The bounds of calls, puts and digitals on one underlying, cell by cell over arrays. */
import { integrate } from "../../market/index.ts";
import { EXERCISE } from "../columns/trade-columns.ts";
import { vanillaValue } from "../guard/bound-inputs.ts";
import { BLACK_SCHOLES, keptByDividends } from "../methods/closed-form/formulas.ts";
import type { TradeCells } from "../plan/cells.ts";
import { type Batch, boundsRounding } from "../plan/method.ts";

/**
 * Holds the values of a trade's cells against their bounds, those of `vanillaBounds` and `digitalBounds`. As `Guard`
 * does, it moves to its bounds a value that is outside by no more than its error; one that is further out becomes NaN.
 */
export function boundCells({ columns, precision }: Batch, { trade, moves, values, errors }: TradeCells): void {
  const row = columns.rowOf(trade);
  const expiry = columns.expiry[row];
  const today = columns.spot[trade];
  const strike = columns.strike[trade];
  const sign = columns.sign[trade];
  const cash = columns.cash[trade];
  const kept = keptByDividends(columns, row);
  const rates = integrate(columns.ratesOf(row), expiry);
  const yields = columns.dividendYield[trade] * expiry;
  const isEarly = columns.exercise[trade] === EXERCISE.american;
  for (let k = 0; k < moves.count; k++) {
    const value = values[k];
    const spot = today * moves.spot[k];
    const discount = Math.exp(-rates - moves.rate[k] * expiry);
    let [low, high] = [0, cash * discount];
    if (cash === 0) {
      const growth = Math.exp(-yields - moves.dividend[k] * expiry);
      const [asset, bond] = [spot * kept * growth, strike * discount];
      low = Math.max(sign * (asset - bond), 0);
      high = sign > 0 ? asset : bond;
      if (isEarly) {
        const variance = BLACK_SCHOLES.movedInput(columns, row, moves.volatility[k]);
        low = Math.max(vanillaValue(sign, asset, strike, discount, variance), sign * (spot - strike), low);
        high = Math.max(low, sign > 0 ? spot * Math.max(1, growth) : strike * Math.max(1, discount));
      }
    }
    const rounding = boundsRounding(precision, spot, value);
    if (value >= low && value <= high) errors[k] = Math.min(errors[k], Math.max(high - value, value - low) + rounding);
    else {
      const far = value < low ? low - value : value - high;
      values[k] = far <= errors[k] + rounding ? Math.min(Math.max(value, low), high) : Number.NaN;
      errors[k] = Math.max(errors[k], far);
    }
  }
}
