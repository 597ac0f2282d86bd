import { arrowWriter } from "./arrow.ts";
import { csvWriter } from "./csv.ts";
import { jsonWriter, ndjsonWriter } from "./json.ts";
import { parquetWriter } from "./parquet-results.ts";
import type { ResultWriter } from "./writer.ts";

/** The name of a file format of results. */
export type FileFormat = "json" | "ndjson" | "csv" | "parquet" | "arrow";

/** Returns a new writer of results in a file format. Each output needs its own writer. */
export function writerFor(name: FileFormat): ResultWriter {
  switch (name) {
    case "json":
      return jsonWriter();
    case "ndjson":
      return ndjsonWriter;
    case "csv":
      return csvWriter();
    case "parquet":
      return parquetWriter();
    case "arrow":
      return arrowWriter("file");
    default:
      return name satisfies never;
  }
}
