/** Reads named scenarios from the rows of a table: a row for each scenario, and a column for each factor. */
import { BUSINESS_DAYS, businessDaysOf } from "../base/business-days.ts";
import { BookError } from "../base/errors.ts";
import { readCells } from "./csv.ts";
import { didYouMean, quote, show } from "./names.ts";
import { checkFactor, maturityOf, type ScenarioMarket, scenarioMarket, scenarioYears } from "./named-scenarios.ts";
import {
  BY_MATURITY,
  FACTOR_KINDS,
  type FactorKind,
  isRelative,
  type ScenarioFactor,
  type ScenarioTable,
  ScenarioTableBuilder,
} from "./scenario-table.ts";
import { flatten, isBlank, readLines } from "./text.ts";
import { type AsOf, parseAsOf, parseTime, type TimeSpec } from "./time.ts";
import type { Market } from "./types.ts";

/** The columns of a table and the cells of its rows. */
export interface TableRows {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly unknown[])[];
}

/** Reads the rows of a CSV table. @throws BookError for a row that is none, with its line */
export async function readCsvRows(chunks: AsyncIterable<string>): Promise<TableRows> {
  const all: (readonly string[])[] = [];
  for await (const line of flatten(readLines(chunks))) {
    if (isBlank(line)) continue;
    const row = readCells(line);
    if (row.cells === undefined) throw new BookError(`line ${row.line}`, row.problem);
    const expected = all[0]?.length ?? row.cells.length;
    if (row.cells.length !== expected)
      throw new BookError(
        `line ${row.line}`,
        `expected ${expected} cells, as in the first row, got ${row.cells.length}`,
      );
    all.push(row.cells.map((cell) => cell.trim()));
  }
  const [columns = [], ...rows] = all;
  const twice = columns.find((name, c) => columns.indexOf(name) < c);
  if (twice !== undefined) throw new BookError("line 1", `column ${quote(twice)} is there twice`);
  return { columns, rows };
}

/** Reads the rows of a Parquet table. @throws BookError for a file that is no Parquet */
export async function readParquetRows(file: ArrayBuffer): Promise<TableRows> {
  const [{ parquetMetadataAsync, parquetReadObjects }, { compressors }] = await Promise.all([
    import("hyparquet"),
    import("hyparquet-compressors"),
  ]);
  try {
    const metadata = await parquetMetadataAsync(file);
    const objects = await parquetReadObjects({ file, metadata, compressors });
    const columns = Object.keys(objects[0] ?? {});
    return { columns, rows: objects.map((row) => columns.map((name) => row[name])) };
  } catch (cause) {
    throw new BookError("", `not Parquet that can be read: ${(cause as Error).message}`, { cause });
  }
}

/** Returns the factor that a column has by its name, such as `spot.SAP`; undefined for another column. */
function factorOfColumn(column: string): ScenarioFactor | undefined {
  const dot = column.indexOf(".");
  const kind = column.slice(0, dot) as FactorKind;
  const of = column.slice(dot + 1);
  return dot > 0 && of !== "" && FACTOR_KINDS.includes(kind) ? { kind, of } : undefined;
}

/**
 * Returns the factor that a column has; undefined for one of some `others`. @throws BookError for a column that is
 * neither
 */
export function columnFactor(column: string, others: readonly string[]): ScenarioFactor | undefined {
  const factor = factorOfColumn(column);
  if (factor !== undefined || others.includes(column)) return factor;
  const forms = [...others, ...FACTOR_KINDS.map((kind) => `${kind}.${column.slice(column.indexOf(".") + 1)}`)];
  const kinds = FACTOR_KINDS.map((kind) => `${kind}.NAME`).join(", ");
  throw new BookError(
    `column ${quote(column)}`,
    `no factor${didYouMean(column, forms) || `; expected ${others.join(", ")}, or ${kinds}`}`,
  );
}

/** The columns of a table of scenarios that are no factors. */
const OTHERS = ["name", "time", "weight", "horizon"];

/**
 * Converts the rows of a table to named scenarios. @throws BookError for columns that are no factors of the market,
 * cells that are no numbers, and a table without names
 */
export function scenariosOfRows(
  { columns, rows }: TableRows,
  { asOf: written, market }: { readonly asOf: string; readonly market: Market },
): ScenarioTable {
  const asOf = parseAsOf(written)!;
  const known = scenarioMarket(market);
  const names = columns.indexOf("name");
  if (names < 0 || rows.length === 0)
    throw new BookError("the table", 'expected a row for each scenario, with a column "name"; see docs/risk.md');
  const factors = columns.map((column) => {
    const whole = columnFactor(column, OTHERS);
    const factor = whole && atMaturity(whole, known, asOf);
    if (factor !== undefined) checkFactor(factor, known, `column ${quote(column)}`);
    return factor;
  });
  const builder = new ScenarioTableBuilder();
  rows.forEach((cells, i) => {
    const at = (column: string): string => `row ${i + 1}, column ${quote(column)}`;
    const cell = (column: string): unknown => cells[columns.indexOf(column)];
    const name = cells[names];
    if (isEmpty(name)) throw new BookError(at("name"), "expected the name of the scenario");
    const weight = isEmpty(cell("weight")) ? undefined : numberOf(cell("weight"), 0, at("weight"));
    const time = timeOf(cell("time"), at("time"));
    builder.begin(textOf(name), scenarioYears(time, asOf, at("time")), weight, at("name"));
    factors.forEach((factor, c) => {
      if (factor === undefined || isEmpty(cells[c])) return;
      const isPart = isRelative(factor.kind);
      const by = numberOf(cells[c], isPart ? -1 : -100, at(columns[c]));
      if (isPart && by === -1) throw new BookError(at(columns[c]), "expected a relative move above −1, got −1");
      builder.move(factor, by, at(columns[c]));
    });
  });
  const horizon = horizonOf(rows.map((cells) => cells[columns.indexOf("horizon")]));
  return { ...builder.table(), ...(horizon === undefined ? {} : { horizon }) };
}

/**
 * Returns the business days in the cells of the column "horizon", which are the same in all rows; undefined where all
 * are empty. @throws BookError for a cell that is no period, or another one than that of the first row
 */
function horizonOf(cells: readonly unknown[]): number | undefined {
  const [first, ...rest] = cells.map((cell, i) => {
    const days = isEmpty(cell) ? undefined : businessDaysOf(textOf(cell));
    if (days !== undefined || isEmpty(cell)) return days;
    throw new BookError(`row ${i + 1}, column "horizon"`, `expected ${BUSINESS_DAYS}, got ${show(cell)}`);
  });
  const other = rest.findIndex((days) => days !== first);
  if (other < 0) return first;
  const place = `row ${other + 2}, column "horizon"`;
  throw new BookError(place, `expected that of the first row, ${show(cells[0])}, got ${show(cells[other + 1])}`);
}

/** Returns the factor whose name ends in a maturity, such as `rate.EUR.5Y`; another one as it is. */
function atMaturity(factor: ScenarioFactor, known: ScenarioMarket, asOf: AsOf): ScenarioFactor {
  const { kind, of: whole } = factor;
  if (!BY_MATURITY.includes(kind) || known.namesOf(kind).includes(whole)) return factor;
  const dot = whole.lastIndexOf(".");
  const at = dot > 0 ? maturityOf(whole.slice(dot + 1), asOf) : undefined;
  return at === undefined ? factor : { kind, of: whole.slice(0, dot), at };
}

const isEmpty = (cell: unknown): boolean => cell === undefined || cell === null || cell === "";

const textOf = (cell: unknown): string => (cell instanceof Date ? cell.toISOString().slice(0, 10) : String(cell));

/** Returns the number in a cell. @throws BookError for one that is none, or below a minimum */
function numberOf(cell: unknown, least: number, place: string): number {
  const value = typeof cell === "string" ? Number(cell) : typeof cell === "bigint" ? Number(cell) : cell;
  if (typeof value === "number" && Number.isFinite(value) && value >= least) return value;
  throw new BookError(place, `expected a number from ${least}, got ${show(cell)}`);
}

function timeOf(cell: unknown, place: string): TimeSpec | undefined {
  if (isEmpty(cell)) return undefined;
  const years = Number(cell);
  if (Number.isFinite(years)) return { kind: "years", years };
  const time = parseTime(textOf(cell));
  if (time !== undefined) return time;
  throw new BookError(place, `expected years, a tenor (1D) or a date, got ${show(cell)}`);
}
