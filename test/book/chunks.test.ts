/** A book that is read chunk by chunk is the book that is read at once: trades, errors, places and all. */
import { parquetWriteBuffer } from "hyparquet-writer";
import { describe, expect, test } from "vitest";
import {
  type ChunkedFormat,
  cutBook,
  openChunkedBook,
  type ParsedTrade,
  parseJson,
  readCsv,
  readMarketFile,
  readNdjson,
  readParquet,
  readTrades,
  readWholeBook,
} from "../../src/book/index.ts";

const header = {
  asOf: "2026-11-20T16:00:00+01:00",
  market: { rates: { EUR: 0.05 }, underlyings: { ACME: { spot: 100, currency: "EUR", volatility: 0.2 } } },
};
const market = JSON.stringify(header);
const trade = (id: string, strike: unknown = 100): object => ({
  id,
  underlying: "ACME",
  payoff: "put",
  strike,
  expiry: "2027-11-20",
});

/** 40 trades: of every seventh the strike is wrong, and ids come again, also of trades that cannot be read. */
const trades = Array.from({ length: 40 }, (_, i) => trade(`T${i % 13}`, i % 7 === 0 ? -1 : 90 + i));

const bytes = (text: string): ArrayBuffer => {
  const encoded = new TextEncoder().encode(text);
  return encoded.buffer.slice(encoded.byteOffset, encoded.byteOffset + encoded.byteLength);
};
async function* chunks(text: string): AsyncGenerator<string> {
  yield text;
}
async function all<T>(source: AsyncIterable<T> | Iterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const item of source) list.push(item);
  return list;
}
const costs = (list: readonly ParsedTrade[]): number[] => list.map(() => 1);

/** The book in chunks of that many trades, each read for itself, the last one first. */
async function inChunks(format: ChunkedFormat, file: ArrayBuffer, beside: string | undefined, rows: number) {
  const open = () => openChunkedBook(file, format, beside === undefined ? undefined : bytes(beside));
  const places = await cutBook(await open(), { rows, seconds: Number.POSITIVE_INFINITY }, costs);
  const read = await Promise.all(
    [...places].reverse().map(async (place) => (await all((await open()).read(place))).flat()),
  );
  return { places, trades: read.reverse().flat() };
}

const json = JSON.stringify({ ...header, trades });
const lines = trades.map((one) => JSON.stringify(one));
// Blank lines, Windows' line ends, a line that is no JSON, one that is no UTF-8 and one without an end.
const ndjson = `\ufeff${market}\r\n\r\n${lines.slice(0, 9).join("\r\n")}\n \n{"id": \n\u00e9\n${lines.slice(9).join("\n")}`;
const csv = `id,underlying,payoff,strike,expiry\n${trades
  .map((one) => Object.values(one).join(","))
  .join("\n")}\n"open,ACME,put\n\nX,ACME,put,1`;
const parquet = parquetWriteBuffer({
  columnData: [
    { name: "id", data: trades.map((_, i) => `T${i % 13}`) },
    { name: "underlying", data: trades.map(() => "ACME") },
    { name: "payoff", data: trades.map(() => "put") },
    { name: "strike", data: trades.map((_, i) => (i % 7 === 0 ? -1 : 90 + i)) },
    { name: "expiry", data: trades.map(() => 1.5) },
  ],
  rowGroupSize: 11,
});

const formats: readonly {
  readonly name: string;
  readonly format: ChunkedFormat;
  readonly file: ArrayBuffer;
  readonly beside?: string;
  readonly whole: () => Promise<ParsedTrade[]>;
}[] = [
  {
    name: "JSON",
    format: "json",
    file: bytes(json),
    whole: async () => all(readTrades(readWholeBook(parseJson(json)))),
  },
  {
    name: "NDJSON",
    format: "ndjson",
    file: bytes(ndjson),
    whole: async () => all((await readNdjson(chunks(ndjson.slice(1)))).trades),
  },
  {
    name: "NDJSON beside a market",
    format: "ndjson",
    file: bytes(lines.join("\n")),
    beside: market,
    whole: async () => all((await readNdjson(chunks(lines.join("\n")), readMarketFile(header))).trades),
  },
  {
    name: "CSV",
    format: "csv",
    file: bytes(csv),
    beside: market,
    whole: async () => all((await readCsv(chunks(csv), readMarketFile(header))).trades),
  },
  {
    name: "Parquet",
    format: "parquet",
    file: parquet,
    beside: market,
    whole: async () => all((await readParquet(parquet, readMarketFile(header))).trades),
  },
];

const plain = (list: readonly ParsedTrade[]) =>
  list.map((one) => (one.ok ? { ...one } : { ...one, error: { path: one.error.path, message: one.error.message } }));

describe.each(formats)("$name", ({ format, file, beside, whole }) => {
  test.each([1, 3, 16, 1000])("in chunks of %i trades", async (rows) => {
    const expected = await whole();
    const { places, trades: read } = await inChunks(format, file, beside, rows);
    expect(plain(read)).toEqual(plain(expected));
    expect(places.map((place) => place.rows).reduce((sum, n) => sum + n, 0)).toBe(expected.length);
    expect(places.every((place) => place.rows <= rows)).toBe(true);
    expect(expected.some((one) => !one.ok && one.error.message.includes("again"))).toBe(true);
  });
});

test("bytes that are no UTF-8, at the beginning of a chunk, are one trade's error", async () => {
  const text = new TextEncoder().encode(`${market}\n${lines[1]}\nxx\n${lines[2]}\n`);
  const at = market.length + lines[1].length + 2;
  text[at] = 0x1f; // what begins a gzip file, and is no reason to refuse this one
  text[at + 1] = 0x8b;
  const { trades: read } = await inChunks("ndjson", text.buffer, undefined, 1);
  expect(read.map(({ ok }) => ok)).toEqual([true, false, true]);
});

test("a line that is too long is one trade's error, and is not held in memory", async () => {
  const long = `${market}\n${lines[1]}\n{"id":"${"x".repeat(5 << 20)}"}\n${lines[2]}\n`;
  const { trades: read } = await inChunks("ndjson", bytes(long), undefined, 2);
  expect(read.map(({ ok }) => ok)).toEqual([true, false, true]);
  expect(read[1].ok ? "" : read[1].error.message).toContain("line 3: longer than 1048576 characters");
});

describe("a JSON book that is none says so as a book read at once does, whichever part meets it", () => {
  const last = json.lastIndexOf("strike");
  const changed = (from: string, to: string): string => {
    const at = json.lastIndexOf(from);
    return `${json.slice(0, at)}${to}${json.slice(at + from.length)}`;
  };
  test.each([
    ["a word", `${json.slice(0, last)}strike":nothing${json.slice(last + 7)}`],
    ["a comma too many", changed("}]", "},]")],
    ["a comma too few", changed("},{", "}{")],
    ["a bracket too many", changed("}]", "}}]")],
    ["the end missing", json.slice(0, -2)],
    ["a string without an end", json.slice(0, json.lastIndexOf('"') - 2)],
    ["a name twice in a trade", changed('"strike":', '"id":"again","strike":')],
    ["two lists of trades", changed("]}", '],"trades":[]}')],
    ["something after it", `${json}}`],
  ])("%s", async (_, text) => {
    const read = async (): Promise<void> => {
      const book = await openChunkedBook(bytes(text), "json", undefined);
      for await (const place of book.places((part) => (part < 0.5 ? 8 : 3))) await all(book.read(place));
    };
    expect(() => parseJson(text)).toThrow(/^(not JSON: )?line 1, column \d+/);
    await expect(read()).rejects.toThrow(String(messageOf(() => parseJson(text))));
  });
});

function messageOf(call: () => unknown): string | undefined {
  try {
    call();
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

test("chunks end where their expected cost is reached", async () => {
  const places = await cutBook(
    await openChunkedBook(bytes(json), "json", undefined),
    { rows: 1000, seconds: 10 },
    (list) => list.map((_, i) => i + 1), // of trades 0, 16 and 32, each of which speaks for those after it
  );
  expect(places.map(({ rows }) => rows)).toEqual([10, 8, 5, 5, 5, 4, 3]);
  expect(places.reduce((sum, { seconds }) => sum + seconds, 0)).toBe(16 * 1 + 16 * 2 + 8 * 3);
});
