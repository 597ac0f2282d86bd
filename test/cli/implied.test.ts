import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { asyncBufferFromFile, parquetReadObjects } from "hyparquet";
import { parquetWriteBuffer } from "hyparquet-writer";
import { afterAll, describe, expect, test } from "vitest";
import { feynkac } from "./in-process.ts";

const folder = mkdtempSync(join(tmpdir(), "feynkac-implied-"));
afterAll(() => rmSync(folder, { recursive: true }));
const at = (name: string): string => join(folder, name);

function file(name: string, content: string): string {
  writeFileSync(at(name), content);
  return at(name);
}

interface Row {
  readonly id: string;
  readonly volatility: number | null;
  readonly errorEstimate: number | null;
  readonly bidVolatility: number | null;
  readonly askVolatility: number | null;
  readonly priceError: number;
  readonly reason: string | null;
}

async function rowsOf(...args: readonly string[]): Promise<readonly Row[]> {
  const { stdout, stderr } = await feynkac(["implied", ...args, "--format", "json"]);
  if (stdout === "") throw new Error(stderr);
  return (JSON.parse(stdout) as { readonly results: readonly Row[] }).results;
}

describe("implied", () => {
  // Hull, Options, Futures and Other Derivatives, 8th edition, section 14.11: 23.5 % for this price.
  const hull = "spot,strike,expiry,type,style,price,rate,desk\n21,20,0.25,C,E,1.875,0.1,007\n";

  test("a table with spots and rates of its own, tags and all formats", async () => {
    const path = file("hull.csv", hull);
    const outputs = ["v.csv", "v.parquet", "v.json", "v.txt"].map(at);
    const { status, stderr } = await feynkac([
      "implied",
      path,
      "--keep",
      "desk",
      ...outputs.flatMap((output) => ["-o", output]),
    ]);
    expect([status, stderr]).toEqual([0, expect.stringMatching(/^1 implied volatilities in /)]);
    const [titles, cells] = readFileSync(outputs[0], "utf8")
      .split("\n")
      .map((line) => line.split(","));
    const cell = (name: string): string => cells[titles.indexOf(name)];
    expect(Number(cell("volatility"))).toBeCloseTo(0.235, 3);
    expect([cell("id"), cell("status"), cell("tag.desk"), cell("priceError")]).toEqual(["1", "ok", "007", "0.0005"]);
    const [row] = await parquetReadObjects({ file: await asyncBufferFromFile(outputs[1]) });
    expect(row["volatility"]).toBe(Number(cell("volatility")));
    const { results } = JSON.parse(readFileSync(outputs[2], "utf8")) as { readonly results: readonly Row[] };
    expect(results[0].errorEstimate).toBe(Number(cell("errorEstimate")));
    expect(readFileSync(outputs[3], "utf8")).toMatch(/^1 +spot +1\.875 +23\.4/m);
  });

  test("prices on the options of a market: bid and ask, own names of columns, Parquet", async () => {
    const market = {
      rates: { EUR: 0.02 },
      underlyings: { ACME: { spot: 100, currency: "EUR", dividends: { yield: 0.01 }, volatility: 0.3 } },
    };
    const beside = ["--market", file("market.json", JSON.stringify({ asOf: "2026-11-20", market }))];
    const table = file("chain.csv", "Ticker,K,CP,Mat,B,A\nACME,100,put,2027-05-21,7.0,7.4\n");
    const map = ["--map", "Ticker=underlying,K=strike,CP=payoff,Mat=expiry,B=bid,A=ask"];
    const [row] = await rowsOf(table, ...beside, ...map);
    expect(row.bidVolatility).toBeLessThan(row.volatility!);
    expect(row.askVolatility).toBeGreaterThan(row.volatility!);
    const own = { id: ["x"], underlying: ["ACME"], payoff: ["put"], strike: [100], expiry: ["2027-05-21"] };
    const columnData = Object.entries({ ...own, price: [7.2] }).map(([name, data]) => ({ name, data }));
    writeFileSync(at("chain.parquet"), new Uint8Array(parquetWriteBuffer({ columnData })));
    const [same] = await rowsOf(at("chain.parquet"), ...beside);
    expect([same.id, same.volatility]).toEqual(["x", expect.closeTo(row.volatility!, 8)]);
  });

  test("prices are as good as their decimals on the same underlying, or as said", async () => {
    const rows = ["A,10,0.5", "A,10.25,", "B,900,", "B,901,"].map((row) => `100,100,1,call,${row}`);
    const path = file("rounding.csv", ["spot,strike,expiry,type,underlying,price,priceError", ...rows].join("\n"));
    const errors = async (...more: string[]) => (await rowsOf(path, ...more)).map(({ priceError }) => priceError);
    expect(await errors()).toEqual([0.5, 0.005, 0.5, 0.5]);
    expect(await errors("--price-error", "0.25")).toEqual([0.5, 0.25, 0.25, 0.25]);
  });

  test("each row without a volatility says why", async () => {
    const rows = [
      "100,120,1,put,american,19",
      "100,120,1,put,american,",
      "100,120,1,put,american,abc",
      "100,120,2027-01-01,put,american,25",
      "-1,120,1,put,american,25",
      ",120,1,put,american,25",
    ];
    const path = file("bad.csv", ["spot,strike,expiry,type,style,price", ...rows].join("\n"));
    const reasons = (await rowsOf(path)).map(({ id, reason }) => [id, reason]);
    expect(reasons).toEqual([
      ["1", expect.stringMatching(/^the price 19 is below the value of exercise/)],
      ["2", "there is no price: expected a price, or a bid and an ask"],
      ["3", 'line 4: price: expected a number, got "abc"'],
      ["4", "line 5: expiry: is a date, which needs the date of the prices: --as-of 2026-11-20"],
      ["5", expect.stringMatching(/^line 6: .*spot: expected a positive number, got -1/)],
      ["6", "line 7: spot: expected a number, got nothing; or give --market"],
    ]);
    const { status, stdout } = await feynkac(["implied", path]);
    expect([status, stdout]).toEqual([1, expect.stringContaining("\nno volatility:\n  1: the price 19 is below")]);
    const [, , , dated] = await rowsOf(path, "--as-of", "2026-12-02");
    expect(dated.volatility).toBeGreaterThan(0.5);
  });

  test("what cannot be read is an error of the file", async () => {
    const failureOf = async (...args: string[]) => (await feynkac(["implied", ...args])).stderr;
    expect(await failureOf(file("book.json", "{}"))).toContain("a table of prices is CSV, Parquet or a workbook");
    const path = file("unknown.csv", "spot,colour\n1,red\n");
    expect(await failureOf(path)).toContain(`feynkac: ${path}: line 1: unknown column "colour"`);
  });
});
