/** Reports on priced books as one HTML file, from results during pricing or from result files. */
export { ReportChanges } from "./changes.ts";
export { type ReportProvenance, reportHtml } from "./html.ts";
export {
  type AboutResults,
  readCsvResults,
  readJsonResults,
  readParquetResults,
  type StoredResults,
} from "./read-results.ts";
export { ReportSummary } from "./summary.ts";
