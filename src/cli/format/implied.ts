/** Formats implied volatilities as columns of a file and as a table of text. */
import type { TradeResult } from "../../book/index.ts";
import { formatErrorEstimate, type ParquetColumn, tagColumns, tagText } from "../../output/formats/index.ts";
import { columnsToOmit, columnWidthsOf, escapeControls, type TextColumn, visibleLines } from "./columns.ts";

/** A row of a table of prices with its implied volatility, or the reason for which there is none. */
export interface ImpliedRow {
  readonly id: string;
  readonly underlying: string | null;
  readonly volatility: number | null;
  readonly errorEstimate: number | null;
  readonly bidVolatility: number | null;
  readonly askVolatility: number | null;
  readonly price: number | null;
  readonly priceError: number;
  readonly method: string | null;
  readonly warnings: readonly string[];
  readonly reason: string | null;
  readonly tags: TradeResult["tags"];
}

/** Returns the columns of implied volatilities, with those of tags at the end. */
export function impliedColumns(tags: readonly string[]): readonly ParquetColumn<ImpliedRow>[] {
  const number = (
    name: "volatility" | "errorEstimate" | "bidVolatility" | "askVolatility" | "price" | "priceError",
  ): ParquetColumn<ImpliedRow> => ({ name, type: "number", value: (row) => row[name] });
  const text = (name: string, value: (row: ImpliedRow) => string | null): ParquetColumn<ImpliedRow> => ({
    name,
    type: "string",
    value,
  });
  return [
    text("id", ({ id }) => id),
    text("underlying", ({ underlying }) => underlying),
    text("status", ({ reason }) => (reason === null ? "ok" : "error")),
    ...(["volatility", "errorEstimate", "bidVolatility", "askVolatility", "price", "priceError"] as const).map(number),
    text("method", ({ method }) => method),
    { name: "warnings", type: "strings", value: ({ warnings }) => warnings },
    text("reason", ({ reason }) => reason),
    ...tagColumns(tags).map((column) => text(column.name, (row) => tagText(column, row))),
  ];
}

const COLUMNS: readonly TextColumn[] = [
  { title: "quote", align: "left" },
  { title: "underlying", align: "left" },
  { title: "price", align: "right" },
  { title: "volatility %", align: "right" },
  { title: "± %", align: "right" },
  { title: "bid %", align: "right" },
  { title: "ask %", align: "right" },
  { title: "method", align: "left" },
];

/** The number of reasons that are listed below a table. */
const MAX_REASONS = 20;

/** Returns implied volatilities as text, in per cent, with the reasons for those that are missing below. */
export function impliedTable(rows: readonly ImpliedRow[], width: number | undefined): string {
  const hasSpread = rows.some(({ bidVolatility, askVolatility }) => bidVolatility !== null || askVolatility !== null);
  const cells = [COLUMNS.map(({ title }) => title), ...rows.map(cellsOf)];
  const widths = columnWidthsOf(COLUMNS, cells);
  const omitted = width === undefined ? [] : columnsToOmit(COLUMNS, widths, width, ["method", "bid %", "ask %"]);
  const hidden = new Set([...omitted, ...(hasSpread ? [] : ["bid %", "ask %"])]);
  const without = rows.filter(({ reason }) => reason !== null);
  const listed = without
    .slice(0, MAX_REASONS)
    .map(({ id, reason }) => `  ${escapeControls(id)}: ${escapeControls(reason ?? "")}`);
  const more = without.length > MAX_REASONS ? [`  and ${without.length - MAX_REASONS} more`] : [];
  const reasons = without.length === 0 ? "" : `\n${["no volatility:", ...listed, ...more].join("\n")}\n`;
  return visibleLines(COLUMNS, cells, widths, hidden) + reasons;
}

function cellsOf(row: ImpliedRow): string[] {
  const { errorEstimate, volatility } = row;
  // As many decimals as the error leaves, and one more.
  const digits =
    errorEstimate === null ? 4 : Math.min(Math.max(1 - Math.floor(Math.log10(100 * errorEstimate)), 1), 10);
  const percent = (value: number | null): string => (value === null ? "–" : (100 * value).toFixed(digits));
  return [
    escapeControls(row.id),
    escapeControls(row.underlying ?? "–"),
    row.price === null ? "–" : String(Number(row.price.toPrecision(12))),
    percent(volatility),
    formatErrorEstimate(errorEstimate === null ? null : 100 * errorEstimate),
    percent(row.bidVolatility),
    percent(row.askVolatility),
    row.method ?? "–",
  ];
}
