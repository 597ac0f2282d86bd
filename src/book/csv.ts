/** Trades as a table beside a market in JSON: RFC 4180, read as a stream. */
import { BookError } from "../errors.ts";
import { type Column, readColumns, readRow, type TableOptions, tagNames } from "./columns.ts";
import { type BookHeader, contextOf } from "./header.ts";
import { readRows, type Row } from "./csv-rows.ts";
import { flatten, readLines } from "./lines.ts";
import type { BookStream } from "./ndjson.ts";
import { failedTrade } from "./trade.ts";
import type { ParsedTrade } from "./types.ts";

/**
 * Reads trades from CSV. The first row names the columns (see `columns.ts`); an empty cell is an omitted field. An
 * invalid row becomes that trade's error, named by its line. Memory is bounded by the maximum row length, 1 Mi
 * characters.
 * @throws BookError an empty table, an unknown column; here, before any trade is read
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

/** Reads the columns named in the first row. @throws BookError */
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

/** Reads the trade of a row; `repeated` as for `BookHeader.readRow`. */
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
