/** Workbooks (.xlsx) as sheets of plain cells, read and written by the optional package hucre. */
import { BookError } from "../base/errors.ts";
import type { BookHeader } from "./book.ts";
import { contextOf } from "./book.ts";
import { readColumns, readRow, type TableOptions, tagNames } from "./columns.ts";
import type { BookStream } from "./ndjson.ts";
import { quote } from "./names.ts";
import type { ParsedTrade } from "./types.ts";

/** A cell as JSON would have it: a date is its ISO text. */
export type SheetCell = string | number | boolean | null;

/** A row of a sheet below that of the names, with its number in the spreadsheet. */
export interface SheetRow {
  readonly number: number;
  readonly cells: readonly SheetCell[];
}

/** A sheet as a table: the first row that is not empty names the columns. Empty rows are left out. */
export interface Sheet {
  readonly name: string;
  readonly columns: readonly string[];
  /** The number of the row with the names; 1 for an empty sheet. */
  readonly namesAt: number;
  readonly rows: readonly SheetRow[];
}

/** A sheet to be written. Texts that are dates, such as 2027-11-20, become dates of the spreadsheet. */
export interface NewSheet {
  readonly name: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly SheetCell[])[];
}

/** What is used of the package. */
interface Hucre {
  readonly readXlsx: (bytes: Uint8Array) => Promise<{
    readonly sheets: readonly {
      readonly name: string;
      readonly rows: readonly (readonly unknown[])[];
      readonly cells?: ReadonlyMap<string, { readonly value?: unknown; readonly formula?: string }>;
    }[];
  }>;
  readonly writeXlsx: (book: { readonly sheets: readonly object[] }) => Promise<Uint8Array>;
}

/** The package, as a name that the compiler does not look for: it is optional. */
const PACKAGE: string = "hucre/xlsx";

async function load(): Promise<Hucre> {
  try {
    return (await import(PACKAGE)) as Hucre;
  } catch (cause) {
    throw new BookError("", "workbooks (.xlsx) are read and written by an optional package: npm install hucre", {
      cause,
    });
  }
}

/** Tells whether bytes begin as a workbook does, which is a ZIP archive. */
export const startsAsWorkbook = ([p, k, three, four]: Uint8Array): boolean =>
  p === 0x50 && k === 0x4b && three === 3 && four === 4;

/**
 * Reads the sheets of a workbook. @throws BookError for a file that is none, a formula without a value, and a missing
 * package
 */
export async function readWorkbook(bytes: Uint8Array): Promise<Sheet[]> {
  const { readXlsx } = await load();
  const { sheets } = await readXlsx(bytes).catch((cause: unknown) => {
    throw new BookError("", `not a workbook (.xlsx) that can be read: ${(cause as Error).message}`, { cause });
  });
  return sheets.map(({ name, rows, cells = new Map() }) => {
    for (const [at, { value, formula }] of cells)
      if (formula !== undefined && (value === null || value === undefined))
        throw new BookError(
          `${placeOfSheet(name)}, cell ${cellName(at)}`,
          "the formula has no value; open the workbook in a spreadsheet and save it",
        );
    return tableOf(name, rows);
  });
}

/** Returns the place of a sheet in messages. */
export const placeOfSheet = (name: string): string => `sheet ${quote(name)}`;

/** The name of a cell, such as C2, given the numbers of its row and column from 0 with a comma between them. */
function cellName(at: string): string {
  const [row, column] = at.split(",").map(Number);
  let letters = "";
  for (let rest = column + 1; rest > 0; rest = Math.floor((rest - 1) / 26))
    letters = String.fromCharCode(65 + ((rest - 1) % 26)) + letters;
  return `${letters}${row + 1}`;
}

function tableOf(name: string, rows: readonly (readonly unknown[])[]): Sheet {
  const filled = rows
    .map((cells, i): SheetRow => ({ number: i + 1, cells: cells.map(plainCell) }))
    .filter(({ cells }) => cells.some((cell) => cell !== null));
  const [names, ...others] = filled;
  if (names === undefined) return { name, columns: [], namesAt: 1, rows: [] };
  const last = names.cells.findLastIndex((cell) => cell !== null);
  for (const { number, cells } of others)
    if (cells.findLastIndex((cell) => cell !== null) > last)
      throw new BookError(`${placeOfSheet(name)}, row ${number}`, "a cell is to the right of the named columns");
  return {
    name,
    columns: names.cells.slice(0, last + 1).map((cell) => (cell === null ? "" : String(cell).trim())),
    namesAt: names.number,
    rows: others.map(({ number, cells }) => ({ number, cells: cells.slice(0, last + 1) })),
  };
}

function plainCell(cell: unknown): SheetCell {
  if (cell instanceof Date) {
    const text = cell.toISOString();
    return text.endsWith("T00:00:00.000Z") ? text.slice(0, 10) : text;
  }
  if (typeof cell === "string") return cell.trim() === "" ? null : cell;
  return typeof cell === "number" || typeof cell === "boolean" ? cell : null;
}

/** The largest number of characters of a cell, and of rows of a sheet. */
const [MAX_TEXT, MAX_ROWS] = [32_767, 1_048_576];

/** Writes a workbook. @throws BookError for a cell or a sheet that is too large for one, and a missing package */
export async function writeWorkbook(sheets: readonly NewSheet[]): Promise<Uint8Array> {
  const { writeXlsx } = await load();
  for (const { name, columns, rows } of sheets) {
    if (rows.length >= MAX_ROWS)
      throw new BookError(
        placeOfSheet(name),
        `${rows.length} rows, and a sheet has at most ${MAX_ROWS - 1}; write .parquet or .csv`,
      );
    rows.forEach((cells, i) => {
      const long = cells.findIndex((cell) => typeof cell === "string" && cell.length > MAX_TEXT);
      if (long >= 0)
        throw new BookError(
          `${placeOfSheet(name)}, row ${i + 2}, column ${quote(columns[long])}`,
          `a cell has at most ${MAX_TEXT} characters; write .json, .parquet or .csv`,
        );
    });
  }
  return writeXlsx({ sheets: sheets.map(sheetToWrite) });
}

function sheetToWrite({ name, columns, rows }: NewSheet): object {
  const bold = { font: { bold: true } };
  const titles = columns.map((column, i) => [`0,${i}`, { value: column, style: bold }] as const);
  return {
    name,
    rows: [columns, ...rows.map((cells) => cells.map(writtenCell))],
    columns: columns.map((column) => ({ width: Math.min(Math.max(column.length + 2, 12), 40) })),
    cells: new Map(titles),
    freezePane: { rows: 1 },
  };
}

/** The days that all spreadsheets count in the same way begin after the day in 1900 that only they know. */
const DAY = /^(?:19\d\d|[2-9]\d\d\d)-\d\d-\d\d$/;
const FIRST_DAY = "1900-03-01";

function writtenCell(cell: SheetCell): SheetCell | Date {
  if (typeof cell !== "string" || !DAY.test(cell) || cell < FIRST_DAY) return cell;
  const date = new Date(`${cell}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(cell) ? date : cell;
}

/**
 * Reads trades from a sheet, whose columns are those of CSV. An invalid row becomes that trade's error, with its row.
 * @throws BookError an unknown column, before any trade is read
 */
export function readTradeSheet(
  sheet: Sheet,
  market: BookHeader,
  options: TableOptions = {},
): BookStream & { readonly total: number } {
  const place = placeOfSheet(sheet.name);
  if (sheet.columns.length === 0) throw new BookError(place, "expected a table of trades, got an empty sheet");
  const sample = sheet.rows.map(({ cells }) => cells);
  const columns = readColumns(sheet.columns, `${place}, row ${sheet.namesAt}`, options, sample);
  async function* trades(): AsyncGenerator<ParsedTrade> {
    for (const [index, { number, cells }] of sheet.rows.entries())
      yield readRow(cells.map(emptyAsNothing), columns, index, `${place}, row ${number}`, market);
  }
  return { ...contextOf(market), trades: trades(), tags: tagNames(columns), total: sheet.rows.length };
}

const emptyAsNothing = (cell: SheetCell): unknown => cell ?? undefined;
