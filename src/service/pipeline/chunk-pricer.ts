import { type ChunkedBook, type ChunkPosition, hashOfId, type ParsedTrade, Totals } from "../../book/index.ts";
import type { Device } from "../../device/index.ts";
import { writerFor } from "../../output/formats/index.ts";
import {
  Backend,
  inReportingCurrency,
  priceBatch,
  settingsOf,
  underMovedQuotes,
  underScenarios,
} from "../../pricing/index.ts";
import type { ChunkSetting, WrittenChunk } from "./setting.ts";

/** A worker that reads, prices and writes chunks of a book, each as one batch. */
export class ChunkPricer implements Disposable {
  readonly #book: ChunkedBook;
  readonly #setting: ChunkSetting;
  readonly #backend: Backend;

  /** Creates a pricer of chunks. If the device is lost, `openFallback` opens another one, by default the CPU. */
  constructor(book: ChunkedBook, setting: ChunkSetting, device: Device, openFallback?: () => Promise<Device>) {
    this.#book = book;
    this.#setting = setting;
    this.#backend = new Backend(device, setting.precision, openFallback);
  }

  /** Prices a chunk. @throws BookError if the file can no longer be read; the signal's reason */
  async price(chunk: ChunkPosition, signal: AbortSignal): Promise<WrittenChunk> {
    const { format: name, start, options } = this.#setting;
    const format = writerFor(name);
    // What it writes at its beginning is written by who asks for the chunks.
    await format.begin({ ...start, continues: chunk.first > 0 });
    const trades: ParsedTrade[] = [];
    for await (const some of this.#book.read(chunk)) trades.push(...some);
    const { scenarios } = this.#book;
    const settings = settingsOf(options, this.#book);
    const own = await this.#backend.run((engine) =>
      underMovedQuotes(trades, chunk.first, { ...settings, scenarios }, (some, under) =>
        priceBatch(some, chunk.first, { ...settings, ...under, engine, signal }),
      ),
    );
    const named = await underScenarios(trades, own, chunk.first, this.#book, (batch, priceHere) =>
      this.#backend.run((engine) =>
        priceHere({ ...batch, setting: { ...settings, scenarios: undefined, engine, signal } }),
      ),
    );
    const results = await inReportingCurrency(trades, named, this.#book);
    const totals = new Totals();
    const ids = new Uint32Array(2 * trades.length);
    const rows = results.map((result, i) => {
      const parsed = trades[i];
      const trade = parsed.ok ? parsed.trade : undefined;
      totals.add(trade, result);
      if (trade !== undefined) [ids[2 * i], ids[2 * i + 1]] = hashOfId(trade.id);
      return { trade, result };
    });
    return {
      text: format.rows(rows) as WrittenChunk["text"],
      counts: totals.counts,
      totals: totals.totals,
      reporting: totals.reporting,
      ids,
    };
  }

  [Symbol.dispose](): void {
    this.#backend.dispose();
  }
}
