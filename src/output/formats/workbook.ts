/** Writes results as a workbook (.xlsx): sheets of results, of totals, and of what the results are of. */
import { type NewSheet, type SheetCell, writeWorkbook } from "../../book/index.ts";
import { packageVersion } from "../../base/version.ts";
import { totalsTable } from "./groups.ts";
import { parquetColumns } from "./parquet-results.ts";
import type { ParquetCell, ParquetColumn } from "./parquet.ts";
import type { OutputHeader, OutputTotals, PricedRow, ResultWriter } from "./writer.ts";

/** Returns a table as a sheet: texts of a list are joined by "; ", and lists of numbers are JSON. */
export function sheetOf<R>(name: string, columns: readonly ParquetColumn<R>[], rows: readonly R[]): NewSheet {
  const cells = rows.map((row) => columns.map(({ value }) => sheetCell(value(row))));
  return { name, columns: columns.map((column) => column.name), rows: cells };
}

function sheetCell(cell: ParquetCell): SheetCell {
  if (cell === null || typeof cell === "string") return cell;
  if (typeof cell === "number") return Number.isFinite(cell) ? cell : String(cell);
  const items: readonly (string | number | null)[] = cell;
  return items.every((item) => typeof item === "string") ? items.join("; ") : JSON.stringify(items);
}

/** Returns a sheet of names and values. */
export function aboutSheet(about: Readonly<Record<string, unknown>>): NewSheet {
  const rows = Object.entries({ ...about, version: packageVersion() }).map(([name, value]): SheetCell[] => [
    name,
    typeof value === "string" || typeof value === "number" ? value : JSON.stringify(value),
  ]);
  return { name: "about", columns: ["name", "value"], rows };
}

/** A writer of results that holds them until the end, since a workbook is written as a whole. */
export type WorkbookWriter = Omit<ResultWriter, "end"> & { end(totals: OutputTotals): Promise<Uint8Array> };

/** Returns the writer of results as a workbook. The totals have a row for each group, too. */
export function workbookWriter(groupBy: readonly string[] = []): WorkbookWriter {
  let start: OutputHeader | undefined;
  const all: PricedRow[] = [];
  return {
    begin: (header) => {
      start = header;
      return "";
    },
    rows: (rows) => {
      for (const row of rows) all.push(row);
      return "";
    },
    end: (totals) => writeWorkbook(sheetsOf(start!, all, totals, groupBy)),
  };
}

function sheetsOf(
  { scenarioNames, ...start }: OutputHeader,
  rows: readonly PricedRow[],
  totals: OutputTotals,
  groupBy: readonly string[],
): NewSheet[] {
  const { asOf, device, scenarios } = start;
  const { priced, failed } = totals;
  return [
    // Values under named scenarios have a sheet of their own.
    sheetOf("results", parquetColumns(start), rows),
    ...(scenarioNames === undefined ? [] : [scenarioSheet(scenarioNames, rows)]),
    { name: "totals", ...totalsTable(groupBy, totals) },
    aboutSheet({ asOf, device: device.name, priced, failed, ...(scenarios === undefined ? {} : { scenarios }) }),
  ];
}

/** The values of trades under named scenarios, a row for each of both. */
function scenarioSheet(names: readonly string[], rows: readonly PricedRow[]): NewSheet {
  const cells = rows.flatMap(({ result }) =>
    result.status === "error"
      ? []
      : names.map((name, s): SheetCell[] => [
          result.id,
          name,
          result.scenarioValues?.[s] ?? null,
          result.scenarioValueErrorEstimates?.[s] ?? null,
        ]),
  );
  return { name: "scenarioValues", columns: ["id", "scenario", "value", "errorEstimate"], rows: cells };
}
