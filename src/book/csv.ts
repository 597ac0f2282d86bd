/** Reads trades from a CSV stream (RFC 4180), with the market from a separate JSON file. */
import { BookError } from "../base/errors.ts";
import { type Column, readColumns, readColumnsOf, readRow, type TableOptions, tagNames } from "./columns.ts";
import { type BookHeader, contextOf } from "./book.ts";
import type { BookStream } from "./ndjson.ts";
import { failedTrade } from "./trade.ts";
import type { ParsedTrade } from "./types.ts";
import { findInvalid, NOT_UTF8, flatten, readLines, isBlank, type Line, MAX_LINE } from "./text.ts";

/** A row of a CSV file with its line number: its cells, or a description of what is wrong with it. */
type Row =
  | { readonly line: number; readonly cells: readonly string[] }
  | { readonly line: number; readonly cells: undefined; readonly problem: string };

/** Reads the rows of a CSV file, one from each line. Blank lines are skipped. */
async function* readRows(lines: AsyncIterable<Line>): AsyncGenerator<Row, undefined> {
  for await (const line of lines) if (!isBlank(line)) yield readCells(line);
}

/** Splits a line of a CSV file into its cells. */
export function readCells({ number: line, text }: Line): Row {
  if (text === undefined) return { line, cells: undefined, problem: `longer than ${MAX_LINE} characters` };
  const invalid = findInvalid(text);
  if (invalid >= 0) return { line, cells: undefined, problem: `column ${invalid + 1}: ${NOT_UTF8}` };
  const cells = splitCells(text);
  return typeof cells === "string" ? { line, cells: undefined, problem: cells } : { line, cells };
}

const CELL = /"([^"]*(?:""[^"]*)*)"|([^,]*)/y;

/**
 * Splits a row into its cells. The quotes around a quoted cell are removed, and doubled quotes inside it are halved.
 * Returns a description of the problem if the row is invalid.
 */
function splitCells(row: string): string[] | string {
  if (!row.includes('"')) return row.split(",");
  const cells: string[] = [];
  for (let start = 0; ; start++) {
    CELL.lastIndex = start;
    const [, quoted, plain] = CELL.exec(row) as RegExpExecArray;
    const stray = plain?.indexOf('"') ?? -1;
    if (stray === 0) return `column ${start + 1}: a double quote is not closed on its line`;
    if (stray > 0)
      return (
        `column ${start + stray + 1}: a double quote inside a cell that does not begin with one; ` +
        "quote the cell, and double the quote"
      );
    cells.push(quoted === undefined ? plain : quoted.replaceAll('""', '"'));
    start = CELL.lastIndex;
    if (start >= row.length) return cells;
    if (row[start] !== ",") return `column ${start + 1}: expected a comma after the closing double quote of a cell`;
  }
}

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
  const columns = await csvColumns((await rows.next()).value, () => rows, options);
  return { ...contextOf(market), trades: tradesOf(rows, columns, market), tags: tagNames(columns) };
}

/**
 * Converts the first row of a CSV file to columns. Of the `others`, some are read if a column is unknown. @throws
 * BookError an empty table, or an unknown, missing or repeated column
 */
export async function csvColumns(
  row: Row | undefined,
  others: () => AsyncIterable<Row>,
  options: TableOptions = {},
): Promise<Column[]> {
  if (row === undefined) throw new BookError("", "expected a table of trades, got an empty input");
  if (row.cells === undefined) throw new BookError(`line ${row.line}`, row.problem);
  const names = row.cells.map((cell) => cell.trim());
  return readColumnsOf(
    (sample) => readColumns(names, `line ${row.line}`, options, sample),
    () => cellsOf(others()),
  );
}

async function* cellsOf(rows: AsyncIterable<Row>): AsyncGenerator<Row["cells"]> {
  for await (const { cells } of rows) yield cells;
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
