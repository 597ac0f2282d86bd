import { labelsOf, type ParsedTrade, type Trade } from "../../book/index.ts";
import type { ImpliedVolatility } from "../../pricing/index.ts";
import type { Engine, OpenEngine } from "../engine.ts";
import { CliError, EXIT_STATUS } from "../failure.ts";
import { type ImpliedRow, impliedColumns, impliedTable } from "../format/implied.ts";
import { withCommas } from "../format/numbers.ts";
import { formatOfName } from "../input.ts";
import { type FormattedOutput, openOutputs, targetsOf } from "../output.ts";
import type { PriceOptions } from "../options.ts";
import { ProgressBar } from "../progress.ts";
import { type QuotedRow, type QuotedTable, readQuotes } from "../quoted-options.ts";
import { objectOf, type OutputPiece, tableParts } from "../../output/formats/index.ts";
import type { Terminal } from "../terminal.ts";
import { inFile } from "../whole-file.ts";

/** The options of the command `feynkac implied`. */
export interface ImpliedCommandOptions extends PriceOptions {
  /** The date of the prices, where there is no market. */
  readonly asOf: string | undefined;
  /** The error of all prices. */
  readonly priceError: number | undefined;
}

/** The accuracy of values, relative to the spot: finer than most prices are rounded to. */
const USUAL_ACCURACY = 1e-6;

/**
 * Runs `feynkac implied`, which finds the implied volatilities of a table of option prices. @returns the exit status
 * @throws CliError input that cannot be used; DeviceUnavailableError; AbortError when interrupted
 */
export async function implied(
  path: string,
  options: ImpliedCommandOptions,
  terminal: Terminal,
  signal: AbortSignal,
  openEngine: OpenEngine,
): Promise<number> {
  const targets = targetsOf(options.format, options.outputs, terminal.stdout);
  const { market: marketPath, inputFormat, keep, map, asOf, priceError } = options;
  const format = inputFormat ?? formatOfName(path) ?? "csv";
  if (format !== "csv" && format !== "parquet" && format !== "xlsx")
    throw new CliError(`a table of prices is CSV, Parquet or a workbook, and ${path} is ${format}`);
  const { stdin } = terminal;
  const request = { path, marketPath, keep, map, format, sheet: "prices", asOf, priceError, stdin, signal };
  const table = await inFile(path, () => readQuotes(request));
  await using engine = await openEngine(options);
  const outputs = await openOutputs(targets, terminal.stdout);
  try {
    const started = performance.now();
    const rows = await rowsOf(table, engine, options, terminal, signal);
    for (const output of outputs.all)
      for await (const part of partsOf(rows, table, output, engine)) await output.write(part);
    await outputs.commit();
    const without = rows.filter(({ volatility }) => volatility === null).length;
    terminal.stderr.write(
      `${withCommas(rows.length - without)} implied volatilities in ${((performance.now() - started) / 1000).toFixed(2)} s` +
        `${without > 0 ? `, ${withCommas(without)} prices without one` : ""}; ${engine.device.name}, ${engine.precision}\n`,
    );
    return without > 0 ? EXIT_STATUS.failedTrades : EXIT_STATUS.ok;
  } catch (error) {
    await outputs.discard();
    throw error;
  }
}

/** A price whose volatility is sought: the row, and whether it is the price itself, the bid or the ask. */
interface Sought {
  readonly row: number;
  readonly of: "price" | "bid" | "ask";
  readonly quote: { readonly option: Trade; readonly price: number; readonly priceError: number };
}

async function rowsOf(
  { rows, asOf }: QuotedTable,
  engine: Engine,
  { precision, accuracy = USUAL_ACCURACY }: ImpliedCommandOptions,
  { stderr }: Terminal,
  signal: AbortSignal,
): Promise<ImpliedRow[]> {
  const sought = rows.flatMap((row, i): readonly Sought[] => {
    if (problemOf(row) !== undefined) return [];
    const { trade: option } = row.parsed as { readonly trade: Trade };
    return (["price", "bid", "ask"] as const).flatMap((of) => {
      const { [of]: price, priceError } = row;
      return price === undefined ? [] : [{ row: i, of, quote: { option, price, priceError } }];
    });
  });
  const bar = new ProgressBar(stderr);
  const onProgress = ({ done, total }: { done: number; total: number }): void =>
    bar.update({ done, fraction: total === 0 ? 1 : done / total });
  try {
    const quotes = sought.map(({ quote }) => quote);
    const found = await engine.impliedVolatilities(quotes, { asOf }, { precision, accuracy, signal, onProgress });
    const byRow = rows.map((): Partial<Record<Sought["of"], ImpliedVolatility>> => ({}));
    sought.forEach(({ row, of }, i) => (byRow[row][of] = found[i]));
    return rows.map((row, i) => rowOf(row, i, byRow[i]));
  } finally {
    bar.clear();
  }
}

/** Returns what keeps a row from having a volatility, as far as it is known before anything is priced. */
function problemOf({ parsed, price, bid, ask }: QuotedRow): string | undefined {
  if (!parsed.ok) return parsed.error.message;
  if (!isOption(parsed))
    return "expected a call or a put on one underlying, without barriers, averages or other features";
  if (price === undefined) return "there is no price: expected a price, or a bid and an ask";
  if (bid !== undefined && ask !== undefined && bid > ask) return `the bid ${bid} is above the ask ${ask}`;
  return undefined;
}

function isOption({ trade }: Extract<ParsedTrade, { ok: true }>): boolean {
  if (trade.kind !== undefined) return false;
  return trade.payoff.kind === "vanilla" && trade.barriers.length === 0 && trade.assets === undefined;
}

function rowOf(row: QuotedRow, index: number, found: Partial<Record<Sought["of"], ImpliedVolatility>>): ImpliedRow {
  const { parsed, price = null } = row;
  const labels = parsed.ok ? { id: parsed.trade.id, ...labelsOf(parsed.trade) } : { id: parsed.id, tags: parsed.tags };
  const { price: own } = found;
  const numbers = {
    price,
    priceError: row.priceError,
    bidVolatility: found.bid?.volatility ?? null,
    askVolatility: found.ask?.volatility ?? null,
  };
  const head = {
    id: labels.id ?? String(index + 1),
    underlying: "underlying" in labels ? (labels.underlying ?? null) : null,
  };
  const tags = labels.tags;
  if (own === undefined || own.volatility === null) {
    const reason = problemOf(row) ?? (own?.volatility === null ? own.reason : "");
    return { ...head, ...numbers, volatility: null, errorEstimate: null, method: null, warnings: [], reason, tags };
  }
  const { volatility, errorEstimate, method, warnings } = own;
  return { ...head, ...numbers, volatility, errorEstimate, method, warnings, reason: null, tags };
}

async function* partsOf(
  rows: readonly ImpliedRow[],
  { asOf, tags }: QuotedTable,
  { format, sink }: FormattedOutput,
  { device }: Engine,
): AsyncGenerator<OutputPiece> {
  const columns = impliedColumns(tags);
  if (format === "table") yield impliedTable(rows, sink.isTTY === true && sink.columns ? sink.columns : undefined);
  else if (format === "json") {
    const results = rows.map((row) => objectOf(columns, row));
    yield `${JSON.stringify({ asOf, device, results }, undefined, 2)}\n`;
  } else yield* tableParts(format, columns, { asOf, device }, rows);
}
