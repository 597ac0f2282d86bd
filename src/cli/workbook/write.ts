/** Writes a book in plain data as sheets. */
import { BookError } from "../../base/errors.ts";
import { kindOfTerm, type NewSheet, type SheetCell } from "../../book/index.ts";
import { CORRELATIONS, PAIR_COLUMNS, type Part, PARTS, REST, SCENARIOS, TRADES } from "./parts.ts";
import type { Fields } from "./read.ts";

/** A row of a sheet that is made, by column. */
type Row = Map<string, SheetCell>;

/**
 * Returns the sheets of a book. What is no table, or has names that columns cannot have, stands as JSON in cells. With
 * `all` there are sheets of the parts that the book does not have, for a template.
 */
export function sheetsOfBook(book: Fields, all = false): NewSheet[] {
  const rest = structuredClone(book);
  const { trades } = rest;
  delete rest.trades;
  // Lists inside of an object are taken from it before it is written itself.
  const lists = new Map(PARTS.filter(({ list }) => list !== undefined).map((part) => [part, sheetOf(part, rest)]));
  const parts = PARTS.map((part) => lists.get(part) ?? sheetOf(part, rest));
  const correlations = takeList(rest, ["market", CORRELATIONS], correlationRow);
  const scenarios = takeList(rest, [SCENARIOS], scenarioRow);
  if (correlations.length > 0 || parts.some(({ rows }) => rows.length > 0)) prune(rest, ["market"]);
  const named = [
    sheet(TRADES, Array.isArray(trades) ? trades.map(tradeRow) : [], ["id"]),
    ...parts,
    sheet(CORRELATIONS, correlations, PAIR_COLUMNS),
    sheet(SCENARIOS, scenarios, ["name", "spot.*"]),
  ].filter(({ name, rows }) => all || rows.length > 0 || (name === TRADES && trades !== undefined));
  return [sheet(REST, rowsOfRest(rest), ["name", "value"]), ...named];
}

function sheet(name: string, rows: readonly Row[], usual: readonly string[]): NewSheet {
  const columns = [...new Set([...(rows.length === 0 ? usual : []), ...rows.flatMap((row) => [...row.keys()])])];
  return { name, columns, rows: rows.map((row) => columns.map((column) => row.get(column) ?? null)) };
}

const isObject = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** A value as a cell: lists and objects are JSON, and so is a text that begins as JSON does. */
function cellOf(value: unknown): SheetCell {
  if (typeof value === "number" || typeof value === "boolean") return value;
  return typeof value === "string" && !/^\s*[[{"]/.test(value) ? value : JSON.stringify(value);
}

/** Whether an object can have columns of its own below a column: none of its names has a dot. */
const hasColumns = (value: unknown): value is Fields =>
  isObject(value) && Object.keys(value).length > 0 && Object.keys(value).every((name) => /^[^.\s]+$/.test(name));

function fill(row: Row, path: string, value: unknown): Row {
  if (hasColumns(value))
    for (const [name, field] of Object.entries(value)) fill(row, path === "" ? name : `${path}.${name}`, field);
  else row.set(path, cellOf(value));
  return row;
}

/** Makes the rows of a part, and takes what they have out of the book. */
function sheetOf(part: Part, book: Fields): NewSheet {
  const found = part.at.reduce<unknown>((value, name) => (isObject(value) ? value[name] : undefined), book);
  const rows = isObject(found) ? rowsBelow(part, found, [], part.keys.length) : [];
  if (rows.length > 0) prune(book, part.at);
  return sheet(part.sheet, rows, [...part.keys, ...part.columns]);
}

function rowsBelow(part: Part, parent: Fields, names: readonly string[], depth: number): Row[] {
  return Object.entries(parent).flatMap(([name, value]) => {
    const path = [...names, name];
    if (depth > 1) {
      if (!isObject(value) || Object.keys(value).length === 0) return [];
      const inner = rowsBelow(part, value, path, depth - 1);
      if (Object.keys(value).length === 0) delete parent[name];
      return inner;
    }
    const rows = part.list === undefined ? rowsOfMember(part, value, path) : takeItems(part, value, path);
    if (part.list === undefined && rows.length > 0) delete parent[name];
    return rows;
  });
}

const keyed = ({ keys }: Part, names: readonly string[]): Row => new Map(keys.map((key, i) => [key, names[i]]));

/** The rows of what a name stands for: one, or one for each node. None for what such rows cannot tell. */
function rowsOfMember(part: Part, value: unknown, names: readonly string[]): Row[] {
  const { value: own, nodes } = part;
  if (!isObject(value)) {
    if (nodes !== undefined && isNodes(value, nodes)) return value.map((node) => fill(keyed(part, names), "", node));
    return own === undefined ? [] : [keyed(part, names).set(own, cellOf(value))];
  }
  const row = Object.keys(value).length === 0 ? keyed(part, names) : fill(keyed(part, names), "", value);
  const columns = [...row.keys()].filter((column) => !part.keys.includes(column));
  // The column would be read as the whole value, or as a node.
  const isPlain = columns.length > 0 && columns.every((column) => column === own || nodes?.includes(column) === true);
  return isPlain || row.has("") || Object.keys(value).some((name) => part.keys.includes(name)) ? [] : [row];
}

const isNodes = (value: unknown, nodes: readonly string[]): value is Fields[] =>
  Array.isArray(value) && value.length > 0 && value.every((item) => isItem(item, nodes));

const isItem = (item: unknown, names?: readonly string[]): item is Fields =>
  hasColumns(item) && Object.keys(item).every((name) => names?.includes(name) ?? true);

/** Takes the items of a list inside of a member, if rows can have them. */
function takeItems(part: Part, value: unknown, names: readonly string[]): Row[] {
  const [last, ...above] = part.list!.toReversed();
  const parent = above.reduceRight<unknown>((inner, name) => (isObject(inner) ? inner[name] : undefined), value);
  const list = isObject(parent) ? parent[last] : undefined;
  if (!Array.isArray(list) || list.length === 0) return [];
  if (!list.every((item) => isItem(item) && !Object.keys(item).some((name) => part.keys.includes(name)))) return [];
  delete (parent as Fields)[last];
  if (Object.keys(parent as Fields).length === 0 && above.length > 0)
    delete above.slice(1).reduceRight<Fields>((inner, name) => inner[name] as Fields, value as Fields)[above[0]];
  return list.map((item) => fill(keyed(part, names), "", item));
}

/** Removes an object at a path that has become empty, and those above it. */
function prune(book: Fields, path: readonly string[]): void {
  const [last, ...above] = path.toReversed();
  const parent = above.reduceRight<unknown>((inner, name) => (isObject(inner) ? inner[name] : undefined), book);
  if (isObject(parent) && isObject(parent[last]) && Object.keys(parent[last]).length === 0) delete parent[last];
}

function takeList(book: Fields, path: readonly string[], rowOf: (item: unknown) => Row | undefined): Row[] {
  const [last, ...above] = path.toReversed();
  const parent = above.reduceRight<unknown>((inner, name) => (isObject(inner) ? inner[name] : undefined), book);
  const list = isObject(parent) ? parent[last] : undefined;
  const rows = Array.isArray(list) ? list.map(rowOf) : [];
  if (rows.length === 0 || rows.includes(undefined)) return [];
  delete (parent as Fields)[last];
  return rows as Row[];
}

const correlationRow = (item: unknown): Row | undefined =>
  Array.isArray(item) && item.length === 3
    ? new Map(PAIR_COLUMNS.map((column, i) => [column, item[i] as SheetCell]))
    : undefined;

function scenarioRow(item: unknown): Row | undefined {
  if (!isObject(item) || !isObject(item.moves)) return undefined;
  const { moves, ...rest } = item;
  const row: Row = new Map(Object.entries(rest).map(([name, value]) => [name, cellOf(value)]));
  for (const [kind, of] of Object.entries(moves)) {
    if (!isObject(of) || Object.keys(of).length === 0) row.set(kind, cellOf(of));
    else for (const [name, move] of Object.entries(of)) row.set(`${kind}.${name}`, cellOf(move));
  }
  return row;
}

function rowsOfRest(rest: Fields): Row[] {
  const fields: Row = new Map();
  for (const [name, value] of Object.entries(rest)) fill(fields, name, value);
  return [...fields].map(
    ([name, value]) =>
      new Map<string, SheetCell>([
        ["name", name],
        ["value", value],
      ]),
  );
}

/** A trade as cells. Objects have columns of their own where CSV has these, and are JSON elsewhere. */
function tradeRow(trade: unknown, index: number): Row {
  if (!isObject(trade)) throw new BookError(`trades[${index}]`, "expected a trade (an object), which a row can have");
  const row: Row = new Map();
  for (const [name, value] of Object.entries(trade)) {
    if (name === "tags" && isObject(value) && Object.keys(value).length > 0)
      for (const [tag, own] of Object.entries(value)) row.set(`tag.${tag}`, own as SheetCell);
    else if (name === "barriers" && Array.isArray(value) && isShort(value)) fillBarriers(row, value);
    else fillTerm(row, name, value);
  }
  return row;
}

const BARRIERS = ["barrier", "barrier2"];

const isShort = (barriers: readonly unknown[]): boolean =>
  barriers.length > 0 && barriers.length <= BARRIERS.length && barriers.every((one, i) => hasTerms(BARRIERS[i], one));

function fillBarriers(row: Row, barriers: readonly unknown[]): void {
  barriers.forEach((one, i) => fillTerm(row, BARRIERS[i], one));
}

/** Whether all fields of an object have columns. */
const hasTerms = (path: string, value: unknown): boolean =>
  isObject(value)
    ? Object.keys(value).length > 0 && Object.entries(value).every(([name, own]) => hasTerms(`${path}.${name}`, own))
    : kindOfTerm(path) !== undefined;

function fillTerm(row: Row, path: string, value: unknown): void {
  if (isObject(value) && hasTerms(path, value))
    for (const [name, own] of Object.entries(value)) fillTerm(row, `${path}.${name}`, own);
  else row.set(path, termCell(path, value));
}

function termCell(path: string, value: unknown): SheetCell {
  const kind = kindOfTerm(path);
  if (Array.isArray(value) && (kind === "list" || kind === "either") && value.length > 0 && value.every(isPlainItem))
    return value.length === 1 ? `${value[0]};` : value.join("; ");
  return typeof value === "number" || typeof value === "boolean" || typeof value === "string"
    ? value
    : JSON.stringify(value);
}

/** Whether an item of a list is the same when it is read between semicolons. */
const isPlainItem = (item: unknown): item is string | number =>
  typeof item === "number" ||
  (typeof item === "string" &&
    item.trim() === item &&
    !/[;[{]/.test(item) &&
    item !== "" &&
    Number.isNaN(Number(item)));
