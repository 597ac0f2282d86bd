import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { describe, expect, test } from "vitest";
import {
  decodeText,
  parseBook,
  type ParsedTrade,
  readCsv,
  readHeader,
  readMarketFile,
  readNdjson,
  readWholeText,
} from "../../src/book/index.ts";
import { SeenIds } from "../../src/book/book.ts";
import { BookError } from "../../src/base/errors.ts";
import { asOf, market, pieces, trade } from "./books.ts";
import { everything } from "../support/extent.ts";
import { onUnderlyings } from "../support/on-underlyings.ts";

const header = { asOf, market: market() };

async function outcomes(trades: AsyncIterable<ParsedTrade>): Promise<string[]> {
  const seen: string[] = [];
  for await (const parsed of trades) seen.push(parsed.ok ? parsed.trade.id : parsed.error.message);
  return seen;
}

describe("NDJSON", () => {
  const lines = [
    JSON.stringify(header),
    "",
    JSON.stringify(trade()),
    "{bad",
    "[]",
    JSON.stringify(trade({ id: "T2", strike: -1 })),
    '{"id": "T3", "strike": 90, "payoff": {"digital": "put", "cash": 1, "cash": 2}, "strike": 100}',
  ];

  test.each([1, 7, 100_000])("in chunks of %i: one trade a line, errors by line", async (size) => {
    const stream = await readNdjson(pieces(lines.join("\r\n"), size));
    expect(stream.asOf).toBe("2026-11-20T16:00:00.000Z");
    expect(await outcomes(stream.trades)).toEqual([
      "T1",
      "line 4: not JSON: column 2: expected a name in double quotes or '}', got \"b\"",
      "line 5: expected a trade (an object), got an empty list",
      "line 6: strike: expected a positive number, got -1",
      'line 7: column 68: "cash" is given twice in one object',
    ]);
  });

  test("with the market beside, every line is a trade", async () => {
    const stream = await readNdjson(pieces(`${JSON.stringify(trade())}\n`), readMarketFile(header));
    expect(await outcomes(stream.trades)).toEqual(["T1"]);
  });

  test("trades that came with the first line go first", async () => {
    const whole = JSON.stringify({ ...header, trades: [trade()] });
    const stream = await readNdjson(pieces(`${whole}\n${JSON.stringify(trade({ id: "T2" }))}`));
    expect(await outcomes(stream.trades)).toEqual(["T1", "T2"]);
  });

  test.each([
    ["", "expected a book, got an empty input"],
    [JSON.stringify(trade()), /^line 1: expected the book without its trades .* --market/],
    ["{", /^line 1: not JSON: column 2/],
    [JSON.stringify({ asOf: 1 }), /^asOf: expected an ISO date/],
  ])("first line %j", async (text, message) => {
    await expect(readNdjson(pieces(text))).rejects.toThrow(BookError);
    await expect(readNdjson(pieces(text))).rejects.toThrow(message);
  });

  test("a line too long is one trade's error, and is never held", async () => {
    async function* endless(): AsyncGenerator<string> {
      yield `${JSON.stringify(header)}\n`;
      const block = "x".repeat(1 << 16);
      for (let i = 0; i < 4096; i++) yield block;
      yield `\n${JSON.stringify(trade())}`;
    }
    const before = process.memoryUsage().rss;
    const stream = await readNdjson(endless());
    expect(await outcomes(stream.trades)).toEqual([
      "line 2: longer than 1048576 characters; one trade a line is expected",
      "T1",
    ]);
    // 256 Mi characters went through; a tenth of that is generous for the buffers and the collector's slack.
    expect(process.memoryUsage().rss - before).toBeLessThan(64 * 2 ** 20);
  });

  test("many trades in bounded memory", async () => {
    const size = everything ? 200_000 : 80_000;
    const line = (i: number): string => `${JSON.stringify(trade({ id: `T${i}`, quantity: i }))}\n`;
    async function* many(): AsyncGenerator<string> {
      yield `${JSON.stringify(header)}\n`;
      for (let i = 0; i < size; i += 1000) yield Array.from({ length: 1000 }, (_, j) => line(i + j)).join("");
    }
    const { trades } = await readNdjson(many());
    setFlagsFromString("--expose-gc");
    const collect = runInNewContext("gc") as () => void;
    const inUse: number[] = [];
    let count = 0;
    for await (const parsed of trades) {
      if (!parsed.ok) throw parsed.error;
      if (++count % ((3 * size) / 10) !== size / 10) continue;
      // What is in use, not what the collector has left until later.
      collect();
      inUse.push(process.memoryUsage().heapUsed);
    }
    expect(count).toBe(size);
    expect(inUse).toHaveLength(4);
    // Between the first and the last 90 % of the trades of about 1 kB went by; of their ids 16 bytes each stay.
    expect(Math.max(...inUse) - inUse[0]).toBeLessThan(16 * 2 ** 20);
  });
});

describe("CSV", () => {
  const read = async (text: string, size = 7): Promise<string[]> =>
    outcomes((await readCsv(pieces(text, size), readHeader(header))).trades);
  const columns = "id,underlying,payoff,payoff.digital,payoff.cash,strike,expiry,exercise,quantity,volatility";

  test.each([1, 7, 100_000])("in chunks of %i: quotes, CRLF, a byte order mark, errors by line", async (size) => {
    const rows = [
      `\ufeff${columns}`,
      '"a, ""b""",ACME,put,,,100,2027-11-20,american,3,0.3',
      "",
      "c,ACME,,call,5,100,1,,,",
      '"two, and one",ACME,call,,,100,1,,,"{""local"":""0.2""}"',
      "d,ACME,call,,,x,1,,,",
      "e,ACME",
      "e,ACME,call,,,100,1,,,,surplus",
      "f,ACME,call,put,,1,1,,,",
      'g"g,ACME,call,,,1,1,,,',
      'h,"ACME,call,,,1,1,,,',
      '"i"i,ACME,call,,,1,1,,,',
      "j,ACME,call,,,1,1,,,",
    ];
    expect(await read(rows.join("\r\n"), size)).toEqual([
      'a, "b"',
      "c",
      "two, and one",
      'line 6: strike: expected a positive number, got "x"',
      "line 7: expected 10 cells, as in the first row, got 2",
      "line 8: expected 10 cells, as in the first row, got 11",
      "line 9: payoff.digital: payoff is given in two columns",
      "line 10: column 2: a double quote inside a cell that does not begin with one; quote the cell, and double the quote",
      "line 11: column 3: a double quote is not closed on its line",
      "line 12: column 4: expected a comma after the closing double quote of a cell",
      "j",
    ]);
  });

  test("cells become the values that JSON would have", async () => {
    const text = `${columns},barriers\n1,ACME,,put,2.5,1e2,.5,"[0.25,0.5]",-3,,\n2,ACME,put,,,100,2027-11-20T16:00:00Z,,,"{""cev"":{""sigma"":2,""beta"":0.5}}",`;
    const { trades } = await readCsv(pieces(text), readHeader(header));
    const parsed: ParsedTrade[] = [];
    for await (const one of trades) parsed.push(one);
    expect(parsed[0].ok && { ...parsed[0].trade, underlying: null, volatility: null }).toEqual({
      id: "1",
      underlying: null,
      payoff: { kind: "digital", right: "put", strike: 100, cash: 2.5 },
      expiry: 0.5,
      exercise: { kind: "bermudan", times: [0.25, 0.5] },
      quantity: -3,
      barriers: [],
      volatility: null,
    });
    expect(parsed[1].ok && { ...parsed[1].trade, underlying: null }).toEqual({
      id: "2",
      underlying: null,
      payoff: { kind: "vanilla", right: "put", strike: 100 },
      expiry: 1,
      exercise: { kind: "european" },
      quantity: 1,
      barriers: [],
      volatility: { kind: "cev", sigma: 2, beta: 0.5 },
    });
  });

  test("volatilities stand in columns of their own, or as JSON", async () => {
    const surface = JSON.stringify({ times: [0.5], spots: [90, 110], volatility: [[0.3, 0.2]] }).replaceAll('"', '""');
    const text = [
      "id,underlying,payoff,strike,expiry,volatility.displaced.sigma,volatility.displaced.shift,volatility.surface",
      "1,ACME,put,100,1,0.2,30,",
      `2,ACME,put,100,1,,,"${surface}"`,
      "3,ACME,put,100,1,,30,",
    ].join("\n");
    const { trades } = await readCsv(pieces(text), readHeader(header));
    const parsed: ParsedTrade[] = [];
    for await (const one of trades) parsed.push(one);
    const volatilities = parsed.map((one) => (one.ok ? onUnderlyings(one).volatility : one.error.message));
    expect(volatilities).toMatchObject([
      { kind: "displaced", sigma: 0.2, shift: 30 },
      { kind: "surface", surface: { times: [0.5], spots: [90, 110], volatility: [[0.3, 0.2]] } },
      "line 4: volatility.displaced.sigma: expected a number ≥ 0, got nothing",
    ]);
  });

  test.each([
    ["", "expected a table of trades, got an empty input"],
    ["id,stirke\n", 'line 1: unknown column "stirke" (did you mean "strike"?)'],
    ["id;strike\n", /line 1: unknown column "id;strike"; .*semicolons/],
    ["id,id\n", 'line 1: column "id" is there twice'],
    ["id,__proto__\n", /unknown column "__proto__"/],
  ])("first row %j", async (text, message) => {
    await expect(read(text)).rejects.toThrow(message);
  });

  test("a cell does not go over several lines: an open quote costs its own line", async () => {
    const rows = ['"A', 'x,ACME,put,100,1"', '"B,ACME', "C,ACME,put,100,1"];
    expect(await read(`id,underlying,payoff,strike,expiry\n${rows.join("\n")}`)).toEqual([
      "line 2: column 1: a double quote is not closed on its line",
      "line 3: column 17: a double quote inside a cell that does not begin with one; quote the cell, and double the quote",
      "line 4: column 1: a double quote is not closed on its line",
      "C",
    ]);
  });
});

describe("bytes", () => {
  async function decode(...chunks: number[][]): Promise<string> {
    async function* bytes(): AsyncGenerator<Uint8Array> {
      for (const chunk of chunks) yield Uint8Array.from(chunk);
    }
    let text = "";
    for await (const piece of decodeText(bytes())) text += piece;
    return text;
  }

  test("are UTF-8, cut anywhere", async () => {
    expect(await decode([0xef, 0xbb], [0xbf, 0x61, 0xc3], [0xa9])).toBe("aé");
    expect(await decode([0xef], [0xbb], [0xbf], [0x61])).toBe("a");
    expect(await decode([0x61, 0xf0, 0x9f], [0x98], [0x80, 0xef, 0xbf, 0xbd], [0x62])).toBe("a😀\ufffdb");
  });

  test("that are no UTF-8 are an error of their line, and of no other", async () => {
    const latin1 = (text: string): Uint8Array => Buffer.from(text, "latin1");
    async function* bytes(text: string, cut: number): AsyncGenerator<Uint8Array> {
      yield latin1(text).subarray(0, cut);
      yield latin1(text).subarray(cut);
    }
    const not = "expected UTF-8 text, got other bytes; save the file as UTF-8";
    const csv = "id,underlying,payoff,strike,expiry\nM\u00fcller,ACME,put,100,1\nB,ACME,put,100,1\nC\u00e9";
    for (const cut of [36, 37, 40, 80]) {
      const { trades } = await readCsv(decodeText(bytes(csv, cut)), readHeader(header));
      expect(await outcomes(trades)).toEqual([`line 2: column 2: ${not}`, "B", `line 4: column 2: ${not}`]);
    }
    const ndjson = [header, trade({ id: "\u00fc" }), trade({ id: "B" })].map((line) => JSON.stringify(line)).join("\n");
    const { trades } = await readNdjson(decodeText(bytes(ndjson, 9)));
    expect(await outcomes(trades)).toEqual([`line 2: column 8: ${not}`, "B"]);
    const whole = `{\n  "asOf": "M\u00e4rz"\n}`;
    const text = await readWholeText(decodeText(bytes(whole, 9)));
    expect(() => parseBook(text)).toThrow(`line 2, column 13: ${not}`);
    await expect(readCsv(decodeText(bytes("id,\u00e9\n", 1)), readHeader(header))).rejects.toThrow(
      `line 1: column 4: ${not}`,
    );
  });

  test("that are compressed or UTF-16 are refused by name", async () => {
    await expect(decode([0x1f, 0x8b, 8])).rejects.toThrow(/gzip/);
    await expect(decode([0xff, 0xfe, 0x7b, 0])).rejects.toThrow(/UTF-16/);
  });
});

describe("ids", () => {
  test("half a million: each new once, each old always", () => {
    const seen = new SeenIds();
    const ids = Array.from({ length: 500_000 }, (_, i) => `trade-${i}`);
    expect(ids.filter((id) => seen.seenBefore(id))).toEqual([]);
    expect(ids.every((id) => seen.seenBefore(id))).toBe(true);
  });
});
