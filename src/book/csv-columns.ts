/** The columns of a table of trades: dotted paths into a trade, and how their cells are read. */
import { BookError } from "../errors.ts";
import { parseJson } from "./json.ts";
import { isPlainObject } from "./schema/index.ts";

/**
 * How a cell becomes a value. `text`: as it stands. `number`: a number if it looks like one, else text (which the trade's
 * schema then refuses, showing it). `json`: JSON if it begins with a bracket, else as `number`.
 */
type CellKind = "text" | "number" | "json";

const KINDS = new Map<string, CellKind>([
  ["id", "text"],
  ["underlying", "text"],
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
  ["volatility.local", "text"],
]);

export const KNOWN_COLUMNS: readonly string[] = [...KINDS.keys()];

export interface Column {
  readonly path: readonly string[];
  readonly kind: CellKind;
}

export function columnOf(name: string): Column | undefined {
  const kind = KINDS.get(name);
  return kind === undefined ? undefined : { path: name.split("."), kind };
}

type Fields = Record<string, unknown>;

/** The trade that a row describes, as plain data for the schema. @throws BookError two cells that say the same field in different ways */
export function tradeOfCells(columns: readonly Column[], cells: readonly string[], where: string): Fields {
  const trade: Fields = {};
  for (const [i, { path, kind }] of columns.entries()) {
    const text = cells[i].trim();
    if (text === "") continue;
    let parent = trade;
    for (const name of path.slice(0, -1)) parent = childOf(parent, name, `${where}: ${path.join(".")}`);
    const last = path[path.length - 1];
    if (Object.hasOwn(parent, last)) throw new BookError(`${where}: ${path.join(".")}`, "given in two columns");
    parent[last] = readCell(text, kind, `${where}: ${path.join(".")}`);
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

function readCell(text: string, kind: CellKind, where: string): unknown {
  if (kind === "text") return text;
  if (kind === "json" && /^[[{]/.test(text)) return parseJson(text, where);
  return NUMBER.test(text) ? Number(text) : text;
}
