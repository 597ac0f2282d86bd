import type { TradeResult } from "../../book/index.ts";
import { type ResultColumn, resultColumns } from "./columns.ts";
import { encodeRows } from "./encoded.ts";
import type { ResultWriter } from "./writer.ts";

/**
 * Returns the writer of results as CSV by RFC 4180, with LF line ends and all digits of numbers. Warnings are joined by
 * "; ", and an error is shown by its message. Lists and records are JSON.
 */
export function csvWriter(): ResultWriter {
  let columns: readonly ResultColumn[] = [];
  return {
    begin: (start) => {
      columns = resultColumns(start);
      return `${columns.map(({ name }) => csvCell(name)).join(",")}\n`;
    },
    rows: (rows) => encodeRows(rows, ({ result }) => `${columns.map((column) => cellOf(column, result)).join(",")}\n`),
    end: () => "",
  };
}

function cellOf({ type, value }: ResultColumn, result: TradeResult): string {
  const field = value(result);
  if (type === "texts") return csvCell((field as readonly string[]).join("; "));
  return csvCell(
    typeof field === "object" && field !== null ? JSON.stringify(field) : (field as string | number | null),
  );
}

/** Formats a CSV cell, in quotes if necessary. */
export function csvCell(value: string | number | null): string {
  if (value === null) return "";
  const text = String(value);
  if (typeof value === "number") return text;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
