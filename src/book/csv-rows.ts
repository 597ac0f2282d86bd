/**
 * Splits CSV into rows and cells according to RFC 4180, except that a cell cannot contain line breaks. Hence a stray
 * double quote invalidates only one trade.
 */
import { isBlank, type Line, MAX_LINE } from "./lines.ts";
import { findInvalid, NOT_UTF8 } from "./text.ts";

/** A row of a CSV file with its line number: its cells, or a description of what is wrong with it. */
export type Row =
  | { readonly line: number; readonly cells: readonly string[] }
  | { readonly line: number; readonly cells: undefined; readonly problem: string };

/** Reads the rows of a CSV file, one from each line. Blank lines are skipped. */
export async function* readRows(lines: AsyncIterable<Line>): AsyncGenerator<Row, undefined> {
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
