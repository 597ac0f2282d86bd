import { type ChunkPosition, fitsOf, type RowsAt, SeenIds, Totals } from "../../book/index.ts";
import type { Device } from "../../device/index.ts";
import { writerFor } from "../../output/formats/index.ts";
import { lookAhead } from "../../pricing/index.ts";
import type { BookSource, OpenBook } from "../runs/index.ts";
import { type StartWorker, WorkerPool } from "../../base/threads/index.ts";
import { ChunkPricer } from "./chunk-pricer.ts";
import {
  type ChunkTask,
  type ChunkSetting,
  type PipelineSetup,
  type WrittenChunk,
  type WorkerData,
} from "./setting.ts";

/**
 * The number of trades of a chunk: enough for a batch to be worth its launches, few enough that the threads end at
 * about the same time. It does not depend on how many threads there are, so that totals, which are added up chunk by
 * chunk, are the same.
 */
const LARGEST_CHUNK = 512;
/**
 * The number of chunks that a book of few trades, each of them much work, is cut into. A GPU takes as long for one
 * solution as for a hundred: 1,000 Heston trades took 4.4 s in 64 chunks, 2.8 to 3.0 s in 8.
 */
const CHUNKS = { cpu: 64, cuda: 8, webgpu: 8 } as const;

/** The part of a book behind which chunks are a quarter as large: threads then end at about the same time. */
const LAST = 0.75;

/** The number of chunks under way where no thread shares the work. */
const UNDER_WAY = 2;

/** The book that a pipeline prices, with its files, the settings, a signal, and a callback for the progress. */
export interface PipelineRequest {
  readonly book: OpenBook;
  readonly source: BookSource;
  readonly setting: ChunkSetting;
  readonly signal: AbortSignal;
  readonly onProgress: (progress: { readonly done: number; readonly fraction: number }) => void;
}

/** The counts and totals of a book, once all of its results are written. */
export type PipelineTotals = Pick<Totals, "priced" | "failed" | "counts" | "totals">;

/**
 * A group of threads that read, parse, price and write a book's file: each turns the bytes of a chunk of trades into
 * the bytes of its results. The main thread divides the file into chunks, and puts the results in order.
 *
 * * Values are those of `priceTrades`, to the bit, however many threads there are.
 * * A chunk whose worker is lost is priced by the main thread, as all chunks are if no thread can start.
 * * The main thread finds repeated ids by hashes. The chunk is then priced once more, with an error for that trade.
 */
export class Pipeline implements Disposable {
  readonly #device: Device;
  readonly #pool: WorkerPool<PipelineSetup, ChunkTask, WrittenChunk> | undefined;

  /**
   * Starts threads, which load while the book is opened. `startsOf` returns functions that start them, or undefined if
   * there can be no threads.
   */
  constructor(device: Device, startsOf: (data: readonly WorkerData[]) => readonly StartWorker[] | undefined) {
    const { parts } = device;
    this.#device = device;
    if (parts === undefined) return;
    const { options, keep } = parts;
    const starts = startsOf(options);
    if (starts === undefined) return;
    this.#pool = new WorkerPool(starts);
    keep(this.#pool);
  }

  /**
   * Prices a book, once, and yields the pieces of the output. @throws BookError if the file can no longer be read;
   * DeviceError; the signal's reason
   */
  async *price(request: PipelineRequest): AsyncGenerator<string | Uint8Array, PipelineTotals, undefined> {
    const { book: open, source: path, setting, signal, onProgress } = request;
    const { book, file } = open;
    const pool = this.#pool;
    pool?.begin({ source: path, header: book.header, fits: fitsOf(book.market), setting });
    using own = new ChunkPricer(book, setting, this.#device);
    const format = writerFor(setting.format);
    yield await format.begin(setting.start);
    await pool?.whenStarted();
    const priced = async (position: ChunkPosition): Promise<readonly [ChunkPosition, WrittenChunk]> => [
      position,
      (await pool?.run(position, signal)) ?? (await own.price(position, signal)),
    ];
    const totals = new Totals();
    const seen = new SeenIds();
    let rows = 0;
    const underWay = (): number => Math.max(pool?.freeSlots ?? 0, UNDER_WAY);
    for await (const [position, first] of lookAhead(
      book.places(await chunkSizes(open, CHUNKS[this.#device.backend])),
      underWay,
      priced,
    )) {
      signal.throwIfAborted();
      const repeated = repeatedIn(position, first, seen);
      const chunk = repeated.length === 0 ? first : (await priced({ ...position, repeated }))[1];
      totals.addTotals(chunk.totals);
      totals.addReporting(chunk.reporting);
      totals.addCounts(chunk.counts);
      yield chunk.text;
      rows += position.rows;
      const end = position.bytes?.end ?? file.byteLength;
      onProgress({ done: rows, fraction: end / file.byteLength });
    }
    yield format.end(totals.report);
    return totals;
  }

  [Symbol.dispose](): void {
    this.#pool?.[Symbol.dispose]();
  }
}

/** Trades of each chunk, from how long the book is compared with its first trades. */
async function chunkSizes({ book, file }: OpenBook, chunks: number): Promise<RowsAt> {
  let usual = LARGEST_CHUNK;
  for await (const { rows, bytes } of book.places(() => LARGEST_CHUNK)) {
    const times = bytes === undefined ? Number.POSITIVE_INFINITY : file.byteLength / (bytes.end - bytes.start);
    const trades = rows < LARGEST_CHUNK ? rows : rows * times;
    usual = Math.min(trades / chunks, LARGEST_CHUNK);
    break;
  }
  return (part) => Math.ceil(part < LAST ? usual : usual / 4);
}

/** Indices of the trades whose ids earlier ones have. */
function repeatedIn({ first }: ChunkPosition, { ids }: WrittenChunk, seen: SeenIds): number[] {
  const repeated: number[] = [];
  for (let i = 0; i < ids.length; i += 2)
    if (ids[i + 1] !== 0 && seen.seenHashBefore(ids[i], ids[i + 1])) repeated.push(first + i / 2);
  return repeated;
}
