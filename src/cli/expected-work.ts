/** Estimates the work of pricing a book from a sample of its trades. */
import type { BookContext, ParsedTrade } from "../book/index.ts";
import type { Work } from "../pricing/index.ts";
import { resultWithin } from "../base/event-loop.ts";
import type { PriceOptions } from "./options.ts";
import { pricingOptionsOf } from "./options.ts";

/** The number of trades from which the work of a whole book is estimated. */
export const SAMPLE_SIZE = 256;

/** The maximum time to wait for the first trades of a stream, in milliseconds. */
const PATIENCE = 100;

/**
 * Estimates the work of pricing a book that is `times` as long as a sample of its trades. Returns undefined if the
 * options are invalid.
 */
export async function expectedWork(
  sample: readonly ParsedTrade[],
  times: number,
  context: BookContext,
  options: PriceOptions,
): Promise<Work | undefined> {
  const { expectedCosts, workOf } = await import("../pricing/index.ts");
  const { precision } = options;
  try {
    return workOf(expectedCosts(sample, context, { ...pricingOptionsOf(options), precision }), times);
  } catch {
    return undefined; // the run will say why
  }
}

/** A stream of trades whose first trades can be read before the stream is consumed. */
export class PeekableTrades implements AsyncIterable<ParsedTrade> {
  readonly #rest: AsyncIterator<ParsedTrade>;
  readonly #seen: Promise<IteratorResult<ParsedTrade>>[] = [];

  constructor(trades: AsyncIterable<ParsedTrade>) {
    this.#rest = trades[Symbol.asyncIterator]();
  }

  /**
   * Returns the first `count` trades, or as many of them as arrive within a short time, and whether these are all
   * trades.
   */
  async first(count: number): Promise<{ readonly trades: ParsedTrade[]; readonly isAll: boolean }> {
    const until = performance.now() + PATIENCE;
    const trades: ParsedTrade[] = [];
    while (trades.length < count) {
      const next = this.#rest.next();
      next.catch(() => undefined); // whoever takes it meets the failure
      this.#seen.push(next);
      const result = await resultWithin(until - performance.now(), next).catch(() => undefined);
      if (result === undefined) return { trades, isAll: false };
      if (result.done === true) return { trades, isAll: true };
      trades.push(result.value);
    }
    return { trades, isAll: false };
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<ParsedTrade> {
    try {
      for (;;) {
        const { value, done } = await (this.#seen.shift() ?? this.#rest.next());
        if (done === true) return;
        yield value;
      }
    } finally {
      await this.#rest.return?.();
    }
  }
}
