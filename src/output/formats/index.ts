/** Result files in JSON, NDJSON, CSV, Parquet and Arrow, written as streams. */
export { ARROW_STREAM_TYPE, arrowFormat, arrowTable } from "./arrow.ts";
export { hasFigures, type TagColumn, tagColumns, tagText } from "./columns.ts";
export { cell } from "./csv.ts";
export { decimalsFor, fixed, magnitude } from "./numbers.ts";
export { type ParquetColumn, parquetTable } from "./parquet.ts";
export { type FileFormat, formatNamed } from "./named.ts";
export { parquetColumns } from "./parquet-results.ts";
export { incompleteSums, largestUnderlyings } from "./totals.ts";
export { packageCommit, packageVersion } from "../../base/version.ts";
export type { Part, PricedRow, ResultFormat, RunEnd, RunStart } from "./writer.ts";
