/** Determines the format of a book by its file name, or else by its first line. */
import { BookError } from "../base/errors.ts";

/** The file format of a book. */
export type InputFormat = "json" | "ndjson" | "csv" | "parquet" | "xlsx";

const BY_EXTENSION: readonly (readonly [RegExp, InputFormat])[] = [
  [/\.json$/i, "json"],
  [/\.(ndjson|jsonl)$/i, "ndjson"],
  [/\.csv$/i, "csv"],
  [/\.parquet$/i, "parquet"],
  [/\.xlsx$/i, "xlsx"],
];

/** Returns the format of a book from the extension of its file name; undefined if the extension is not known. */
export function formatOfName(path: string): InputFormat | undefined {
  return BY_EXTENSION.find(([extension]) => extension.test(path))?.[1];
}

/**
 * Returns the format of a book from the beginning of its text. If the first line is a complete JSON value, the text is
 * NDJSON; if it is an incomplete one, the text is JSON on several lines. @throws BookError for bytes that are not text
 */
export function formatOfText(head: string): Exclude<InputFormat, "parquet" | "xlsx"> {
  const start = head.trimStart();
  if (start === "") return "json";
  if (start.includes("\u0000"))
    throw new BookError("", "expected JSON or a table of trades, got bytes that are no text");
  if (/^(?:null|true|false|["\d-].*)\s*$/.test(start) && !start.includes(",")) return "json";
  if (!/^[{[]/.test(start)) return "csv";
  const [line, rest] = start.split("\n", 2);
  try {
    const value = JSON.parse(line) as object;
    return rest === undefined && Object.hasOwn(value, "trades") ? "json" : "ndjson";
  } catch {
    return "json";
  }
}
