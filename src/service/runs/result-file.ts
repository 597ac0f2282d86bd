/** Result files of runs: the results of one chunk of trades, as Parquet. */
import {
  NAMED_SCENARIO_FIELDS,
  type PricedTrade,
  RESULT_COLUMNS,
  SCENARIO_FIELDS,
  type ScenarioErrorEstimates,
  type Scenarios,
  type ScenarioValues,
  totalledByLabels,
  type TotalledTrade,
  type Totals,
  type TradeResult,
} from "../../book/index.ts";
import { type ParquetColumn, parquetColumns, beginParquet, type PricedRow } from "../../output/formats/index.ts";
import { RunError } from "./error.ts";
import type { Manifest } from "./manifest.ts";

/**
 * A result with the properties of its trade on which totals depend. `trade` is undefined if the trade could not be
 * read.
 */
export interface ResultRow {
  readonly result: TradeResult;
  readonly trade: TotalledTrade | undefined;
}

/** What the result of a trade that could not be read lacks, and the seed of a method without random numbers. */
const OPTIONAL: ReadonlySet<string> = new Set(["underlying", "currency", "quantity", "seed"]);

/**
 * The columns of a result file: the columns of results as in other Parquet output, and one with all remaining fields as
 * JSON. Hence it contains the complete results.
 */
function columnsOf({ scenarios, scenarioNames, sensitivityErrors }: ResultFileHeader): ParquetColumn<PricedRow>[] {
  return [
    // Their tags are among the other fields.
    ...parquetColumns({ scenarios, scenarioNames, sensitivityErrors, tags: [] }),
    { name: "details", type: "string", value: ({ result }) => detailsOf(result) },
  ];
}

function detailsOf(result: TradeResult): string | null {
  const columns: readonly string[] = [...RESULT_COLUMNS, ...SCENARIO_FIELDS, ...NAMED_SCENARIO_FIELDS];
  const hasColumn = (name: string): boolean => name !== "error" && columns.includes(name);
  const rest = Object.entries(result).filter(([name, value]) => !hasColumn(name) && value !== undefined);
  return rest.length === 0 ? null : JSON.stringify(Object.fromEntries(rest));
}

/** The data that all result files of a run have in common. */
export interface ResultFileHeader {
  readonly asOf: string;
  readonly scenarios: Scenarios | undefined;
  readonly scenarioNames: readonly string[] | undefined;
  readonly sensitivityErrors: boolean;
}

/** A writer of the Parquet file with the results of one chunk of trades. Its bytes depend only on the results. */
export interface ResultFileWriter {
  add(rows: readonly PricedRow[]): void;
  /** Returns the bytes of the whole file. */
  end(): Uint8Array;
}

/** Returns a writer of the Parquet file with the results of one chunk of trades. */
export async function beginResultFile(head: ResultFileHeader): Promise<ResultFileWriter> {
  const { asOf, scenarios, scenarioNames } = head;
  const about = {
    asOf,
    ...(scenarios === undefined ? {} : { scenarios }),
    ...(scenarioNames === undefined ? {} : { scenarioNames }),
  };
  const table = await beginParquet(columnsOf(head), about);
  const pieces: Uint8Array[] = [];
  return {
    add: (rows) => void pieces.push(table.add(rows)),
    end: () => {
      pieces.push(table.end());
      return new Uint8Array(Buffer.concat(pieces));
    },
  };
}

/**
 * Reads the results in the Parquet file of one chunk of trades. `name` is the file's name in error messages. @throws
 * RunError an invalid file
 */
export async function readResultFile(
  bytes: Uint8Array,
  manifest: Pick<Manifest, "scenarios" | "market">,
  name: string,
): Promise<ResultRow[]> {
  const [{ parquetReadObjects }, { compressors }] = await Promise.all([
    import("hyparquet"),
    import("hyparquet-compressors"),
  ]);
  const file = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength) as ArrayBuffer;
  try {
    const rows = await parquetReadObjects({ file, compressors });
    return rows.map((row) => rowOf(row, manifest));
  } catch (cause) {
    throw new RunError(`${name}: not a part of a run: ${(cause as Error).message}`, { cause });
  }
}

type Cells = Readonly<Record<string, unknown>>;

function rowOf(cells: Cells, { scenarios, market }: Pick<Manifest, "scenarios" | "market">): ResultRow {
  const { details } = cells;
  const all = (typeof details === "string" ? JSON.parse(details) : {}) as Record<string, unknown>;
  // Pricing adds the numbers in the reporting currency last.
  const { reporting, ...rest } = all;
  // The schema of these columns is this module's own.
  const result = {
    ...plainResult(cells, rest),
    ...scenariosOf(cells, scenarios),
    ...namedScenariosOf(cells),
    ...(reporting === undefined ? {} : { reporting }),
  } as TradeResult;
  return { result, trade: totalledByLabels(result, market.spots) };
}

/**
 * Restores a result from the cells of a row. The order of its fields is the original one, so that its JSON is the same.
 */
function plainResult(cells: Cells, { tags, ...rest }: Record<string, unknown>): Record<string, unknown> {
  const result: Record<string, unknown> = {};
  for (const name of RESULT_COLUMNS) {
    if (name === "error") continue;
    if (name === "status" && tags !== undefined) result["tags"] = tags;
    if (OPTIONAL.has(name) && (cells[name] ?? null) === null) continue;
    result[name] = name === "warnings" ? (cells[name] ?? []) : (cells[name] ?? null);
  }
  return Object.assign(result, rest);
}

function scenariosOf(
  cells: Cells,
  scenarios: Scenarios | undefined,
): { scenarios?: ScenarioValues; scenarioErrorEstimates?: ScenarioErrorEstimates } {
  const { scenarios: values, scenarioErrorEstimates: estimates } = cells;
  if (scenarios === undefined || !Array.isArray(values)) return {};
  const { time, spot, volatility, rate } = scenarios;
  const take = taker(values as (number | null)[]);
  const error = Array.isArray(estimates) ? taker(estimates as (number | null)[]) : undefined;
  return {
    scenarios: time.map(() => spot.map(() => volatility.map(() => rate.map(take)))),
    ...(error === undefined ? {} : { scenarioErrorEstimates: time.map(() => volatility.map(() => rate.map(error))) }),
  };
}

function namedScenariosOf(cells: Cells): Pick<PricedTrade, (typeof NAMED_SCENARIO_FIELDS)[number]> {
  const known = NAMED_SCENARIO_FIELDS.filter((name) => Array.isArray(cells[name]));
  return Object.fromEntries(known.map((name) => [name, Array.from(cells[name] as (number | null)[])]));
}

/** Returns a function that returns the next value at each call. */
function taker(values: readonly (number | null)[]): () => number | null {
  let next = 0;
  return () => values[next++] ?? null;
}

/** Adds results to totals in the same way as pricing does. */
export function addRowsToTotals(totals: Totals, rows: readonly ResultRow[]): void {
  for (const { trade, result } of rows) totals.add(trade, result);
}
