/** Reads the sheets of a workbook as a book in plain data, and remembers which cell each value is from. */
import { BookError } from "../../base/errors.ts";
import {
  formatPath,
  parseJson,
  placeOfSheet,
  quote,
  type Sheet,
  type SheetCell,
  type SheetRow,
} from "../../book/index.ts";
import { CORRELATIONS, PAIR_COLUMNS, type Part, PARTS, REST, RESULT_SHEETS, SCENARIOS, TRADES } from "./parts.ts";

/** An object of a book in plain data. */
export type Fields = Record<string, unknown>;

/** The parts of a workbook: the book without its trades, as plain data, and the sheet of trades. */
export interface BookOfSheets {
  readonly header: Fields;
  readonly trades: Sheet | undefined;
  /** Returns the sheet, the row and the column of a path in the book, such as `market.rates.EUR`. */
  readonly placeOf: (path: string) => string | undefined;
}

/**
 * Reads sheets as a book. A sheet that is no part of one is an error, unless its name begins with an underscore.
 * `table` names the sheet of trades. @throws BookError with sheet, row and column
 */
export function bookOfSheets(sheets: readonly Sheet[], table = TRADES): BookOfSheets {
  const target = new Target();
  let trades: Sheet | undefined;
  for (const sheet of sheets) {
    const { name } = sheet;
    const part = PARTS.find((one) => one.sheet === name);
    if (name === table) trades = sheet;
    else if (name === REST) readRest(sheet, target);
    else if (name === SCENARIOS) readScenarios(sheet, target);
    else if (name === CORRELATIONS) readCorrelations(sheet, target);
    else if (part !== undefined) readPart(sheet, part, target);
    else if (!name.startsWith("_") && !RESULT_SHEETS.includes(name)) refuse(name, table);
  }
  return { header: target.book, trades, placeOf: (path) => target.placeOf(path) };
}

function refuse(name: string, table: string): never {
  const known = [table, REST, SCENARIOS, CORRELATIONS, ...PARTS.map(({ sheet }) => sheet)];
  throw new BookError(
    placeOfSheet(name),
    `no part of a book; expected ${known.join(", ")}, or a name that begins with an underscore, for what is not read`,
  );
}

type Path = readonly (string | number)[];

/** The book that is made, with the place that each value is from. */
class Target {
  readonly book: Fields = {};
  readonly #places = new Map<string, string>();

  /** Sets a value. @throws BookError if there is one already */
  set(path: Path, value: unknown, place: string): void {
    const parent = this.#parentOf(path, place);
    const last = path[path.length - 1];
    if (Object.hasOwn(parent, last)) throw new BookError(place, `${formatPath(path)} is given twice`);
    parent[last] = value;
    this.#places.set(formatPath(path), place);
  }

  /** Adds an item to a list, and returns its path. */
  append(path: Path, item: unknown, place: string): Path {
    const parent = this.#parentOf(path, place);
    const list = (parent[path[path.length - 1]] ??= []);
    if (!Array.isArray(list)) throw new BookError(place, `${formatPath(path)} is given in another way already`);
    const own = [...path, list.push(item) - 1];
    this.#places.set(formatPath(own), place);
    return own;
  }

  /** The place of a value, or else of what it is part of. */
  placeOf(path: string): string | undefined {
    for (
      let end = path.length;
      end > 0;
      end = Math.max(path.lastIndexOf(".", end - 1), path.lastIndexOf("[", end - 1))
    ) {
      const place = this.#places.get(path.slice(0, end));
      if (place !== undefined) return place;
    }
    return undefined;
  }

  remember(path: Path, place: string): void {
    this.#places.set(formatPath(path), place);
  }

  has(path: Path): boolean {
    let value: unknown = this.book;
    for (const name of path) value = (Object(value) as Fields)[name];
    return value !== undefined;
  }

  #parentOf(path: Path, place: string): Fields {
    let value: Fields = this.book;
    for (const name of path.slice(0, -1)) {
      // Without a prototype: an underlying may have any name.
      if (!Object.hasOwn(value, name)) value[name] = Object.create(null) as Fields;
      const child = value[name];
      if (typeof child !== "object" || child === null)
        throw new BookError(place, `${formatPath(path)} is given in another way already`);
      value = child as Fields;
    }
    return value;
  }
}

/** Returns the place of a cell in messages. */
const placeOf = ({ name }: Sheet, { number }: SheetRow, column?: string): string =>
  `${placeOfSheet(name)}, row ${number}${column === undefined ? "" : `, column ${quote(column)}`}`;

/** The cells of a row that are not empty, by column, and read. Those of keys are left out. */
function cellsOf(
  sheet: Sheet,
  row: SheetRow,
  keys: readonly string[] = [],
): (readonly [column: string, value: unknown])[] {
  return sheet.columns.flatMap((column, i) => {
    const cell = row.cells[i] ?? null;
    return cell === null || keys.includes(column)
      ? []
      : [[column, valueOf(cell, placeOf(sheet, row, column))] as const];
  });
}

/** The value of a cell: a text that begins as JSON does is JSON. */
const valueOf = (cell: SheetCell, place: string): unknown =>
  typeof cell === "string" && /^\s*[[{"]/.test(cell) ? parseJson(cell, place) : cell;

function checkColumns(sheet: Sheet, needed: readonly string[]): void {
  const { columns, namesAt, name } = sheet;
  const place = `${placeOfSheet(name)}, row ${namesAt}`;
  for (const column of needed)
    if (columns.length > 0 && !columns.includes(column))
      throw new BookError(place, `there is no column ${quote(column)}`);
  columns.forEach((column, i) => {
    if (column === "") throw new BookError(place, "a column has no name");
    if (columns.indexOf(column) < i) throw new BookError(place, `column ${quote(column)} is there twice`);
  });
}

function readPart(sheet: Sheet, part: Part, target: Target): void {
  const { at, keys, list } = part;
  checkColumns(sheet, keys);
  for (const row of sheet.rows) {
    const place = placeOf(sheet, row);
    const names = keys.map((key) => {
      const cell = row.cells[sheet.columns.indexOf(key)] ?? null;
      if (cell === null) throw new BookError(placeOf(sheet, row, key), "expected a name, got nothing");
      return String(cell).trim();
    });
    const own = [...at, ...names];
    const cells = cellsOf(sheet, row, keys);
    if (list !== undefined) addItem([...own, ...list], cells, { sheet, row, target });
    else if (cells.length > 0 && cells.every(([column]) => column === part.value)) target.set(own, cells[0][1], place);
    else if (cells.length > 0 && cells.every(([column]) => part.nodes?.includes(column) === true))
      addItem(own, cells, { sheet, row, target });
    else setFields(own, cells, { sheet, row, target });
  }
}

interface At {
  readonly sheet: Sheet;
  readonly row: SheetRow;
  readonly target: Target;
}
type Cells = readonly (readonly [column: string, value: unknown])[];

function addItem(path: Path, cells: Cells, { sheet, row, target }: At): void {
  const item = target.append(path, Object.create(null), placeOf(sheet, row));
  setFields(item, cells, { sheet, row, target }, true);
}

/** Sets the fields of an object by their dotted paths. @throws BookError for an object that another row has */
function setFields(path: Path, cells: Cells, { sheet, row, target }: At, isNew = false): void {
  const place = placeOf(sheet, row);
  if (!isNew && cells.length === 0 && !target.has(path)) target.set(path, Object.create(null), place);
  if (!isNew) target.remember(path, place);
  for (const [column, value] of cells) target.set([...path, ...column.split(".")], value, placeOf(sheet, row, column));
}

/** Reads names and values: `asOf`, `method`, and everything that has no sheet, by its path. */
function readRest(sheet: Sheet, target: Target): void {
  checkColumns(sheet, ["name", "value"]);
  for (const row of sheet.rows) {
    const cells = new Map(cellsOf(sheet, row));
    const [name, value] = [cells.get("name"), cells.get("value")];
    if (typeof name !== "string") throw new BookError(placeOf(sheet, row, "name"), "expected the name of a field");
    // A template has names without values.
    if (value !== undefined) target.set(name.trim().split("."), value, placeOf(sheet, row, "value"));
  }
}

/** Reads named scenarios: a row for each, with the columns name, weight, time, spot.SAP, … */
function readScenarios(sheet: Sheet, target: Target): void {
  checkColumns(sheet, ["name"]);
  for (const row of sheet.rows) {
    const item = target.append([SCENARIOS], Object.create(null), placeOf(sheet, row));
    target.set([...item, "moves"], Object.create(null), placeOf(sheet, row));
    for (const [column, value] of cellsOf(sheet, row)) {
      const dot = column.indexOf(".");
      const path = dot < 0 ? [column] : [column.slice(0, dot), column.slice(dot + 1)];
      const own = column === "name" || column === "weight" ? [column] : ["moves", ...path];
      // A name in digits is a number in the sheet.
      target.set([...item, ...own], column === "name" ? String(value) : value, placeOf(sheet, row, column));
    }
  }
}

function readCorrelations(sheet: Sheet, target: Target): void {
  checkColumns(sheet, PAIR_COLUMNS);
  for (const row of sheet.rows) {
    const cells = PAIR_COLUMNS.map((column) => row.cells[sheet.columns.indexOf(column)]);
    const [first, second, correlation] = cells;
    target.append(["market", CORRELATIONS], [String(first), String(second), correlation], placeOf(sheet, row));
  }
}
