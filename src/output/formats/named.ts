import { arrowFormat } from "./arrow.ts";
import { csvFormat } from "./csv.ts";
import { jsonFormat, ndjsonFormat } from "./json.ts";
import { parquetFormat } from "./parquet-results.ts";
import type { ResultFormat } from "./writer.ts";

/** The name of a file format of results. */
export type FileFormat = "json" | "ndjson" | "csv" | "parquet" | "arrow";

/** Returns a new writer of results in a file format. Each output needs its own writer. */
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
    case "arrow":
      return arrowFormat("file");
    default:
      return name satisfies never;
  }
}
