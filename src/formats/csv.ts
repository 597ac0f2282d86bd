import { SENSITIVITIES, type SensitivityName, type TradeResult } from "../book/index.ts";
import type { ResultFormat, RunStart } from "./writer.ts";

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
/** Further ones of a book with scenarios, which a table has no columns for: as JSON. */
export const SCENARIO_COLUMNS = ["scenarios", "scenarioErrorEstimates"] as const;
/** The column of a sensitivity's error estimate: a dotted path into the result. */
export const sensitivityErrorColumn = (name: SensitivityName): string => `sensitivityErrorEstimates.${name}`;
export type ResultColumn = (typeof RESULT_COLUMNS)[number];

/**
 * RFC 4180 with LF line ends: numbers in full, warnings joined by "; ", an error as its message.
 */
export function csvFormat(): ResultFormat {
  let run: Pick<RunStart, "scenarios" | "sensitivityErrors">;
  return {
    begin: (start) => {
      run = start;
      const { scenarios, sensitivityErrors } = start;
      const names = [
        ...RESULT_COLUMNS,
        ...(sensitivityErrors ? SENSITIVITIES.map(sensitivityErrorColumn) : []),
        ...(scenarios === undefined ? [] : SCENARIO_COLUMNS),
      ];
      return `${names.join(",")}\n`;
    },
    rows: (rows) => rows.map(({ result }) => `${cellsOf(result, run).map(cell).join(",")}\n`).join(""),
    end: () => "",
  };
}

function cellsOf(
  result: TradeResult,
  { scenarios, sensitivityErrors }: Pick<RunStart, "scenarios" | "sensitivityErrors">,
): (string | number | null)[] {
  const { warnings, ...plain } = result;
  const cells = RESULT_COLUMNS.map((name) => {
    if (name === "warnings") return warnings.join("; ");
    if (name === "error") return result.status === "error" ? result.error.message : null;
    return plain[name];
  });
  if (sensitivityErrors) cells.push(...SENSITIVITIES.map((name) => sensitivityErrorOf(result, name)));
  if (scenarios === undefined) return cells;
  const values = result.status === "ok" ? SCENARIO_COLUMNS.map((name) => result[name]) : [undefined, undefined];
  return [...cells, ...values.map((value) => (value === undefined ? null : JSON.stringify(value)))];
}

export function sensitivityErrorOf(result: TradeResult, name: SensitivityName): number | null {
  return result.status === "ok" ? (result.sensitivityErrorEstimates?.[name] ?? null) : null;
}

/** One cell, quoted where it has to be. */
export function cell(value: string | number | null): string {
  if (value === null) return "";
  const text = String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
