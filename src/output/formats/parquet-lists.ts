/**
 * Column chunks of lists of numbers in Parquet. A million trades under hundreds of scenarios are written through here,
 * so that no object is made for a number: the npm package takes half a microsecond for each.
 */
import type { ColumnChunk } from "hyparquet";
import type { ByteWriter } from "hyparquet-writer";
import { writePageHeader } from "hyparquet-writer/src/datapage.js";
import type { ParquetCell } from "./parquet.ts";

/** The most numbers of a page, 1 MB, unless a single list has more. */
const NUMBERS_A_PAGE = 1 << 17;

/**
 * The definition levels of a list column: how far a cell is there. The list, the place in it, and the number itself may
 * each be absent.
 */
const LEVEL = { noList: 0, empty: 1, null: 2, number: 3 } as const;

/** What a page contains, and what is known of its numbers. */
interface Page {
  readonly rows: number;
  readonly places: number;
  readonly numbers: Float64Array;
}

/**
 * Writes the chunk of a column of lists of numbers, [row][place], and returns its metadata. The numbers are not
 * compressed, since the digits of prices are as good as random.
 */
export function writeNumberLists(bytes: ByteWriter, name: string, lists: readonly ParquetCell[]): ColumnChunk {
  const start = bytes.offset;
  let [places, nulls, low, high] = [0, 0, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  let pages = 0;
  for (let from = 0; from < lists.length; pages++) {
    const to = endOfPage(lists, from);
    const page = writePage(bytes, lists.slice(from, to) as readonly NumberList[]);
    places += page.places;
    nulls += page.places - page.numbers.length;
    for (const number of page.numbers) {
      if (number < low) low = number;
      if (number > high) high = number;
    }
    from = to;
  }
  const size = BigInt(bytes.offset - start);
  return {
    file_offset: BigInt(start),
    meta_data: {
      type: "DOUBLE",
      encodings: ["PLAIN", "RLE"],
      path_in_schema: [name, "list", "element"],
      codec: "UNCOMPRESSED",
      num_values: BigInt(places),
      total_compressed_size: size,
      total_uncompressed_size: size,
      data_page_offset: BigInt(start),
      statistics: { null_count: BigInt(nulls), ...(low <= high ? { min_value: low || -0, max_value: high || 0 } : {}) },
      encoding_stats: [{ page_type: "DATA_PAGE_V2", encoding: "PLAIN", count: pages }],
    },
  };
}

/** A cell of a column of lists of numbers. */
type NumberList = readonly (number | null)[] | null;

function endOfPage(lists: readonly ParquetCell[], from: number): number {
  let to = from;
  for (let room = NUMBERS_A_PAGE; to < lists.length; to++) {
    room -= (lists[to] as NumberList)?.length ?? 0;
    if (room < 0 && to > from) break;
  }
  return to;
}

function writePage(bytes: ByteWriter, lists: readonly NumberList[]): Page {
  const places = lists.reduce((sum, list) => sum + Math.max(list?.length ?? 0, 1), 0);
  const numbers = new Float64Array(places);
  const [repetition, definition] = [new Runs(), new Runs()];
  let count = 0;
  for (const list of lists) {
    repetition.add(0, 1);
    if (list === null || list.length === 0) {
      definition.add(list === null ? LEVEL.noList : LEVEL.empty, 1);
      continue;
    }
    repetition.add(1, list.length - 1);
    const before = count;
    for (let k = 0; k < list.length; k++) {
      const number = list[k];
      if (number !== null) numbers[count++] = number;
    }
    if (count - before === list.length) definition.add(LEVEL.number, list.length);
    else for (const number of list) definition.add(number === null ? LEVEL.null : LEVEL.number, 1);
  }
  const [repetitionLevels, definitionLevels] = [repetition.bytes(), definition.bytes()];
  const page = { rows: lists.length, places, numbers: numbers.subarray(0, count) };
  const size = repetitionLevels.length + definitionLevels.length + page.numbers.byteLength;
  writePageHeader(bytes, {
    type: "DATA_PAGE_V2",
    uncompressed_page_size: size,
    compressed_page_size: size,
    data_page_header_v2: {
      num_values: places,
      num_nulls: places - count,
      num_rows: lists.length,
      encoding: "PLAIN",
      definition_levels_byte_length: definitionLevels.length,
      repetition_levels_byte_length: repetitionLevels.length,
      is_compressed: false,
    },
  });
  for (const part of [repetitionLevels, definitionLevels]) bytes.appendBytes(part);
  bytes.appendBytes(new Uint8Array(numbers.buffer, 0, page.numbers.byteLength));
  return page;
}

/** Levels as Parquet's runs of equal ones: twice their number as a variable-length integer, then the level. */
class Runs {
  readonly #bytes: number[] = [];
  #level = 0;
  #count = 0;

  add(level: number, count: number): void {
    if (count === 0) return;
    if (level !== this.#level) this.#end();
    this.#level = level;
    this.#count += count;
  }

  /** Returns the bytes of all runs. */
  bytes(): Uint8Array {
    this.#end();
    return Uint8Array.from(this.#bytes);
  }

  #end(): void {
    if (this.#count === 0) return;
    let rest = 2 * this.#count;
    for (; rest >= 128; rest = Math.floor(rest / 128)) this.#bytes.push((rest % 128) + 128);
    this.#bytes.push(rest, this.#level);
    this.#count = 0;
  }
}
