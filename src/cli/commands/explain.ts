import type { Book, TableOptions, TradeCounts } from "../../book/index.ts";
import { isDoubt } from "../../market/index.ts";
import type { ExplainMethod, ExplainReport, Sticky } from "../../pricing/index.ts";
import type { Engine, OpenEngine, RunOptions } from "../engine.ts";
import type { EngineOptions } from "../choose-backend.ts";
import { CliError, EXIT_STATUS } from "../failure.ts";
import { explainCsv, explainJson, explainNdjson } from "../format/explain.ts";
import { explainGroups } from "../format/explain-groups.ts";
import { explainTable } from "../format/explain-table.ts";
import type { OutputPiece } from "../../output/formats/index.ts";
import { explainColumns } from "../format/explain-columns.ts";
import { type InputFormat, type InputRequest, openInput } from "../input.ts";
import {
  type FormattedOutput,
  openOutputs,
  type OutputFormat,
  type Outputs,
  type TableRows,
  tableOptions,
  targetsOf,
} from "../output.ts";
import { ProgressBar } from "../progress.ts";
import { fitWarningLine } from "../summary.ts";
import type { Terminal } from "../terminal.ts";
import { inFile } from "../whole-file.ts";

/** The options of the command `feynkac explain`. */
export interface ExplainCommandOptions extends EngineOptions, Pick<RunOptions, "accuracy" | "strict"> {
  readonly market: string | undefined;
  readonly marketAfter: string | undefined;
  readonly method: ExplainMethod;
  /** What quotes keep while the spot moves. */
  readonly sticky: Sticky;
  readonly inputFormat: InputFormat | undefined;
  readonly format: OutputFormat | undefined;
  readonly outputs: readonly string[] | undefined;
  readonly rows: TableRows | undefined;
  /** The columns of a table that are not terms of a trade. */
  readonly keep: TableOptions["keep"];
  readonly map?: TableOptions["map"];
  /** The tags by which totals are grouped. */
  readonly groupBy: readonly string[] | undefined;
}

/**
 * Runs `feynkac explain`, which explains the change of value between two books, or of one book between two markets.
 * Both books are held in memory. @returns the exit status @throws CliError | BookError input that cannot be used;
 * DeviceUnavailableError; AbortError when interrupted
 */
export async function explain(
  before: string,
  after: string | undefined,
  options: ExplainCommandOptions,
  terminal: Terminal,
  signal: AbortSignal,
  openEngine: OpenEngine,
): Promise<number> {
  const targets = targetsOf(options.format, options.outputs, terminal.stdout);
  const requests = requestsOf(before, after, options, terminal, signal);
  const [first, second] = requests.map((request) => () => inFile(request.path, () => readBook(request)));
  const books = [await first(), await second()] as const;
  await using engine = await openEngine(options);
  const outputs = await openOutputs(targets, terminal.stdout);
  try {
    return await run(books, engine, outputs, options, terminal, signal);
  } catch (error) {
    await outputs.discard();
    throw error;
  }
}

/**
 * The two books to compare, from the command line. @throws CliError if there is nothing to compare with, or standard
 * input would be read twice
 */
function requestsOf(
  before: string,
  after: string | undefined,
  { market, marketAfter, inputFormat: format, keep, map }: ExplainCommandOptions,
  { stdin }: Terminal,
  signal: AbortSignal,
): readonly [InputRequest, InputRequest] {
  const first: InputRequest = { path: before, marketPath: market, format, keep, map, stdin, signal };
  if (after !== undefined) {
    if (before === "-" && after === "-") throw new CliError("the two books cannot both come from standard input");
    return [first, { ...first, path: after, marketPath: marketAfter }];
  }
  if (marketAfter === undefined)
    throw new CliError(
      "nothing to compare with: give a second book, or --market-after MARKET.json for the same trades",
    );
  if (before === "-") throw new CliError("standard input cannot be read twice; give the book as a file");
  return [first, { ...first, marketPath: marketAfter, replacesMarket: market === undefined }];
}

/** A whole book, and the names of its tags if they are known before the trades are read. */
interface TaggedBook extends Book {
  readonly tags: readonly string[] | undefined;
}

async function readBook(request: InputRequest): Promise<TaggedBook> {
  const { asOf, scenarios, method, seed, market, tags, trades, close } = await openInput(request);
  try {
    const all: Book["trades"][number][] = [];
    for await (const parsed of trades) {
      request.signal.throwIfAborted();
      all.push(parsed);
    }
    return { asOf, scenarios, method, seed, market, tags, trades: all };
  } finally {
    close();
  }
}

async function run(
  [before, after]: readonly [TaggedBook, TaggedBook],
  engine: Engine,
  outputs: Outputs,
  options: ExplainCommandOptions,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<number> {
  const { precision, accuracy, method, sticky, groupBy, strict } = options;
  const bar = new ProgressBar(terminal.stderr);
  const started = performance.now();
  const onProgress: RunOptions["onProgress"] = ({ done, total }) =>
    bar.update({ done, fraction: total === undefined ? undefined : done / total });
  let report: ExplainReport;
  try {
    const asked = { precision, accuracy, method, sticky, groupBy, strict };
    report = await engine.explainBook(before, after, { ...asked, signal, onProgress });
  } finally {
    bar.clear();
  }
  const tags = before.tags && after.tags && [...new Set([...before.tags, ...after.tags])];
  for (const output of outputs.all)
    for await (const part of partsOf(report, output, { rows: options.rows, groupBy, tags }))
      if (part.length > 0) await output.write(part);
  await outputs.commit();
  terminal.stderr.write(
    fitWarningLine(doubtsOf(report)) + summary(report, engine, (performance.now() - started) / 1000),
  );
  return report.failed > 0 ? EXIT_STATUS.failedTrades : EXIT_STATUS.ok;
}

function partsOf(
  report: ExplainReport,
  { format, sink }: FormattedOutput,
  { rows, groupBy, tags }: Pick<ExplainCommandOptions, "rows" | "groupBy"> & Pick<TaggedBook, "tags">,
): Iterable<OutputPiece> | AsyncIterable<OutputPiece> {
  if (groupBy !== undefined && format !== "table" && format !== "json") return explainGroups(report, groupBy, format);
  switch (format) {
    case "json":
      return explainJson(report);
    case "ndjson":
      return explainNdjson(report);
    case "csv":
      return explainCsv(report, tags);
    case "parquet":
    case "arrow":
    case "xlsx":
      return explainColumns(report, tags, format);
    case "table":
      return explainTable(report, tableOptions(rows, sink));
    default:
      return format satisfies never;
  }
}

/** Returns the number of trades that depend on doubtful fits to quotes, and the first warning about one. */
function doubtsOf({ results }: ExplainReport): Pick<TradeCounts, "doubtful" | "doubt"> {
  const doubts = results.flatMap(({ warnings }) => warnings.find(isDoubt) ?? []);
  return doubts.length === 0 ? {} : { doubtful: doubts.length, doubt: doubts[0] };
}

function summary(
  { results, explained, failed }: ExplainReport,
  { device, precision }: Engine,
  seconds: number,
): string {
  const listed = results.length - explained - failed;
  const others = listed > 0 ? `, ${listed.toLocaleString("en-US")} new, gone or changed` : "";
  const failures = failed > 0 ? `, ${failed.toLocaleString("en-US")} not explained` : "";
  const trades = `${explained.toLocaleString("en-US")} ${explained === 1 ? "trade" : "trades"}`;
  return `${trades} explained in ${seconds.toFixed(2)} s${others}${failures}; ${device.name}, ${precision}\n`;
}
