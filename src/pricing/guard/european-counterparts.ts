/** European options with a closed form on a device, beside trades of the same terms with early exercise or barriers. */
import { ResultColumns } from "../columns/result-columns.ts";
import { TradeColumns } from "../columns/trade-columns.ts";
import { closedForm } from "../methods/closed-form/closed-form.ts";
import type { Batch, MethodSession, PricingMethod } from "../plan/method.ts";
import { RowProblems } from "../trade-problem.ts";

/** A European value and its error estimate. */
export interface TwinValue {
  readonly value: number;
  readonly error: number;
}

/**
 * The values of European options with the same terms as the American trades of a batch in Heston's model, in all of its
 * scenarios. They are lower bounds of the American values.
 */
export class EuropeanCounterparts {
  readonly #results: ResultColumns;
  readonly #columns: TradeColumns;
  /** The number of a trade's twin. */
  readonly #number: ReadonlyMap<number, number>;

  private constructor(results: ResultColumns, columns: TradeColumns, number: ReadonlyMap<number, number>) {
    this.#results = results;
    this.#columns = columns;
    this.#number = number;
  }

  /** Prices the European twins of those trades that are American in Heston's model; undefined where there are none. */
  static async of(
    batch: Batch,
    trades: readonly number[],
    sessionOf: (method: PricingMethod) => MethodSession,
    signal: AbortSignal | undefined,
  ): Promise<EuropeanCounterparts | undefined> {
    const { columns } = batch;
    const wanted = trades.filter((trade) => hasTwin(columns, trade));
    if (wanted.length === 0) return undefined;
    const twins = wanted.map((trade) => {
      const plain = { exercise: { kind: "european" }, barriers: [] } as const;
      return { ok: true, trade: { ...columns.tradeOf(trade), ...plain } } as const;
    });
    const own = new TradeColumns(twins, columns.cases);
    twins.forEach((twin, i) => own.add(i, twin.trade, columns.place[wanted[i]]));
    const settings = { ...batch.settings, greeks: "none", sensitivityErrorEstimates: false } as const;
    const twinBatch = { ...batch, columns: own, problems: new RowProblems(own), settings };
    const accepted = [...twins.keys()].filter((i) => typeof closedForm.accepts(twinBatch, i) === "number");
    if (accepted.length === 0) return undefined;
    const results = new ResultColumns(twins.length, columns.cases);
    using plan = await sessionOf(closedForm).plan(twinBatch, accepted, signal);
    await plan.run(signal);
    await plan.read(results, signal);
    return new EuropeanCounterparts(results, own, new Map(accepted.map((i) => [wanted[i], i])));
  }

  /**
   * Returns the value of a trade's European twin in case k of the scenarios at the spot with index `spot`, 0 for
   * today's; undefined without a twin.
   */
  valueOf(trade: number, k: number, spot: number): TwinValue | undefined {
    const i = this.#number.get(trade);
    if (i === undefined) return undefined;
    const { value, errorEstimate, scenarioValues, scenarioErrors } = this.#results;
    if (spot === 0) return { value: value[i], error: errorEstimate[i] };
    const row = this.#columns.rowOf(i) + k;
    return { value: scenarioValues[row * this.#columns.cases.spots + spot - 1], error: scenarioErrors[row] };
  }
}

function hasTwin(columns: TradeColumns, trade: number): boolean {
  if (columns.severalFactors[trade] === 0) return false;
  const { volatility, payoff, exercise, barriers, assets, underlying } = columns.tradeOf(trade);
  if (volatility.kind !== "heston" || assets !== undefined || underlying.shortRate !== undefined) return false;
  return (
    (payoff.kind === "vanilla" || payoff.kind === "digital") && (exercise.kind !== "european" || barriers.length > 0)
  );
}
