/** Reads trades from a CSV stream (RFC 4180), with the market from a separate JSON file. */
import { BookError } from "../base/errors.ts";
import { type Column, readColumns, readRow, type TableOptions, tagNames } from "./columns.ts";
import { type BookHeader, contextOf } from "./header.ts";
import { readRows, type Row } from "./csv-rows.ts";
import { flatten, readLines } from "./lines.ts";
import type { BookStream } from "./ndjson.ts";
import { failedTrade } from "./trade.ts";
import type { ParsedTrade } from "./types.ts";

/**
 * Reads trades from CSV. The first row names the columns (see `columns.ts`). An empty cell is an omitted field. An
 * invalid row becomes that trade's error, with its line. Memory is bounded by the maximum row length, 1 Mi characters.
 *
 * @param chunks the text of the file, in pieces of any length.
 * @param market the market of the trades.
 * @throws BookError an empty table or an unknown column, before any trade is read.
 */
export async function readCsv(
  chunks: AsyncIterable<string>,
  market: BookHeader,
  options: TableOptions = {},
): Promise<BookStream> {
  const rows = readRows(flatten(readLines(chunks)));
  const columns = csvColumns((await rows.next()).value, options);
  return { ...contextOf(market), trades: tradesOf(rows, columns, market), tags: tagNames(columns) };
}

/**
 * Converts the first row of a CSV file to columns. @throws BookError an empty table, or an unknown, missing or repeated
 * column
 */
export function csvColumns(row: Row | undefined, options: TableOptions = {}): Column[] {
  if (row === undefined) throw new BookError("", "expected a table of trades, got an empty input");
  if (row.cells === undefined) throw new BookError(`line ${row.line}`, row.problem);
  return readColumns(
    row.cells.map((cell) => cell.trim()),
    `line ${row.line}`,
    options,
  );
}

async function* tradesOf(
  rows: AsyncIterable<Row>,
  columns: readonly Column[],
  market: BookHeader,
): AsyncGenerator<ParsedTrade> {
  let index = 0;
  for await (const row of rows) yield readCsvRow(row, index++, columns, market);
}

/**
 * Reads the trade in a row of a CSV file, or its error. `index` is the trade's number from 0. `repeated` tells whether
 * an earlier trade has its id.
 */
export function readCsvRow(
  { line, ...row }: Row,
  index: number,
  columns: readonly Column[],
  market: BookHeader,
  repeated?: boolean,
): ParsedTrade {
  const where = `line ${line}`;
  if (row.cells === undefined) return failedTrade(undefined, index, new BookError(where, row.problem));
  if (row.cells.length === columns.length) return readRow(row.cells, columns, index, where, market, repeated);
  const problem = `expected ${columns.length} cells, as in the first row, got ${row.cells.length}`;
  return failedTrade(undefined, index, new BookError(where, problem));
}
