import type { TradeResult } from "../../book/index.ts";
import type { ResultFormat } from "./writer.ts";

export const RESULT_COLUMNS = [
  "id",
  "status",
  "value",
  "delta",
  "gamma",
  "theta",
  "vega",
  "rho",
  "errorEstimate",
  "method",
  "precision",
  "backend",
  "warnings",
  "error",
] as const;
export type ResultColumn = (typeof RESULT_COLUMNS)[number];

/**
 * RFC 4180 with LF line ends: numbers in full, warnings joined by "; ", an error as its message. Scenarios, which a table
 * has no columns for, stand as JSON in a column of their own when the book has any.
 */
export function csvFormat(): ResultFormat {
  let withScenarios = false;
  return {
    begin: ({ scenarios }) => {
      withScenarios = scenarios !== undefined;
      return `${[...RESULT_COLUMNS, ...(withScenarios ? ["scenarios"] : [])].join(",")}\n`;
    },
    rows: (rows) => rows.map(({ result }) => `${cellsOf(result, withScenarios).map(cell).join(",")}\n`).join(""),
    end: () => "",
  };
}

function cellsOf(result: TradeResult, withScenarios: boolean): (string | number | null)[] {
  const { warnings, ...plain } = result;
  const cells = RESULT_COLUMNS.map((name) => {
    if (name === "warnings") return warnings.join("; ");
    if (name === "error") return result.status === "error" ? result.error.message : null;
    return plain[name];
  });
  if (withScenarios)
    cells.push(result.status === "ok" && result.scenarios !== undefined ? JSON.stringify(result.scenarios) : null);
  return cells;
}

/** One cell, quoted where it has to be. */
export function cell(value: string | number | null): string {
  if (value === null) return "";
  const text = String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
