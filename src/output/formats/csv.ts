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

/**
 * Formats a CSV cell, in quotes if necessary. Line breaks, with the blanks around them, become one blank: tables are
 * read line by line, so that no cell may span lines.
 */
export function csvCell(value: string | number | null): string {
  if (value === null) return "";
  if (typeof value === "number") return String(value);
  const text = /[\r\n]/.test(value)
    ? value
        .split(/[\r\n]+/)
        .map((line) => line.trim())
        .join(" ")
    : value;
  return /[",]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
