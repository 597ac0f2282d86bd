/** Formats the totals by group of `feynkac explain` as a table, in the formats that have one table. */
import { type OutputPiece, type ParquetColumn, type TableFormat, tableParts } from "../../output/formats/index.ts";
import type { ExplainGroupTotals, ExplainReport } from "../../pricing/index.ts";
import { termNames } from "./explain.ts";

/** Yields the totals by group of an explanation, a row for each group and currency, in the place of the trades. */
export async function* explainGroups(
  report: ExplainReport,
  groupBy: readonly string[],
  format: TableFormat,
): AsyncGenerator<OutputPiece> {
  const { groups = [] } = report;
  if (format === "ndjson") {
    for (const group of groups) yield `${JSON.stringify(group)}\n`;
    return;
  }
  const { asOf, years, method, device } = report;
  yield* tableParts(format, columnsOf(report, groupBy), { asOf, years, method, device }, groups);
}

function columnsOf(report: ExplainReport, groupBy: readonly string[]): readonly ParquetColumn<ExplainGroupTotals>[] {
  type Column = ParquetColumn<ExplainGroupTotals>;
  const number = (name: string, value: (row: ExplainGroupTotals) => number | null): Column => ({
    name,
    type: "number",
    value,
  });
  const text = (name: string, value: (row: ExplainGroupTotals) => string | null): Column => ({
    name,
    type: "string",
    value,
  });
  const label = ({ group }: ExplainGroupTotals, name: string): string | null => {
    const of = group[name] ?? null;
    return of === null ? null : String(of);
  };
  const sums = (names: readonly ("trades" | "before" | "after" | "cash" | "change")[]): Column[] =>
    names.map((name) => number(name, (row) => row[name]));
  return [
    ...groupBy.map((name) => text(`group.${name}`, (row) => label(row, name))),
    text("currency", ({ currency }) => currency),
    ...sums(["trades", "before", "after", "cash", "change"]),
    ...termNames(report).map((name) => number(name, ({ terms }) => terms[name] ?? null)),
    ...(["unexplained", "trading", "errorEstimate"] as const).map((name) => number(name, (row) => row[name])),
  ];
}
