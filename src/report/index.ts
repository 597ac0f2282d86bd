/** Reports on priced books: one HTML file, from results as they come or from files that were written. */
export { type ReportRun, reportHtml } from "./html.ts";
export { readJsonResults, readParquetResults, type WrittenResults } from "./read-results.ts";
export { ReportSummary } from "./summary.ts";
