/**
 * `feynkac price … --output FOLDER/`: a run that stores the results of each chunk of trades as soon as it is priced,
 * and can be resumed and verified.
 */
import type * as Runs from "../../service/runs/index.ts";
import { keyOf } from "../../base/memoize.ts";
import type { OpenEngine } from "../engine.ts";
import { CliError, EXIT_STATUS } from "../failure.ts";
import { formatOfName } from "../input.ts";
import { pricingOptionsOf } from "../options.ts";
import { ProgressBar } from "../progress.ts";
import { fitWarningLine } from "../summary.ts";
import type { Terminal } from "../terminal.ts";
import type { PriceOptions } from "../options.ts";

/**
 * The expected time of pricing a chunk on one core, in seconds. A process that is killed loses at most so much work on
 * each core.
 */
const CHUNK_SECONDS = 1;

interface CommandEnvironment {
  readonly terminal: Terminal;
  readonly signal: AbortSignal;
  readonly openEngine: OpenEngine;
}

/**
 * Prices a book in chunks, whose results are written as separate files into a folder. It starts from the beginning, or
 * continues where an earlier command ended. @returns the exit status @throws CliError | BookError | RunError |
 * StorageError
 */
export async function priceInChunks(
  path: string,
  output: string,
  options: PriceOptions,
  { terminal, signal, openEngine }: CommandEnvironment,
): Promise<number> {
  const runs = await import("../../service/runs/index.ts");
  const store = await runs.openStore(output);
  const source = bookSource(path, options);
  const manifest = await manifestToPrice(runs, store, source, output, options, signal);
  const known = await runs.readReceipts(store, manifest, { signal });
  await using book = await runs.openRunBook(store, manifest, source);
  const started = performance.now();
  await using engine = await openEngine(options);
  const bar = new ProgressBar(terminal.stderr);
  let priced = 0;
  const onProgress = (progress: Runs.RunProgress): void => {
    priced = progress.done;
    bar.update(progress);
  };
  let complete: Runs.Manifest;
  try {
    complete = await runs.priceRun({ store, manifest, known, book, pricer: engine, signal, onProgress });
  } finally {
    bar.clear();
  }
  const there = known.filter((one) => one !== undefined).length;
  const seconds = (performance.now() - started) / 1000;
  terminal.stderr.write(
    `${fitWarningLine(complete)}${count(priced)} priced in ${seconds.toFixed(2)} s; ${engine.device.name}, ${engine.precision}\n` +
      (there > 0 ? `${there} of ${known.length} parts were there already\n` : "") +
      `${store.url}: ${count(complete.trades)} in ${complete.chunks.length} parts` +
      `${(complete.failed ?? 0) > 0 ? `, ${count(complete.failed ?? 0)} not priced` : ""}\n`,
  );
  return (complete.failed ?? 0) > 0 ? EXIT_STATUS.failedTrades : EXIT_STATUS.ok;
}

/**
 * Returns the manifest of a book that is to be priced in chunks: a new one, or that of an earlier command to continue.
 * @throws CliError if the folder has results that must not be continued, or those of another book; BookError | RunError
 * | StorageError
 */
export async function manifestToPrice(
  runs: typeof Runs,
  store: Runs.Store,
  source: Runs.BookSource,
  output: string,
  options: PriceOptions,
  signal: AbortSignal,
): Promise<Runs.Manifest> {
  await using book = await runs.openBook(source);
  const request = planRequest(source, await scenariosOf(options.scenarios, book), options, signal);
  const begun = await runs.readManifest(store);
  if (begun === undefined) {
    const manifest = await runs.planRun(request, book);
    const { scenarios } = request;
    await runs.writeManifest(store, manifest, scenarios === undefined ? [] : [runs.scenarioFileOf(scenarios.table)]);
    return manifest;
  }
  if (options.resume !== true)
    throw new CliError(`${output} has a run already: --resume continues it; or choose another folder`);
  await checkSame(runs, begun, request, book);
  return begun;
}

const count = (n: number): string => `${n.toLocaleString("en-US")} ${n === 1 ? "trade" : "trades"}`;

/** Returns the path and format of a book's file. @throws CliError standard input; a name without a known format */
export function bookSource(
  path: string,
  options: Pick<PriceOptions, "inputFormat" | "market" | "keep" | "map">,
): Runs.BookSource {
  const { inputFormat, market, keep, map } = options;
  if (path === "-" || market === "-")
    throw new CliError("a run in parts reads its book more than once: give a file instead of standard input");
  const format = inputFormat ?? formatOfName(path);
  if (format === undefined)
    throw new CliError(`no format is known by the name of ${path}; say it: --input-format ndjson`);
  if (format === "xlsx")
    throw new CliError(`a run in parts reads no workbook: feynkac convert ${path} -o book.json, and price that`);
  return { place: path, format, market, keep, map };
}

/** The named scenarios of a table, which replace those of the book. @throws CliError as `readScenarioFile` */
async function scenariosOf(place: string | undefined, { book }: Runs.OpenBook): Promise<Runs.PlanRequest["scenarios"]> {
  if (place === undefined) return undefined;
  const { readScenarioFile } = await import("../scenario-file.ts");
  return { place, table: await readScenarioFile(place, book) };
}

/** In about so many markets a trade is priced under named scenarios, or in fewer if it has fewer scenarios. */
const MARKETS_OF_NAMED = 30;

/** The request to divide a book into chunks, with the given options. */
function planRequest(
  book: Runs.BookSource,
  scenarios: Runs.PlanRequest["scenarios"],
  options: PriceOptions,
  signal: AbortSignal,
): Runs.PlanRequest {
  const { precision, chunkTrades = 16_384, chunkSeconds = CHUNK_SECONDS } = options;
  const asked = { ...pricingOptionsOf(options), precision };
  return {
    book,
    scenarios,
    options: asked,
    limits: { rows: chunkTrades, seconds: chunkSeconds },
    costOf: async (context) => {
      const { expectedCosts } = await import("../../pricing/index.ts");
      const { names } = scenarios?.table ?? context.scenarioTable ?? { names: [] };
      const markets = 1 + Math.min(names.length, MARKETS_OF_NAMED);
      return (trades) => expectedCosts(trades, context, asked).map(({ seconds }) => markets * seconds);
    },
    signal,
  };
}

/**
 * Checks that a run can be resumed with the given book and options. @throws RunError if the run was started by another
 * version; CliError if its book or options differ
 */
async function checkSame(
  runs: typeof Runs,
  manifest: Runs.Manifest,
  { options, scenarios, book: { keep = [], map } }: Runs.PlanRequest,
  book: Runs.OpenBook,
): Promise<void> {
  runs.checkVersion(manifest, runs.packageIdentity());
  const names = new Set([...Object.keys(options), ...Object.keys(manifest.options)]) as Set<keyof Runs.RunOptions>;
  for (const name of names)
    if (manifest.options[name] !== options[name])
      throw new CliError(
        `--resume: the run was begun with ${name} ${manifest.options[name] ?? "as by default"}, ` +
          `got ${options[name] ?? "none"}; give the same options`,
      );
  const kept = manifest.book.keep ?? [];
  if (kept.join() !== keep.join())
    throw new CliError(
      `--resume: the run was begun with --keep ${kept.join() || "of nothing"}, got ${keep.join() || "none"}`,
    );
  if (!sameTerms(manifest.book.map, map)) throw new CliError("--resume: the run was begun with another --map");
  if (manifest.scenarioFile?.sha256 !== (scenarios && runs.scenarioHash(scenarios.table)))
    throw new CliError(
      `--resume: the run was begun with --scenarios ${manifest.scenarioFile?.place ?? "of nothing"}, ` +
        `got ${scenarios === undefined ? "none" : `other scenarios in ${scenarios.place}`}`,
    );
  await runs.checkBook(manifest, book);
}

const sameTerms = (a: Runs.BookSource["map"] = {}, b: Runs.BookSource["map"] = {}): boolean => keyOf(a) === keyOf(b);
