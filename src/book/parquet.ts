/** Reads trades from a Parquet table by row groups, with the market from a separate JSON file. */
import type { AsyncBuffer, FileMetaData, SchemaTree } from "hyparquet";
import { BookError } from "../base/errors.ts";
import { type Column, readColumns, readColumnsOf, readRow, type TableOptions, tagNames } from "./columns.ts";
import { type BookHeader, contextOf } from "./book.ts";
import type { BookStream } from "./ndjson.ts";
import type { ParsedTrade } from "./types.ts";

/** A file whose bytes can be read at any position; an `ArrayBuffer` is one. */
export type RandomAccess = AsyncBuffer;

/**
 * Reads trades from a Parquet file. Its columns are those of CSV, each with any type that can hold its values. Null is
 * an omitted field, a DATE a day, a TIMESTAMP an instant. Lists and structs correspond to JSON's. Only a part of a row
 * group is in memory at a time.
 *
 * @throws BookError a file that is not Parquet or an unknown column, before any trade is read.
 */
export async function readParquet(
  file: RandomAccess,
  market: BookHeader,
  options: TableOptions = {},
): Promise<BookStream & { readonly total: number }> {
  const table = await openTable(file, market, options);
  return { ...contextOf(market), trades: tradesOf(table), tags: tagNames(table.columns), total: table.total };
}

async function* tradesOf({ rows, read, total }: Table): AsyncGenerator<ParsedTrade> {
  for await (const { cells, index } of rows(0, total)) yield read(cells, index);
}

/** A table of trades whose rows can be read from any position. */
export interface Table {
  readonly columns: readonly Column[];
  /** The number of rows. */
  readonly total: number;
  /**
   * Yields the rows from one index up to, but not including, another. Only a part of a row group is in memory at a
   * time.
   */
  readonly rows: (from: number, to: number) => AsyncIterable<{ readonly cells: unknown[]; readonly index: number }>;
  /** Reads the trade in a row, or its error. `repeated` tells whether an earlier trade has its id. */
  readonly read: (cells: readonly unknown[], index: number, repeated?: boolean) => ParsedTrade;
}

/** Opens a Parquet file as a table of trades. @throws BookError a file that is not Parquet, or an unknown column */
export async function openTable(file: RandomAccess, market: BookHeader, options: TableOptions = {}): Promise<Table> {
  const { parquetMetadataAsync, parquetSchema } = await import("hyparquet");
  const metadata = await asParquet(() => parquetMetadataAsync(file));
  const nodes = parquetSchema(metadata).children;
  const names = nodes.map(({ element }) => element.name);
  const total = Number(metadata.num_rows);
  const columns = await readColumnsOf(
    (sample) => readColumns(names, "the table", options, sample),
    async function* () {
      for await (const { cells } of rowsOf(file, metadata, nodes, 0, total)) yield cells;
    },
  );
  return {
    columns,
    total,
    rows: (from, to) => rowsOf(file, metadata, nodes, from, to),
    read: (cells, index, repeated) => readRow(cells, columns, index, `row ${index + 1}`, market, repeated),
  };
}

/** The maximum number of rows in memory at a time. A row group is decompressed again for each part that is read. */
const ROWS_AT_ONCE = 1 << 17;

async function* rowsOf(
  file: RandomAccess,
  metadata: FileMetaData,
  nodes: readonly SchemaTree[],
  from: number,
  to: number,
): AsyncGenerator<{ readonly cells: unknown[]; readonly index: number }> {
  let groupStart = 0;
  for (const { num_rows } of metadata.row_groups) {
    const groupEnd = groupStart + Number(num_rows);
    for (let start = Math.max(groupStart, from); start < Math.min(groupEnd, to); start += ROWS_AT_ONCE) {
      const end = Math.min(groupEnd, to, start + ROWS_AT_ONCE);
      const rows = await readRows(file, metadata, start, end);
      for (let index = start; index < end; index++)
        yield { cells: nodes.map((node) => plain(rows.get(node.element.name)?.[index - start], node)), index };
    }
    groupStart = groupEnd;
  }
}

/** Reads columns of a range of rows of one row group. */
async function readRows(
  file: RandomAccess,
  metadata: FileMetaData,
  rowStart: number,
  rowEnd: number,
): Promise<ReadonlyMap<string, unknown[]>> {
  const [{ parquetRead }, { compressors }] = await Promise.all([import("hyparquet"), import("hyparquet-compressors")]);
  const group = new Map<string, unknown[]>();
  const onChunk = ({ columnName, columnData, rowStart: from }: Chunk): void => {
    const column = group.get(columnName) ?? [];
    for (let i = 0; i < columnData.length; i++) column[from - rowStart + i] = columnData[i];
    group.set(columnName, column);
  };
  await asParquet(() => parquetRead({ file, metadata, compressors, rowStart, rowEnd, onChunk }));
  return group;
}

interface Chunk {
  readonly columnName: string;
  readonly columnData: ArrayLike<unknown>;
  readonly rowStart: number;
}

/**
 * Converts errors of the Parquet reader to a `BookError` about the file. Errors of reading from the disk are thrown
 * unchanged.
 */
export async function asParquet<T>(read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (cause) {
    if (!(cause instanceof Error) || cause.name === "CliError" || cause.name === "AbortError") throw cause;
    throw new BookError("", `not Parquet that can be read: ${cause.message}`, { cause });
  }
}

/**
 * Converts a value of Parquet to the value that JSON would have: no dates or 64-bit integers, and no fields that are
 * null.
 */
function plain(value: unknown, node: SchemaTree | undefined): unknown {
  if (value === null || value === undefined) return undefined;
  if (typeof value === "bigint") return Number(value);
  if (value instanceof Date) return isoText(value).slice(0, isDay(node) ? 10 : undefined);
  if (typeof value !== "object") return value;
  if (Array.isArray(value) || ArrayBuffer.isView(value)) {
    const item = node?.children[0]?.children[0] ?? node?.children[0];
    return Array.from(value as ArrayLike<unknown>, (one) => plain(one, item) ?? null);
  }
  const child = (name: string): SchemaTree | undefined => node?.children.find(({ element }) => element.name === name);
  const fields = Object.entries(value).map(([name, field]) => [name, plain(field, child(name))] as const);
  return Object.fromEntries(fields.filter(([, field]) => field !== undefined));
}

function isDay(node: SchemaTree | undefined): boolean {
  return node?.element.converted_type === "DATE" || node?.element.logical_type?.type === "DATE";
}

/** A date as ISO text. An invalid date becomes a text that the schema of the field rejects and quotes. */
function isoText(date: Date): string {
  return Number.isNaN(date.getTime()) ? String(date) : date.toISOString();
}
