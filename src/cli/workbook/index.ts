/** Workbooks (.xlsx) as books: a sheet for the trades, and one for each part of the market. */
import { BookError } from "../../base/errors.ts";
import {
  type BookHeader,
  type BookStream,
  formatPath,
  type NewSheet,
  readHeader,
  readMarketFile,
  readTradeSheet,
  readWorkbook,
  type Sheet,
  type TableOptions,
  underMarket,
  writeWorkbook,
  quote,
} from "../../book/index.ts";
import { CliError } from "../failure.ts";
import { TRADES } from "./parts.ts";
import { type BookOfSheets, bookOfSheets, type Fields } from "./read.ts";
import { sheetsOfBook } from "./write.ts";

/** What stands beside the trades of a workbook. */
export interface BesideSheets {
  readonly market: BookHeader | undefined;
  /** True if that market takes the place of the workbook's own. */
  readonly replaces: boolean;
  readonly table: TableOptions;
  /** The name of the sheet of trades. */
  readonly sheet?: string | undefined;
}

/** Reads the trades of a workbook, and its market if it has one. @throws BookError | CliError */
export async function readBookSheets(
  bytes: Uint8Array,
  { market, replaces, table, sheet = TRADES }: BesideSheets,
): Promise<BookStream & { readonly total: number }> {
  const { header, trades, placeOf } = bookOfSheets(await readWorkbook(bytes), sheet);
  if (trades === undefined) throw new BookError("", `there is no sheet ${quote(sheet)}, of a row for each trade`);
  const isBook = Object.keys(header).length > 0;
  if (isBook && market !== undefined && !replaces)
    throw new CliError("--market goes with a workbook of trades alone; this one has its own market");
  const own = isBook ? inSheets(placeOf, () => readHeader(header)) : undefined;
  if (own === undefined && market === undefined)
    throw new CliError(
      'a sheet of trades needs a market: sheets "book", "underlyings", "rates", or --market MARKET.json',
    );
  return readTradeSheet(trades, underMarket(own, market), table);
}

/** Reads the market of a workbook without trades. @throws BookError with sheet, row and column */
export async function readMarketSheets(bytes: Uint8Array): Promise<BookHeader> {
  const { header, trades, placeOf } = bookOfSheets(await readWorkbook(bytes));
  if (trades !== undefined && trades.rows.length > 0)
    throw new BookError("", "expected a market, got a workbook with trades; they come from the other file");
  return inSheets(placeOf, () => readMarketFile(header));
}

/** Reads a workbook as a book in plain data. @throws BookError for what sheets cannot tell */
export async function plainBookOf(bytes: Uint8Array): Promise<Fields> {
  return plainBook(bookOfSheets(await readWorkbook(bytes)));
}

async function plainBook({ header, trades }: BookOfSheets): Promise<Fields> {
  if (trades === undefined) return header;
  const entries: unknown[] = [];
  const reader = readMarketFile({ asOf: "2000-01-01", market: { rates: {} } });
  const keep: BookHeader["readRow"] = (value, index, where) => {
    entries[index] = value;
    return reader.readRow(value, index, where);
  };
  const stream = readTradeSheet(trades, { ...reader, readRow: keep });
  let read = 0;
  for await (const parsed of stream.trades) {
    // Its cells are no trade.
    if (entries.length < ++read && !parsed.ok) throw parsed.error;
  }
  return { ...header, trades: entries };
}

/** Writes a book in plain data as a workbook. @throws BookError for a book that sheets would not give back */
export async function workbookOf(book: Fields, isTemplate = false): Promise<Uint8Array> {
  const sheets = sheetsOfBook(book, isTemplate);
  const different = differenceOf(book, await plainBook(bookOfSheets(sheets.map(asRead))), []);
  if (different !== undefined)
    throw new BookError(formatPath(different), "cannot be written into a workbook such that it is read again as it is");
  return writeWorkbook(sheets);
}

/** A sheet as it is read again. */
const asRead = ({ name, columns, rows }: NewSheet): Sheet => ({
  name,
  columns,
  namesAt: 1,
  rows: rows.map((cells, i) => ({ number: i + 2, cells: cells.map((cell) => (cell === "" ? null : cell)) })),
});

/** The path of the first value in which two books differ. */
function differenceOf(a: unknown, b: unknown, path: readonly PropertyKey[]): readonly PropertyKey[] | undefined {
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return a === b ? undefined : path;
  const names = Object.keys(a);
  if (Array.isArray(a) !== Array.isArray(b) || names.length !== Object.keys(b).length) return path;
  for (const name of names) {
    const own = [...path, Array.isArray(a) ? Number(name) : name];
    if (!Object.hasOwn(b, name)) return own;
    const different = differenceOf((a as Fields)[name], (b as Fields)[name], own);
    if (different !== undefined) return different;
  }
  return undefined;
}

/** Calls a function, and adds the cell to errors about the book that it was read from. */
function inSheets<T>(placeOf: BookOfSheets["placeOf"], read: () => T): T {
  try {
    return read();
  } catch (error) {
    const place = error instanceof BookError ? placeOf(error.path) : undefined;
    if (place === undefined) throw error;
    throw new BookError(place, (error as BookError).message, { cause: error });
  }
}
