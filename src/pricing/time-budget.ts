/**
 * The time that each trade of a batch has taken, and its limit. A method that refines its values asks it before each
 * step. If the step may not be taken, the method returns its result so far, with its error estimate and a warning
 * (`WARNING.outOfTime`).
 */
export class TimeBudget {
  /** Seconds; undefined where there is no limit. */
  readonly #limit: number | undefined;
  readonly #now: () => number;
  readonly #spent = new Map<number, number>();

  /** Starts with no time taken. `limit` is in seconds; `now` is a clock in milliseconds. */
  constructor(limit: number | undefined, now: () => number = () => performance.now()) {
    this.#limit = limit;
    this.#now = now;
  }

  /** Runs `work` for some trades of the batch, and charges each of them an equal share of its time. */
  async spend<T>(trades: readonly number[], work: () => Promise<T>): Promise<T> {
    const start = this.#now();
    try {
      return await work();
    } finally {
      const part = (this.#now() - start) / 1000 / trades.length;
      for (const trade of trades) this.#spent.set(trade, this.spentOn(trade) + part);
    }
  }

  /** Returns the seconds that the trade with an index in the batch has taken so far. */
  spentOn(trade: number): number {
    return this.#spent.get(trade) ?? 0;
  }

  /**
   * Tells whether a trade may take a next step that is expected to last `times` the time that the trade has taken so
   * far.
   */
  allowsTimes(trade: number, times: number): boolean {
    return this.#limit === undefined || (1 + times) * this.spentOn(trade) <= this.#limit;
  }
}
