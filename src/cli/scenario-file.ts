/** Reads named scenarios from a file: a row for each scenario, and a column for each factor. */
import { readFile } from "node:fs/promises";
import {
  decodeText,
  type Market,
  readCsvRows,
  readParquetRows,
  type ScenarioTable,
  scenariosOfRows,
  type TableRows,
} from "../book/index.ts";
import { BookError } from "../base/errors.ts";
import { CliError, reasonOf } from "./failure.ts";

/** Reads the rows of a table in CSV, or in Parquet by its name. @throws CliError for a file that is no table */
export async function readTableFile(path: string): Promise<TableRows> {
  const bytes = await readFile(path).catch((cause: unknown) => {
    throw new CliError(`cannot read ${path}: ${reasonOf(cause)}`, { cause });
  });
  const all = new Uint8Array(bytes);
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

/** Calls a function, and names the file in its errors. @throws CliError */
export async function inFile<T>(path: string, read: () => T | Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof BookError) throw new CliError(`${path}: ${error.message}`, { cause: error });
    throw error;
  }
}
