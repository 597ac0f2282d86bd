/** Result files in JSON, NDJSON, CSV and Parquet, written as streams. */
export { cell, hasFigures, RESULT_COLUMNS, type TagColumn, tagColumns, tagText } from "./csv.ts";
export { decimalsFor, fixed, magnitude } from "./numbers.ts";
export { type ParquetColumn, parquetTable } from "./parquet.ts";
export { type FileFormat, formatNamed } from "./named.ts";
export { resultColumns } from "./parquet-results.ts";
export { incompleteSums, largestUnderlyings } from "./totals.ts";
export { packageCommit, packageVersion } from "../../base/version.ts";
export type { Part, PricedRow, ResultFormat, RunEnd, RunStart } from "./writer.ts";
