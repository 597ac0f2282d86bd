import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import {
  type AnyTrade,
  type ParsedTrade,
  parseJson,
  readTrades,
  readWholeBook,
  startsAsWorkbook,
} from "../../book/index.ts";
import { packageVersion } from "../../output/formats/index.ts";
import {
  readJsonResults,
  readParquetResults,
  type ReportProvenance,
  reportHtml,
  ReportSummary,
} from "../../output/report/index.ts";
import type { StoredResults } from "../../output/report/index.ts";
import { CliError, EXIT_STATUS } from "../failure.ts";
import { openOutput } from "../output.ts";
import type { Terminal } from "../terminal.ts";
import { inFile, readWholeFile } from "../whole-file.ts";

/** The options of the command `feynkac report`. */
export interface ReportOptions {
  /** The path of the book that was priced, which has the quantities and groups. */
  readonly book: string | undefined;
  readonly output: string;
}

/**
 * Runs `feynkac report`, which writes the results of `feynkac price` as one HTML file. @returns the exit status @throws
 * CliError | BookError input that cannot be used
 */
export async function report(path: string, { book, output }: ReportOptions, terminal: Terminal): Promise<number> {
  const written = await inFile(path, () => readResults(path));
  const trades = book === undefined ? undefined : await inFile(book, () => readBookFile(book));
  if (trades !== undefined && trades.length !== written.results.length)
    throw new CliError(
      `${book} has ${trades.length} trades, and ${path} ${written.results.length} results: they do not belong together`,
    );
  const summary = new ReportSummary();
  written.results.forEach((result, i) =>
    summary.add(tradeOf(trades?.[i], result.id, i, `${path} and ${book}`), result),
  );
  const inputs = [path, ...(book === undefined ? [] : [book])];
  const run: ReportProvenance = {
    title: `Report on ${book ?? path}`,
    asOf: written.asOf,
    version: packageVersion(),
    device: written.device.name,
    scenarios: written.scenarios,
    settings: [],
    inputs: await Promise.all(inputs.map(async (name) => ({ name, sha256: await sha256Of(name) }))),
  };
  await writeReport(output, reportHtml(summary, run), terminal);
  return EXIT_STATUS.ok;
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

/** Returns the SHA-256 hash of a file in hexadecimal. Undefined for standard input, which cannot be read again. */
export async function sha256Of(path: string): Promise<string | undefined> {
  if (path === "-") return undefined;
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

async function readResults(path: string): Promise<StoredResults> {
  const bytes = readWholeFile(path);
  if (bytes.subarray(0, 4).toString("latin1") !== "PAR1") return readJsonResults(bytes.toString("utf8"));
  return readParquetResults(new Uint8Array(bytes).buffer);
}

async function readBookFile(path: string): Promise<readonly ParsedTrade[]> {
  const bytes = readWholeFile(path);
  if (!startsAsWorkbook(bytes)) return [...readTrades(readWholeBook(parseJson(bytes.toString("utf8"))))];
  const { plainBookOf } = await import("../workbook/index.ts");
  return [...readTrades(readWholeBook(await plainBookOf(bytes)))];
}
