import { arrowTable, type ParquetColumn, parquetTable, tagColumns, tagText } from "../../output/formats/index.ts";
import type { ExplainedTrade, ExplainReport } from "../../pricing/index.ts";
import { EXPLAIN_LABELS, EXPLAIN_MOVES, EXPLAIN_NUMBERS, termNames } from "./explain.ts";

/**
 * Yields the report of `feynkac explain` as the bytes of a Parquet or Arrow file, with the columns of its CSV. `tags`
 * are their names.
 */
export async function* explainColumns(
  report: ExplainReport,
  tags: readonly string[] | undefined,
  format: "parquet" | "arrow",
): AsyncGenerator<Uint8Array> {
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
    ...EXPLAIN_LABELS.map((name) => text(name, (row) => row[name] ?? null)),
    ...EXPLAIN_NUMBERS.first.map((name) => number(name, (row) => row[name])),
    ...termNames(report).map((name) => number(name, ({ terms }) => terms?.[name] ?? null)),
    number("unexplained", ({ unexplained }) => unexplained),
    ...EXPLAIN_MOVES.map((name) => number(`move.${name}`, ({ moves }) => moves?.[name] ?? null)),
    ...EXPLAIN_NUMBERS.last.map((name) => number(name, (row) => row[name])),
    warnings,
    text("reason", ({ reason }) => reason ?? null),
    text("error", ({ error }) => error?.message ?? null),
    ...tagColumns(tags).map((column) => text(column.name, (row) => tagText(column, row))),
  ];
  const about = { asOf, years, method, device };
  const table = format === "arrow" ? arrowTable(columns, about, "file") : await parquetTable(columns, about);
  yield table.add(report.results);
  yield table.end();
}
