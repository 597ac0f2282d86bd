import { type OutputPiece, type ParquetColumn, tableParts, tagColumns, tagText } from "../../output/formats/index.ts";
import type { ExplainedTrade, ExplainReport } from "../../pricing/index.ts";
import { EXPLAIN_TEXT_COLUMNS, EXPLAIN_MOVE_COLUMNS, EXPLAIN_NUMBER_COLUMNS, termNames } from "./explain.ts";

/**
 * Yields the report of `feynkac explain` as a Parquet or Arrow file or a workbook, with the columns of its CSV.
 * `tags` are the names of the tags.
 */
export function explainColumns(
  report: ExplainReport,
  tags: readonly string[] | undefined,
  format: "parquet" | "arrow" | "xlsx",
): AsyncGenerator<OutputPiece> {
  const number = (name: string, value: (row: ExplainedTrade) => number | null): ParquetColumn<ExplainedTrade> => ({
    name,
    type: "number",
    value,
  });
  const text = (name: string, value: (row: ExplainedTrade) => string | null): ParquetColumn<ExplainedTrade> => ({
    name,
    type: "string",
    value,
  });
  const warnings: ParquetColumn<ExplainedTrade> = { name: "warnings", type: "strings", value: (row) => row.warnings };
  const { asOf, years, method, device } = report;
  const columns = [
    ...EXPLAIN_TEXT_COLUMNS.map((name) => text(name, (row) => row[name] ?? null)),
    ...EXPLAIN_NUMBER_COLUMNS.first.map((name) => number(name, (row) => row[name])),
    ...termNames(report).map((name) => number(name, ({ terms }) => terms?.[name] ?? null)),
    number("unexplained", ({ unexplained }) => unexplained),
    ...EXPLAIN_MOVE_COLUMNS.map((name) => number(`move.${name}`, ({ moves }) => moves?.[name] ?? null)),
    ...EXPLAIN_NUMBER_COLUMNS.last.map((name) => number(name, (row) => row[name])),
    warnings,
    text("reason", ({ reason }) => reason ?? null),
    text("error", ({ error }) => error?.message ?? null),
    ...tagColumns(tags).map((column) => text(column.name, (row) => tagText(column, row))),
  ];
  return tableParts(format, columns, { asOf, years, method, device }, report.results);
}
