/** Prices a run on one machine. The chunks that are not priced yet are one stream of trades. */
import { hostname } from "node:os";
import type { AnyTrade, BookContext, BookReport, ParsedTrade, TradeResult } from "../../book/index.ts";
import type { PricedRow } from "../../output/formats/index.ts";
import { type Manifest, type RunOptions, type ChunkOutcome, writeManifest } from "./manifest.ts";
import { changedBookError, type OpenBook } from "./plan.ts";
import { type Receipts, type Receipt, writeChunkResults, removeObsoleteFiles } from "./receipts.ts";
import type { Store } from "./storage/index.ts";
import { RunError } from "./error.ts";
import { sumCounts, sumTotals } from "./sum-totals.ts";

/**
 * Completes a run, a book priced in chunks, after its last chunk. It writes the final manifest and removes files that
 * are no longer needed. `known` has the receipt of each chunk, undefined for a chunk that is not priced. The function
 * may be called again, also by several processes at once, which write the same bytes.
 *
 * @throws RunError a chunk that is not priced; StorageError
 */
export async function finishRun(store: Store, manifest: Manifest, known: Receipts): Promise<Manifest> {
  const outcomes: ChunkOutcome[] = [];
  for (const [i, receipt] of known.entries()) {
    if (receipt === undefined) throw new RunError(`${store.url}: chunk ${i} is not priced`);
    outcomes.push(receipt.outcome);
  }
  const devices = new Map(outcomes.map(({ device }) => [`${device.backend} ${device.name}`, device]));
  const { chunks, timings, ...rest } = manifest;
  const complete: Manifest = {
    ...rest,
    status: "complete",
    ...sumCounts(outcomes),
    totals: sumTotals(outcomes.map(({ totals }) => totals)),
    devices: [...devices.values()],
    chunks: chunks.map((chunk, i) => ({ ...chunk, outcome: outcomes[i] })),
    timings: {
      started: timings.started,
      finished: timings.finished ?? new Date().toISOString(),
      chunks: known.map((receipt) => receipt?.timing ?? null),
    },
  };
  await writeManifest(store, complete);
  await removeObsoleteFiles(store, complete);
  return complete;
}

/** The device of a process, with a function that prices trades on it. */
export interface Pricer {
  readonly device: BookReport["device"];
  priceTrades(
    trades: AsyncIterable<ParsedTrade>,
    context: BookContext,
    options: RunOptions & {
      readonly signal: AbortSignal;
      readonly onProgress: (progress: { readonly done: number }) => void;
    },
  ): AsyncIterable<readonly TradeResult[]>;
}

/** The progress of this process in pricing the chunks of a run. */
export interface RunProgress {
  /** The number of trades priced by this process. */
  readonly done: number;
  /** The fraction of this process's expected work that is done, 0 … 1. */
  readonly fraction: number;
}

/** A run whose missing chunks are to be priced, with its folder, its book and a device. */
export interface RunRequest {
  readonly store: Store;
  readonly manifest: Manifest;
  /** The chunks that are already priced. */
  readonly known: Receipts;
  readonly book: OpenBook;
  readonly pricer: Pricer;
  readonly signal: AbortSignal;
  readonly onProgress: (progress: RunProgress) => void;
}

/**
 * Prices the chunks of a run that are not priced yet, and returns the complete manifest. @throws RunError |
 * StorageError; as `priceTrades`
 */
export async function priceRun(request: RunRequest): Promise<Manifest> {
  const { store, manifest, known } = request;
  const missing = known.flatMap((receipt, i) => (receipt === undefined ? [i] : []));
  const found = [...known];
  for await (const [i, receipt] of priceChunks(request, missing)) found[i] = receipt;
  return finishRun(store, manifest, found);
}

/** Returns a readable name of this process: the host's name and the process number. */
export function processName(): string {
  return `${hostname()}:${process.pid}`;
}

/**
 * Prices the chunks of a run whose numbers are in `wanted` as one stream of trades, so that the device is never idle.
 * It yields the number of each priced chunk with its receipt.
 */
export async function* priceChunks(
  { store, manifest, book: { book }, pricer, signal, onProgress }: RunRequest,
  wanted: readonly number[],
): AsyncGenerator<readonly [number, Receipt]> {
  const { chunks, options } = manifest;
  const all = wanted.reduce((sum, i) => sum + chunks[i].seconds, 0);
  const waiting: (AnyTrade | undefined)[] = [];
  async function* trades(): AsyncGenerator<ParsedTrade> {
    for (const i of wanted) {
      let rows = 0;
      for await (const some of book.read(chunks[i])) {
        for (const parsed of some) waiting.push(parsed.ok ? parsed.trade : undefined);
        rows += some.length;
        yield* some;
      }
      if (rows !== chunks[i].rows) throw changedBookError(manifest.book.place);
    }
  }
  let place = 0;
  let rows: PricedRow[] = [];
  let priced = 0;
  let began = performance.now();
  const progress = (done: number): void => {
    const { seconds, rows: size } = chunks[wanted[Math.min(place, wanted.length - 1)]];
    const part = (priced + (seconds * Math.min(rows.length, size)) / size) / (all || 1);
    onProgress({ done, fraction: Math.min(part, 1) });
  };
  let done = 0;
  for await (const results of pricer.priceTrades(trades(), book, { ...options, signal, onProgress: () => undefined })) {
    done += results.length;
    for (const result of results) {
      rows.push({ trade: waiting.shift(), result });
      if (rows.length < chunks[wanted[place]].rows) continue;
      const chunk = wanted[place++];
      const now = performance.now();
      const timing = { seconds: (now - began) / 1000, finished: new Date().toISOString(), by: processName() };
      const receipt = await writeChunkResults(store, manifest, { chunk, rows, device: pricer.device, timing });
      priced += chunks[chunk].seconds;
      began = now;
      rows = [];
      yield [chunk, receipt];
    }
    progress(done);
  }
}
