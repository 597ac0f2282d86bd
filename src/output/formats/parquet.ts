/**
 * Writes results as Parquet, with typed columns. Each row group is written when it is full, so that memory does not
 * grow with the book.
 */
import type { SchemaElement } from "hyparquet";
import type { ColumnSource } from "hyparquet-writer";
import { packageVersion } from "../../base/version.ts";

/** The type of the cells in a column. Nested lists are flattened in the order of their axes. */
type CellType = "string" | "number" | "strings" | "numbers";
/** A cell of a Parquet table. */
export type ParquetCell = string | number | null | readonly string[] | readonly (number | null)[];

/** A column of a Parquet table, and the function that returns its cells. */
export interface ParquetColumn<R> {
  readonly name: string;
  readonly type: CellType;
  readonly value: (row: R) => ParquetCell;
}

/** A writer of a Parquet file. The bytes that `add` and `end` return, one after another, are the file. */
export interface ParquetFileWriter<R> {
  add(rows: readonly R[]): Uint8Array;
  end(): Uint8Array;
}

/** The maximum number of numbers and texts in a row group, about 10 MB. */
const CELLS_A_GROUP = 1 << 20;

/**
 * Returns a writer of a Parquet file with these columns. `about` becomes the file's metadata. The npm package that
 * writes Parquet is loaded on first use.
 */
export async function beginParquet<R>(
  columns: readonly ParquetColumn<R>[],
  about: Readonly<Record<string, unknown>>,
): Promise<ParquetFileWriter<R>> {
  const [{ ByteWriter, ParquetWriter }, { writeNumberLists }] = await Promise.all([
    import("hyparquet-writer"),
    import("./parquet-lists.ts"),
  ]);
  const bytes = new ByteWriter();
  const schema = [{ name: "results", num_children: columns.length }, ...columns.flatMap(schemaOf)];
  const kvMetadata = Object.entries(about).map(([key, value]) => ({ key: `feynkac.${key}`, value: textOf(value) }));
  const createdBy = `feynkac version ${packageVersion()}`;
  const file = new ParquetWriter({ writer: bytes, schema, kvMetadata, createdBy });
  let group: ParquetCell[][] = columns.map(() => []);
  let cells = 0;
  const closeGroup = (): void => {
    if (group[0].length === 0) return;
    const columnData = columns.flatMap(({ name, type }, i): ColumnSource[] =>
      type === "numbers" ? [] : [{ name, data: group[i] }],
    );
    void file.write({ columnData, rowGroupSize: group[0].length });
    const written = file.row_groups[file.row_groups.length - 1];
    const others = written.columns.values();
    written.columns = columns.map(({ name, type }, i) =>
      type === "numbers" ? writeNumberLists(bytes, name, group[i]) : others.next().value!,
    );
    const size = written.columns.reduce((sum, { meta_data }) => sum + meta_data!.total_compressed_size, 0n);
    written.total_compressed_size = size;
    written.total_byte_size = written.columns.reduce(
      (sum, { meta_data }) => sum + meta_data!.total_uncompressed_size,
      0n,
    );
    group = columns.map(() => []);
    cells = 0;
  };
  const taken = (): Uint8Array => {
    const made = bytes.getBytes().slice();
    bytes.index = 0;
    return made;
  };
  return {
    add: (rows) => {
      for (const row of rows) {
        columns.forEach(({ value }, i) => {
          const cell = value(row);
          group[i].push(cell);
          cells += Array.isArray(cell) ? cell.length + 1 : 1;
        });
        if (cells >= CELLS_A_GROUP) closeGroup();
      }
      return taken();
    },
    end: () => {
      closeGroup();
      void file.finish();
      return taken();
    },
  };
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

function schemaOf<R>({ name, type }: ParquetColumn<R>): SchemaElement[] {
  switch (type) {
    case "string":
      return [{ ...TEXT, name }];
    case "number":
      return [{ ...NUMBER, name }];
    case "strings":
      return listOf(name, TEXT);
    case "numbers":
      return listOf(name, NUMBER);
    default:
      return type satisfies never;
  }
}

const TEXT = { type: "BYTE_ARRAY", converted_type: "UTF8", repetition_type: "OPTIONAL" } as const;
const NUMBER = { type: "DOUBLE", repetition_type: "OPTIONAL" } as const;

/** The three schema elements of a list column, as the Parquet specification requires. */
function listOf(name: string, element: typeof TEXT | typeof NUMBER): SchemaElement[] {
  return [
    { name, repetition_type: "OPTIONAL", num_children: 1, converted_type: "LIST" },
    { name: "list", repetition_type: "REPEATED", num_children: 1 },
    { ...element, name: "element" },
  ];
}
