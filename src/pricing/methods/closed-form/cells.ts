/** Closed forms over the cells of trades: columns of inputs, one launch, and columns of values. */
import { integrate } from "../../../market/index.ts";
import type { TradeColumns } from "../../columns/trade-columns.ts";
import type { TradeCells } from "../../plan/cells.ts";
import type { Batch } from "../../plan/method.ts";
import { formulaOf, type Launch, ROUNDING } from "./closed-form.ts";
import { BLACK_SCHOLES, type Formula, HESTON, keptByDividends } from "./formulas.ts";

/** Prices the cells of trades by the formulas of their models. @throws the error of a lost device */
export async function priceCells(batch: Batch, all: readonly TradeCells[], launch: Launch): Promise<void> {
  for (const formula of [BLACK_SCHOLES, HESTON]) {
    const own = all.filter(({ trade }) => formulaOf(batch.columns, trade) === formula);
    const items = own.reduce((sum, { moves }) => sum + moves.count, 0);
    if (items === 0) continue;
    const output = await launch(formula, inputOf(batch.columns, formula, own, items), items);
    let item = 0;
    for (const cells of own) {
      read(batch, formula, cells, { output, items, item });
      item += cells.moves.count;
    }
  }
}

/** Everything in units of the spot, as `ClosedFormPlan` has it. */
function inputOf(columns: TradeColumns, formula: Formula, all: readonly TradeCells[], items: number): Float64Array {
  const input = new Float64Array(items * formula.inputs);
  let item = 0;
  for (const { trade, moves } of all) {
    const row = columns.rowOf(trade);
    const expiry = columns.expiry[row];
    const unit = columns.spot[trade];
    const kept = keptByDividends(columns, row);
    const rates = integrate(columns.ratesOf(row), expiry);
    const dividendYield = columns.dividendYield[trade];
    const { count, spot, rate, dividend, volatility } = moves;
    const others = formula.inputsOf(columns, row);
    input.fill(columns.strike[trade] / unit, items + item, items + item + count);
    others.forEach((value, i) => input.fill(value, (4 + i) * items + item, (4 + i) * items + item + count));
    const moving = (4 + formula.moving) * items;
    for (let k = 0; k < count; k++, item++) {
      input[item] = spot[k] * kept;
      input[2 * items + item] = rates + rate[k] * expiry;
      input[3 * items + item] = (dividendYield + dividend[k]) * expiry;
      if (volatility[k] !== 0) input[moving + item] = formula.movedInput(columns, row, volatility[k]);
    }
  }
  return input;
}

/** The values of a launch, of which those of a trade begin at `item`. */
interface Launched {
  readonly output: ArrayLike<number>;
  readonly items: number;
  readonly item: number;
}

/** Reads the values of a trade's cells. */
function read({ columns, precision }: Batch, formula: Formula, cells: TradeCells, launched: Launched): void {
  const { trade, moves, values, errors } = cells;
  const { output, items, item } = launched;
  const unit = columns.spot[trade];
  const rounding = ROUNDING[precision];
  const estimates = formula.estimate === undefined ? undefined : formula.estimate * items + item;
  for (let k = 0; k < moves.count; k++) {
    const value = output[item + k] * unit;
    const estimate = estimates === undefined ? 0 : output[estimates + k] * unit;
    values[k] = value;
    errors[k] = estimate + rounding * (unit * moves.spot[k] + Math.abs(value));
  }
}
