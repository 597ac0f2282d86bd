/** Result files in JSON, NDJSON, CSV, Parquet and Arrow, written as streams. */
export { ARROW_STREAM_TYPE, arrowWriter, beginArrow } from "./arrow.ts";
export { type BucketWriter, bucketWriter } from "./buckets.ts";
export { marketHeader, needsBondColumns, type TagColumn, tagColumns, tagText } from "./columns.ts";
export { csvCell } from "./csv.ts";
export { decimalsFor, formatFixed, formatErrorEstimate } from "./numbers.ts";
export { groupWriter } from "./groups.ts";
export { type ParquetColumn, beginParquet } from "./parquet.ts";
export { type FileFormat, writerFor } from "./named.ts";
export { parquetColumns } from "./parquet-results.ts";
export { objectOf, tableParts } from "./table.ts";
export { incompleteSumNotes, largestUnderlyings } from "./totals.ts";
export { packageCommit, packageVersion } from "../../base/version.ts";
export { type WorkbookWriter, workbookWriter } from "./workbook.ts";
export { aboutResults } from "./writer.ts";
export type { OutputPiece, PricedRow, ResultWriter, OutputTotals, OutputHeader, TableFormat } from "./writer.ts";
