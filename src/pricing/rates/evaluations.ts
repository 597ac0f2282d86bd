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
  readonly #trades = new Numbered<ShortRateTrade>();
  readonly #markets = new Numbered<GaussianMarket>();
  readonly #byFineness = new Map<Fineness, { numbers: number[]; instances: ShortRateInstance[] }>();
  #count = 0;
  #values = new Float64Array(0);

  /** The number of a new evaluation. Claims and markets that are the same objects are given to the device once. */
  ask(trade: ShortRateTrade, market: GaussianMarket, fineness: Fineness): number {
    const own = this.#byFineness.get(fineness) ?? { numbers: [], instances: [] };
    this.#byFineness.set(fineness, own);
    own.numbers.push(this.#count);
    own.instances.push({ trade: this.#trades.of(trade), market: this.#markets.of(market) });
    return this.#count++;
  }

  /** Evaluates all that was asked. @throws the signal's reason; what the device throws */
  async run(engine: ShortRateEngine, signal: AbortSignal | undefined): Promise<void> {
    this.#values = new Float64Array(this.#count);
    for (const [fineness, { numbers, instances }] of this.#byFineness) {
      const values = await engine.values(this.#trades.all, this.#markets.all, instances, fineness, signal);
      numbers.forEach((number, l) => (this.#values[number] = values[l]));
    }
  }

  sum(weighted: Weighted): number {
    return weighted.reduce((sum, [factor, number]) => sum + factor * this.#values[number], 0);
  }
}

/** Objects with their numbers. */
class Numbered<T> {
  readonly all: T[] = [];
  readonly #numbers = new Map<T, number>();

  of(one: T): number {
    const known = this.#numbers.get(one);
    if (known !== undefined) return known;
    this.#numbers.set(one, this.all.length);
    return this.all.push(one) - 1;
  }
}
