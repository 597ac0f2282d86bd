import { parquetMetadataAsync, parquetReadObjects } from "hyparquet";
import { describe, expect, test } from "vitest";
import { failedResult, RESULT_COLUMNS } from "../../src/book/index.ts";
import { alignColumns, escapeControls, columnWidthsOf } from "../../src/cli/format/columns.ts";
import {
  decimalsFor,
  formatFixed,
  writerFor,
  needsBondColumns,
  largestUnderlyings,
  formatErrorEstimate,
  beginParquet,
} from "../../src/output/formats/index.ts";
import { encodeRows } from "../../src/output/formats/encoded.ts";
import { formatDuration, ProgressBar, formatProgress } from "../../src/cli/progress.ts";
import { type Book, type BookInput, openDevice, priceBook, readBook, type TradeResult } from "../../src/index.ts";
import { kept } from "./in-process.ts";

describe("numbers for people", () => {
  test.each([
    [1234567.891, 2, "1,234,567.89"],
    [-1234.5, 0, "-1,235"],
    [0.123456, 4, "0.1235"],
    [-0.00001, 3, "0.000"],
    [1000.123456, 6, "1,000.123456"],
    [1e15, 2, "1000000000000000"],
    [Number.NaN, 2, "NaN"],
    [null, 2, "–"],
  ])("%f with %i decimals is %s", (value, decimals, text) => {
    expect(formatFixed(value, decimals)).toBe(text);
  });

  test("a column's decimals follow its largest number", () => {
    expect(decimalsFor([0.001, 1234.5], 7)).toBe(3);
    expect(decimalsFor([0.00123], 5)).toBe(7);
    expect(decimalsFor([1e12], 5)).toBe(0);
    expect(decimalsFor([null, 0], 5)).toBe(2);
  });

  test("errors are shown by their size", () => {
    expect([formatErrorEstimate(3.14e-5), formatErrorEstimate(0), formatErrorEstimate(null)]).toEqual([
      "3.1e-5",
      "0",
      "–",
    ]);
  });
});

test("columns: names to the left and cut, numbers to the right", () => {
  const columns = [
    { title: "a", align: "left" },
    { title: "b", align: "right" },
  ] as const;
  const rows = [
    ["x".repeat(12), "1"],
    ["y", "22"],
  ];
  expect(alignColumns(columns, rows, columnWidthsOf(columns, rows, 6), 6)).toEqual(["xxxxx…   1", "y       22"]);
});

test("Parquet is written by row groups, as they fill", async () => {
  const table = await beginParquet<number>([{ name: "n", type: "number", value: (row) => row }], { asOf: "today" });
  const rows = Array.from({ length: 100_000 }, (_, i) => i);
  const parts = Array.from({ length: 25 }, () => table.add(rows));
  expect(parts.filter((part) => part.length > 1_000_000)).toHaveLength(2);
  const file = new Uint8Array(Buffer.concat([...parts, table.end()])).buffer;
  const { num_rows, row_groups } = await parquetMetadataAsync(file);
  expect([Number(num_rows), row_groups.length]).toEqual([2_500_000, 3]);
  expect(await parquetReadObjects({ file, rowStart: 2_400_001, rowEnd: 2_400_003 })).toEqual([{ n: 1 }, { n: 2 }]);
});

test("control characters and direction overrides do not reach a terminal", () => {
  expect(escapeControls("a\u001b[2Jb\u202ec\nd")).toBe("a�[2Jb�c�d");
});

describe("progress", () => {
  test("a bar, the count, the rate and the time left", () => {
    expect(formatProgress({ done: 2500, fraction: 0.25 }, 10)).toBe(
      `[${"=".repeat(8)}${" ".repeat(22)}] 25 %, 2,500 trades, 250/s, 0:30 left`,
    );
    expect(formatProgress({ done: 2500, fraction: undefined }, 10)).toBe("2,500 trades, 250/s");
    expect([formatDuration(0.2), formatDuration(725), formatDuration(10_800)]).toEqual(["0:01", "12:05", "3:00:00"]);
  });

  test("is for terminals, not for pipes, and not for quick runs", () => {
    let now = 0;
    const shown = (tty: boolean, times: readonly number[]): string => {
      const { terminal, stderr } = kept("", tty);
      now = 0;
      const bar = new ProgressBar(terminal.stderr, () => now);
      for (now of times) bar.update({ done: 10, fraction: 0.5 });
      bar.clear();
      return stderr();
    };
    expect(shown(false, [100, 5000])).toBe("");
    expect(shown(true, [100, 200])).toBe("");
    const written = shown(true, [400, 410, 420, 600]);
    expect(written.split("\r\u001b[K").filter(Boolean)).toHaveLength(2);
    expect(written.endsWith("\r\u001b[K")).toBe(true);
  });
});

/** A table of results of a book. */
async function writtenAs(name: "csv" | "parquet", book: Book, results: readonly TradeResult[]): Promise<Buffer> {
  const format = writerFor(name);
  const device = { backend: "cpu", name: "none" } as const;
  const start = { asOf: book.asOf, device, scenarios: undefined, sensitivityErrors: false, tags: [] };
  const parts = [
    await format.begin({ ...start, figures: needsBondColumns(book.market) }),
    format.rows(results.map((result) => ({ trade: undefined, result }))),
    format.end({ priced: results.length, failed: 0, totals: [] }),
  ];
  return Buffer.concat(parts.map((part) => Buffer.from(part)));
}

test("CSV puts cells with commas and quotes into quotes, and those of several lines on one", async () => {
  const market = { rates: { EUR: 0.02 }, underlyings: { A: { spot: 100, currency: "EUR", volatility: 0.2 } } };
  const book = readBook({ asOf: "2026-11-20", market, trades: [] });
  const ids = ["plain", "a,b", 'say "x"', "two\nlines", "an old\rMac", "a,\r\n  ^"];
  const rows = ids.map((id) => failedResult({ id }, new Error(id)));
  const text = (await writtenAs("csv", book, rows)).toString();
  const [header] = text.split("\n");
  // RFC 4180, section 2, 6 and 7, but for line breaks, which `readTrades` does not read within a cell.
  const quoted = ["plain", '"a,b"', '"say ""x"""', "two lines", "an old Mac", '"a, ^"'];
  expect(header).toBe(RESULT_COLUMNS.join(","));
  const lines = quoted.map((cell) => `${cell},,,,error${",".repeat(RESULT_COLUMNS.length - 5)}${cell}\n`);
  expect(text).toBe([`${header}\n`, ...lines].join(""));
});

test("the seed of a result is a column, empty where a method has none", async () => {
  using device = await openDevice({ backend: "cpu" });
  const market = { rates: { EUR: 0.02 }, underlyings: { A: { spot: 100, currency: "EUR", volatility: 0.2 } } };
  const trade = { id: "P", underlying: "A", payoff: "put", strike: 100, expiry: 1 } as const;
  const book = readBook({ asOf: "2026-11-20", market, trades: [trade] });
  const { results } = await priceBook(book, { device, greeks: "none" });
  const both = results.flatMap((result) => (result.status === "ok" ? [{ ...result, seed: 2 ** 32 - 1 }, result] : []));
  const [header, ...lines] = (await writtenAs("csv", book, both)).toString().trim().split("\n");
  const at = header.split(",").indexOf("seed");
  expect(lines.map((line) => line.split(",")[at])).toEqual(["4294967295", ""]);
  const { buffer: file } = Uint8Array.from(await writtenAs("parquet", book, both));
  const rows = await parquetReadObjects({ file });
  expect(rows.map(({ seed }) => seed)).toEqual([2 ** 32 - 1, null]);
});

test("figures of convertible bonds have columns under a plain curve, too", async () => {
  using device = await openDevice({ backend: "cpu" });
  const convertible = { maturity: 2, coupon: 0.02, frequency: 1, notional: 100, ratio: 0.9, conversion: "american" };
  const book = readBook({
    asOf: "2026-11-20",
    market: {
      rates: { EUR: 0.02 },
      underlyings: { A: { spot: 100, currency: "EUR", volatility: 0.3 } },
      credit: { A: { spread: 0.03 } },
    },
    trades: [{ id: "C", underlying: "A", convertible }],
  });
  const { results } = await priceBook(book, { device });
  const [result] = results;
  if (result.status === "error") throw new Error(result.error.message);
  expect(result.parity).toBeCloseTo(90, 12);
  const [header, line] = (await writtenAs("csv", book, results)).toString().split("\n");
  const cells = new Map(header.split(",").map((name, i) => [name, line.split(",")[i]]));
  for (const name of ["parity", "bondFloor", "creditSensitivity"] as const)
    expect([name, Number(cells.get(name))]).toEqual([name, result[name]]);
});

test("figures of bonds and swaptions have columns in CSV and Parquet, where the market has a model for them", async () => {
  using device = await openDevice({ backend: "cpu" });
  const EUR = { hullWhite: { meanReversion: 0.05, volatility: 0.01, curve: 0.02 } };
  const book = readBook({
    asOf: "2026-11-20",
    market: { rates: { EUR } },
    trades: [{ id: "B", currency: "EUR", bond: { maturity: 1.5, coupon: 0.04, frequency: 1, notional: 100 } }],
  });
  const { results } = await priceBook(book, { device });
  const [result] = results;
  if (result.status === "error") throw new Error(result.error.message);
  const written = (name: "csv" | "parquet"): Promise<Buffer> => writtenAs(name, book, [result]);
  const { buffer, byteOffset, byteLength } = await written("parquet");
  const file = buffer.slice(byteOffset, byteOffset + byteLength);
  const [row] = await parquetReadObjects({ file: file as ArrayBuffer });
  const { clean, accrued, yield: y, duration: years, convexity } = result;
  expect(row).toMatchObject({ clean, accrued, yield: y, duration: years, convexity, parity: null });
  expect(JSON.parse(String(row["keyRates"]))).toEqual(result.keyRates);
  expect(JSON.parse(String(row["parameters"]))).toEqual(result.parameters);
  const [header, line] = (await written("csv")).toString().split("\n");
  expect(header.split(",")).toEqual(Object.keys(row));
  expect(line).toContain(`,${clean},${accrued},${y},${years},${convexity},,"[[`);
});

test("texts keep all of their characters, however many bytes of UTF-8 these take", () => {
  const many = ["a", "é".repeat(5000), "€漢".repeat(4000), "𝄞".repeat(3000), "end"];
  // Of one row alone no other makes room for it.
  for (const rows of [many, ["€".repeat(5000)]])
    expect(new TextDecoder().decode(encodeRows(rows, (row) => `${row}\n`))).toBe(
      rows.map((row) => `${row}\n`).join(""),
    );
});

test("JSON that continues begins with what separates it from the results before", async () => {
  const device = { backend: "cpu", name: "none" } as const;
  const start = { asOf: "2026-11-20", device, scenarios: undefined, sensitivityErrors: false, tags: [] };
  const [first, second] = [writerFor("json"), writerFor("json")];
  const row = { trade: undefined, result: failedResult({ id: "T" }, new Error("no")) };
  const text = (part: Uint8Array | string): string =>
    typeof part === "string" ? part : new TextDecoder().decode(part);
  const head = text(await first.begin(start));
  await second.begin({ ...start, continues: true });
  const rows = [text(first.rows([row, row])), text(second.rows([row]))];
  const end = text(first.end({ priced: 0, failed: 3, totals: [] }));
  const report = JSON.parse(head + rows.join("") + end) as { results: unknown[]; failed: number };
  expect([report.results.length, report.failed]).toEqual([3, 3]);
});

test("figures of bonds have columns where the market has nothing but a plain curve", () => {
  const marketOf = (market: BookInput["market"]) => readBook({ asOf: "2026-11-20", market, trades: [] }).market;
  const underlyings = { A: { spot: 100, currency: "EUR", volatility: 0.2 } };
  expect(needsBondColumns(marketOf({ rates: { EUR: 0.02 } }))).toBe(true);
  expect(needsBondColumns(marketOf({ rates: { EUR: 0.02 }, underlyings }))).toBe(false);
});

test("of many underlyings those with the largest cash deltas are shown, of either sign, and the others counted", () => {
  const row = (underlying: string, cashDelta: number | null) => ({ underlying, cashDelta }) as never;
  const totals = (currency: string, underlyings: never[]) => ({ currency, underlyings }) as never;
  const all = [
    totals("EUR", [row("a", 1), row("b", -9), row("c", null), row("d", 5)]),
    totals("USD", [row("e", -5), row("f", 7)]),
  ];
  const namesOf = (max: number): readonly [string, number] => {
    const { shown, hidden } = largestUnderlyings(all, max);
    return [shown.flatMap(({ underlyings }) => underlyings.map((one) => one.underlying)).join(""), hidden];
  };
  expect([namesOf(2), namesOf(3), namesOf(6)]).toEqual([
    ["bf", 4],
    ["bdf", 3],
    ["abcdef", 0],
  ]);
});
