/** Trades as a table beside a market in JSON: RFC 4180, read as a stream. */
import { BookError } from "../errors.ts";
import { type Column, columnOf, KNOWN_COLUMNS, tradeOfCells } from "./csv-columns.ts";
import type { BookHeader } from "./header.ts";
import { readRows, type Row } from "./csv-rows.ts";
import { flatten, readLines } from "./lines.ts";
import { didYouMean, quote } from "./names.ts";
import type { BookStream } from "./ndjson.ts";
import { failedTrade } from "./trade.ts";
import type { ParsedTrade } from "./types.ts";

/**
 * Trades from CSV. The first row names the columns (see `KNOWN_COLUMNS`); an empty cell is a field left out. A row that is no
 * trade becomes that trade's error, named by its line. Memory is bounded by the longest row allowed, 1 Mi characters.
 * @throws BookError an empty table, an unknown column; here, before any trade is read
 */
export async function readCsv(chunks: AsyncIterable<string>, market: BookHeader): Promise<BookStream> {
  const rows = readRows(flatten(readLines(chunks)));
  const columns = readColumns((await rows.next()).value);
  const { asOf, scenarios } = market;
  return { asOf, scenarios, market: market.market, trades: tradesOf(rows, columns, market) };
}

function readColumns(row: Row | undefined): Column[] {
  if (row === undefined) throw new BookError("", "expected a table of trades, got an empty input");
  if (row.cells === undefined) throw new BookError(`line ${row.line}`, row.problem);
  const names = row.cells.map((cell) => cell.trim());
  const semicolons =
    names.length === 1 && names[0].includes(";") ? "; the columns seem to be separated by semicolons, use commas" : "";
  const columns = names.map((name, i) => {
    const column = columnOf(name);
    if (column === undefined) {
      throw new BookError(
        `line ${row.line}`,
        `unknown column ${quote(name)}${semicolons || didYouMean(name, KNOWN_COLUMNS) || `; known are ${KNOWN_COLUMNS.join(", ")}`}`,
      );
    }
    if (names.indexOf(name) < i) throw new BookError(`line ${row.line}`, `column ${quote(name)} is there twice`);
    return column;
  });
  return columns;
}

async function* tradesOf(
  rows: AsyncIterable<Row>,
  columns: readonly Column[],
  market: BookHeader,
): AsyncGenerator<ParsedTrade> {
  let index = 0;
  for await (const row of rows) yield readRow(row, index++, columns, market);
}

function readRow(row: Row, index: number, columns: readonly Column[], market: BookHeader): ParsedTrade {
  const where = `line ${row.line}`;
  if (row.cells === undefined) return failedTrade(undefined, index, new BookError(where, row.problem));
  if (row.cells.length !== columns.length) {
    return failedTrade(
      undefined,
      index,
      new BookError(where, `expected ${columns.length} cells, as in the first row, got ${row.cells.length}`),
    );
  }
  try {
    return market.readLine(tradeOfCells(columns, row.cells, where), index, row.line);
  } catch (error) {
    if (error instanceof BookError) return failedTrade({ id: idOf(columns, row.cells) }, index, error);
    throw error;
  }
}

/** What the row of a trade that cannot be read calls it. */
function idOf(columns: readonly Column[], cells: readonly string[]): string | undefined {
  const id = cells[columns.findIndex(({ path }) => path.join(".") === "id")]?.trim();
  return id === "" ? undefined : id;
}
