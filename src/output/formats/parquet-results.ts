import { SENSITIVITIES, type SensitivityName, type TradeResult } from "../../book/index.ts";
import {
  FIGURE_COLUMNS,
  figureOf,
  RESULT_COLUMNS,
  type ResultColumn,
  SCENARIO_COLUMNS,
  sensitivityErrorColumn,
  sensitivityErrorOf,
  type TagColumn,
  tagColumns,
  tagText,
} from "./csv.ts";
import { type ParquetCell, type ParquetColumn, type ParquetTable, parquetTable } from "./parquet.ts";
import type { PricedRow, ResultFormat, RunStart } from "./writer.ts";

/**
 * Returns the output format Parquet, with the columns of CSV and their types. The values under scenarios are one list
 * of numbers; the file's metadata contains the scenarios in the order of the list.
 */
export function parquetFormat(): ResultFormat {
  let table: ParquetTable<PricedRow>;
  return {
    begin: async (start) => {
      const { asOf, device, scenarios } = start;
      const about = { asOf, device, ...(scenarios === undefined ? {} : { scenarios }) };
      table = await parquetTable(resultColumns(start), about);
      return "";
    },
    rows: (rows) => table.add(rows),
    end: () => table.end(),
  };
}

/** Returns the columns of a Parquet table of results. */
export function resultColumns({
  scenarios,
  sensitivityErrors,
  tags,
  figures,
}: Pick<RunStart, "scenarios" | "sensitivityErrors" | "tags" | "figures">): ParquetColumn<PricedRow>[] {
  return [
    ...RESULT_COLUMNS.map(resultColumn),
    ...(figures === true ? FIGURE_COLUMNS.map(figureColumn) : []),
    ...tagColumns(tags).map(tagColumn),
    ...(sensitivityErrors ? SENSITIVITIES.map(errorEstimateColumn) : []),
    ...(scenarios === undefined ? [] : SCENARIO_COLUMNS.map(scenarioColumn)),
  ];
}

function resultColumn(name: ResultColumn): ParquetColumn<PricedRow> {
  if (name === "warnings") return { name, type: "strings", value: ({ result }) => result.warnings };
  if (name === "error") return { name, type: "string", value: ({ result }) => errorCell(result) };
  const texts: readonly string[] = ["id", "underlying", "currency", "status", "method", "precision", "backend"];
  return { name, type: texts.includes(name) ? "string" : "number", value: ({ result }) => result[name] ?? null };
}

const figureColumn = (name: (typeof FIGURE_COLUMNS)[number]): ParquetColumn<PricedRow> => ({
  name,
  type: name === "keyRates" || name === "parameters" ? "string" : "number",
  value: ({ result }) => figureOf(result, name),
});

const tagColumn = (column: TagColumn): ParquetColumn<PricedRow> => ({
  name: column.name,
  type: "string",
  value: ({ result }) => tagText(column, result),
});

const errorEstimateColumn = (name: SensitivityName): ParquetColumn<PricedRow> => ({
  name: sensitivityErrorColumn(name),
  type: "number",
  value: ({ result }) => sensitivityErrorOf(result, name),
});

function errorCell(result: TradeResult): string | null {
  return result.status === "error" ? result.error.message : null;
}

function scenarioColumn(name: (typeof SCENARIO_COLUMNS)[number]): ParquetColumn<PricedRow> {
  const value = ({ result }: PricedRow): ParquetCell => {
    const values = result.status === "ok" ? result[name] : undefined;
    return values === undefined ? null : values.flat(3);
  };
  return { name, type: "numbers", value };
}
