/** Tables of trades: columns, which are dotted paths into a trade, and how their cells are read. */
import { BookError } from "../errors.ts";
import type { BookHeader } from "./header.ts";
import { parseJson } from "./json.ts";
import { didYouMean, quote } from "./names.ts";
import { isPlainObject } from "./schema/index.ts";
import { failedTrade } from "./trade.ts";
import type { ParsedTrade } from "./types.ts";

/**
 * How a cell becomes a value. `text`: as it stands. `number`: a number if it looks like one, else text (which the
 * trade's schema then refuses, showing it). `json`: JSON if it begins with a bracket, else as `number`.
 */
type CellKind = "text" | "number" | "json";

const KINDS = new Map<string, CellKind>([
  ["id", "text"],
  ["underlying", "text"],
  ["underlyings", "json"],
  ["payoff", "json"],
  ["payoff.digital", "text"],
  ["payoff.cash", "number"],
  ["payoff.expression", "text"],
  ["payoff.kinks", "json"],
  ["strike", "number"],
  ["expiry", "number"],
  ["exercise", "json"],
  ["quantity", "number"],
  ["barriers", "json"],
  ["volatility", "json"],
  ["volatility.cev.sigma", "number"],
  ["volatility.cev.beta", "number"],
  ["volatility.displaced.sigma", "number"],
  ["volatility.displaced.shift", "number"],
  ["volatility.surface", "json"],
  ["volatility.heston", "json"],
  ["volatility.sabr", "json"],
  ["volatility.local", "text"],
]);

const KNOWN_COLUMNS: readonly string[] = [...KINDS.keys()];

export interface Column {
  readonly path: readonly string[];
  readonly kind: CellKind;
}

/** @throws BookError at `where`: a column that is unknown, or there twice */
export function readColumns(names: readonly string[], where: string): Column[] {
  return names.map((name, i) => {
    const kind = KINDS.get(name);
    if (kind === undefined) {
      const known = didYouMean(name, KNOWN_COLUMNS) || `; known are ${KNOWN_COLUMNS.join(", ")}`;
      throw new BookError(where, `unknown column ${quote(name)}${hint(name, names) || known}`);
    }
    if (names.indexOf(name) < i) throw new BookError(where, `column ${quote(name)} is there twice`);
    return { path: name.split("."), kind };
  });
}

function hint(name: string, names: readonly string[]): string {
  if (name.startsWith("__index_level_")) return "; it is an index of pandas: write the table with index=False";
  if (names.length === 1 && name.includes(";")) return "; the columns seem to be separated by semicolons, use commas";
  return "";
}

/** The trade of a row, or its error. An empty cell is a field left out. */
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
    if (error instanceof BookError) return failedTrade({ id: idOf(columns, cells) }, index, error);
    throw error;
  }
}

/** What the row of a trade that cannot be read calls it. */
export function idOf(columns: readonly Column[], cells: readonly unknown[]): string | undefined {
  const id = readCell(cells[columns.findIndex(({ path }) => path.join(".") === "id")], "text", "");
  return typeof id === "string" ? id : undefined;
}

type Fields = Record<string, unknown>;

/**
 * The trade that a row describes, as plain data for the schema. @throws BookError two cells that say the same field in
 * different ways
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
  if (!Object.hasOwn(parent, name)) parent[name] = {};
  const child = parent[name];
  if (!isPlainObject(child)) throw new BookError(where, `${name} is given in two columns`);
  return child;
}

const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;

/** Cells of CSV are texts; those of Parquet may have types of their own. */
function readCell(cell: unknown, kind: CellKind, where: string): unknown {
  if (typeof cell !== "string") return kind === "text" && typeof cell === "number" ? String(cell) : cell;
  const text = cell.trim();
  if (text === "") return undefined;
  if (kind === "text") return text;
  if (kind === "json" && /^[[{]/.test(text)) return parseJson(text, where);
  return NUMBER.test(text) ? Number(text) : text;
}
