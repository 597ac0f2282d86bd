import { type ColumnsOf, type ResultColumn, resultColumns } from "./columns.ts";
import { type ParquetCell, type ParquetColumn, type ParquetFileWriter, beginParquet } from "./parquet.ts";
import { aboutResults, type PricedRow, type ResultWriter } from "./writer.ts";

/**
 * Returns the writer of results as Parquet, with the columns of CSV and their types. The values under scenarios are one
 * list of numbers; the file's metadata contains the scenarios in the order of the list.
 */
export function parquetWriter(): ResultWriter {
  let table: ParquetFileWriter<PricedRow>;
  return {
    begin: async (start) => {
      table = await beginParquet(parquetColumns(start), { ...aboutResults(start) });
      return "";
    },
    rows: (rows) => table.add(rows),
    end: () => table.end(),
  };
}

/** Returns the columns of a Parquet table of results. */
export const parquetColumns = (start: ColumnsOf): ParquetColumn<PricedRow>[] => resultColumns(start).map(parquetColumn);

type NestedNumbers = readonly (number | null | NestedNumbers)[];

/** Returns numbers in nested lists as one list; one that is flat already is returned as it is. */
const flatNumbers = (values: NestedNumbers): readonly (number | null)[] =>
  Array.isArray(values[0]) ? (values.flat(3) as (number | null)[]) : (values as readonly (number | null)[]);

function parquetColumn({ name, type, value }: ResultColumn): ParquetColumn<PricedRow> {
  const plain = ({ result }: PricedRow): ParquetCell => value(result) as ParquetCell;
  const reading = (read: (field: unknown) => unknown) => (row: PricedRow) => {
    const field = plain(row);
    return field === null ? null : (read(field) as ParquetCell);
  };
  switch (type) {
    case "text":
      return { name, type: "string", value: plain };
    case "number":
      return { name, type, value: plain };
    case "texts":
      return { name, type: "strings", value: plain };
    case "tag":
      return { name, type: "string", value: reading(String) };
    case "json":
      return { name, type: "string", value: reading((field) => JSON.stringify(field)) };
    case "numbers":
      return { name, type, value: reading((values) => flatNumbers(values as NestedNumbers)) };
    default:
      return type satisfies never;
  }
}
