/** Reads named scenarios from a file: a row for each scenario, and a column for each factor. */
import {
  decodeText,
  type Market,
  readCsvRows,
  readParquetRows,
  type ScenarioTable,
  scenariosOfRows,
  type TableRows,
} from "../book/index.ts";
import { inFile, readWholeFile } from "./whole-file.ts";

/** Reads the rows of a table in CSV, or in Parquet by its name. @throws CliError for a file that is no table */
export async function readTableFile(path: string): Promise<TableRows> {
  const all = new Uint8Array(readWholeFile(path));
  async function* chunks(): AsyncGenerator<Uint8Array> {
    yield all;
  }
  return inFile(path, () =>
    path.toLowerCase().endsWith(".parquet") ? readParquetRows(all.buffer) : readCsvRows(decodeText(chunks())),
  );
}

/** Reads named scenarios of a market. @throws CliError for a table that has none, and for names that are not its */
export async function readScenarioFile(
  path: string,
  context: { readonly asOf: string; readonly market: Market },
): Promise<ScenarioTable> {
  const rows = await readTableFile(path);
  return inFile(path, () => scenariosOfRows(rows, context));
}
