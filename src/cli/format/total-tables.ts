/** Formats totals as tables of text: by currency, by underlying, and by group. */
import { grouped } from "./numbers.ts";
import type { CurrencyTotals, GroupTotals } from "../../book/index.ts";
import {
  decimalsFor,
  fixed,
  incompleteSums,
  largestUnderlyings,
  magnitude,
  type RunEnd,
} from "../../output/formats/index.ts";
import { printable, type TextColumn, tooMuch, visibleLines, widthsOf } from "./columns.ts";

/** The maximum number of underlyings that are printed. */
const MAX_UNDERLYINGS = 12;
/** The columns that are omitted if the terminal is too narrow, in the order of omission. */
const DISPENSABLE = ["rho", "theta", "cash delta", "vega", "gamma"];

interface TotalTable {
  readonly columns: readonly TextColumn[];
  readonly rows: readonly (readonly string[])[];
}

/** Returns the tables of totals as text. `room` is the number of characters in a line. */
export function totalTables({ totals, groups = [], priced, failed }: RunEnd, room: number): string[] {
  if (totals.length === 0) return [priced + failed === 0 ? "no trades\n" : ""];
  return [
    text(
      byCurrency(totals, () => [], []),
      room,
    ),
    underlyingTable(totals, room),
    ...(groups.length === 0 ? [] : groupTables(groups, room)),
    ...incompleteSums(totals).map((note) => `${printable(note)}\n`),
  ];
}

/** Returns the titles of the columns of totals that do not fit into `room` characters. */
export function hiddenTotals({ totals }: RunEnd, room: number): Set<string> {
  const { shown } = largestUnderlyings(totals, MAX_UNDERLYINGS);
  const tables = [byCurrency(totals, () => [], []), byUnderlying(shown, () => [], [])];
  return new Set(
    tables.flatMap(({ columns, rows }) => [...tooMuch(columns, widthsOf(columns, rows), room, DISPENSABLE)]),
  );
}

/** The tables of totals by group. The first columns are the names that the trades are grouped by. */
function groupTables(groups: readonly GroupTotals[], room: number): string[] {
  const names = Object.keys(groups[0].group);
  const labels = (one: CurrencyTotals): string[] =>
    names.map((name) => printable(String((one as GroupTotals).group[name] ?? "–")));
  return [text(byCurrency(groups, labels, names), room), text(byUnderlying(groups, labels, names), room)];
}

function underlyingTable(totals: readonly CurrencyTotals[], room: number): string {
  const { shown, hidden } = largestUnderlyings(totals, MAX_UNDERLYINGS);
  const rest = hidden === 0 ? "" : `… ${grouped(hidden)} more underlyings: --format json\n`;
  return `${text(
    byUnderlying(shown, () => [], []),
    room,
  )}${rest}`;
}

type Labels = (total: CurrencyTotals) => string[];

function columnsOf(names: readonly string[], labels: readonly string[], numbers: readonly string[]): TextColumn[] {
  return [
    ...[...names.map(printable), ...labels].map((title) => ({ title, align: "left" }) as const),
    ...["trades", ...numbers].map((title) => ({ title, align: "right" }) as const),
  ];
}

function byCurrency(totals: readonly CurrencyTotals[], labels: Labels, names: readonly string[]): TotalTable {
  const rows = totals.map((total) => {
    const { currency, trades, value, cashDelta, theta, rho, errorEstimate } = total;
    const numbers = [value, cashDelta, theta, rho].map(number);
    return [...labels(total), printable(currency), count(trades), ...numbers, magnitude(errorEstimate)];
  });
  return { columns: columnsOf(names, ["total × quantity"], ["value", "cash delta", "theta", "rho", "error"]), rows };
}

function byUnderlying(totals: readonly CurrencyTotals[], labels: Labels, names: readonly string[]): TotalTable {
  const rows = totals.flatMap((total) =>
    total.underlyings.map(({ underlying, trades, delta, gamma, vega, cashDelta }) => {
      const numbers = [delta, gamma, vega, cashDelta].map(number);
      return [...labels(total), printable(underlying), printable(total.currency), count(trades), ...numbers];
    }),
  );
  return { columns: columnsOf(names, ["underlying", ""], ["delta", "gamma", "vega", "cash delta"]), rows };
}

const number = (value: number | null): string => fixed(value, decimalsFor([value], 8));

const count = (trades: number): string => grouped(trades);

function text({ columns, rows }: TotalTable, room: number): string {
  if (rows.length === 0) return "";
  const widths = widthsOf(columns, rows);
  const titles = columns.map(({ title }) => title);
  return visibleLines(columns, [titles, ...rows], widths, tooMuch(columns, widths, room, DISPENSABLE));
}
