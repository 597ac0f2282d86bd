/** Commands that revalue a book under named scenarios: how it is read and priced, and how their answer is written. */
import type { ParsedTrade, ScenarioTable, TradeResult } from "../book/index.ts";
import type { OpenEngine } from "./engine.ts";
import { CliError } from "./failure.ts";
import { type OpenInput, openInput } from "./input.ts";
import { type PriceOptions, pricingOptionsOf } from "./options.ts";
import { checkTextOrJson, outputToFile } from "./output.ts";
import { ProgressBar } from "./progress.ts";
import { readScenarioFile } from "./scenario-file.ts";
import type { Terminal } from "./terminal.ts";

/** A book with the scenarios that are asked for. */
export interface ScenarioBook {
  readonly input: OpenInput;
  readonly table: ScenarioTable;
}

/** Opens a book with scenarios. @throws CliError | BookError for a book or scenarios that cannot be used */
export async function openScenarioBook(
  path: string,
  { market, inputFormat, keep, map, scenarios, format, outputs }: PriceOptions,
  { stdin, stdout }: Terminal,
  signal: AbortSignal,
): Promise<ScenarioBook> {
  checkTextOrJson(format, outputs, stdout);
  const input = await openInput({ path, marketPath: market, keep, map, format: inputFormat, stdin, signal });
  try {
    const table = scenarios === undefined ? input.scenarioTable : await readScenarioFile(scenarios, input);
    if (table !== undefined) return { input, table };
    throw new CliError("scenarios are missing: --scenarios FILE, or a list of scenarios in the book");
  } catch (error) {
    input.close();
    throw error;
  }
}

type Engine = Awaited<ReturnType<OpenEngine>>;

/** How a book is revalued. */
export interface Revaluation {
  readonly engine: Engine;
  readonly input: OpenInput;
  readonly options: PriceOptions;
  readonly terminal: Terminal;
  readonly signal: AbortSignal;
}

/**
 * Prices trades under all scenarios of a table, or today alone without one, and calls a function with each result and
 * its trade.
 */
export async function revalue(
  trades: AsyncIterable<ParsedTrade>,
  table: ScenarioTable | undefined,
  { engine, input, options, terminal, signal }: Revaluation,
  onResult: (result: TradeResult, trade: ParsedTrade) => void,
): Promise<void> {
  const waiting: ParsedTrade[] = [];
  async function* kept(): AsyncGenerator<ParsedTrade> {
    for await (const trade of trades) {
      waiting.push(trade);
      yield trade;
    }
  }
  const context = { ...input, scenarios: undefined, scenarioTable: table };
  const bar = new ProgressBar(terminal.stderr);
  try {
    type Progress = { readonly done: number; readonly total?: number | undefined };
    const onProgress = ({ done, total = input.total }: Progress): void =>
      bar.update({ done, fraction: total === undefined ? input.fractionRead() : done / total });
    const run = {
      ...pricingOptionsOf(options),
      precision: options.precision,
      signal,
      onProgress,
    };
    for await (const results of engine.priceTrades(kept(), context, run)) {
      const own = waiting.splice(0, results.length);
      results.forEach((result, i) => onResult(result, own[i]));
    }
  } finally {
    bar.clear();
  }
}

/** Writes an answer as text, or as JSON where the options ask for it. */
export async function writeAnswer(
  answer: object,
  text: () => string,
  { format, outputs }: PriceOptions,
  { stdout }: Terminal,
): Promise<void> {
  const file = outputs?.[0];
  const isJson = format === "json" || (format === undefined && file?.toLowerCase().endsWith(".json") === true);
  const written = isJson ? `${JSON.stringify(answer, undefined, 2)}\n` : text();
  if (file === undefined || file === "-") {
    stdout.write(written);
    return;
  }
  const output = await outputToFile(file);
  await output.write(written);
  await output.commit();
}

/** Returns a function that gives the trades of a book as often as it is called; they are read once. */
export async function readTrades({ trades }: OpenInput): Promise<() => AsyncIterable<ParsedTrade>> {
  const all: ParsedTrade[] = [];
  for await (const trade of trades) all.push(trade);
  return async function* () {
    yield* all;
  };
}
