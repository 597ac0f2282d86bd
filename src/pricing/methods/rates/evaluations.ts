import type { ShortRateInstance, ShortRateTrade } from "../../../quadrature/rates/index.ts";

/** A linear combination of evaluated values: factors and indices of evaluations, alternating. */
export type Weighted = readonly number[];

/** Returns the value of a linear combination, given all evaluated values. */
export function sumOf(weighted: Weighted, values: Float64Array): number {
  let sum = 0;
  for (let i = 0; i < weighted.length; i += 2) sum += weighted[i] * values[weighted[i + 1]];
  return sum;
}

/** An engine that values claims in markets on a device. M is the type of its market, F of its resolution. */
export interface RatesEngine<M, F> extends Disposable {
  values(
    trades: readonly ShortRateTrade[],
    markets: readonly M[],
    instances: readonly ShortRateInstance[],
    fineness: F,
    signal?: AbortSignal,
  ): Promise<Float64Array>;
}

/** A collection of claims that are to be valued in given markets; those with the same resolution share a launch. */
export class Evaluations<M, F> {
  readonly #trades = new Numbered<ShortRateTrade>();
  readonly #markets = new Numbered<M>();
  readonly #byFineness = new Map<F, { numbers: number[]; instances: ShortRateInstance[] }>();
  #count = 0;
  #values = new Float64Array(0);

  /** Adds a valuation and returns its index. Identical claim or market objects are sent to the device only once. */
  ask(trade: ShortRateTrade, market: M, fineness: F): number {
    const own = this.#byFineness.get(fineness) ?? { numbers: [], instances: [] };
    this.#byFineness.set(fineness, own);
    own.numbers.push(this.#count);
    own.instances.push({ trade: this.#trades.of(trade), market: this.#markets.of(market) });
    return this.#count++;
  }

  /** Values all added claims. @throws the signal's reason; the error of a lost device */
  async run(engine: RatesEngine<M, F>, signal: AbortSignal | undefined): Promise<void> {
    this.#values = new Float64Array(this.#count);
    for (const [fineness, { numbers, instances }] of this.#byFineness) {
      const values = await engine.values(this.#trades.all, this.#markets.all, instances, fineness, signal);
      for (let l = 0; l < values.length; l++) this.#values[numbers[l]] = values[l];
    }
  }

  sum(weighted: Weighted): number {
    return sumOf(weighted, this.#values);
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
