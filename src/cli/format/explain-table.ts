/** Formats the result of `feynkac explain` as tables of text. */
import type { ExplainedTrade, ExplainMethod, ExplainReport, ExplainTerm, ExplainTerms } from "../../pricing/index.ts";
import { escapeControls, type TextColumn, columnsToOmit, visibleLines, columnWidthsOf } from "./columns.ts";
import { decimalsFor, formatFixed } from "../../output/formats/index.ts";
import { lastRowCount, hiddenRowsText, type TableOptions } from "./table.ts";

/** The maximum number of lines in each list below the tables. */
const MAX_LISTED = 20;

/**
 * The columns of each method. Each is the sum of the given terms. The last one contains all remaining terms of the
 * method.
 */
const COLUMNS: Readonly<Record<ExplainMethod, readonly (readonly [title: string, terms: readonly ExplainTerm[]])[]>> = {
  taylor: [
    ["theta", ["theta"]],
    ["delta", ["delta"]],
    ["gamma", ["gamma"]],
    ["vega", ["vega"]],
    ["smile", ["skew", "curvature", "smileRest"]],
    ["rho", ["rho"]],
    ["dividends", ["exDividend", "dividends"]],
    ["credit", ["credit"]],
    ["correlation", ["correlation"]],
    ["2nd order", []],
  ],
  revaluation: [
    ["time", ["time"]],
    ["spot", ["spot"]],
    ["volatility", ["volatility"]],
    ["rate", ["rate"]],
    ["dividends", ["exDividend", "dividends"]],
    ["credit", ["credit"]],
    ["correlation", ["correlation"]],
    ["cross", []],
  ],
};

/** The columns that are omitted if they are empty. */
const RARE: ReadonlySet<string> = new Set(["smile", "credit", "correlation"]);

/** The columns that are omitted if the terminal is too narrow, in the order of omission. */
const DISPENSABLE = ["before", "after", "2nd order", "cross", "rho", "rate", "dividends", "gamma"];

type Line = Readonly<Record<string, number | null>>;

/**
 * The number of significant digits of the largest number in a table. All numbers of a table have the same number of
 * decimals, so that they can be added up.
 */
const DIGITS = 6;

/** Yields the report of `feynkac explain` as the text of a table. */
export function* explainTable(
  report: ExplainReport,
  { rows: max, width: lineWidth = Number.POSITIVE_INFINITY }: TableOptions,
): Generator<string> {
  const rows = report.results.filter(({ status }) => status !== "error");
  const last = rows.length > max ? lastRowCount(max) : 0;
  const shown = rows.length > max ? [...rows.slice(0, max - last), ...rows.slice(rows.length - last)] : rows;
  const withStatus = rows.some(({ status }) => status !== "explained");
  const withCash = rows.some(({ cash }) => cash !== null && cash !== 0);
  const filled = new Set(
    [...rows, ...report.totals].flatMap(({ terms }) =>
      Object.entries(columnSums(terms, report.method)).flatMap(([title, sum]) => ((sum ?? 0) === 0 ? [] : title)),
    ),
  );
  const sums = COLUMNS[report.method].map(([title]) => title).filter((title) => !RARE.has(title) || filled.has(title));
  const middle = ["before", "after", ...(withCash ? ["cash"] : []), "change", ...sums, "unexplained"];
  const table = numberTable(
    ["trade"],
    middle,
    shown.map((row) => [[row.id ?? "?"], lineOf(row, report.method)]),
    withStatus ? shown.map(({ status }) => status) : undefined,
  );
  const traded = report.totals.some(({ trading }) => trading !== 0) ? ["trading"] : [];
  const totals = numberTable(
    ["total × quantity"],
    [...middle, ...traded],
    report.totals.map((total) => [[total.currency], lineOf(total, report.method)]),
  );
  const groups = groupTable(report, [...middle, ...traded]);
  // The two tables leave out the same.
  const hidden = new Set(
    [table, totals, ...groups].flatMap(({ columns, widths }) => [
      ...columnsToOmit(columns, widths, lineWidth, DISPENSABLE),
    ]),
  );
  yield `${heading(report)}\n\n`;
  const lines = shown.length === 0 ? [] : textOf(table, hidden).split(/(?<=\n)/);
  yield lines.toSpliced(lines.length - last, 0, hiddenRowsText(rows.length - shown.length)).join("");
  yield noRoom(table, hidden);
  yield report.totals.length === 0 ? "no trades\n" : `\n${textOf(totals, hidden)}`;
  for (const group of groups) yield `\n${textOf(group, hidden)}`;
  yield* smileTable(report);
  yield* lists(report);
}

function heading({ asOf, years, method }: ExplainReport): string {
  const days = Number((365 * years).toPrecision(6));
  const how = method === "taylor" ? "by its sensitivities" : "by full revaluation, one part of the market at a time";
  const moment = (iso: string): string => iso.replace(".000Z", "Z");
  return `from ${moment(asOf.before)} to ${moment(asOf.after)} (${days} ${days === 1 ? "day" : "days"}), ${how}`;
}

/** The numbers of a row, by column. */
function lineOf(
  row: Pick<ExplainedTrade, "before" | "after" | "cash" | "change" | "terms" | "unexplained"> & { trading?: number },
  method: ExplainMethod,
): Line {
  const { before, after, cash, change, unexplained, trading = null, terms } = row;
  return { before, after, cash, change, unexplained, trading, ...columnSums(terms, method) };
}

function columnSums(terms: ExplainTerms | null, method: ExplainMethod): Line {
  const columns = COLUMNS[method];
  if (terms === null) return Object.fromEntries(columns.map(([title]) => [title, null]));
  const named = new Set(columns.flatMap(([, names]) => names));
  const others = (Object.keys(terms) as ExplainTerm[]).filter((name) => !named.has(name));
  const sum = (names: readonly ExplainTerm[]): number => names.reduce((total, name) => total + (terms[name] ?? 0), 0);
  return Object.fromEntries(columns.map(([title, names]) => [title, sum(names.length === 0 ? others : names)]));
}

/** The totals by group, if there are any. The first columns are the names that the trades are grouped by. */
function groupTable({ groups = [], method }: ExplainReport, names: readonly string[]): NumberTable[] {
  if (groups.length === 0) return [];
  const by = Object.keys(groups[0].group);
  const labels = ({ group, currency }: (typeof groups)[number]): string[] => [
    ...by.map((name) => String(group[name] ?? "–")),
    currency,
  ];
  return [
    numberTable(
      [...by.map(escapeControls), "total × quantity"],
      names,
      groups.map((group) => [labels(group), lineOf(group, method)]),
    ),
  ];
}

/** Yields the effects of the moves of fitted smiles by expiry, with the moves of their levels in points. */
function* smileTable({ totals }: ExplainReport): Generator<string> {
  const lines = totals.flatMap(({ currency, smile = [] }) =>
    smile.map(({ underlying, expiry, moves, level, slope, curvature }): LabelledLine => [
      [underlying, String(expiry), (100 * moves.level).toFixed(2), currency],
      { vega: level, skew: slope, curvature },
    ]),
  );
  if (lines.length === 0) return;
  const shown = lines.slice(0, MAX_LISTED);
  const table = numberTable(["smile", "expiry", "points", ""], ["vega", "skew", "curvature"], shown);
  yield `\n${textOf(table, new Set())}`;
  if (lines.length > MAX_LISTED) yield `… and ${lines.length - MAX_LISTED} more (see --format json)\n`;
}

type LabelledLine = readonly [labels: readonly string[], line: Line];

interface NumberTable {
  readonly columns: readonly TextColumn[];
  readonly rows: readonly (readonly string[])[];
  readonly widths: readonly number[];
}

function numberTable(
  first: readonly string[],
  names: readonly string[],
  lines: readonly LabelledLine[],
  status?: readonly string[],
): NumberTable {
  const decimals = decimalsFor(
    lines.flatMap(([, line]) => names.map((name) => line[name])),
    DIGITS,
  );
  const columns: TextColumn[] = [
    ...first.map((title) => ({ title, align: "left" }) as const),
    ...names.map((title) => ({ title, align: "right" }) as const),
    ...(status === undefined ? [] : [{ title: "status", align: "left" } as const]),
  ];
  const rows = lines.map(([labels, line], i) => [
    ...labels.map(escapeControls),
    ...names.map((column) => formatFixed(line[column], decimals)),
    ...(status === undefined ? [] : [status[i]]),
  ]);
  return { columns, rows, widths: columnWidthsOf(columns, rows) };
}

function textOf({ columns, rows, widths }: NumberTable, hidden: ReadonlySet<string>): string {
  const titles = columns.map(({ title }) => title);
  return visibleLines(columns, [titles, ...rows], widths, hidden);
}

function noRoom({ columns }: NumberTable, hidden: ReadonlySet<string>): string {
  const names = columns.map(({ title }) => title).filter((title) => hidden.has(title));
  return names.length === 0 ? "" : `no room for ${names.join(", ")} (see --format csv)\n`;
}

/** Yields the lists below the tables: changes of the book, warnings and errors. */
function* lists({ results }: ExplainReport): Generator<string> {
  const of = (test: (row: ExplainedTrade) => string | undefined): string[] =>
    results.flatMap((row) => {
      const text = test(row);
      return text === undefined ? [] : [`${row.id === null ? "" : `${row.id}: `}${text}`];
    });
  yield listed(
    "on other terms",
    of(({ reason }) => reason),
  );
  yield listed(
    "warnings",
    of(({ warnings }) => (warnings.length === 0 ? undefined : warnings.join("; "))),
  );
  yield listed(
    "not explained",
    of(({ error }) => error?.message.replaceAll("\n", "\n    ")),
  );
}

function listed(title: string, lines: readonly string[]): string {
  if (lines.length === 0) return "";
  const shown = lines.slice(0, MAX_LISTED).map((line) => `  ${line.split("\n").map(escapeControls).join("\n")}\n`);
  const rest = lines.length - shown.length;
  return `\n${title}:\n${shown.join("")}${rest > 0 ? `  … and ${rest.toLocaleString("en-US")} more\n` : ""}`;
}
