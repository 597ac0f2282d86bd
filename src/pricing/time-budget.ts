/**
 * The time that each trade of a batch has taken, and its limit. A method that refines its values consults it before
 * each step; otherwise its result so far is returned, with its error estimate and a warning (`WARNING.outOfTime`).
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

  /** Runs work for some trades of the batch and charges each of them an equal part of its time. */
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

  /** Tells whether a trade may take `times` the time that it has taken so far, for a method's expected next step. */
  allowsTimes(trade: number, times: number): boolean {
    return this.#limit === undefined || (1 + times) * this.spentOn(trade) <= this.#limit;
  }
}
