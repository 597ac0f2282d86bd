/** Reads results that `feynkac price` has written, for a report. */
import type { BookReport, PricedTrade, Scenarios, ScenarioValues, TradeResult } from "../../book/index.ts";
import { asParquet, parseJson, type RandomAccess } from "../../book/index.ts";
import { BookError } from "../../base/errors.ts";

/** The results that a file contains, with the device and the scenarios that it names. */
export interface StoredResults {
  readonly asOf: string;
  readonly device: BookReport["device"];
  readonly scenarios: Scenarios | undefined;
  readonly results: readonly TradeResult[];
}

const FORMS = "expected results that `feynkac price` has written, as JSON or Parquet";

/** Reads results from the JSON that `feynkac price` writes. @throws BookError for JSON without results */
export function readJsonResults(text: string): StoredResults {
  const value = parseJson(text) as Partial<BookReport> | null;
  if (typeof value !== "object" || value === null || !Array.isArray(value.results) || value.device === undefined)
    throw new BookError("", `${FORMS}; this JSON has no results`);
  const { asOf, device, scenarios, results } = value as BookReport;
  const other = results.findIndex((row) => typeof (row as Partial<TradeResult> | null)?.status !== "string");
  if (other !== -1) throw new BookError(`results[${other}]`, `${FORMS}; this one has no "status"`);
  return { asOf, device, scenarios, results };
}

/** Reads results from the Parquet file that `feynkac price` writes. @throws BookError for a table of other data */
export async function readParquetResults(file: RandomAccess): Promise<StoredResults> {
  const { parquetMetadataAsync, parquetReadObjects } = await import("hyparquet");
  const { compressors } = await import("hyparquet-compressors");
  const metadata = await asParquet(() => parquetMetadataAsync(file));
  const known = new Map(metadata.key_value_metadata?.map(({ key, value }) => [key, value ?? ""]));
  const rows: readonly Readonly<Record<string, unknown>>[] = await asParquet(() =>
    parquetReadObjects({ file, metadata, compressors }),
  );
  if (rows.some((row) => typeof row["status"] !== "string"))
    throw new BookError("", `${FORMS}; this table has other columns`);
  const scenarios = parsed<Scenarios>(known.get("feynkac.scenarios"));
  return {
    asOf: parsed<string>(known.get("feynkac.asOf")) ?? "",
    device: parsed<BookReport["device"]>(known.get("feynkac.device")) ?? {
      backend: "cpu",
      name: "a device that the file does not name",
    },
    scenarios,
    results: rows.map((row) => resultOf(row, scenarios)),
  };
}

/** Parses metadata, which are JSON or plain text. */
function parsed<T>(text: string | undefined): T | undefined {
  if (text === undefined || text === "") return undefined;
  try {
    return JSON.parse(text) as T;
  } catch {
    return text as T;
  }
}

function resultOf(row: Readonly<Record<string, unknown>>, scenarios: Scenarios | undefined): TradeResult {
  const { error, warnings, scenarios: values, scenarioErrorEstimates: _, ...plain } = row;
  const list = (warnings as readonly string[] | null) ?? [];
  if (row["status"] === "error")
    return { ...plain, warnings: list, error: { code: "BOOK", message: String(error) } } as TradeResult;
  const flat = values as readonly (number | null)[] | null | undefined;
  const folded = flat && scenarios ? { scenarios: fold(flat, scenarios) } : {};
  return { ...plain, warnings: list, ...folded } as PricedTrade;
}

function fold(flat: readonly (number | null)[], { time, spot, volatility, rate }: Scenarios): ScenarioValues {
  let next = 0;
  return time.map(() => spot.map(() => volatility.map(() => rate.map(() => flat[next++] ?? null))));
}
