/** Reads a book from the files that a visitor gave, whatever their format, as plain data. */
import {
  type BookHeader,
  type ColumnMap,
  decodeText,
  formatOfName,
  formatOfText,
  type InputFormat,
  type ParsedTrade,
  parseJson,
  type Market,
  readCsv,
  readCsvRows,
  readMarketFile,
  readNdjson,
  readParquet,
  readParquetRows,
  readTrades,
  readWholeBook,
  readWholeText,
  type ScenarioTable,
  scenariosOfRows,
} from "../../src/book/index.ts";
import { BookError } from "../../src/base/errors.ts";
import type { GivenFile } from "./protocol.ts";

type Plain = Readonly<Record<string, unknown>>;

/** A book as plain data, and as the engine reads it. */
export interface ReadBook {
  readonly name: string;
  /** The book without its trades, as written. */
  readonly header: Plain;
  readonly entries: unknown[];
  readonly parsed: ParsedTrade[];
}

/** @throws BookError with the place and the remedy */
export async function readFiles(files: readonly GivenFile[], map?: ColumnMap): Promise<ReadBook> {
  const kinds = await Promise.all(files.map(async (given) => ({ ...given, format: await formatOf(given) })));
  const workbook = kinds.find(({ format }) => format === "xlsx");
  if (workbook !== undefined)
    throw new BookError("", `${workbook.name}: the page reads no workbooks: feynkac convert BOOK.xlsx -o BOOK.json`);
  const table = kinds.find(({ format }) => format !== "json");
  if (table === undefined) return readJsonFiles(kinds);
  const market = kinds.find((one) => one !== table);
  if (kinds.length > 2)
    throw new BookError("", `expected one file of trades and one market, got ${kinds.length} files`);
  if (table.format === "ndjson") return readLines(table, market);
  if (market === undefined)
    throw new BookError(
      "",
      `${table.name} is a table of trades: drop it together with its market, a JSON file with asOf and market`,
    );
  return readTable(table, await plainJson(market), map);
}

async function readJsonFiles(files: readonly GivenFile[]): Promise<ReadBook> {
  if (files.length !== 1)
    throw new BookError(
      "",
      `expected one JSON book, or a table of trades with its market, got ${files.length} JSON files`,
    );
  const value = await plainJson(files[0]);
  return readPlainBook(files[0].name, value);
}

/** A book that is plain data already. @throws BookError */
export function readPlainBook(name: string, value: unknown): ReadBook {
  const header = readWholeBook(value);
  const { trades: _, ...rest } = value as Plain;
  return { name, header: rest, entries: [...header.trades], parsed: [...readTrades(header)] };
}

async function readLines(table: GivenFile, market: GivenFile | undefined): Promise<ReadBook> {
  const beside = market === undefined ? undefined : await plainJson(market);
  const first = beside ?? (await firstLine(table));
  const { header, entries } = recording(readMarketFile(first));
  const stream = await readNdjson(textOf(table.file), header, beside === undefined);
  return { name: table.name, header: first, entries, parsed: await settleAll(stream.trades) };
}

async function firstLine({ file, name }: GivenFile): Promise<Plain> {
  const text = await readWholeText(textOf(file.slice(0, 1 << 20)));
  const value = parseJson(text.slice(0, text.indexOf("\n") < 0 ? text.length : text.indexOf("\n")), "line 1") as Plain;
  if (!("asOf" in value || "market" in value))
    throw new BookError("line 1", `${name} has trades only: drop it together with its market, a JSON file`);
  const { trades: _, ...header } = value;
  return header;
}

async function readTable(
  table: GivenFile & { readonly format: InputFormat },
  market: Plain,
  map: ColumnMap | undefined,
): Promise<ReadBook> {
  const { header, entries } = recording(readMarketFile(market));
  const { file } = table;
  const stream =
    table.format === "csv"
      ? await readCsv(textOf(file), header, { map })
      : await readParquet(
          { byteLength: file.size, slice: (start, end) => file.slice(start, end ?? file.size).arrayBuffer() },
          header,
          { map },
        );
  return { name: table.name, header: market, entries, parsed: await settleAll(stream.trades) };
}

/** Reads named scenarios from a table. @throws BookError with the file's name */
export async function readScenarios(
  { name, file }: GivenFile,
  book: { readonly context: { readonly asOf: string }; readonly market: Market },
): Promise<ScenarioTable> {
  try {
    const isParquet = name.toLowerCase().endsWith(".parquet");
    const rows = isParquet ? await readParquetRows(await file.arrayBuffer()) : await readCsvRows(textOf(file));
    return scenariosOfRows(rows, { asOf: book.context.asOf, market: book.market });
  } catch (error) {
    if (error instanceof BookError) throw new BookError("", `${name}: ${error.message}`);
    throw error;
  }
}

/** A header that remembers the trades it has read, as plain data: they can be edited then. */
function recording(header: BookHeader): { readonly header: BookHeader; readonly entries: unknown[] } {
  const entries: unknown[] = [];
  const readRow: BookHeader["readRow"] = (value, index, where) => {
    entries[index] = value;
    return header.readRow(value, index, where);
  };
  const readEntry: BookHeader["readEntry"] = (value, index) => {
    entries[index] = value;
    return header.readEntry(value, index);
  };
  return { header: { ...header, readRow, readEntry }, entries };
}

async function settleAll(trades: AsyncIterable<ParsedTrade>): Promise<ParsedTrade[]> {
  const all: ParsedTrade[] = [];
  for await (const trade of trades) all.push(trade);
  return all;
}

async function plainJson({ file, name }: GivenFile): Promise<Plain> {
  try {
    return parseJson(await readWholeText(textOf(file))) as Plain;
  } catch (error) {
    if (error instanceof BookError && error.path === "") throw new BookError("", `${name}: ${error.message}`);
    throw error;
  }
}

function textOf(file: Blob): AsyncGenerator<string> {
  return decodeText(bytesOf(file));
}

async function* bytesOf(file: Blob): AsyncGenerator<Uint8Array> {
  const reader = file.stream().getReader();
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    yield value;
  }
}

async function formatOf({ name, file }: GivenFile): Promise<InputFormat> {
  const named = formatOfName(name);
  if (named !== undefined) return named;
  const head = new Uint8Array(await file.slice(0, 1 << 16).arrayBuffer());
  if (new TextDecoder("latin1").decode(head.subarray(0, 4)) === "PAR1") return "parquet";
  return formatOfText(new TextDecoder().decode(head));
}
