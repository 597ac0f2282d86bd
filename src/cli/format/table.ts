/** Results as a table for people. */
import type { CurrencyTotals, TradeResult } from "../../book/index.ts";
import { printable, type TextColumn, tooMuch, visibleLines, widthsOf } from "./columns.ts";
import { decimalsFor, fixed, magnitude } from "./numbers.ts";
import { scenarioTables } from "./scenario-table.ts";
import type { ResultFormat, RunEnd, RunStart } from "./writer.ts";

/** Rows shown of a long book, and errors listed under it. */
const MOST_ROWS = 20;
const MOST_ERRORS = 20;
/** Different warnings kept. */
const MOST_WARNINGS = 20;

const NUMBERS = ["value", "delta", "gamma", "theta", "vega", "rho"] as const;
/** Significant digits of a column's largest number. */
const DIGITS = { value: 7, delta: 5, gamma: 5, theta: 6, vega: 6, rho: 6 } as const;

const COLUMNS: readonly TextColumn[] = [
  { title: "trade", align: "left" },
  ...[...NUMBERS, "error"].map((title) => ({ title, align: "right" }) as const),
  { title: "method", align: "left" },
];
/** What a narrow terminal does without, the first to go first. */
const DISPENSABLE = ["method", "rho", "vega", "theta", "gamma"];

interface Layout {
  readonly decimals: Readonly<Record<(typeof NUMBERS)[number], number>>;
  readonly widths: readonly number[];
  /** Columns that have no room. */
  readonly hidden: ReadonlySet<string>;
}

export interface TableOptions {
  /** Every row, in blocks as they come (the first block sets the decimals); else the first twenty. */
  readonly all: boolean;
  /** Characters in a line, where there is a limit: columns that do not fit are left out, and named under the table. */
  readonly columns?: number | undefined;
}

export function tableFormat({ all, columns: room = Number.POSITIVE_INFINITY }: TableOptions): ResultFormat {
  let start: RunStart;
  let layout: Layout | undefined;
  let shown = 0;
  let pricedRows = 0;
  const errors: string[] = [];
  const warnings = new Warnings();
  return {
    begin: (run) => {
      start = run;
      return "";
    },
    rows: (rows) => {
      for (const { result } of rows) {
        warnings.add(result);
        if (result.status === "ok") pricedRows++;
        else if (errors.length < MOST_ERRORS) errors.push(errorLine(result));
      }
      const priced = rows
        .filter(({ result }) => result.status === "ok")
        .slice(0, all ? undefined : MOST_ROWS - shown)
        .map(({ result }) => result);
      if (priced.length === 0) return "";
      shown += priced.length;
      const before = layout;
      layout = layoutOf(priced, before, room);
      return block(priced, layout, before);
    },
    end: (end) => {
      const parts = [
        totalsBlock(end, room),
        ...scenarioTables(start.scenarios, end.totals),
        warnings.block(),
        errorBlock(errors, end),
      ];
      const below = parts.filter((part) => part !== "").join("\n");
      return `${more(pricedRows - shown)}${noRoom(layout, end, room)}${shown > 0 ? "\n" : ""}${below}`;
    },
  };
}

/** The first block's layout, or that of the blocks before, made wider where a cell needs it. */
function layoutOf(results: readonly TradeResult[], before: Layout | undefined, room: number): Layout {
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
  const needed = widthsOf(
    COLUMNS,
    results.map((result) => cellsOf(result, decimals)),
  );
  if (before === undefined) return { decimals, widths: needed, hidden: tooMuch(COLUMNS, needed, room, DISPENSABLE) };
  return { ...before, widths: needed.map((width, i) => Math.max(width, before.widths[i])) };
}

function cellsOf(result: TradeResult, decimals: Layout["decimals"]): string[] {
  const numbers = NUMBERS.map((name) => fixed(result[name], decimals[name]));
  return [printable(result.id ?? "?"), ...numbers, magnitude(result.errorEstimate), result.method ?? ""];
}

/** Rows; titles above the first block, and again where the columns have become wider. */
function block(results: readonly TradeResult[], layout: Layout, before: Layout | undefined): string {
  const wider = before !== undefined && layout.widths.some((width, i) => width > before.widths[i]);
  const titles = before === undefined || wider ? [COLUMNS.map(({ title }) => title)] : [];
  const rows = [...titles, ...results.map((result) => cellsOf(result, layout.decimals))];
  return `${wider ? "\n" : ""}${visibleLines(COLUMNS, rows, layout.widths, layout.hidden)}`;
}

function more(hidden: number): string {
  return hidden > 0 ? `… and ${hidden.toLocaleString("en-US")} more (--all shows them)\n` : "";
}

function noRoom(layout: Layout | undefined, { totals }: RunEnd, room: number): string {
  if (layout === undefined) return "";
  const hidden = new Set([...layout.hidden, ...tooMuch(TOTAL_COLUMNS, totalWidths(totals), room, DISPENSABLE)]);
  const names = COLUMNS.map(({ title }) => title).filter((title) => hidden.has(title));
  return names.length === 0 ? "" : `no room for ${names.join(", ")} (see --format csv)\n`;
}

function totalWidths(totals: readonly CurrencyTotals[]): number[] {
  return widthsOf(
    TOTAL_COLUMNS,
    totals.map((total) => totalCells(total)),
  );
}

/** Warnings of priced trades, each once, with how many trades it is for and the first of them. */
class Warnings {
  readonly #seen = new Map<string, { count: number; readonly first: string }>();

  add({ status, id, warnings }: TradeResult): void {
    if (status !== "ok") return;
    for (const text of warnings) {
      const known = this.#seen.get(text);
      if (known !== undefined) known.count++;
      else if (this.#seen.size < MOST_WARNINGS) this.#seen.set(text, { count: 1, first: id });
    }
  }

  block(): string {
    const shown = [...this.#seen].map(([text, { count, first }]) => {
      const others = count > 1 ? ` and ${(count - 1).toLocaleString("en-US")} more` : "";
      return `  ${printable(`${first}${others}: ${text}`)}\n`;
    });
    return shown.length === 0 ? "" : `warnings:\n${shown.join("")}`;
  }
}

const TOTAL_COLUMNS: readonly TextColumn[] = [
  { title: "total × quantity", align: "left" },
  { title: "trades", align: "right" },
  ...[...NUMBERS, "error"].map((title) => ({ title, align: "right" }) as const),
];

function totalsBlock({ totals, priced, failed }: RunEnd, room: number): string {
  if (totals.length === 0) return priced + failed === 0 ? "no trades\n" : "";
  const rows = totals.map((total) => totalCells(total));
  const widths = totalWidths(totals);
  const titles = TOTAL_COLUMNS.map(({ title }) => title);
  return visibleLines(TOTAL_COLUMNS, [titles, ...rows], widths, tooMuch(TOTAL_COLUMNS, widths, room, DISPENSABLE));
}

function totalCells(total: CurrencyTotals): string[] {
  const numbers = NUMBERS.map((name) => fixed(total[name], decimalsFor([total[name]], 8)));
  return [printable(total.currency), total.trades.toLocaleString("en-US"), ...numbers, magnitude(total.errorEstimate)];
}

/** A message may have several lines: a formula, and a caret under the place in it. */
function errorLine(result: Extract<TradeResult, { status: "error" }>): string {
  const id = result.id === null ? "" : `${printable(result.id)}: `;
  const [first, ...rest] = result.error.message.split("\n").map(printable);
  return [`  ${id}${first}`, ...rest.map((line) => `    ${line}`)].join("\n");
}

function errorBlock(errors: readonly string[], { failed }: RunEnd): string {
  if (failed === 0) return "";
  const hidden = failed - errors.length;
  const rest = hidden > 0 ? [`  … and ${hidden.toLocaleString("en-US")} more`] : [];
  return `${[`${failed.toLocaleString("en-US")} ${failed === 1 ? "trade" : "trades"} not priced:`, ...errors, ...rest].join("\n")}\n`;
}
