/** The format of a book, by the name of its file or else by its first line. */
import { BookError } from "../errors.ts";

export type InputFormat = "json" | "ndjson" | "csv" | "parquet";

const BY_EXTENSION: readonly (readonly [RegExp, InputFormat])[] = [
  [/\.json$/i, "json"],
  [/\.(ndjson|jsonl)$/i, "ndjson"],
  [/\.csv$/i, "csv"],
  [/\.parquet$/i, "parquet"],
];

/** The format that a file's name tells; undefined if it tells none. */
export function formatOfName(path: string): InputFormat | undefined {
  return BY_EXTENSION.find(([extension]) => extension.test(path))?.[1];
}

/**
 * The format of text, by its first line: JSON over several lines has one that is no JSON by itself; NDJSON has one that
 * is.
 * @throws BookError for bytes that are no text
 */
export function formatOfText(head: string): Exclude<InputFormat, "parquet"> {
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
