/**
 * The time that each trade of a batch has taken, and its limit. A method that refines its values asks before it goes
 * on; what it has by then is the result, with its error estimate and a warning (`WARNING.outOfTime`).
 */
export class TimeBudget {
  /** Seconds; undefined where there is no limit. */
  readonly #limit: number | undefined;
  readonly #now: () => number;
  readonly #spent = new Map<number, number>();

  /** `now`: a clock, in milliseconds. */
  constructor(limit: number | undefined, now: () => number = () => performance.now()) {
    this.#limit = limit;
    this.#now = now;
  }

  /** Does work for some trades of the batch together: each of them has taken an equal part of its time. */
  async spend<T>(trades: readonly number[], work: () => Promise<T>): Promise<T> {
    const start = this.#now();
    try {
      return await work();
    } finally {
      const part = (this.#now() - start) / 1000 / trades.length;
      for (const trade of trades) this.#spent.set(trade, this.spentOn(trade) + part);
    }
  }

  /** Returns the seconds that a trade has taken so far. */
  spentOn(trade: number): number {
    return this.#spent.get(trade) ?? 0;
  }

  /**
   * Tells whether a trade may take `times` as long again as it has so far; a method passes what it expects of its next
   * step.
   */
  allowsTimes(trade: number, times: number): boolean {
    return this.#limit === undefined || (1 + times) * this.spentOn(trade) <= this.#limit;
  }
}
