import type {
  Fineness,
  GaussianMarket,
  ShortRateEngine,
  ShortRateInstance,
  ShortRateTrade,
} from "../../rates/index.ts";

/** A sum of evaluations: [factor, number]. */
export type Weighted = readonly (readonly [number, number])[];

/** Claims in markets that are evaluated together, those of one resolution in one launch. */
export class Evaluations {
  readonly #trades: ShortRateTrade[] = [];
  readonly #markets: GaussianMarket[] = [];
  readonly #byFineness = new Map<Fineness, { numbers: number[]; instances: ShortRateInstance[] }>();
  #values = new Float64Array(0);

  /** The number of a new evaluation. */
  ask(trade: ShortRateTrade, market: GaussianMarket, fineness: Fineness): number {
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
  async run(engine: ShortRateEngine, signal: AbortSignal | undefined): Promise<void> {
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
