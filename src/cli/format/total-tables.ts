/** Formats totals as tables of text: by currency, by underlying, and by group. */
import { withCommas } from "./numbers.ts";
import type { CurrencyTotals, GroupTotals, ReportingGroupTotals, ReportingTotals } from "../../book/index.ts";
import {
  decimalsFor,
  formatFixed,
  incompleteSumNotes,
  largestUnderlyings,
  formatErrorEstimate,
  type OutputTotals,
} from "../../output/formats/index.ts";
import { escapeControls, type TextColumn, columnsToOmit, visibleLines, columnWidthsOf } from "./columns.ts";

/** The maximum number of underlyings that are printed. */
const MAX_UNDERLYINGS = 12;
/** The columns that are omitted if the terminal is too narrow, in the order of omission. */
const DISPENSABLE = ["rho", "theta", "cash delta", "vega", "gamma"];

interface TotalTable {
  readonly columns: readonly TextColumn[];
  readonly rows: readonly (readonly string[])[];
}

/** Returns the tables of totals as text. `lineWidth` is the number of characters in a line. */
export function totalTables(all: OutputTotals, lineWidth: number): string[] {
  const { totals, groups = [], reporting, reportingGroups = [], priced, failed } = all;
  if (totals.length === 0) return [priced + failed === 0 ? "no trades\n" : ""];
  return [
    text(
      byCurrency([...totals, ...inReporting(reporting)], () => [], []),
      lineWidth,
    ),
    underlyingTable(totals, lineWidth),
    text(
      byPair(reporting === undefined ? [] : [reporting], () => [], []),
      lineWidth,
    ),
    ...(groups.length === 0 ? [] : groupTables(groups, reportingGroups, lineWidth)),
    ...incompleteSumNotes(totals).map((note) => `${escapeControls(note)}\n`),
  ];
}

/**
 * Returns the titles of the columns that tables of totals omit because they do not fit into `lineWidth` characters.
 */
export function hiddenTotalColumns({ totals }: OutputTotals, lineWidth: number): Set<string> {
  const { shown } = largestUnderlyings(totals, MAX_UNDERLYINGS);
  const tables = [byCurrency(totals, () => [], []), byUnderlying(shown, () => [], [])];
  return new Set(
    tables.flatMap(({ columns, rows }) => [
      ...columnsToOmit(columns, columnWidthsOf(columns, rows), lineWidth, DISPENSABLE),
    ]),
  );
}

/** The tables of totals by group. The first columns are the names that the trades are grouped by. */
function groupTables(
  groups: readonly GroupTotals[],
  reporting: readonly ReportingGroupTotals[],
  lineWidth: number,
): string[] {
  const names = Object.keys(groups[0].group);
  const labels = (one: CurrencyTotals): string[] =>
    names.map((name) => escapeControls(String((one as GroupTotals).group[name] ?? "–")));
  const all = [...groups, ...reporting.flatMap(inReporting)];
  return [byCurrency(all, labels, names), byUnderlying(groups, labels, names), byPair(reporting, labels, names)].map(
    (table) => text(table, lineWidth),
  );
}

/** The totals in the reporting currency, named so that nobody adds them to those of currencies. */
const inReporting = <T extends CurrencyTotals>(totals: T | undefined): readonly T[] =>
  totals === undefined ? [] : [{ ...totals, currency: `all in ${totals.currency}` }];

function underlyingTable(totals: readonly CurrencyTotals[], lineWidth: number): string {
  const { shown, hidden } = largestUnderlyings(totals, MAX_UNDERLYINGS);
  const rest = hidden === 0 ? "" : `… ${withCommas(hidden)} more underlyings: --format json\n`;
  return `${text(
    byUnderlying(shown, () => [], []),
    lineWidth,
  )}${rest}`;
}

type Labels = (total: CurrencyTotals) => string[];

function columnsOf(names: readonly string[], labels: readonly string[], numbers: readonly string[]): TextColumn[] {
  return [
    ...[...names.map(escapeControls), ...labels].map((title) => ({ title, align: "left" }) as const),
    ...["trades", ...numbers].map((title) => ({ title, align: "right" }) as const),
  ];
}

function byCurrency(totals: readonly CurrencyTotals[], labels: Labels, names: readonly string[]): TotalTable {
  const rows = totals.map((total) => {
    const { currency, trades, value, cashDelta, theta, rho, errorEstimate } = total;
    const numbers = [value, cashDelta, theta, rho].map(number);
    return [...labels(total), escapeControls(currency), count(trades), ...numbers, formatErrorEstimate(errorEstimate)];
  });
  return { columns: columnsOf(names, ["total × quantity"], ["value", "cash delta", "theta", "rho", "error"]), rows };
}

function byUnderlying(totals: readonly CurrencyTotals[], labels: Labels, names: readonly string[]): TotalTable {
  const rows = totals.flatMap((total) =>
    total.underlyings.map(({ underlying, trades, delta, gamma, vega, cashDelta }) => {
      const numbers = [delta, gamma, vega, cashDelta].map(number);
      return [...labels(total), escapeControls(underlying), escapeControls(total.currency), count(trades), ...numbers];
    }),
  );
  return { columns: columnsOf(names, ["underlying", ""], ["delta", "gamma", "vega", "cash delta"]), rows };
}

function byPair(totals: readonly ReportingTotals[], labels: Labels, names: readonly string[]): TotalTable {
  const rows = totals.flatMap((total) =>
    Object.entries(total.fxDelta).map(([pair, delta]) => [
      ...labels(total),
      escapeControls(pair),
      escapeControls(total.currency),
      count(total.trades),
      number(delta),
    ]),
  );
  return { columns: columnsOf(names, ["exchange rate", ""], ["fx delta"]), rows };
}

const number = (value: number | null): string => formatFixed(value, decimalsFor([value], 8));

const count = (trades: number): string => withCommas(trades);

function text({ columns, rows }: TotalTable, lineWidth: number): string {
  if (rows.length === 0) return "";
  const widths = columnWidthsOf(columns, rows);
  const titles = columns.map(({ title }) => title);
  return visibleLines(columns, [titles, ...rows], widths, columnsToOmit(columns, widths, lineWidth, DISPENSABLE));
}
