/** Tables of trades: the columns, whose names are dotted paths of a trade's fields, and how their cells are read. */
import { BookError } from "../base/errors.ts";
import type { BookHeader } from "./book.ts";
import { parseJson } from "./json.ts";
import { didYouMean, quote } from "./names.ts";
import { isPlainObject } from "./schema/index.ts";
import { failedTrade } from "./trade.ts";
import type { ParsedTrade } from "./types.ts";

/**
 * The conversion of a cell to a value.
 *
 * * `text`: the text itself.
 * * `number`: a number if the cell looks like one, otherwise text, which the schema of the trade then rejects and
 *   quotes.
 * * `json`: JSON if the cell starts with a bracket or brace, otherwise as `number`.
 * * `tag`: the text itself in CSV, so that 007 remains 007. In Parquet, a number if the type of the column is numeric.
 */
type CellKind = "text" | "number" | "json" | "tag";

const KINDS = new Map<string, CellKind>([
  ["id", "text"],
  ["underlying", "text"],
  ["underlyings", "json"],
  ["payoff", "json"],
  ["payoff.digital", "text"],
  ["payoff.cash", "number"],
  ["payoff.expression", "text"],
  ["payoff.kinks", "json"],
  ["payoff.basket", "text"],
  ["payoff.weights", "json"],
  ["payoff.kind", "text"],
  ["payoff.bestOf", "text"],
  ["payoff.worstOf", "text"],
  ["payoff.spread", "text"],
  ["strike", "number"],
  ["expiry", "number"],
  ["exercise", "json"],
  ["quantity", "number"],
  ["tags", "json"],
  ["barriers", "json"],
  ["average", "json"],
  ["average.kind", "text"],
  ["average.dates", "json"],
  ["average.past.count", "number"],
  ["average.past.mean", "number"],
  ["lookback", "json"],
  ["lookback.strike", "text"],
  ["lookback.monitoring", "json"],
  ["lookback.from", "number"],
  ["lookback.extremum", "number"],
  ["swing", "json"],
  ["swing.dates", "json"],
  ["swing.min", "number"],
  ["swing.max", "number"],
  ["volatility", "json"],
  ["volatility.cev.sigma", "number"],
  ["volatility.cev.beta", "number"],
  ["volatility.displaced.sigma", "number"],
  ["volatility.displaced.shift", "number"],
  ["volatility.termStructure", "json"],
  ["volatility.surface", "json"],
  ["volatility.heston", "json"],
  ...["v0", "kappa", "theta", "sigma", "rho"].map((name) => [`volatility.heston.${name}`, "number"] as const),
  ["volatility.sabr", "json"],
  ...["alpha", "beta", "nu", "rho"].map((name) => [`volatility.sabr.${name}`, "number"] as const),
  ["volatility.stochasticLocal", "json"],
  ["volatility.gaussianFactors", "json"],
  ["volatility.gaussianFactors.alpha", "json"],
  ["volatility.gaussianFactors.sigma", "json"],
  ["volatility.gaussianFactors.rho", "number"],
  ["volatility.local", "text"],
  ["volatility.normal", "number"],
  ["currency", "text"],
  ["bond", "json"],
  ["cashflows", "json"],
  ["notional", "number"],
  ["calls", "json"],
  ["puts", "json"],
  ["marketPrice", "number"],
  ["on", "json"],
  ["strikeIs", "text"],
  ["cap", "json"],
  ["floor", "json"],
  ["swaption", "text"],
  ["swap", "json"],
  ["convertible", "json"],
  ["forward", "number"],
  ["script", "json"],
  ["data", "json"],
  ["initial", "json"],
  ["start", "number"],
  ["fra", "json"],
  ["note", "json"],
  ["fxForward", "json"],
  ["report", "json"],
]);

const KNOWN_COLUMNS: readonly string[] = [...KINDS.keys()];

/** The prefix of columns that are tags. For example, `tag.desk` is the tag `desk`. */
const TAG = "tag.";

/** A column of a table of trades: the path of the trade's field that it contains, and the kind of its cells. */
export interface Column {
  readonly path: readonly string[];
  readonly kind: CellKind;
}

/** The options for reading tables. */
export interface TableOptions {
  /** The columns that are not terms of a trade and that become its tags. */
  readonly keep?: readonly string[];
}

/**
 * Converts the names of a table's columns to columns. `where` is the position of the names in the file, for error
 * messages. @throws BookError an unknown, missing or repeated column
 */
export function readColumns(names: readonly string[], where: string, { keep = [] }: TableOptions = {}): Column[] {
  for (const name of keep) {
    if (KINDS.has(name)) throw new BookError(where, `cannot keep ${quote(name)} as a tag: it is a term of the trade`);
    if (!names.includes(name))
      throw new BookError(where, `there is no column ${quote(name)} to keep${didYouMean(name, names)}`);
  }
  const columns = names.map((name) => columnOf(name, names, where, keep));
  const paths = columns.map(({ path }) => JSON.stringify(path));
  const twice = paths.findIndex((path, i) => paths.indexOf(path) < i);
  if (twice >= 0) throw new BookError(where, `column ${quote(names[twice])} is there twice`);
  return columns;
}

function columnOf(name: string, names: readonly string[], where: string, keep: readonly string[]): Column {
  const kind = KINDS.get(name);
  if (kind !== undefined) return { path: name.split("."), kind };
  if (name.startsWith(TAG) && name !== TAG) return { path: ["tags", name.slice(TAG.length)], kind: "tag" };
  if (keep.includes(name)) return { path: ["tags", name], kind: "tag" };
  throw new BookError(where, `unknown column ${quote(name)}${hint(name, names)}`);
}

/** Returns the names of the tags among the columns, in order. */
export function tagNames(columns: readonly Column[]): string[] {
  return columns.filter(({ kind }) => kind === "tag").map(({ path }) => path[1]);
}

function hint(name: string, names: readonly string[]): string {
  if (name.startsWith("__index_level_")) return "; it is an index of pandas: write the table with index=False";
  if (names.length === 1 && name.includes(";")) return "; the columns seem to be separated by semicolons, use commas";
  const near = didYouMean(name, KNOWN_COLUMNS);
  const unknown = names.filter((one) => !KINDS.has(one) && !one.startsWith(TAG));
  const keep = `to carry it to the results, --keep ${unknown.join(",")}, or name it ${quote(`${TAG}${name}`)}`;
  return `${near}; ${keep}${near === "" ? `; terms of a trade are ${KNOWN_COLUMNS.join(", ")}` : ""}`;
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
  const id = readCell(cells[columns.findIndex(({ path }) => path.join(".") === "id")], "text", "");
  return typeof id === "string" ? id : undefined;
}

type Fields = Record<string, unknown>;

/**
 * Converts a row to a trade, as plain data for the schema. @throws BookError if two cells specify the same field
 * differently
 */
function tradeOfCells(columns: readonly Column[], cells: readonly unknown[], where: string): Fields {
  const trade: Fields = {};
  for (const [i, { path, kind }] of columns.entries()) {
    const value = readCell(cells[i], kind, `${where}: ${path.join(".")}`);
    if (value === undefined) continue;
    let parent = trade;
    for (const name of path.slice(0, -1)) parent = childOf(parent, name, `${where}: ${path.join(".")}`);
    const last = path[path.length - 1];
    if (Object.hasOwn(parent, last)) throw new BookError(`${where}: ${path.join(".")}`, "given in two columns");
    parent[last] = value;
  }
  return trade;
}

function childOf(parent: Fields, name: string, where: string): Fields {
  // Without a prototype: a tag may have any name.
  if (!Object.hasOwn(parent, name)) parent[name] = Object.create(null) as Fields;
  const child = parent[name];
  if (!isPlainObject(child)) throw new BookError(where, `${name} is given in two columns`);
  return child;
}

const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;

/** Converts a cell to a value. Cells of CSV are strings. Those of Parquet may have other types. */
function readCell(cell: unknown, kind: CellKind, where: string): unknown {
  if (typeof cell !== "string") {
    const isText = (kind === "text" && typeof cell === "number") || (kind === "tag" && typeof cell === "boolean");
    return isText ? String(cell) : cell;
  }
  const text = cell.trim();
  if (text === "") return undefined;
  if (kind === "text" || kind === "tag") return text;
  if (kind === "json" && /^[[{]/.test(text)) return parseJson(text, where);
  return NUMBER.test(text) ? Number(text) : text;
}
