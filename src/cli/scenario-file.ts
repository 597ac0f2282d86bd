/** Reads named scenarios from a file: a row for each scenario, and a column for each factor. */
import {
  decodeText,
  formatOfName,
  type Market,
  readCsvRows,
  readParquetRows,
  readWorkbook,
  type ScenarioTable,
  scenariosOfRows,
  type TableRows,
} from "../book/index.ts";
import { BookError } from "../base/errors.ts";
import { inFile, readWholeFile } from "./whole-file.ts";

/**
 * Reads the rows of a table in CSV, or by its name in Parquet or a workbook: its sheet "scenarios", or its only one.
 * @throws CliError for a file that is no table
 */
export async function readTableFile(path: string): Promise<TableRows> {
  const all = new Uint8Array(readWholeFile(path));
  async function* chunks(): AsyncGenerator<Uint8Array> {
    yield all;
  }
  return inFile(path, () => {
    const format = formatOfName(path);
    if (format === "parquet") return readParquetRows(all.buffer);
    return format === "xlsx" ? readSheetRows(all) : readCsvRows(decodeText(chunks()));
  });
}

async function readSheetRows(bytes: Uint8Array): Promise<TableRows> {
  const sheets = await readWorkbook(bytes);
  const sheet = sheets.length === 1 ? sheets[0] : sheets.find(({ name }) => name === "scenarios");
  if (sheet === undefined) throw new BookError("", 'expected a sheet "scenarios", or one sheet, with a row for each');
  return { columns: sheet.columns, rows: sheet.rows.map(({ cells }) => cells) };
}

/** Reads named scenarios of a market. @throws CliError for a table that has none, and for names that are not its */
export async function readScenarioFile(
  path: string,
  context: { readonly asOf: string; readonly market: Market },
): Promise<ScenarioTable> {
  const rows = await readTableFile(path);
  return inFile(path, () => scenariosOfRows(rows, context));
}
