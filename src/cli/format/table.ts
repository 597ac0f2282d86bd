/** Formats results as a table of text. */
import { withCommas } from "./numbers.ts";
import { SENSITIVITIES, type TradeError, type TradeResult } from "../../book/index.ts";
import { escapeControls, type TextColumn, columnsToOmit, visibleLines, columnWidthsOf } from "./columns.ts";
import { decimalsFor, formatFixed, formatErrorEstimate } from "../../output/formats/index.ts";
import { namedScenarioTables } from "./named-scenario-table.ts";
import { scenarioTables } from "./scenario-table.ts";
import { hiddenTotalColumns, totalTables } from "./total-tables.ts";
import { Warnings } from "./warnings.ts";
import type { ResultWriter, OutputTotals, OutputHeader } from "../../output/formats/index.ts";

/**
 * The maximum number of errors listed below a table, and below a table that shows all rows, where only memory limits
 * it.
 */
const MAX_ERRORS = 20;
const MAX_ERRORS_OF_ALL = 100_000;
/**
 * The number of lines on the screen besides the rows: titles (twice if columns become wider), remarks about omitted
 * rows and columns, the summary, and the prompt.
 */
const LINES_AROUND = 9;
/**
 * The number of lines besides the rows if totals are printed too: `LINES_AROUND`, blank lines, the totals of two
 * currencies, and those of one underlying.
 */
const OTHER_LINES = LINES_AROUND + 8;
const MIN_ROWS = 5;

/** The numbers with decimals of their own; the error estimate has its digits. */
const NUMBERS = ["value", ...SENSITIVITIES] as const;
/** The number of significant digits of the largest number in a column. */
const DIGITS = { value: 7, delta: 5, gamma: 5, theta: 6, vega: 6, rho: 6 } as const;

const COLUMNS: readonly TextColumn[] = [
  { title: "trade", align: "left" },
  ...[...NUMBERS, "error"].map((title) => ({ title, align: "right" }) as const),
  { title: "method", align: "left" },
];
/** The columns that are omitted if the terminal is too narrow, in the order of omission. */
const DISPENSABLE = ["method", "rho", "vega", "theta", "gamma"];

interface Layout {
  readonly decimals: Readonly<Record<(typeof NUMBERS)[number], number>>;
  readonly widths: readonly number[];
  /** The titles of the columns that are omitted. */
  readonly hidden: ReadonlySet<string>;
}

/** The options of a table of results that is printed as text. */
export interface TableOptions {
  /**
   * The maximum number of rows. The first rows are printed as they arrive, and the last rows at the end. The first
   * batch of results determines the number of decimals.
   */
  readonly rows: number;
  /** The number of lines of the screen, if the table must fit on it together with the lines below its rows. */
  readonly lines?: number | undefined;
  /** The maximum number of characters in a line; columns that do not fit are omitted, and named under the table. */
  readonly width?: number | undefined;
}

/** Returns the number of table rows that fit on a screen with a number of lines. */
export function rowsOnScreen(lines: number): number {
  return Math.max(lines - OTHER_LINES, MIN_ROWS);
}

/**
 * Returns the number of table rows that are taken from the end of the results if rows are limited: a third of `rows`.
 */
export function lastRowCount(rows: number): number {
  return Number.isFinite(rows) ? Math.floor(rows / 3) : 0;
}

/** Returns the writer that prints results as a table of text. */
export function tableWriter({ rows, lines, width: lineWidth = Number.POSITIVE_INFINITY }: TableOptions): ResultWriter {
  let start: OutputHeader;
  // On a screen named scenarios share the rows with trades.
  let max = rows;
  let ofScenarios = rows;
  let layout: Layout | undefined;
  let shown = 0;
  let pricedRows = 0;
  let tail = lastRowCount(max);
  let last: TradeResult[] = [];
  const errors = new Errors(Number.isFinite(rows) ? MAX_ERRORS : MAX_ERRORS_OF_ALL);
  const warnings = new Warnings();
  const show = (results: readonly TradeResult[]): string => {
    if (results.length === 0) return "";
    shown += results.length;
    const before = layout;
    layout = layoutOf(results, before, lineWidth);
    return block(results, layout, before);
  };
  return {
    begin: (run) => {
      start = run;
      if (lines !== undefined && run.scenarioNames !== undefined) {
        ofScenarios = Math.max(Math.floor(rows / 2), MIN_ROWS);
        max = Math.max(rows - ofScenarios, MIN_ROWS);
        tail = lastRowCount(max);
      }
      return "";
    },
    rows: (added) => {
      for (const { result } of added) {
        warnings.add(result);
        errors.add(result);
      }
      const priced = added.map(({ result }) => result).filter(({ status }) => status === "ok");
      pricedRows += priced.length;
      const now = priced.slice(0, max - tail - shown);
      if (tail > 0) last = [...last, ...priced.slice(now.length)].slice(-tail);
      return show(now);
    },
    end: (end) => {
      const parts = [
        ...totalTables(end, lineWidth),
        ...scenarioTables(start.scenarios, end.totals),
        ...namedScenarioTables(start.scenarioNames, end, ofScenarios),
        warnings.block(),
        errors.block(),
      ];
      const below = parts.filter((part) => part !== "").join("\n");
      const left = (lines ?? Number.POSITIVE_INFINITY) - shown - below.split("\n").length - LINES_AROUND;
      const rest = last.slice(-Math.max(left, 1));
      const gap = hiddenRowsText(pricedRows - shown - rest.length);
      return `${gap}${show(rest)}${noRoom(layout, end, lineWidth)}${shown > 0 ? "\n" : ""}${below}`;
    },
  };
}

/** The layout of a block of rows. It continues that of the previous block, but columns become wider where necessary. */
function layoutOf(results: readonly TradeResult[], before: Layout | undefined, lineWidth: number): Layout {
  const decimals =
    before?.decimals ??
    (Object.fromEntries(
      NUMBERS.map((name) => [
        name,
        decimalsFor(
          results.map((result) => result[name]),
          DIGITS[name],
        ),
      ]),
    ) as Layout["decimals"]);
  const needed = columnWidthsOf(
    COLUMNS,
    results.map((result) => cellsOf(result, decimals)),
  );
  const widths = needed.map((width, i) => Math.max(width, before?.widths[i] ?? 0));
  return { decimals, widths, hidden: columnsToOmit(COLUMNS, widths, lineWidth, DISPENSABLE) };
}

function cellsOf(result: TradeResult, decimals: Layout["decimals"]): string[] {
  const numbers = NUMBERS.map((name) => formatFixed(result[name], decimals[name]));
  return [escapeControls(result.id ?? "?"), ...numbers, formatErrorEstimate(result.errorEstimate), result.method ?? ""];
}

/** The text of a block of rows. Titles are printed above the first block, and again if columns have become wider. */
function block(results: readonly TradeResult[], layout: Layout, before: Layout | undefined): string {
  const wider = before !== undefined && layout.widths.some((width, i) => width > before.widths[i]);
  const titles = before === undefined || wider ? [COLUMNS.map(({ title }) => title)] : [];
  const rows = [...titles, ...results.map((result) => cellsOf(result, layout.decimals))];
  return `${wider ? "\n" : ""}${visibleLines(COLUMNS, rows, layout.widths, layout.hidden)}`;
}

/** Returns a sentence about the number of table rows that are not shown, and how to get them. */
export function hiddenRowsText(hidden: number): string {
  if (hidden <= 0) return "";
  const rows = hidden === 1 ? "row" : "rows";
  return `… ${withCommas(hidden)} more ${rows}: --rows all shows them, --output FILE writes them\n`;
}

function noRoom(layout: Layout | undefined, end: OutputTotals, lineWidth: number): string {
  if (layout === undefined) return "";
  const hidden = hiddenTotalColumns(end, lineWidth);
  const names = [...COLUMNS.map(({ title }) => title), "cash delta"].filter(
    (title) => layout.hidden.has(title) || hidden.has(title),
  );
  return names.length === 0 ? "" : `no room for ${names.join(", ")} (see --format csv)\n`;
}

/**
 * The text of an error. The message may have several lines, for example a formula and a caret below the position of the
 * error.
 */
function errorLine(result: Extract<TradeResult, { status: "error" }>): string {
  const id = result.id === null ? "" : `${escapeControls(result.id)}: `;
  const [first, ...rest] = result.error.message.split("\n").map(escapeControls);
  return [`  ${id}${first}`, ...rest.map((line) => `    ${line}`)].join("\n");
}

/** The maximum number of kinds of errors that are counted, and that are printed. */
const MAX_KINDS = 1000;
const KINDS_SHOWN = 5;

/** The trades that could not be priced: the first ones, and the number of others for each kind of error. */
class Errors {
  readonly #max: number;
  readonly #lines: string[] = [];
  readonly #kinds = new Map<string, number>();
  #count = 0;

  constructor(max: number) {
    this.#max = max;
  }

  add(result: TradeResult): void {
    if (result.status !== "error") return;
    this.#count++;
    if (this.#lines.length < this.#max) {
      this.#lines.push(errorLine(result));
      return;
    }
    const kind = kindOf(result.error);
    if (this.#kinds.has(kind) || this.#kinds.size < MAX_KINDS) this.#kinds.set(kind, (this.#kinds.get(kind) ?? 0) + 1);
  }

  block(): string {
    if (this.#count === 0) return "";
    const title = `${count(this.#count)} ${this.#count === 1 ? "trade" : "trades"} not priced:`;
    return `${[title, ...this.#lines, ...this.#others()].join("\n")}\n`;
  }

  #others(): string[] {
    const hidden = this.#count - this.#lines.length;
    if (hidden === 0) return [];
    const kinds = [...this.#kinds].toSorted(([, a], [, b]) => b - a).slice(0, KINDS_SHOWN);
    const rest = kinds.reduce((left, [, one]) => left - one, hidden);
    return [
      `  … and ${count(hidden)} more:`,
      ...kinds.map(([kind, one]) => `    ${count(one)} × ${escapeControls(kind)}`),
      ...(rest > 0 ? [`    ${count(rest)} others`] : []),
    ];
  }
}

function count(number: number): string {
  return withCommas(number);
}

/** The message of an error without the position of its trade, such as `strike: expected a positive number, got -5`. */
function kindOf({ message, path = "" }: TradeError): string {
  const field = path.replace(/^(?:trades\[\d+\]\.?|(?:line|row) \d+(?:: )?)/, "");
  const [text] = message.slice(path === "" ? 0 : path.length + 2).split("\n");
  return field === "" ? text : `${field}: ${text}`;
}
