/** Risk by bucket from the command line: the long file, totals, groups and the report, which must all say the same. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parquetReadObjects } from "hyparquet";
import { afterAll, expect, test } from "vitest";
import type { Bucket } from "../../src/book/index.ts";
import { openEngine } from "../../src/cli/engine.ts";
import { main } from "../../src/cli/main.ts";
import { kept } from "./in-process.ts";

const folder = mkdtempSync(join(tmpdir(), "feynkac-buckets-"));
afterAll(() => rmSync(folder, { recursive: true }));
const at = (name: string): string => join(folder, name);

const quotes = {
  expiries: ["2027-08-20", "2028-02-20"],
  strikes: [80, 90, 100, 110, 120],
  implied: [
    [0.25, 0.22, 0.2, 0.19, 0.185],
    [0.24, 0.22, 0.205, 0.195, 0.19],
  ],
};
const book = {
  asOf: "2026-11-20",
  market: {
    rates: {
      EUR: [
        { date: "2027-05-20", zero: 0.02 },
        { date: "2028-05-20", zero: 0.03 },
      ],
    },
    underlyings: {
      ACME: { spot: 100, currency: "EUR", volatility: { quotes, fit: "svi" } },
      BETA: { spot: 50, currency: "EUR", volatility: 0.3 },
    },
  },
  trades: [
    { id: "a", underlying: "ACME", payoff: "put", strike: 95, expiry: "2027-10-20", quantity: 10, tags: { desk: "X" } },
    {
      id: "b",
      underlying: "BETA",
      payoff: "call",
      strike: 50,
      expiry: "2027-10-20",
      quantity: -3,
      tags: { desk: "Y" },
    },
    { id: "bad", underlying: "BETA", payoff: "call", strike: -1, expiry: 1 },
  ],
};
writeFileSync(at("book.json"), JSON.stringify(book));

async function run(...args: string[]): Promise<{ status: number; stdout: string; stderr: string }> {
  const { terminal, stdout, stderr } = kept();
  const status = await main(["price", at("book.json"), ...args], terminal, new AbortController().signal, openEngine);
  return { status, stdout: stdout(), stderr: stderr() };
}

interface Answer {
  readonly totals: readonly { readonly buckets: readonly Bucket[] }[];
  readonly groups: readonly { readonly group: { readonly desk: string }; readonly buckets?: readonly Bucket[] }[];
  readonly results: readonly { readonly id: string; readonly quantity: number; readonly buckets?: readonly Bucket[] }[];
}

const sum = (buckets: readonly Bucket[] = []): number => buckets.reduce((total, { value }) => total + value, 0);

test("a long file, totals, groups of tags and a report", async () => {
  const files = ["--buckets", at("b.csv"), "--report", at("r.html"), "--group-by", "desk"];
  const { status, stdout } = await run(...files, "--format", "json");
  expect(status).toBe(1);
  const { totals, groups, results } = JSON.parse(stdout) as Answer;
  const all = results.flatMap(({ id, quantity, buckets = [] }) =>
    buckets.map((bucket) => ({ id, quantity, ...bucket, value: quantity * bucket.value })),
  );
  // Quotes of both expiries, spot and rates of both nodes for the one; volatility, spot and rates for the other.
  expect(all.map(({ id, factor, of }) => `${id} ${factor} ${of}`)).toEqual(
    expect.arrayContaining(["a volatility ACME", "a rate EUR", "a spot ACME", "b volatility BETA", "b rate EUR"]),
  );
  expect(sum(totals[0].buckets)).toBeCloseTo(sum(all), 9);
  const places = totals[0].buckets.map(({ factor, of, at: place }) => JSON.stringify([factor, of, place]));
  expect(new Set(places).size).toBe(places.length);
  for (const { group, buckets } of groups.filter(({ group: { desk } }) => desk === "X" || desk === "Y"))
    expect(sum(buckets)).toBeCloseTo(sum(all.filter(({ id }) => id === (group.desk === "X" ? "a" : "b"))), 9);

  const [head, ...rows] = readFileSync(at("b.csv"), "utf8").trimEnd().split("\n");
  expect(head).toBe("id,underlying,currency,quantity,factor,of,at,strike,value,errorEstimate,tag.desk");
  const own = (bucket: Bucket): readonly (string | number)[] => {
    const place = bucket.at;
    return typeof place === "object" && place !== null
      ? [bucket.factor, bucket.of, place.expiry, place.strike, bucket.value]
      : [bucket.factor, bucket.of, place ?? "", "", bucket.value];
  };
  const expected = results.flatMap(({ id, buckets = [] }) => buckets.map((bucket) => [id, ...own(bucket)].join()));
  const found = rows.map((row) => {
    const cells = row.split(",");
    return [cells[0], ...cells.slice(4, 9)].join();
  });
  expect(found).toEqual(expected);
  expect(rows.filter((row) => row.endsWith(",X"))).toHaveLength(results[0].buckets!.length);

  const report = readFileSync(at("r.html"), "utf8");
  expect(report).toContain("By bucket");
  expect(report).toContain("Vega by quote, ACME, EUR a point of volatility");
  // A grid of all the expiries and strikes on which the book depends.
  for (const label of [...quotes.expiries, ...quotes.strikes.map(String)]) expect(report).toContain(`>${label}<`);
});

test("Parquet has the same rows", async () => {
  const { stdout } = await run("--buckets", at("b.parquet"), "--format", "json");
  const { results } = JSON.parse(stdout) as Answer;
  const bytes = new Uint8Array(readFileSync(at("b.parquet")));
  const rows = await parquetReadObjects({ file: bytes.buffer });
  const buckets = results.flatMap(({ id, buckets: own = [] }) => own.map((bucket) => ({ id, bucket })));
  expect(rows.map(({ id, factor, of, value }) => ({ id, factor, of, value }))).toEqual(
    buckets.map(({ id, bucket: { factor, of, value } }) => ({ id, factor, of, value })),
  );
});

test("what cannot be written is refused", async () => {
  expect((await run("--buckets", at("b.xlsx"))).stderr).toContain("expected a name in .csv or .parquet");
  expect((await run("--buckets", at("b.csv"), "--greeks", "none")).status).toBe(2);
  expect((await run("--buckets", at("b.csv"), "--output", `${folder}/parts/`)).stderr).toContain("a run in parts");
});
