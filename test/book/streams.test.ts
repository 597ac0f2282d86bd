import { describe, expect, test } from "vitest";
import { decodeText, type ParsedTrade, readCsv, readHeader, readMarketFile, readNdjson } from "../../src/book/index.ts";
import { SeenIds } from "../../src/book/duplicates.ts";
import { BookError } from "../../src/errors.ts";
import { asOf, market, pieces, trade } from "./books.ts";

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
  ];

  test.each([1, 7, 100_000])("in chunks of %i: one trade a line, errors by line", async (size) => {
    const stream = await readNdjson(pieces(lines.join("\r\n"), size));
    expect(stream.asOf).toBe("2026-11-20T16:00:00.000Z");
    expect(await outcomes(stream.trades)).toEqual([
      "T1",
      "line 4: not JSON: column 2: expected a name in double quotes or '}', got \"b\"",
      "line 5: expected a trade (an object), got an empty list",
      "line 6: strike: expected a positive number, got -1",
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

  test("200,000 trades in bounded memory", async () => {
    const line = (i: number): string => `${JSON.stringify(trade({ id: `T${i}`, quantity: i }))}\n`;
    async function* many(): AsyncGenerator<string> {
      yield `${JSON.stringify(header)}\n`;
      for (let i = 0; i < 200_000; i += 1000) yield Array.from({ length: 1000 }, (_, j) => line(i + j)).join("");
    }
    const { trades } = await readNdjson(many());
    let count = 0;
    let after = 0;
    let most = 0;
    for await (const parsed of trades) {
      if (!parsed.ok) throw parsed.error;
      if (++count % 10_000 !== 0) continue;
      const { heapUsed } = process.memoryUsage();
      if (count === 20_000) after = heapUsed;
      most = Math.max(most, heapUsed);
    }
    expect(count).toBe(200_000);
    // 20 MB of text and 200,000 trades of about 1 kB went by: what stays is the young generation's size, not theirs.
    expect(most - after).toBeLessThan(64 * 2 ** 20);
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
      '"two\r\nlines",ACME,call,,,100,1,,,"{""local"":""0.2""}"',
      "d,ACME,call,,,x,1,,,",
      "e,ACME",
      "f,ACME,call,put,,1,1,,,",
      'g"g,ACME,call,,,1,1,,,',
    ];
    expect(await read(rows.join("\r\n"), size)).toEqual([
      'a, "b"',
      "c",
      "two\nlines",
      'line 7: strike: expected a positive number, got "x"',
      "line 8: expected 10 cells, as in the first row, got 2",
      "line 9: payoff.digital: payoff is given in two columns",
      "line 10: a double quote is not closed",
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
    const volatilities = parsed.map((one) => (one.ok ? one.trade.volatility : one.error.message));
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

  test("an open quote costs no more than the longest row", async () => {
    const rows = Array.from({ length: 150_000 }, () => "x".repeat(9)).join("\n");
    const seen = await read(`id,strike\n"${rows}\nlast,1`, 1 << 16);
    expect(seen[0]).toBe("line 2: a double quote is not closed");
    expect(seen.at(-1)).toMatch(/^line 150002: /);
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
    expect(await decode([0x61, 0xff])).toBe("a\ufffd");
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
