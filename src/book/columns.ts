/** Tables of trades: the columns, whose names are dotted paths of a trade's fields, and how their cells are read. */
import { BookError } from "../base/errors.ts";
import type { BookHeader } from "./book.ts";
import { BARRIERS, type CellKind, kindOfTerm, wordsOfTerm } from "./column-terms.ts";
import { parseJson } from "./json.ts";
import { namesBarrier, nearestTerm, wordOf } from "./meant-terms.ts";
import { didYouMean, quote } from "./names.ts";
import { isPlainObject } from "./schema/index.ts";
import { failedTrade } from "./trade.ts";
import type { ParsedTrade } from "./types.ts";

/** The prefix of columns that are tags. For example, `tag.desk` is the tag `desk`. */
const TAG = "tag.";

/** A column of a table of trades. */
export interface Column {
  /** The path of the trade's field that the column contains; empty for a column that is left out. */
  readonly path: readonly string[];
  readonly kind: CellKind;
  /** The values of cells that have words of their own for them, in small letters. */
  readonly words?: Readonly<Record<string, string | number>> | undefined;
}

/** What a column of a desk's own means: a term of a trade, with words of its own for values of the term. */
export interface MappedTerm {
  readonly term: string;
  readonly values?: Readonly<Record<string, string | number>> | undefined;
}

/** The terms of trades by the names of a table's columns. An empty text leaves the column out. */
export type ColumnMap = Readonly<Record<string, string | MappedTerm>>;

/** The options for reading tables. */
export interface TableOptions {
  /** The columns that are not terms of a trade and that become its tags. */
  readonly keep?: readonly string[] | undefined;
  /** The columns that have names of their own for terms of a trade. */
  readonly map?: ColumnMap | undefined;
  /** Further names of terms, and of tags, that a table and its map may use. */
  readonly also?: Readonly<Record<string, string>> | undefined;
}

/**
 * Converts the names of a table's columns to columns. `where` is the position of the names in the file, for error
 * messages, and `sample` has the cells of some rows, which may tell what an unknown column means. @throws BookError for
 * unknown columns, all at once, and for a missing or repeated one
 */
export function readColumns(
  names: readonly string[],
  where: string,
  { keep = [], map, also = {} }: TableOptions = {},
  sample: readonly Cells[] = [],
): Column[] {
  const mapped = map && new Map(Object.entries(map));
  for (const name of [...keep, ...(mapped?.keys() ?? [])]) {
    if (names.includes(name)) continue;
    const what = keep.includes(name) ? "keep" : "map";
    throw new BookError(where, `there is no column ${quote(name)} to ${what}${didYouMean(name, names)}`);
  }
  const term = keep.find((name) => mapped?.has(name) === true || kindOfTerm(name) !== undefined);
  if (term !== undefined) throw new BookError(where, `cannot keep ${quote(term)} as a tag: it is a term of the trade`);
  const columns = names.map((name) => columnOf(name, mapped?.get(name) ?? name, where, keep, also));
  const unknown = names.filter((_, i) => columns[i] === undefined);
  if (unknown.length > 0) {
    const taken = columns.flatMap((column) => (column === undefined ? [] : [pathOf(column)]));
    throw new UnknownColumnsError(where, unknown, { names, taken, sample });
  }
  const known = columns as Column[];
  const paths = known.map(pathOf);
  const twice = paths.findIndex((path, i) => path !== "" && paths.indexOf(path) < i);
  if (twice < 0) return known;
  const what = paths[twice] === names[twice] ? "" : `, which is ${quote(paths[twice])},`;
  throw new BookError(where, `column ${quote(names[twice])}${what} is there twice`);
}

const pathOf = ({ path }: Column): string => path.join(".");

/** The cells of a row; undefined for a row that cannot be read. */
type Cells = readonly unknown[] | undefined;

/** How many rows tell what unknown columns mean. */
const SAMPLE = 100;

/** Reads columns, and if some are unknown, again with the first rows, so that the error can tell what they mean. */
export async function readColumnsOf(
  read: (sample: readonly Cells[]) => Column[],
  rows: () => AsyncIterable<Cells> | Iterable<Cells>,
): Promise<Column[]> {
  try {
    return read([]);
  } catch (error) {
    if (!(error instanceof UnknownColumnsError)) throw error;
    const sample: Cells[] = [];
    for await (const cells of rows()) if (sample.push(cells) >= SAMPLE) break;
    return read(sample);
  }
}

function columnOf(
  name: string,
  meant: string | MappedTerm,
  where: string,
  keep: readonly string[],
  also: Readonly<Record<string, string>>,
): Column | undefined {
  const { term: written, values } = typeof meant === "string" ? { term: meant } : meant;
  const term = Object.hasOwn(also, written) ? also[written] : written;
  if (name !== "" && term === "") return { path: [], kind: "text" };
  const kind = kindOfTerm(term);
  if (kind !== undefined) return { path: term.split("."), kind, words: wordsOf(term, values) };
  if (term.startsWith(TAG) && term !== TAG) return { path: ["tags", term.slice(TAG.length)], kind: "tag" };
  if (written !== name) {
    const near = nearestTerm(term, new Set());
    const hint = near === undefined ? "" : ` (did you mean ${quote(near)}?)`;
    throw new BookError(where, `column ${quote(name)} is mapped to ${quote(term)}, which is no term of a trade${hint}`);
  }
  return keep.includes(name) ? { path: ["tags", name], kind: "tag" } : undefined;
}

function wordsOf(term: string, values: MappedTerm["values"]): Column["words"] {
  const usual = wordsOfTerm(term);
  if (values === undefined) return usual;
  const own = Object.entries(values).map(([word, value]) => [word.toLowerCase(), value]);
  return { ...usual, ...(Object.fromEntries(own) as Readonly<Record<string, string | number>>) };
}

/** Returns the names of the tags among the columns, in order. */
export function tagNames(columns: readonly Column[]): string[] {
  return columns.filter(({ kind }) => kind === "tag").map(({ path }) => path[1]);
}

/** Returns the names of all tags in a list of trades that are not read yet. */
export function tagsOf(trades: readonly unknown[]): string[] {
  const names = new Set<string>();
  for (const trade of trades) {
    const { tags } = Object(trade) as { readonly tags?: unknown };
    for (const name of Object.keys(Object(tags) as object)) names.add(name);
  }
  return [...names];
}

/** A column that is no term of a trade, with the free term that it seems to mean. */
interface UnknownColumn {
  readonly name: string;
  readonly near?: string;
}

/** A table with unknown columns: the names of all, the terms that other columns are, and the cells of some rows. */
interface NamedTable {
  readonly names: readonly string[];
  readonly taken: readonly string[];
  readonly sample: readonly Cells[];
}

/** A table has columns that are neither terms nor kept as tags: the error has all of them. */
export class UnknownColumnsError extends BookError {
  readonly columns: readonly UnknownColumn[];

  constructor(where: string, unknown: readonly string[], table: NamedTable) {
    const meant = meaningOf(unknown, table);
    super(where, unknownColumns(unknown, table.names, meant));
    this.columns = meant.map(({ name, near, use }) =>
      use === "map" && near !== undefined ? { name, near } : { name },
    );
  }
}

interface Meaning {
  readonly name: string;
  /** The term that the name is nearest to. */
  readonly near: string | undefined;
  /** What to do: map it to the term, keep it as a tag, or decide what a term means that another column is already. */
  readonly use: "map" | "keep" | "decide";
}

function meaningOf(unknown: readonly string[], { names, taken: terms, sample }: NamedTable): Meaning[] {
  const taken = new Set([...names, ...terms]);
  return unknown.map((name): Meaning => {
    const at = names.indexOf(name);
    const cells = sample.map((row) => row?.[at]);
    const near = nearestTerm(name, taken, cells);
    const isFree = near !== undefined && !taken.has(near);
    if (isFree) taken.add(near);
    // As a tag, a term would be carried along without any effect on the price.
    const isTerm = namesBarrier(name) || cells.some((cell) => wordOf(cell) !== undefined);
    return { name, near, use: isFree ? "map" : isTerm ? "decide" : "keep" };
  });
}

/** Returns the message about columns that are unknown, with the term that each seems to mean and what to do. */
function unknownColumns(unknown: readonly string[], names: readonly string[], meant: readonly Meaning[]): string {
  const index = unknown.find((name) => name.startsWith("__index_level_"));
  if (index !== undefined)
    return `unknown column ${quote(index)}; it is an index of pandas: write the table with index=False`;
  if (names.length === 1 && names[0].includes(";"))
    return `unknown column ${quote(names[0])}; the columns seem to be separated by semicolons, use commas`;
  const mapped = meant.flatMap(({ name, near, use }) => (use === "map" ? [`${name}=${near}`] : []));
  const named = (wanted: Meaning["use"]): string[] => meant.flatMap(({ name, use }) => (use === wanted ? [name] : []));
  const [others, undecided] = [named("keep"), named("decide")];
  const list = meant.map(
    ({ name, near }) => quote(name) + (near === undefined ? "" : ` (did you mean ${quote(near)}?)`),
  );
  const toRead = mapped.length === 0 ? "" : `; to read what is meant, --map "${mapped.join(",")}"`;
  const toDecide =
    undecided.length === 0
      ? ""
      : `; to leave out ${undecided.map(quote).join(", ")} without any effect on prices, ` +
        `--map "${undecided.map((name) => `${name}=`).join(",")}"`;
  const toCarry =
    others.length === 0
      ? ""
      : `; to carry ${others.length === 1 ? "it" : "them"} to the results, --keep ${others.join(",")}, ` +
        `or a name such as ${quote(`${TAG}${others[0]}`)}`;
  return `unknown ${unknown.length === 1 ? "column" : "columns"} ${list.join(", ")}${toRead}${toDecide}${toCarry}`;
}

/**
 * Reads the trade in a row of a table, or its error. An empty cell is an omitted field. `index` is the trade's number
 * from 0, and `where` the row's position for error messages. `repeated` tells whether an earlier trade has its id.
 */
export function readRow(
  cells: readonly unknown[],
  columns: readonly Column[],
  index: number,
  where: string,
  market: BookHeader,
  repeated?: boolean,
): ParsedTrade {
  try {
    return market.readRow(tradeOfCells(columns, cells, where), index, where, repeated);
  } catch (error) {
    if (error instanceof BookError) return failedTrade(labelsOf(columns, cells, where), index, error);
    throw error;
  }
}

/** The id and tags of a row that cannot be read as a trade. */
function labelsOf(columns: readonly Column[], cells: readonly unknown[], where: string): Fields {
  const names = columns.map(({ path, kind }) => kind === "tag" || path[0] === "id");
  return tradeOfCells(
    columns.filter((_, i) => names[i]),
    cells.filter((_, i) => names[i]),
    where,
  );
}

/** Returns the id in a row of a table, also if the row is not a valid trade. */
export function idOf(columns: readonly Column[], cells: readonly unknown[]): string | undefined {
  const id = readCell(
    cells[columns.findIndex(({ path }) => path.join(".") === "id")],
    { path: ["id"], kind: "text" },
    "",
  );
  return typeof id === "string" ? id : undefined;
}

type Fields = Record<string, unknown>;

/**
 * Converts a row to a trade, as plain data for the schema. @throws BookError if two cells specify the same field
 * differently
 */
function tradeOfCells(columns: readonly Column[], cells: readonly unknown[], where: string): Fields {
  const trade: Fields = {};
  for (const [i, column] of columns.entries()) {
    const { path } = column;
    if (path.length === 0) continue;
    const value = readCell(cells[i], column, where);
    if (value === undefined) continue;
    let parent = trade;
    for (const name of path.slice(0, -1)) parent = childOf(parent, name, `${where}: ${path.join(".")}`);
    const last = path[path.length - 1];
    if (Object.hasOwn(parent, last)) throw new BookError(`${where}: ${path.join(".")}`, "given in two columns");
    parent[last] = value;
  }
  return withBarriers(trade, where);
}

/** Returns a trade whose barriers are a list, as in JSON. @throws BookError for barriers that are given in two ways */
function withBarriers(trade: Fields, where: string): Fields {
  const found = BARRIERS.filter((name) => Object.hasOwn(trade, name));
  if (found.length === 0) return trade;
  if (Object.hasOwn(trade, "barriers")) throw new BookError(`${where}: barriers`, "given in two columns");
  const barriers = found.map((name) => trade[name]);
  for (const name of found) delete trade[name];
  return { ...trade, barriers };
}

function childOf(parent: Fields, name: string, where: string): Fields {
  // Without a prototype: a tag may have any name.
  if (!Object.hasOwn(parent, name)) parent[name] = Object.create(null) as Fields;
  const child = parent[name];
  if (!isPlainObject(child)) throw new BookError(where, `${name} is given in two columns`);
  return child;
}

const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;

const numberOr = (text: string): string | number => (NUMBER.test(text) ? Number(text) : text);

/** Converts a cell to a value. Cells of CSV are strings. Those of Parquet may have other types. */
function readCell(cell: unknown, { path, kind, words }: Column, where: string): unknown {
  if (typeof cell !== "string") {
    const isText = (kind === "text" && typeof cell === "number") || (kind === "tag" && typeof cell === "boolean");
    return isText ? String(cell) : cell;
  }
  const text = cell.trim();
  if (text === "") return undefined;
  if (words !== undefined) {
    const word = text.toLowerCase();
    if (Object.hasOwn(words, word)) return words[word];
  }
  if (kind === "number") return numberOr(text);
  if (kind === "text" || kind === "tag") return text;
  if (kind === "flag") return /^(true|false)$/i.test(text) ? text.toLowerCase() === "true" : text;
  if (/^[[{]/.test(text)) return parseJson(text, `${where}: ${path.join(".")}`);
  if (kind === "list" || (kind === "either" && text.includes(";"))) return itemsOf(text);
  return numberOr(text);
}

/** Returns the items of a list with semicolons between them. The one after a last semicolon may be missing. */
function itemsOf(text: string): readonly (string | number)[] {
  const items = text.split(";").map((item) => item.trim());
  if (items.at(-1) === "") items.pop();
  return items.map(numberOr);
}
