/** RFC 4180: lines to rows, rows to cells. */
import { isBlank, type Line, MOST_LINE } from "./lines.ts";

/** A row, and the line that it begins on; or why it is none. */
export type Row =
  | { readonly line: number; readonly cells: readonly string[] }
  | { readonly line: number; readonly cells: undefined; readonly problem: string };

/** Rows that may go over several lines: a row is complete when its double quotes are even in number. Blank rows are passed over. */
export async function* readRows(lines: AsyncIterable<Line>): AsyncGenerator<Row, undefined> {
  const open = new OpenRow();
  for await (const line of lines) {
    if (open.empty && isBlank(line)) continue;
    const row = open.add(line);
    if (row !== undefined) yield row;
  }
  if (!open.empty) yield open.giveUp("a double quote is not closed");
}

/** The row that is being read. Quotes are counted line by line, so a stray one costs linear time. */
class OpenRow {
  #line = 0;
  #pieces: string[] = [];
  #length = 0;
  #inQuotes = false;

  get empty(): boolean {
    return this.#pieces.length === 0;
  }

  /** The row, if this line completes it. */
  add({ number, text }: Line): Row | undefined {
    if (this.empty) this.#line = number;
    if (text === undefined) return this.giveUp(`longer than ${MOST_LINE} characters`);
    this.#pieces.push(text);
    this.#length += text.length + 1;
    if (oddQuotes(text)) this.#inQuotes = !this.#inQuotes;
    if (this.#inQuotes) return this.#length > MOST_LINE ? this.giveUp("a double quote is not closed") : undefined;
    const cells = splitCells(this.#pieces.join("\n"));
    const line = this.#reset();
    return cells === undefined
      ? { line, cells, problem: "expected a comma after the closing double quote of a cell" }
      : { line, cells };
  }

  giveUp(problem: string): Row {
    return { line: this.#reset(), cells: undefined, problem };
  }

  #reset(): number {
    this.#pieces = [];
    this.#length = 0;
    this.#inQuotes = false;
    return this.#line;
  }
}

function oddQuotes(text: string): boolean {
  let odd = false;
  for (let i = text.indexOf('"'); i >= 0; i = text.indexOf('"', i + 1)) odd = !odd;
  return odd;
}

const CELL = /"([^"]*(?:""[^"]*)*)"|([^,]*)/y;

/** Cells of one row: a quoted cell has its quotes taken off and its doubled quotes halved; undefined if text follows them. */
function splitCells(row: string): string[] | undefined {
  if (!row.includes('"')) return row.split(",");
  const cells: string[] = [];
  for (let start = 0; ; start++) {
    CELL.lastIndex = start;
    const [, quoted, plain] = CELL.exec(row) as RegExpExecArray;
    cells.push(quoted === undefined ? plain : quoted.replaceAll('""', '"'));
    start = CELL.lastIndex;
    if (start >= row.length) return cells;
    if (row[start] !== ",") return undefined;
  }
}
