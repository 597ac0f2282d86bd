import type { PriceOptions } from "../options.ts";
import type { AnyTrade, ParsedTrade, TradeResult } from "../../book/index.ts";
import { namesAndWeights, Totals } from "../../book/index.ts";
import {
  type BucketWriter,
  bucketWriter,
  marketHeader,
  packageVersion,
  type PricedRow,
} from "../../output/formats/index.ts";
import type { Engine, OpenEngine, RunOptions } from "../engine.ts";
import type { Work } from "../../pricing/index.ts";
import { expectedWork, PeekableTrades, SAMPLE_SIZE } from "../expected-work.ts";
import { CliError, EXIT_STATUS } from "../failure.ts";
import { type OpenInput, openInput } from "../input.ts";
import { isRunFolder, openOutput, outputToFile, type Output, targetsOf } from "../output.ts";
import { ProgressBar } from "../progress.ts";
import { pricingOptionsOf } from "../options.ts";
import { ResultFiles } from "../result-files.ts";
import { summaryLines } from "../summary.ts";
import { longFileOf, priceLongFile } from "./price-file.ts";
import type { Terminal } from "../terminal.ts";

/**
 * Runs `feynkac price`. It reads, prices and writes trades as a stream, so that memory depends on the size of a batch,
 * not on that of the book. @returns the exit status @throws CliError | BookError input that cannot be used;
 * DeviceUnavailableError; AbortError when interrupted
 */
export async function price(
  path: string,
  options: PriceOptions,
  terminal: Terminal,
  signal: AbortSignal,
  openEngine: OpenEngine,
): Promise<number> {
  const folder = options.outputs?.find(isRunFolder);
  if (folder !== undefined) {
    if (options.outputs!.length > 1)
      throw new CliError(`--output ${folder} is a run in parts, which has no output beside it: merge it into files`);
    if (options.groupBy !== undefined)
      throw new CliError(
        "--group-by: a run in parts is grouped when it is merged: feynkac merge FOLDER/ --group-by desk",
      );
    if (options.buckets !== undefined)
      throw new CliError("--buckets: not of a run in parts; write --output FILE, or --greeks buckets alone");
    const { priceInChunks } = await import("./price-run.ts");
    return priceInChunks(path, folder, options, { terminal, signal, openEngine });
  }
  if (options.resume === true) throw new CliError("--resume continues a run in parts: --output FOLDER/");
  const { market: marketPath, inputFormat, keep, map } = options;
  const targets = targetsOf(options.format, options.outputs, terminal.stdout);
  await using file = longFileOf(path, targets, options);
  if (file !== undefined && (await file.isLong())) {
    await using engine = await openEngine(options, () => file.work);
    const [{ path: to, format }] = targets;
    const output = await openOutput(to, terminal.stdout);
    try {
      const status = await priceLongFile({ file, engine, output, format, options, terminal, signal });
      if (status !== undefined) return status;
    } finally {
      await output.discard();
    }
  }
  const request = { path, marketPath, keep, map, format: inputFormat, stdin: terminal.stdin, signal };
  const opened = await openInput(request);
  const trades = new PeekableTrades(opened.trades);
  const { scenarios: table } = options;
  const named = table === undefined ? {} : { scenarioTable: await scenariosIn(table, opened) };
  const input = { ...opened, trades, ...named };
  try {
    await using engine = await openEngine(options, async () => (await file?.work) ?? workOfInput(input, options));
    const files = await ResultFiles.open(targets, options, terminal.stdout);
    try {
      const reporter =
        options.report === undefined ? undefined : await startReport(options.report, path, input, options);
      const buckets = options.buckets === undefined ? undefined : await startBuckets(options.buckets, input);
      return await run({ input, engine, files, options, terminal, signal, reporter, buckets });
    } catch (error) {
      await files.discard();
      throw error;
    }
  } finally {
    input.close();
  }
}

/** Reads the named scenarios of a file. @throws CliError; the input is then closed */
async function scenariosIn(file: string, input: OpenInput): Promise<OpenInput["scenarioTable"]> {
  try {
    const { readScenarioFile } = await import("../scenario-file.ts");
    return await readScenarioFile(file, input);
  } catch (error) {
    input.close();
    throw error;
  }
}

/** The fraction of a stream of unknown length that its first trades are assumed to be. */
const PART_OF_STREAM = 1e-3;

/** Estimates the work of a book that is read as a stream; undefined if the options are invalid. */
async function workOfInput(
  input: OpenInput & { readonly trades: PeekableTrades },
  options: PriceOptions,
): Promise<Work | undefined> {
  const { trades, isAll } = await input.trades.first(SAMPLE_SIZE);
  const part = Math.max(input.fractionRead() ?? PART_OF_STREAM, Number.EPSILON);
  const total = isAll ? trades.length : (input.total ?? trades.length / part);
  return expectedWork(trades, trades.length === 0 ? 0 : total / trades.length, input, options);
}

interface Run {
  readonly input: OpenInput;
  readonly engine: Engine;
  readonly files: ResultFiles;
  readonly options: PriceOptions;
  readonly terminal: Terminal;
  readonly signal: AbortSignal;
  readonly reporter: Reporter | undefined;
  readonly buckets: BucketFile | undefined;
}

/** A file for risk by bucket, and who writes it. */
interface BucketFile {
  readonly writer: BucketWriter;
  readonly output: Output;
}

/** Opens a file for risk by bucket. @throws CliError for a name of another format; a file that cannot be written */
async function startBuckets(file: string, { asOf, tags }: OpenInput): Promise<BucketFile> {
  const [, extension] = /\.(csv|parquet)$/i.exec(file) ?? [];
  if (extension === undefined) throw new CliError(`--buckets: got ${file}, expected a name in .csv or .parquet`);
  const format = extension.toLowerCase() === "csv" ? "csv" : "parquet";
  const writer = await bucketWriter(format, { asOf, tags });
  const output = await outputToFile(file);
  await output.write(writer.begin());
  return { writer, output };
}

interface Reporter {
  add(row: PricedRow): void;
  write(run: Run, seconds: number): Promise<void>;
}

/** Starts an HTML report. The code for it is loaded only when it is requested. */
async function startReport(
  file: string,
  path: string,
  { scenarioTable }: OpenInput,
  { groupBy, scenarios }: PriceOptions,
): Promise<Reporter> {
  const [{ reportHtml, ReportSummary }, { sha256Of, writeReport }] = await Promise.all([
    import("../../output/report/index.ts"),
    import("./report.ts"),
  ]);
  const summary = new ReportSummary({ groupBy, named: scenarioTable });
  return {
    add: ({ trade, result }) => summary.add(trade, result),
    write: async ({ input, engine, options, terminal }, seconds) => {
      const { accuracy, method, greeks, market } = options;
      const names = [path, market, scenarios].filter((name) => name !== undefined);
      const html = reportHtml(summary, {
        title: `Report on ${path === "-" ? "standard input" : path}`,
        asOf: input.asOf,
        version: packageVersion(),
        device: engine.device.name,
        scenarios: input.scenarios,
        market: input.market,
        settings: [
          ["Accuracy aimed at", accuracy === undefined ? "the default of each method" : `${accuracy} of the spot`],
          ["Method asked for", method ?? input.method ?? "auto"],
          ["Greeks", greeks],
          ["Time", `${seconds.toFixed(2)} s`],
        ],
        inputs: await Promise.all(names.map(async (name) => ({ name, sha256: await sha256Of(name) }))),
      });
      await writeReport(file, html, terminal);
    },
  };
}

async function run(given: Run): Promise<number> {
  const { input, engine, files, options, terminal, signal, reporter, buckets } = given;
  const { groupBy } = options;
  const totals = new Totals({ groupBy });
  const bar = new ProgressBar(terminal.stderr);
  const started = performance.now();
  const trades = new Pairing(input.trades);
  const onProgress: RunOptions["onProgress"] = ({ done, total = input.total }) =>
    bar.update({ done, fraction: total === undefined ? input.fractionRead() : done / total });
  try {
    const { asOf, scenarios, scenarioTable, tags } = input;
    const { sensitivityErrors } = options;
    const about = {
      asOf,
      device: engine.device,
      scenarios,
      ...namesAndWeights(scenarioTable),
      sensitivityErrors,
      tags,
    };
    await files.begin({ ...about, ...marketHeader(input.market) });
    const run = { ...pricingOptionsOf(options), precision: options.precision, signal, onProgress };
    for await (const results of engine.priceTrades(trades, input, run)) {
      signal.throwIfAborted();
      const rows = trades.pair(results);
      for (const row of rows) {
        totals.add(row.trade, row.result);
        reporter?.add(row);
      }
      if (buckets !== undefined) await buckets.output.write(buckets.writer.rows(rows));
      await files.add(rows, () => bar.clear());
    }
    bar.clear();
    if (buckets !== undefined) await buckets.output.write(buckets.writer.end());
    await files.end(totals.report);
  } catch (error) {
    await buckets?.output.discard();
    throw error;
  } finally {
    bar.clear();
  }
  await buckets?.output.commit();
  const seconds = (performance.now() - started) / 1000;
  await reporter?.write(given, seconds);
  terminal.stderr.write(summaryLines(totals.counts, engine, seconds));
  return totals.failed > 0 ? EXIT_STATUS.failedTrades : EXIT_STATUS.ok;
}

/** Passes trades on and remembers them until their results arrive, which have the order of the trades. */
class Pairing implements AsyncIterable<ParsedTrade> {
  readonly #trades: AsyncIterable<ParsedTrade>;
  #waiting: (AnyTrade | undefined)[] = [];

  constructor(trades: AsyncIterable<ParsedTrade>) {
    this.#trades = trades;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<ParsedTrade> {
    for await (const parsed of this.#trades) {
      this.#waiting.push(parsed.ok ? parsed.trade : undefined);
      yield parsed;
    }
  }

  pair(results: readonly TradeResult[]): PricedRow[] {
    const trades = this.#waiting.splice(0, results.length);
    return results.map((result, i) => ({ trade: trades[i], result }));
  }
}
