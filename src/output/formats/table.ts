/** Writes a table of rows of any kind in the formats that have one table, or one object a line. */
import { writeWorkbook } from "../../book/index.ts";
import { beginArrow } from "./arrow.ts";
import { csvCell } from "./csv.ts";
import { beginParquet, type ParquetColumn } from "./parquet.ts";
import { aboutSheet, sheetOf } from "./workbook.ts";
import type { OutputPiece, TableFormat } from "./writer.ts";

/** Yields the pieces of a table, which together are the whole output. `about` becomes metadata, where there are any. */
export async function* tableParts<R>(
  format: TableFormat,
  columns: readonly ParquetColumn<R>[],
  about: Readonly<Record<string, unknown>>,
  rows: readonly R[],
): AsyncGenerator<OutputPiece> {
  if (format === "xlsx") {
    yield await writeWorkbook([sheetOf("results", columns, rows), aboutSheet(about)]);
    return;
  }
  if (format === "parquet" || format === "arrow") {
    const table = format === "arrow" ? beginArrow(columns, about, "file") : await beginParquet(columns, about);
    yield table.add(rows);
    yield table.end();
    return;
  }
  const line = (row: R): string =>
    format === "csv"
      ? columns.map(({ value }) => csvCell(cellText(value(row)))).join(",")
      : JSON.stringify(objectOf(columns, row));
  if (format === "csv") yield `${columns.map(({ name }) => csvCell(name)).join(",")}\n`;
  for (const row of rows) yield `${line(row)}\n`;
}

/** Returns a row as an object with the names of the columns. */
export function objectOf<R>(columns: readonly ParquetColumn<R>[], row: R): Readonly<Record<string, unknown>> {
  return Object.fromEntries(columns.map(({ name, value }) => [name, value(row)]));
}

/** A cell of CSV: texts are joined by "; ", and lists of numbers are JSON. */
function cellText(cell: ReturnType<ParquetColumn<never>["value"]>): string | number | null {
  if (cell === null || typeof cell !== "object") return cell;
  const items: readonly (string | number | null)[] = cell;
  return items.every((item) => typeof item === "string") ? items.join("; ") : JSON.stringify(items);
}
