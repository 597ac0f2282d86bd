/** Reads results that `feynkac price` has written, for a report. */
import {
  asParquet,
  type BookReport,
  FIGURE_FIELDS,
  parseJson,
  type PricedTrade,
  type RandomAccess,
  readCsvRows,
  RESULT_FIELDS,
  type Scenarios,
  type ScenarioValues,
  type TradeResult,
} from "../../book/index.ts";
import { BookError } from "../../base/errors.ts";

/** What a file says of its results as a whole: their date, their device and the order of values under scenarios. */
export interface AboutResults extends Pick<BookReport, "device" | "scenarioNames" | "scenarioWeights"> {
  /** The valuation date; empty if the file does not say it. */
  readonly asOf: string;
  readonly scenarios: Scenarios | undefined;
}

/** The results that a file contains, with what it says of them. */
export interface StoredResults extends AboutResults {
  readonly results: readonly TradeResult[];
}

const FORMS = "expected results that `feynkac price` has written, as JSON, CSV, Parquet or a run in parts";

const UNNAMED: BookReport["device"] = { backend: "cpu", name: "a device that the file does not name" };

/** Reads results from the JSON that `feynkac price` writes. @throws BookError for JSON without results */
export function readJsonResults(text: string): StoredResults {
  const value = parseJson(text) as Partial<BookReport> | null;
  if (typeof value !== "object" || value === null || !Array.isArray(value.results) || value.device === undefined)
    throw new BookError("", `${FORMS}; this JSON has no results`);
  const { asOf, device, scenarios, scenarioNames, scenarioWeights, results } = value as BookReport;
  const other = results.findIndex((row) => typeof (row as Partial<TradeResult> | null)?.status !== "string");
  if (other !== -1) throw new BookError(`results[${other}]`, `${FORMS}; this one has no "status"`);
  return { asOf, device, scenarios, ...named(scenarioNames, scenarioWeights), results };
}

/** Reads results from the Parquet file that `feynkac price` writes. @throws BookError for a table of other data */
export async function readParquetResults(file: RandomAccess): Promise<StoredResults> {
  const { parquetMetadataAsync, parquetReadObjects } = await import("hyparquet");
  const { compressors } = await import("hyparquet-compressors");
  const metadata = await asParquet(() => parquetMetadataAsync(file));
  const known = new Map(metadata.key_value_metadata?.map(({ key, value }) => [key, value ?? ""]));
  const rows: readonly Cells[] = await asParquet(() => parquetReadObjects({ file, metadata, compressors }));
  checkTable(rows);
  const scenarios = parsed<Scenarios>(known.get("feynkac.scenarios"));
  return {
    asOf: parsed<string>(known.get("feynkac.asOf")) ?? "",
    device: parsed<BookReport["device"]>(known.get("feynkac.device")) ?? UNNAMED,
    scenarios,
    ...named(parsed(known.get("feynkac.scenarioNames")), parsed(known.get("feynkac.scenarioWeights"))),
    results: rows.map((row) => resultOf(row, scenarios)),
  };
}

/**
 * Reads results from the CSV that `feynkac price` writes, which says neither their date nor the names of scenarios.
 * @throws BookError for a table of other data
 */
export async function readCsvResults(text: string): Promise<StoredResults> {
  async function* chunks(): AsyncGenerator<string> {
    yield text;
  }
  const { columns, rows } = await readCsvRows(chunks());
  if (!columns.includes("status")) throw new BookError("", `${FORMS}; this table has other columns`);
  const objects = rows.map((cells) =>
    Object.fromEntries(columns.map((name, c) => [name, cellOf(name, cells[c] as string)])),
  );
  return { asOf: "", device: UNNAMED, scenarios: undefined, results: objects.map((row) => resultOf(row, undefined)) };
}

const TYPES: Readonly<Record<string, string>> = { ...RESULT_FIELDS, ...FIGURE_FIELDS };

/** The field in a cell of CSV: a text, a number, a list of texts, or JSON. */
function cellOf(name: string, cell: string): unknown {
  const type = TYPES[name];
  if (type === "texts") return cell === "" ? [] : cell.split("; ");
  if (cell === "") return null;
  if (type === "text" || name.startsWith("tag.") || name === "reporting.currency") return cell;
  const number = Number(cell);
  return Number.isNaN(number) ? parsed(cell) : number;
}

type Cells = Readonly<Record<string, unknown>>;

function checkTable(rows: readonly Cells[]): void {
  if (rows.some((row) => typeof row["status"] !== "string"))
    throw new BookError("", `${FORMS}; this table has other columns`);
}

const named = (
  scenarioNames: readonly string[] | undefined,
  scenarioWeights: readonly number[] | undefined,
): Pick<BookReport, "scenarioNames" | "scenarioWeights"> => ({
  ...(scenarioNames === undefined ? {} : { scenarioNames }),
  ...(scenarioWeights === undefined ? {} : { scenarioWeights }),
});

/** Parses metadata, which are JSON or plain text. */
function parsed<T>(text: string | undefined): T | undefined {
  if (text === undefined || text === "") return undefined;
  try {
    return JSON.parse(text) as T;
  } catch {
    return text as T;
  }
}

function resultOf(row: Cells, scenarios: Scenarios | undefined): TradeResult {
  const { error, warnings, scenarios: values, scenarioErrorEstimates: _, scenarioValues, ...cells } = row;
  const { scenarioValueErrorEstimates, ...plain } = plainOf(cells);
  const list = (warnings as readonly string[] | null) ?? [];
  if (row["status"] === "error")
    return { ...plain, warnings: list, error: { code: "BOOK", message: String(error) } } as TradeResult;
  const flat = values as readonly unknown[] | null | undefined;
  return {
    ...plain,
    warnings: list,
    ...(flat
      ? { scenarios: scenarios === undefined ? flat : fold(flat as readonly (number | null)[], scenarios) }
      : {}),
    ...(scenarioValues ? { scenarioValues, scenarioValueErrorEstimates } : {}),
  } as PricedTrade;
}

/** The columns of a row as the fields of a result: tags and the numbers in the reporting currency are objects. */
function plainOf(cells: Cells): Record<string, unknown> {
  const plain: Record<string, unknown> = {};
  const within = (field: string, name: string, value: unknown): void => {
    if (value !== null) plain[field] = { ...(plain[field] as object | undefined), [name]: value };
  };
  for (const [name, value] of Object.entries(cells)) {
    const [, field, inner] = /^(tag|reporting\.fxDelta|reporting)\.(.*)$/.exec(name) ?? [];
    if (field === "tag") within("tags", inner, value);
    else if (field !== undefined) within(field, inner, value);
    else if (name === "tags" && typeof value === "string") plain["tags"] = parsed(value);
    else if (!name.startsWith("sensitivityErrorEstimates.")) plain[name] = value;
  }
  const { reporting, "reporting.fxDelta": fxDelta = {}, ...rest } = plain;
  return { ...rest, ...(reporting === undefined ? {} : { reporting: { ...reporting, fxDelta } }) };
}

function fold(flat: readonly (number | null)[], { time, spot, volatility, rate }: Scenarios): ScenarioValues {
  let next = 0;
  return time.map(() => spot.map(() => volatility.map(() => rate.map(() => flat[next++] ?? null))));
}
