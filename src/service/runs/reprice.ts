/** Prices a sample of the trades of a run again, and checks that the results are bitwise identical. */
import type { ParsedTrade, TradeResult } from "../../book/index.ts";
import type { Manifest } from "./manifest.ts";
import type { ResultRow } from "./result-file.ts";
import type { OpenBook } from "./plan.ts";
import type { Pricer } from "./price-run.ts";

/** A result that is different when its trade is priced again. Both results are JSON text. */
export interface RepricingDifference {
  /** The index of the trade in the book. */
  readonly index: number;
  readonly id: string | null;
  readonly before: string;
  readonly now: string;
}

/**
 * Returns a function that tells whether the trade with a given index belongs to a sample of a fraction `share` of all
 * trades. The sample is pseudo-random and always the same.
 */
export function sampleOf(share: number): (index: number) => boolean {
  const below = Math.min(share, 1) * 2 ** 32;
  return (index) => mixed(index) < below;
}

/** A pseudorandom integer from 0 to 2³² − 1 for each index (the finalizer of MurmurHash3). */
function mixed(index: number): number {
  let x = (index + 0x9e3779b9) >>> 0;
  x = Math.imul(x ^ (x >>> 16), 0x85ebca6b);
  x = Math.imul(x ^ (x >>> 13), 0xc2b2ae35);
  return (x ^ (x >>> 16)) >>> 0;
}

/** A trade of the sample and its stored result. */
interface Sampled {
  readonly index: number;
  readonly row: ResultRow;
}

/** Prices a sample of a run's trades again, chunk by chunk, and compares the results to the bit. */
export class Repricer {
  readonly #request: { readonly manifest: Manifest; readonly book: OpenBook; readonly pricer: Pricer };
  readonly #isSampled: (index: number) => boolean;
  readonly #signal: AbortSignal;
  readonly differences: RepricingDifference[] = [];
  compared = 0;

  constructor(
    request: { readonly manifest: Manifest; readonly book: OpenBook; readonly pricer: Pricer },
    share: number,
    signal: AbortSignal,
  ) {
    this.#request = request;
    this.#isSampled = sampleOf(share);
    this.#signal = signal;
  }

  /**
   * Prices the sampled trades of a chunk again and adds to `differences`. @throws RunError | StorageError; as
   * `priceTrades`
   */
  async compare(chunk: number, rows: readonly ResultRow[]): Promise<void> {
    const { manifest, book, pricer } = this.#request;
    const { first } = manifest.chunks[chunk];
    const sampled = rows.flatMap((row, i) => (this.#isSampled(first + i) ? [{ index: first + i, row }] : []));
    if (sampled.length === 0) return;
    const trades = this.#trades(chunk);
    const options = { ...manifest.options, signal: this.#signal, onProgress: () => undefined };
    let next = 0;
    for await (const results of pricer.priceTrades(trades, book.book, options))
      for (const result of results) this.#add(sampled[next++], result);
  }

  async *#trades(chunk: number): AsyncGenerator<ParsedTrade> {
    const { manifest, book } = this.#request;
    let index = manifest.chunks[chunk].first;
    for await (const some of book.book.read(manifest.chunks[chunk])) yield* some.filter(() => this.#isSampled(index++));
  }

  #add({ index, row }: Sampled, result: TradeResult): void {
    this.compared++;
    const [before, now] = [JSON.stringify(row.result), JSON.stringify(result)];
    if (before !== now) this.differences.push({ index, id: result.id, before, now });
  }
}
