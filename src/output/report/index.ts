/** Reports on priced books as one HTML file, from results during pricing or from result files. */
export { type ReportProvenance, reportHtml } from "./html.ts";
export { readJsonResults, readParquetResults, type StoredResults } from "./read-results.ts";
export { ReportSummary } from "./summary.ts";
