import type { TradeResult } from "../../book/index.ts";
import { type ResultColumn, resultColumns } from "./columns.ts";
import { encoded } from "./encoded.ts";
import type { ResultFormat } from "./writer.ts";

/**
 * Returns the output format CSV by RFC 4180, with LF line ends and all digits of numbers. Warnings are joined by "; ",
 * and an error is shown by its message. Lists and records are JSON.
 */
export function csvFormat(): ResultFormat {
  let columns: readonly ResultColumn[] = [];
  return {
    begin: (start) => {
      columns = resultColumns(start);
      return `${columns.map(({ name }) => cell(name)).join(",")}\n`;
    },
    rows: (rows) => encoded(rows, ({ result }) => `${columns.map((column) => cellOf(column, result)).join(",")}\n`),
    end: () => "",
  };
}

function cellOf({ type, value }: ResultColumn, result: TradeResult): string {
  const field = value(result);
  if (type === "texts") return cell((field as readonly string[]).join("; "));
  return cell(typeof field === "object" && field !== null ? JSON.stringify(field) : (field as string | number | null));
}

/** Formats a CSV cell, in quotes if necessary. */
export function cell(value: string | number | null): string {
  if (value === null) return "";
  const text = String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
