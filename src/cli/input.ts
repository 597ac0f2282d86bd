/** Opens the input of a command, determines its format, and reads its trades as a stream. */
import { createReadStream, fstatSync, type ReadStream } from "node:fs";
import { open, stat } from "node:fs/promises";
import { addAbortSignal, type Readable } from "node:stream";
import {
  type BookHeader,
  type BookStream,
  contextOf,
  decodeText,
  formatOfName,
  formatOfText,
  type InputFormat,
  parseJson,
  type RandomAccess,
  readCsv,
  readMarketFile,
  readNdjson,
  readParquet,
  readTrades,
  readWholeBook,
  readWholeText,
  startsAsWorkbook,
  type TableOptions,
  tagsOf,
  underMarket,
} from "../book/index.ts";
import { BookError } from "../base/errors.ts";
import { runBlockingNext } from "../base/event-loop.ts";
import { CliError, reasonOf } from "./failure.ts";
import type { BesideSheets } from "./workbook/index.ts";

export { formatOfName, type InputFormat } from "../book/index.ts";

type TextFormat = Exclude<InputFormat, "parquet" | "xlsx">;

/** The input file of a command, and how to read it. */
export interface InputRequest {
  /** The path, or `-` for standard input. */
  readonly path: string;
  /** The path of a separate market file. */
  readonly marketPath: string | undefined;
  /** True if the separate market replaces the book's own. Otherwise only one of the two may exist. */
  readonly replacesMarket?: boolean;
  /** The format of the file; undefined if it follows from the name or the contents. */
  readonly format: InputFormat | undefined;
  /** The columns of a table that become tags of its trades. */
  readonly keep?: TableOptions["keep"];
  /** The columns of a table that have names of their own for terms of its trades. */
  readonly map?: TableOptions["map"];
  readonly also?: TableOptions["also"];
  /** The sheet of a workbook that has the trades; "trades" by default. */
  readonly sheet?: string | undefined;
  /** Returns what reads the trades of a table, given the separate market. By default that market does. */
  readonly readBy?: (market: BookHeader | undefined) => BookHeader;
  readonly stdin: NodeJS.ReadableStream;
  readonly signal: AbortSignal;
}

/** An input file that has been opened, with its trades as a stream. */
export interface OpenInput extends BookStream {
  /** The number of trades, if it is known before they are read. */
  readonly total: number | undefined;
  /** Returns the fraction of the input that has been read, 0 … 1; undefined if its size is unknown. */
  readonly fractionRead: () => number | undefined;
  /** Closes the file. */
  readonly close: () => void;
}

/** Opens the input file of a command. @throws CliError | BookError for input that cannot be priced */
export async function openInput(request: InputRequest): Promise<OpenInput> {
  const own = request.marketPath === undefined ? undefined : await readMarket(request.marketPath, request);
  const market = request.readBy === undefined ? own : request.readBy(own);
  const named = request.format ?? formatOfName(request.path);
  const table = { keep: request.keep, map: request.map, also: request.also };
  if (named === "parquet" && request.path !== "-") return openParquet(request.path, { market, table });
  const source = await openBytes(request.path, request);
  try {
    const { first, bytes } = await withFirst(source.bytes);
    const { replacesMarket: replaces = false, sheet } = request;
    const binary = named ?? binaryFormat(first);
    const book =
      binary === "xlsx"
        ? await readSheets(await wholeBytes(bytes), { market, table, replaces, sheet })
        : binary === "parquet"
          ? await readTable(await wholeBytes(bytes), { market, table })
          : await readText(decodeText(bytes), binary, { market, table, replaces });
    return { ...book, fractionRead: source.fractionRead, close: source.close };
  } catch (error) {
    source.close();
    throw error;
  }
}

/** The market for a file that contains only trades, and what the columns of the file are. */
interface Beside {
  readonly market: BookHeader | undefined;
  readonly table: TableOptions;
}

async function readText(
  text: AsyncGenerator<string>,
  named: TextFormat | undefined,
  beside: Beside & { readonly replaces: boolean },
): Promise<BookStream & { total: number | undefined }> {
  const { format, chunks } = await sniff(text, named);
  return readAs(format, chunks, beside);
}

/** Opens a Parquet file. Only the parts that are needed are read from disk. */
async function openParquet(path: string, beside: Beside): Promise<OpenInput> {
  const size = await sizeOf(path);
  const file = await open(path).catch((cause: unknown) => {
    throw cannotRead(path, cause);
  });
  const slice = async (start: number, end = size ?? 0): Promise<ArrayBuffer> => {
    const part = new Uint8Array(Math.max(end - start, 0));
    await file.read(part, 0, part.length, start).catch((cause: unknown) => {
      throw cannotRead(path, cause);
    });
    return part.buffer;
  };
  const close = (): void => void file.close().catch(() => undefined);
  try {
    const book = await readTable({ byteLength: size ?? 0, slice }, beside);
    return { ...book, fractionRead: () => undefined, close };
  } catch (error) {
    close();
    throw error;
  }
}

function readTable(file: RandomAccess, { market, table }: Beside): Promise<BookStream & { total: number }> {
  return readParquet(file, marketOfTable(market), table);
}

function marketOfTable(market: BookHeader | undefined): BookHeader {
  if (market === undefined) throw new CliError("a table of trades needs a market beside it: --market MARKET.json");
  return market;
}

async function withFirst(
  bytes: AsyncIterable<Uint8Array>,
): Promise<{ first: Uint8Array; bytes: AsyncIterable<Uint8Array> }> {
  const iterator = bytes[Symbol.asyncIterator]();
  const { value = new Uint8Array(), done } = await iterator.next();
  async function* all(): AsyncGenerator<Uint8Array> {
    if (done !== true) yield value;
    yield* { [Symbol.asyncIterator]: () => iterator };
  }
  return { first: value, bytes: all() };
}

/** Returns the format of a file that is no text by its first bytes; those of Parquet are PAR1. */
function binaryFormat(bytes: Uint8Array): "parquet" | "xlsx" | undefined {
  if (startsAsWorkbook(bytes)) return "xlsx";
  return Buffer.from(bytes.subarray(0, 4)).toString("latin1") === "PAR1" ? "parquet" : undefined;
}

/** Reads a workbook. The code for it is loaded on first use. */
async function readSheets(bytes: ArrayBuffer, beside: BesideSheets): Promise<BookStream & { total: number }> {
  const { readBookSheets } = await import("./workbook/index.ts");
  return readBookSheets(new Uint8Array(bytes), beside);
}

/** Reads all bytes of a pipe, because Parquet needs random access. */
async function wholeBytes(bytes: AsyncIterable<Uint8Array>): Promise<ArrayBuffer> {
  const parts: Uint8Array[] = [];
  for await (const part of bytes) parts.push(part);
  const all = new Uint8Array(Buffer.concat(parts));
  return all.buffer;
}

async function readMarket(path: string, request: InputRequest): Promise<BookHeader> {
  if (path === "-" && request.path === "-")
    throw new CliError("the trades and the market cannot both come from standard input");
  const { bytes } = await openBytes(path, request);
  try {
    const { first, bytes: all } = await withFirst(bytes);
    if (binaryFormat(first) === "xlsx") {
      const { readMarketSheets } = await import("./workbook/index.ts");
      return await readMarketSheets(new Uint8Array(await wholeBytes(all)));
    }
    const text = await readWholeText(decodeText(all));
    return await runBlockingNext(() => readMarketFile(parseJson(text)));
  } catch (error) {
    // Two files have been named: which of them is it?
    if (error instanceof BookError) throw new CliError(`${path}: ${error.message}`, { cause: error });
    throw error;
  }
}

async function readAs(
  format: TextFormat,
  chunks: AsyncIterable<string>,
  { market, table, replaces }: Beside & { readonly replaces: boolean },
): Promise<BookStream & { total: number | undefined }> {
  if (format !== "csv" && (table.keep !== undefined || table.map !== undefined))
    throw new CliError(
      `${table.keep === undefined ? "--map" : "--keep"} names columns of CSV, Parquet or a workbook; ` +
        'in JSON a trade has its terms by name, and "tags": { "desk": "Paris" }',
    );
  switch (format) {
    case "ndjson":
      return { ...(await readNdjson(chunks, market, replaces || market === undefined)), total: undefined };
    case "csv":
      return { ...(await readCsv(chunks, marketOfTable(market), table)), total: undefined };
    case "json":
      const text = await readWholeText(chunks);
      return runBlockingNext(() => wholeBook(parseJson(text), market, replaces));
    default:
      return format satisfies never;
  }
}

function wholeBook(value: unknown, beside: BookHeader | undefined, replaces: boolean): BookStream & { total: number } {
  if (beside !== undefined && !replaces)
    throw new CliError("--market goes with NDJSON, CSV or Parquet trades; a JSON book has its own market");
  const header = underMarket(readWholeBook(value), beside);
  const { trades } = header;
  return { ...contextOf(header), trades: inTurn(readTrades(header)), tags: tagsOf(trades), total: trades.length };
}

async function* inTurn<T>(items: Iterable<T>): AsyncGenerator<T> {
  yield* items;
}

interface Bytes {
  readonly bytes: AsyncIterable<Uint8Array>;
  readonly fractionRead: () => number | undefined;
  readonly close: () => void;
}

async function openBytes(path: string, { stdin, signal }: InputRequest): Promise<Bytes> {
  if (path === "-") {
    const { fd } = stdin as { fd?: number };
    // Node makes an empty stream of it.
    if (fd !== undefined && fstatSync(fd).isDirectory())
      throw new CliError("cannot read standard input: it is a directory");
    // Aborting has to end a read that waits for somebody to type.
    const bytes = readable("standard input", addAbortSignal(signal, stdin as Readable), signal);
    return { bytes, fractionRead: () => undefined, close: () => {} };
  }
  const size = await sizeOf(path);
  const stream: ReadStream = createReadStream(path, { highWaterMark: 1 << 18, signal });
  const fractionRead = (): number | undefined =>
    size === undefined || size === 0 ? undefined : stream.bytesRead / size;
  return { bytes: readable(path, stream, signal), fractionRead, close: () => stream.destroy() };
}

async function* readable(
  name: string,
  bytes: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  try {
    yield* bytes;
  } catch (cause) {
    signal.throwIfAborted();
    throw cannotRead(name, cause);
  }
}

function cannotRead(name: string, cause: unknown): CliError {
  const missing = (cause as NodeJS.ErrnoException).code === "ENOENT";
  const directory = (cause as NodeJS.ErrnoException).code === "EISDIR";
  const reason = missing ? "there is no such file" : directory ? "it is a directory" : reasonOf(cause);
  return new CliError(`cannot read ${name}: ${reason}`, { cause });
}

/**
 * The size of a regular file in bytes; undefined for other files, such as pipes. @throws CliError if the file does not
 * exist, is a directory, or may not be read
 */
async function sizeOf(path: string): Promise<number | undefined> {
  try {
    const stats = await stat(path);
    if (stats.isDirectory()) throw new CliError(`cannot read ${path}: it is a directory`);
    return stats.isFile() ? stats.size : undefined;
  } catch (cause) {
    if (cause instanceof CliError) throw cause;
    throw cannotRead(path, cause);
  }
}

/** The maximum number of characters that are read to determine the format. */
const MAX_SNIFFED = 1 << 26;

/**
 * Determines the format of a text by the option, or else by its first line. `chunks` is the whole text, including what
 * was already read.
 */
async function sniff(
  text: AsyncGenerator<string>,
  known: TextFormat | undefined,
): Promise<{ format: TextFormat; chunks: AsyncIterable<string> }> {
  if (known !== undefined) return { format: known, chunks: text };
  const head: string[] = [];
  let length = 0;
  let next = await text.next();
  while (next.done !== true) {
    head.push(next.value);
    length += next.value.length;
    if (next.value.includes("\n") || length > MAX_SNIFFED) break;
    next = await text.next();
  }
  return { format: formatOfText(head.join("")), chunks: prepend(head, text) };
}

async function* prepend(head: readonly string[], rest: AsyncIterable<string>): AsyncGenerator<string> {
  yield* head;
  yield* rest;
}
