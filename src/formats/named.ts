import { csvFormat } from "./csv.ts";
import { jsonFormat, ndjsonFormat } from "./json.ts";
import { parquetFormat } from "./parquet-results.ts";
import type { ResultFormat } from "./writer.ts";

/** The file formats for programs. */
export type FileFormat = "json" | "ndjson" | "csv" | "parquet";

/** Returns the writer of a format, for one output. */
export function formatNamed(name: FileFormat): ResultFormat {
  switch (name) {
    case "json":
      return jsonFormat();
    case "ndjson":
      return ndjsonFormat;
    case "csv":
      return csvFormat();
    case "parquet":
      return parquetFormat();
    default:
      return name satisfies never;
  }
}
