import type { ShortRateInstance, ShortRateTrade } from "../../rates/index.ts";

/** A sum of evaluations: [factor, number]. */
export type Weighted = readonly (readonly [number, number])[];

/** Values of claims in markets on a device, at a fineness. */
export interface RatesEngine<M, F> extends Disposable {
  values(
    trades: readonly ShortRateTrade[],
    markets: readonly M[],
    instances: readonly ShortRateInstance[],
    fineness: F,
    signal?: AbortSignal,
  ): Promise<Float64Array>;
}

/** Claims in markets that are evaluated together, those of one fineness in one launch. */
export class Evaluations<M, F> {
  readonly #trades: ShortRateTrade[] = [];
  readonly #markets: M[] = [];
  readonly #byFineness = new Map<F, { numbers: number[]; instances: ShortRateInstance[] }>();
  #values = new Float64Array(0);

  /** The number of a new evaluation. */
  ask(trade: ShortRateTrade, market: M, fineness: F): number {
    const number = this.#trades.length;
    this.#trades.push(trade);
    this.#markets.push(market);
    const own = this.#byFineness.get(fineness) ?? { numbers: [], instances: [] };
    this.#byFineness.set(fineness, own);
    own.numbers.push(number);
    own.instances.push({ trade: number, market: number });
    return number;
  }

  /** Evaluates all that was asked. @throws the signal's reason; what the device throws */
  async run(engine: RatesEngine<M, F>, signal: AbortSignal | undefined): Promise<void> {
    this.#values = new Float64Array(this.#trades.length);
    for (const [fineness, { numbers, instances }] of this.#byFineness) {
      const values = await engine.values(this.#trades, this.#markets, instances, fineness, signal);
      numbers.forEach((number, l) => (this.#values[number] = values[l]));
    }
  }

  sum(weighted: Weighted): number {
    return weighted.reduce((sum, [factor, number]) => sum + factor * this.#values[number], 0);
  }
}
