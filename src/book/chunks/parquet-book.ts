/** Reads the trades of a Parquet table in chunks of rows. */
import { idOf, type TableOptions, tagNames } from "../columns.ts";
import { contextOf } from "../header.ts";
import { openTable, type RandomAccess } from "../parquet.ts";
import type { ParsedTrade } from "../types.ts";
import { type ChunkedBook, type ChunkPlace, inLists, isRepeated, type ScannedTrade } from "./chunked-book.ts";
import type { Beside } from "./text-book.ts";

/**
 * Opens a Parquet book whose trades are read in chunks. Its market comes from a separate file: `header` as it was read,
 * `written` as the plain data of the file. @throws BookError as `readParquet`
 */
export async function openParquet(
  file: RandomAccess,
  { header, written }: Beside,
  options?: TableOptions,
): Promise<ChunkedBook> {
  const table = await openTable(file, header, options);
  return {
    ...contextOf(header),
    header: written,
    tags: () => Promise.resolve(tagNames(table.columns)),
    scan: () => inLists(scanned()),
    async *places(rowsAt) {
      for (let first = 0, rows = 0; first < table.total; first += rows) {
        rows = Math.min(rowsAt(first / table.total), table.total - first);
        yield { first, rows };
      }
    },
    read: (place) => inLists(trades(place)),
  };

  async function* scanned(): AsyncGenerator<ScannedTrade> {
    for await (const { cells, index } of table.rows(0, table.total))
      yield { id: idOf(table.columns, cells), read: () => table.read(cells, index, false) };
  }

  async function* trades(place: ChunkPlace): AsyncGenerator<ParsedTrade> {
    const repeated = isRepeated(place);
    for await (const { cells, index } of table.rows(place.first, place.first + place.rows))
      yield table.read(cells, index, repeated(index));
  }
}
