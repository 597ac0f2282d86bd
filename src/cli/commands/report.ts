import { createHash } from "node:crypto";
import { createReadStream, statSync } from "node:fs";
import { type AnyTrade, type ParsedTrade, spotsOf, type TableOptions, type TradeResult } from "../../book/index.ts";
import { packageVersion } from "../../output/formats/index.ts";
import {
  type AboutResults,
  readCsvResults,
  readJsonResults,
  readParquetResults,
  ReportChanges,
  type ReportProvenance,
  reportHtml,
  ReportSummary,
  type StoredResults,
} from "../../output/report/index.ts";
import { CliError, EXIT_STATUS } from "../failure.ts";
import { openInput, type OpenInput } from "../input.ts";
import { isRunFolder, openOutput } from "../output.ts";
import type { Terminal } from "../terminal.ts";
import { inFile, readWholeFile } from "../whole-file.ts";

/** The options of the command `feynkac report`. */
export interface ReportOptions {
  /** The path of the book that was priced, which has what its trades and its market are. */
  readonly book?: string | undefined;
  /** The path of the market of a table of trades. */
  readonly market?: string | undefined;
  readonly keep?: TableOptions["keep"];
  readonly map?: TableOptions["map"];
  /** The path of earlier results, to which values are compared. */
  readonly before?: string | undefined;
  readonly groupBy?: readonly string[] | undefined;
  readonly confidence: number;
  readonly output: string;
}

/** Results as they are read, batch by batch, with what is known of them as a whole. */
interface ResultSource extends AboutResults {
  /** The spots, where the results themselves say them. */
  readonly spots: Readonly<Record<string, number>> | undefined;
  readonly batches: AsyncIterable<readonly TradeResult[]>;
}

/**
 * Runs `feynkac report`, which writes the results of `feynkac price` as one HTML file. @returns the exit status @throws
 * CliError | BookError | RunError input that cannot be used
 */
export async function report(
  path: string,
  options: ReportOptions,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<number> {
  const { book: bookPath, before, groupBy, confidence, output } = options;
  if (options.market !== undefined && bookPath === undefined)
    throw new CliError("--market is that of a table of trades: give the trades, too, --book TRADES.csv");
  const source = await inFile(path, () => openResults(path));
  const book = bookPath === undefined ? undefined : await openBook(bookPath, options, terminal, signal);
  try {
    const changes = before === undefined ? undefined : await inFile(before, () => changesSince(before));
    const summary = await summaryOf(source, book, { path, bookPath, groupBy, changes });
    const inputs = [path, bookPath, options.market, before].filter((name) => name !== undefined);
    const run: ReportProvenance = {
      title: `Report on ${bookPath ?? path}`,
      asOf: source.asOf === "" ? (book?.asOf ?? "") : source.asOf,
      version: packageVersion(),
      device: source.device.name,
      scenarios: source.scenarios ?? book?.scenarios,
      confidence,
      market: book?.market,
      changes,
      settings: [],
      inputs: await Promise.all(inputs.map(async (name) => ({ name, sha256: await sha256Of(name) }))),
    };
    await writeReport(output, reportHtml(summary, run), terminal);
    return EXIT_STATUS.ok;
  } finally {
    book?.close();
  }
}

async function openBook(
  path: string,
  { market: marketPath, keep, map }: ReportOptions,
  { stdin }: Terminal,
  signal: AbortSignal,
): Promise<OpenInput> {
  return inFile(path, () => openInput({ path, marketPath, keep, map, format: undefined, stdin, signal }));
}

async function changesSince(path: string): Promise<ReportChanges> {
  const { asOf, batches } = await openResults(path);
  const all: TradeResult[] = [];
  for await (const batch of batches) all.push(...batch);
  return new ReportChanges(asOf, all);
}

interface SummaryRequest {
  readonly path: string;
  readonly bookPath: string | undefined;
  readonly groupBy: readonly string[] | undefined;
  readonly changes: ReportChanges | undefined;
}

/** Adds all results to a summary, each with its trade. @throws CliError for results of another book */
async function summaryOf(
  source: ResultSource,
  book: OpenInput | undefined,
  { path, bookPath, groupBy, changes }: SummaryRequest,
): Promise<ReportSummary> {
  const spots = source.spots ?? (book && spotsOf(book.market));
  let summary: ReportSummary | undefined;
  const trades = book?.trades[Symbol.asyncIterator]();
  let index = 0;
  for await (const batch of source.batches)
    for (const result of batch) {
      summary ??= new ReportSummary({ groupBy, spots, named: namedOf(source, book, result) });
      const parsed = await nextOf(trades, bookPath ?? "");
      if (trades !== undefined && parsed === undefined) throw unlike(bookPath, `${index} trades`, path, "more results");
      changes?.add(result);
      summary.add(tradeOf(parsed, result.id, index++, `${path} and ${bookPath ?? ""}`), result);
    }
  const more = await nextOf(trades, bookPath ?? "");
  if (more !== undefined) throw unlike(bookPath, `more than ${index} trades`, path, `${index} results`);
  return summary ?? new ReportSummary({ groupBy, spots });
}

async function nextOf(
  trades: AsyncIterator<ParsedTrade> | undefined,
  bookPath: string,
): Promise<ParsedTrade | undefined> {
  if (trades === undefined) return undefined;
  const { value, done } = await inFile(bookPath, () => trades.next());
  return done === true ? undefined : value;
}

const unlike = (book: string | undefined, trades: string, path: string, results: string): CliError =>
  new CliError(`${book} has ${trades}, and ${path} ${results}: they do not belong together`);

/** The named scenarios of results: those that their file names, or their book; else they are numbered. */
function namedOf(
  { scenarioNames: names, scenarioWeights: weights }: AboutResults,
  book: OpenInput | undefined,
  first: TradeResult,
) {
  if (names !== undefined) return { names, weights };
  const count = first.status === "ok" ? first.scenarioValues?.length : undefined;
  if (count === undefined) return undefined;
  const own = book?.scenarioTable;
  return own?.names.length === count ? own : { names: Array.from({ length: count }, (_, s) => String(s + 1)) };
}

/** Writes an HTML report to a path; `-` is standard output. @throws CliError */
export async function writeReport(path: string, html: string, terminal: Terminal): Promise<void> {
  const output = await openOutput(path, terminal.stdout);
  try {
    await output.write(html);
    await output.commit();
  } catch (error) {
    await output.discard();
    throw error;
  }
}

/** Returns the SHA-256 hash of a file in hexadecimal. Undefined for what is
 * no file, such as standard input. */
export async function sha256Of(path: string): Promise<string | undefined> {
  if (path === "-" || statSync(path, { throwIfNoEntry: false })?.isFile() !== true) return undefined;
  const hash = createHash("sha256");
  for await (const part of createReadStream(path)) hash.update(part as Buffer);
  return hash.digest("hex");
}

/**
 * Returns the trade that a result belongs to; undefined if the trade could not be read. @throws CliError if the ids
 * differ
 */
function tradeOf(
  parsed: ParsedTrade | undefined,
  id: string | null,
  place: number,
  files: string,
): AnyTrade | undefined {
  if (parsed === undefined || !parsed.ok) return undefined;
  if (parsed.trade.id !== id)
    throw new CliError(
      `${files}: result ${place + 1} is of ${id ?? "a trade without a name"}, and trade ${place + 1} is ${parsed.trade.id}: the book is another one`,
    );
  return parsed.trade;
}

/** Opens results: a file in JSON, CSV or Parquet, or the folder of a run in parts. */
async function openResults(path: string): Promise<ResultSource> {
  if (isRunFolder(path) || statSync(path, { throwIfNoEntry: false })?.isDirectory() === true) return openRun(path);
  const { results, ...about } = await readResults(path);
  async function* batches(): AsyncGenerator<readonly TradeResult[]> {
    yield results;
  }
  return { ...about, spots: undefined, batches: batches() };
}

async function openRun(path: string): Promise<ResultSource> {
  const runs = await import("../../service/runs/index.ts");
  const store = await runs.openStore(path);
  const manifest = await runs.requireManifest(store);
  if (manifest.status !== "complete")
    throw new runs.RunError(`${store.url}: the run is not complete; price with --resume to complete it`);
  async function* batches(): AsyncGenerator<readonly TradeResult[]> {
    for await (const rows of runs.readChunkResults(store, manifest)) yield rows.map(({ result }) => result);
  }
  const { asOf, scenarios, scenarioNames, scenarioWeights, market, devices = [] } = manifest;
  const names = devices.map(({ name }) => name).join("; ");
  const device = { backend: devices[0]?.backend ?? "cpu", name: names === "" ? "no device" : names };
  const named = {
    ...(scenarioNames === undefined ? {} : { scenarioNames }),
    ...(scenarioWeights === undefined ? {} : { scenarioWeights }),
  };
  return { asOf, device, scenarios, ...named, spots: market.spots, batches: batches() };
}

async function readResults(path: string): Promise<StoredResults> {
  const bytes = readWholeFile(path);
  if (bytes.subarray(0, 4).toString("latin1") === "PAR1") return readParquetResults(new Uint8Array(bytes).buffer);
  const text = bytes.toString("utf8");
  return path.toLowerCase().endsWith(".csv") ? readCsvResults(text) : readJsonResults(text);
}
