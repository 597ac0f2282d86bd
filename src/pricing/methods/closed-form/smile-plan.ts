import type { Smile } from "../../../market/index.ts";
import { type ResultColumns, STATUS } from "../../columns/result-columns.ts";
import type { TradeColumns } from "../../columns/trade-columns.ts";
import { costOf } from "../fdm/cost.ts";
import type { Batch, MethodPlan, MethodSession } from "../../plan/method.ts";
import { readEach } from "../../plan/read-each.ts";
import { smileOf, valueOnSmile } from "./smile.ts";

/** Microseconds that a value takes on one core. */
const COST = 1;

/** Tells whether a trade is worth more than one number: its Greeks and scenarios move the market of its smile. */
const isMoved = ({ columns, settings }: Batch): boolean =>
  settings.greeks !== "none" || columns.cases.scenarios !== undefined;

/** Returns the expected cost of a trade on a smile, in microseconds of one core. */
export const smileCost = (batch: Batch, trade: number): number =>
  isMoved(batch) ? costOf(batch.columns, trade) : COST;

/**
 * European trades on fitted smiles. Their values are those of the implied volatilities. What Greeks and scenarios move
 * is the local volatility of the same fit, by finite differences, whose misfit today is taken off at all spots: it
 * vanishes in proportion to the time that is left.
 */
export class SmilePlan implements MethodPlan {
  readonly #columns: TradeColumns;
  readonly #trades: readonly number[];
  readonly #moved: MethodPlan | undefined;

  private constructor(columns: TradeColumns, trades: readonly number[], moved: MethodPlan | undefined) {
    this.#columns = columns;
    this.#trades = trades;
    this.#moved = moved;
  }

  /** Prepares trades; `sessionOf` opens finite differences where they are needed. @throws the signal's reason */
  static async of(
    batch: Batch,
    trades: readonly number[],
    sessionOf: () => MethodSession,
    signal: AbortSignal | undefined,
  ): Promise<SmilePlan> {
    const moved = isMoved(batch) ? await sessionOf().plan(batch, trades, signal) : undefined;
    return new SmilePlan(batch.columns, trades, moved);
  }

  async run(signal: AbortSignal | undefined): Promise<void> {
    await this.#moved?.run(signal);
  }

  async read(results: ResultColumns, signal: AbortSignal | undefined): Promise<void> {
    await this.#moved?.read(results, signal);
    await readEach(this.#trades, results, signal, (trade) => this.#readTrade(trade, results));
  }

  [Symbol.dispose](): void {
    this.#moved?.[Symbol.dispose]();
  }

  #readTrade(trade: number, results: ResultColumns): void {
    if (results.status[trade] === STATUS.failed) return;
    const columns = this.#columns;
    const { value, error } = valueOnSmile(columns, trade, smileOf(columns, trade) as Smile);
    const misfit = value - results.value[trade];
    results.value[trade] = value;
    results.errorEstimate[trade] = error;
    if (this.#moved !== undefined) {
      results.theta[trade] -= misfit / columns.expiry[columns.rowOf(trade)];
      if (columns.cases.scenarios !== undefined) this.#takeOff(misfit, trade, results);
    }
    results.priced(trade, "implied-volatility");
  }

  #takeOff(misfit: number, trade: number, { value, scenarioValues, scenarioErrors }: ResultColumns): void {
    const columns = this.#columns;
    const { count, spots } = columns.cases;
    const first = columns.rowOf(trade);
    for (let row = first; row < first + count; row++) {
      if (columns.settled[row] !== 0) continue;
      const left = columns.expiry[row] / columns.expiry[first];
      for (let k = 0; k < spots; k++) scenarioValues[row * spots + k] += left * misfit;
      scenarioErrors[row] += left * Math.abs(misfit);
    }
    // The scenario that moves nothing is the trade's value, to the last bit.
    for (let k = 0; k < spots; k++)
      if (columns.spotAt(trade, k + 1) === columns.spot[trade]) scenarioValues[first * spots + k] = value[trade];
  }
}
