/** `feynkac price` for long files: several threads read, price and write trades (`Pipeline`). */
import { statSync } from "node:fs";
import { availableParallelism } from "node:os";
import type { Pipeline, TextFormat } from "../../service/pipeline/index.ts";
import type { BookSource, OpenBook } from "../../service/runs/index.ts";
import { namesAndWeights, type ParsedTrade } from "../../book/index.ts";
import { BookError } from "../../base/errors.ts";
import { marketHeader } from "../../output/formats/index.ts";
import type { Work } from "../../pricing/index.ts";
import { expectedWork, SAMPLE_SIZE } from "../expected-work.ts";
import type { Engine } from "../engine.ts";
import { EXIT_STATUS } from "../failure.ts";
import { formatOfName } from "../input.ts";
import { pricingOptionsOf } from "../options.ts";
import type { Output, OutputFormat, Target } from "../output.ts";
import { ProgressBar } from "../progress.ts";
import type { Terminal } from "../terminal.ts";
import { summaryLines } from "../summary.ts";
import type { PriceOptions } from "../options.ts";

/**
 * The size in bytes (about 5,000 trades) above which further threads save more time than they need to start, which is
 * 0.35 s of one core for each.
 */
const LONG = 1 << 20;
/** A shorter file also uses several threads if the expected work is at least this, in seconds of one core. */
const LONG_WORK = 1;
/** Files shorter than this, in bytes, never use several threads, and their work is not estimated. */
const SHORT = 1 << 14;

/**
 * Returns the input file for `priceLongFile`; undefined if that function does not apply. The input must be a long file
 * in a known format, and the options must ask only for results in one of JSON, NDJSON and CSV.
 */
export function longFileOf(
  path: string,
  [{ format }, ...others]: readonly Pick<Target, "format">[],
  options: PriceOptions,
): LongFile | undefined {
  const { inputFormat, market, report, groupBy, keep, map, buckets, scenarios } = options;
  const input = inputFormat ?? formatOfName(path);
  if (path === "-" || market === "-" || input === undefined || input === "xlsx") return undefined;
  const more = [report, groupBy, buckets, scenarios];
  if (!isText(format) || others.length > 0 || more.some((one) => one !== undefined)) return undefined;
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats?.isFile() !== true || stats.size < SHORT) return undefined;
  return new LongFile({ place: path, format: input, market, keep, map }, stats.size, options);
}

function isText(format: OutputFormat): format is TextFormat {
  return format === "json" || format === "ndjson" || format === "csv";
}

/** An input file that may be long. It is opened when it is first read. */
export class LongFile implements AsyncDisposable {
  readonly source: BookSource;
  readonly #bytes: number;
  readonly #options: PriceOptions;
  #book: Promise<OpenBook | undefined> | undefined;
  #work: Promise<Work | undefined> | undefined;

  constructor(source: BookSource, bytes: number, options: PriceOptions) {
    this.source = source;
    this.#bytes = bytes;
    this.#options = options;
  }

  /** The book; undefined if it must be read as a stream, which then also reports the book's errors. */
  get book(): Promise<OpenBook | undefined> {
    return (this.#book ??= openFile(this.source));
  }

  /**
   * Tells whether several threads, each of which prices chunks of trades, are faster than one thread that distributes
   * its kernels among all cores.
   */
  async isLong(): Promise<boolean> {
    if (this.#bytes >= LONG) return true;
    // One thread prices a short book soonest in one piece.
    if ((this.#options.threads ?? availableParallelism()) === 1) return false;
    const work = await this.work;
    if (work === undefined) return false;
    const { independentSeconds } = await import("../../pricing/index.ts");
    return independentSeconds(work) >= LONG_WORK;
  }

  /** The expected work of the whole book, estimated from its first trades. */
  get work(): Promise<Work | undefined> {
    return (this.#work ??= this.#expectedWork());
  }

  async #expectedWork(): Promise<Work | undefined> {
    const opened = await this.book;
    if (opened === undefined) return undefined;
    const { book } = opened;
    try {
      for await (const chunk of book.places(() => SAMPLE_SIZE)) {
        const { bytes } = chunk;
        if (bytes === undefined) return undefined;
        const sample: ParsedTrade[] = [];
        for await (const some of book.read(chunk)) sample.push(...some);
        return await expectedWork(sample, this.#bytes / (bytes.end - bytes.start), book, this.#options);
      }
    } catch (error) {
      if (!(error instanceof BookError)) throw error; // whoever reads the book will say so
    }
    return undefined;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await (await this.#book)?.[Symbol.asyncDispose]();
  }
}

interface LongRun {
  readonly file: LongFile;
  readonly engine: Engine;
  readonly output: Output;
  readonly format: OutputFormat;
  readonly options: PriceOptions;
  readonly terminal: Terminal;
  readonly signal: AbortSignal;
}

/**
 * Prices a long file on several threads, each of which reads, prices and writes chunks of it. @returns the exit status;
 * undefined if the file must be read as a stream instead, and nothing has been written
 */
export async function priceLongFile({ file, engine, output, format, ...run }: LongRun): Promise<number | undefined> {
  if (engine.startPipeline === undefined || !isText(format)) return undefined;
  const { options, terminal, signal } = run;
  const started = performance.now();
  using pipeline: Pipeline = await engine.startPipeline();
  const book = await file.book;
  if (book === undefined) return undefined;
  const { asOf, scenarios, scenarioTable } = book.book;
  // Only a table has a column for each, and to find them all takes a reading of all trades.
  const tags = format === "csv" ? await book.book.tags() : undefined;
  const { sensitivityErrors } = options;
  const setting = {
    format,
    start: {
      asOf,
      device: engine.device,
      scenarios,
      ...namesAndWeights(scenarioTable),
      sensitivityErrors,
      tags,
      ...marketHeader(book.book.market),
    },
    precision: engine.precision,
    options: pricingOptionsOf(options),
  };
  const bar = new ProgressBar(terminal.stderr);
  const onProgress = (progress: { readonly done: number; readonly fraction: number }): void => bar.update(progress);
  const parts = pipeline.price({ book, source: file.source, setting, signal, onProgress });
  try {
    for (;;) {
      const { value, done } = await parts.next();
      bar.clear();
      if (done === true) {
        await output.commit();
        terminal.stderr.write(summaryLines(value.counts, engine, (performance.now() - started) / 1000));
        return value.failed > 0 ? EXIT_STATUS.failedTrades : EXIT_STATUS.ok;
      }
      if (value.length > 0) await output.write(value);
    }
  } finally {
    bar.clear();
    await parts.return(undefined as never);
  }
}

async function openFile(source: BookSource): Promise<OpenBook | undefined> {
  const { openBook } = await import("../../service/runs/index.ts");
  try {
    return await openBook(source);
  } catch (error) {
    if (error instanceof BookError) return undefined;
    throw error;
  }
}
