import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createHash } from "node:crypto";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { openEngine } from "../../src/cli/engine.ts";
import { main } from "../../src/cli/main.ts";
import { kept } from "./in-process.ts";

const folder = mkdtempSync(join(tmpdir(), "feynkac-report-"));
afterAll(() => rmSync(folder, { recursive: true }));
const at = (name: string): string => join(folder, name);

const book = {
  asOf: "2026-11-20",
  market: {
    rates: { EUR: 0.05 },
    underlyings: {
      ACME: { spot: 100, currency: "EUR", volatility: 0.2 },
      "<b>": { spot: 50, currency: "EUR", volatility: 0.3 },
    },
  },
  scenarios: { spot: [-0.1, 0, 0.1], volatility: [0, 0.02] },
  trades: [
    { id: "call", underlying: "ACME", payoff: "call", strike: 100, expiry: 1, quantity: 10 },
    { id: "<script>alert(1)</script>", underlying: "<b>", payoff: "put", strike: 50, expiry: 2, quantity: -3 },
    { id: "bad", underlying: "ACME", payoff: "put", strike: -5, expiry: 1 },
  ],
};
writeFileSync(at("book.json"), JSON.stringify(book));

async function run(...args: string[]): Promise<{ status: number; stdout: string; stderr: string }> {
  const { terminal, stdout, stderr } = kept();
  const status = await main(args, terminal, new AbortController().signal, openEngine);
  return { status, stdout: stdout(), stderr: stderr() };
}

const html = (name: string): string => readFileSync(at(name), "utf8");

test("price writes a report beside its results", async () => {
  const { status } = await run(
    "price",
    at("book.json"),
    "--output",
    at("results.parquet"),
    "--report",
    at("report.html"),
  );
  expect(status).toBe(1);
  const text = html("report.html");
  // Black–Scholes: 10.450584 a unit.
  expect(text).toContain("104.5058");
  expect(text).toContain(
    `SHA-256 ${createHash("sha256")
      .update(readFileSync(at("book.json")))
      .digest("hex")}`,
  );
  expect(text).toContain("1 not priced");
  expect(text).toContain("trades[2].strike: expected a positive number, got -5");
  expect(text).toContain("Gain or loss under the book's scenarios, EUR");
  expect(text).toContain("Value by underlying, EUR");
});

test("a report is one file, in which nothing from outside is markup", () => {
  const text = html("report.html");
  expect(text).not.toMatch(/<script|<b>|(?:src|href)=|url\(|@import/);
  expect(text).toContain("&lt;script&gt;alert(1)&lt;/script&gt;");
});

test.each(["parquet", "json"])("report reads results as %s", async (format) => {
  await run("price", at("book.json"), "--output", at(`again.${format}`));
  const { status } = await run(
    "report",
    at(`again.${format}`),
    "--book",
    at("book.json"),
    "--output",
    at(`${format}.html`),
  );
  expect(status).toBe(0);
  const figures = (text: string): string[] => [...text.matchAll(/<td class="number">([^<]*)/g)].map(([, cell]) => cell);
  expect(figures(html(`${format}.html`))).toEqual(figures(html("report.html")));
});

test("report says what does not belong together", async () => {
  const other = { ...book, trades: book.trades.toReversed() };
  writeFileSync(at("other.json"), JSON.stringify(other));
  const { status, stderr } = await run(
    "report",
    at("again.json"),
    "--book",
    at("other.json"),
    "--output",
    at("no.html"),
  );
  expect(status).toBe(2);
  expect(stderr).toMatch(/the book is another one/);
  expect(stderr).toContain(`${at("again.json")} and ${at("other.json")}: result 3 is of bad`);
  const failureOf = async (...args: string[]) => (await run("report", ...args, "--output", at("no.html"))).stderr;
  const files = { "cut.json": "{", "row.json": '{ "device": {}, "results": [{}] }', "cut.parquet": "PAR1 and no more" };
  for (const [name, text] of Object.entries(files)) {
    writeFileSync(at(name), text);
    expect(await failureOf(at(name))).toMatch(`feynkac: ${at(name)}: `);
  }
  expect(await failureOf(at("again.json"), "--book", at("cut.json"))).toMatch(`feynkac: ${at("cut.json")}: not JSON`);
  expect(await failureOf(at("book.json"))).toMatch(`feynkac: ${at("book.json")}: expected results that`);
  expect((await run("report", at("none.json"), "--output", at("no.html"))).stderr).toMatch(/there is no such file/);
});
