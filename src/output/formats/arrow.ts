/**
 * Writes tables as Arrow IPC (https://arrow.apache.org/docs/format/Columnar.html), with the columns of Parquet. Each
 * call of `add` makes a record batch, so that memory does not grow with the book.
 */
import { aboutResults, type OutputTotals, type PricedRow, type ResultWriter } from "./writer.ts";
import { FlatBuffer, type TableField } from "./flatbuffer.ts";
import { parquetColumns } from "./parquet-results.ts";
import type { ParquetCell, ParquetColumn } from "./parquet.ts";

/** The media type of a stream of results. */
export const ARROW_STREAM_TYPE = "application/vnd.apache.arrow.stream";

/**
 * The two kinds of Arrow IPC. A file has an index of its record batches at its end; a stream can be read while it is
 * written.
 */
export type ArrowKind = "file" | "stream";

/** A writer of an Arrow file or stream. The bytes that its functions return, one after another, are the whole. */
export interface ArrowTableWriter<R> {
  add(rows: readonly R[]): Uint8Array;
  /** Ends the table. `about` becomes metadata of a file, or of a last record batch without rows in a stream. */
  end(about?: Readonly<Record<string, unknown>>): Uint8Array;
}

type Metadata = Readonly<Record<string, unknown>>;
type Write = (buffer: FlatBuffer) => number;

// Numbers of the Arrow schema (format/Schema.fbs, format/Message.fbs).
const [SCHEMA, RECORD_BATCH] = [1, 3];
const [FLOATING_POINT, UTF8, LIST] = [3, 5, 12];
const [DOUBLE, VERSION_5] = [2, 4];
const MAGIC = "ARROW1";

const byte = (value: number): TableField => ({ bytes: 1, value });
const short = (value: number): TableField => ({ bytes: 2, value });
const long = (value: number): TableField => ({ bytes: 8, value });

/** Returns a writer of an Arrow table with these columns. `about` is stored in the metadata of its schema. */
export function beginArrow<R>(
  columns: readonly ParquetColumn<R>[],
  about: Metadata,
  kind: ArrowKind,
): ArrowTableWriter<R> {
  const schema = schemaOf(columns, about);
  const start = kind === "file" ? [new TextEncoder().encode(`${MAGIC}\0\0`)] : [];
  let waiting: Uint8Array[] = [...start, ...message(SCHEMA, schema, [])];
  let written = 0;
  const blocks: (readonly [offset: number, [metadata: number, zero: number], body: number])[] = [];
  const taken = (): Uint8Array => {
    const bytes = joined(waiting);
    waiting = [];
    written += bytes.length;
    return bytes;
  };
  const addBatch = (rows: readonly R[], metadata?: Metadata): void => {
    const body = new Body();
    for (const { type, value } of columns) body.add(type, rows.map(value));
    const offset = written + lengthOf(waiting);
    const parts = message(RECORD_BATCH, body.header(rows.length), body.buffers, metadata);
    waiting.push(...parts);
    blocks.push([offset, [parts[0].length, 0], lengthOf(parts.slice(1))]);
  };
  return {
    add: (rows) => {
      if (rows.length > 0) addBatch(rows);
      return taken();
    },
    end: (metadata) => {
      if (kind === "stream" && metadata !== undefined) addBatch([], metadata);
      waiting.push(new Uint8Array(Int32Array.of(-1, 0).buffer)); // the end of a stream
      if (kind === "file") waiting.push(...footer(schema, blocks, metadata));
      return taken();
    },
  };
}

/** Returns the writer of results as Arrow, with the columns of Parquet, and totals in the metadata. */
export function arrowWriter(kind: ArrowKind): ResultWriter {
  let table: ArrowTableWriter<PricedRow>;
  return {
    begin: (start) => {
      table = beginArrow(parquetColumns(start), { ...aboutResults(start) }, kind);
      return table.add([]);
    },
    rows: (rows) => table.add(rows),
    end: (totals: OutputTotals) => table.end({ ...totals }),
  };
}

function schemaOf<R>(columns: readonly ParquetColumn<R>[], about: Metadata): Write {
  return (buffer) => buffer.table([short(0), (b) => b.list(columns.map(fieldOf)), metadataOf(about)]);
}

function fieldOf<R>({ name, type }: Pick<ParquetColumn<R>, "name" | "type">): Write {
  const isList = type === "strings" || type === "numbers";
  const item = { name: "item", type: type === "strings" ? "string" : "number" } as const;
  const isNumber = type === "number";
  return (buffer) =>
    buffer.table([
      (b) => b.text(name),
      byte(1),
      byte(isList ? LIST : isNumber ? FLOATING_POINT : UTF8),
      (b) => b.table(isNumber ? [short(DOUBLE)] : []),
      undefined, // no dictionary
      (b) => b.list(isList ? [fieldOf(item)] : []),
    ]);
}

function metadataOf(about: Metadata | undefined): TableField {
  if (about === undefined) return undefined;
  const pairs = Object.entries(about).map(([key, value]): Write => {
    const text = typeof value === "string" ? value : JSON.stringify(value);
    return (buffer) => buffer.table([(b) => b.text(`feynkac.${key}`), (b) => b.text(text)]);
  });
  return (buffer) => buffer.list(pairs);
}

/** The parts of a message: the metadata behind their length, and the buffers of the body. */
function message(type: number, header: Write, body: readonly Uint8Array[], about?: Metadata): Uint8Array[] {
  const metadata = FlatBuffer.of((buffer) =>
    buffer.table([short(VERSION_5), byte(type), header, long(lengthOf(body)), metadataOf(about)]),
  );
  const prefix = new Uint8Array(Int32Array.of(-1, metadata.length).buffer);
  return [joined([prefix, metadata]), ...body];
}

function footer(
  schema: Write,
  blocks: readonly (readonly [number, [number, number], number])[],
  about: Metadata | undefined,
): Uint8Array[] {
  const bytes = FlatBuffer.of((buffer) =>
    buffer.table([
      short(VERSION_5),
      schema,
      (b) => b.structs([]), // no dictionaries
      (b) => b.structs(blocks),
      metadataOf(about),
    ]),
  );
  return [bytes, new Uint8Array(Int32Array.of(bytes.length).buffer), new TextEncoder().encode(MAGIC)];
}

/** The buffers of a record batch. Each begins at a multiple of 8 bytes. */
class Body {
  readonly buffers: Uint8Array[] = [];
  readonly #nodes: (readonly [length: number, nulls: number])[] = [];
  readonly #regions: (readonly [offset: number, length: number])[] = [];
  #length = 0;

  header(rows: number): Write {
    return (buffer) => buffer.table([long(rows), (b) => b.structs(this.#nodes), (b) => b.structs(this.#regions)]);
  }

  add(type: ParquetColumn<never>["type"], cells: readonly ParquetCell[]): void {
    this.#addValidity(cells);
    if (type === "number") return this.#push(Float64Array.from(cells, (cell) => Number(cell)));
    const lists =
      type === "string" ? cells.map(textBytes) : cells.map((cell) => (cell ?? []) as readonly ParquetCell[]);
    const offsets = new Int32Array(cells.length + 1);
    for (const [i, { length }] of lists.entries()) offsets[i + 1] = offsets[i] + length;
    this.#push(offsets);
    if (type === "string") this.#push(joined(lists as Uint8Array[]));
    else if (type === "strings") this.add("string", (lists as ParquetCell[][]).flat());
    else this.#addNumbers(lists as (number | null)[][], offsets[cells.length]);
  }

  /** Adds the numbers of lists, one after another, without an object for each of millions. */
  #addNumbers(lists: readonly (readonly (number | null)[])[], count: number): void {
    const numbers = new Float64Array(count);
    const bits = new Uint8Array(Math.ceil(count / 8));
    let [at, nulls] = [0, 0];
    for (const list of lists)
      for (let k = 0; k < list.length; k++, at++) {
        const number = list[k];
        if (number === null) nulls++;
        else {
          numbers[at] = number;
          bits[at >> 3] |= 1 << (at & 7);
        }
      }
    this.#nodes.push([count, nulls]);
    this.#push(nulls === 0 ? bits.subarray(0, 0) : bits);
    this.#push(numbers);
  }

  /** Adds a bit for each cell, 0 if it is null; no bits if none is. */
  #addValidity(cells: readonly ParquetCell[]): void {
    const nulls = cells.filter((cell) => cell === null).length;
    this.#nodes.push([cells.length, nulls]);
    const bits = new Uint8Array(nulls === 0 ? 0 : Math.ceil(cells.length / 8));
    if (nulls > 0) for (const [i, cell] of cells.entries()) if (cell !== null) bits[i >> 3] |= 1 << (i & 7);
    this.#push(bits);
  }

  #push({ buffer, byteOffset, byteLength }: ArrayBufferView): void {
    this.#regions.push([this.#length, byteLength]);
    const padded = new Uint8Array(Math.ceil(byteLength / 8) * 8);
    padded.set(new Uint8Array(buffer, byteOffset, byteLength));
    this.buffers.push(padded);
    this.#length += padded.length;
  }
}

const encoder = new TextEncoder();

function textBytes(cell: ParquetCell): Uint8Array {
  return encoder.encode(cell === null ? "" : String(cell));
}

const lengthOf = (parts: readonly Uint8Array[]): number => parts.reduce((sum, { length }) => sum + length, 0);

function joined(parts: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(lengthOf(parts));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}
