import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createHash } from "node:crypto";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import type { BookReport } from "../../src/book/index.ts";
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

/** The section of a report with a title, as the texts of its cells. */
const cells = (text: string, title: string): string[] => {
  const [, found = ""] = new RegExp(`<h2>${title}</h2>(.*?)</section>`, "s").exec(text) ?? [];
  return [...found.matchAll(/<t[dh](?: [^>]*)?>([^<]*)/g)].map(([, cell]) => cell);
};

const moves = Array.from({ length: 20 }, (_, s) => Number((0.08 * Math.sin(5 * s + 1)).toFixed(4)));
const named = {
  ...book,
  market: { ...book.market, underlyings: { ACME: book.market.underlyings.ACME, BETA: book.market.underlyings["<b>"] } },
  scenarios: moves.map((spot, s) => ({
    name: `day ${s}`,
    weight: 1 + (s % 3),
    moves: { spot: { ACME: spot, BETA: -spot / 2 } },
  })),
  trades: [
    { ...book.trades[0], tags: { desk: "Paris" } },
    { id: "put", underlying: "BETA", payoff: "put", strike: 50, expiry: 2, quantity: -3, tags: { desk: "London" } },
    { id: "other", underlying: "BETA", payoff: "call", strike: 55, expiry: 1, quantity: 2, tags: { desk: "Paris" } },
  ],
};

test("value at risk and its parts are those of the results, in every format that keeps their scenarios", async () => {
  writeFileSync(at("named.json"), JSON.stringify(named));
  const outputs = ["json", "csv", "parquet"].map((format) => at(`named-results.${format}`));
  await run("price", at("named.json"), ...outputs.flatMap((one) => ["-o", one]), "--threads", "1");
  await run("price", at("named.json"), "--chunk-trades", "2", "-o", `${at("named-run")}/`, "--threads", "1");
  const { results } = JSON.parse(readFileSync(outputs[0], "utf8")) as BookReport;
  const profits = moves.map((_, s) =>
    results.reduce(
      (sum, one) => sum + (one.status === "ok" ? one.quantity * (one.scenarioValues![s]! - one.value) : 0),
      0,
    ),
  );
  // The least loss that at least nine tenths of the weight do not exceed.
  const order = profits.map((profit, s) => ({ loss: -profit, weight: 1 + (s % 3), name: `day ${s}` }));
  order.sort((a, b) => b.loss - a.loss);
  const total = order.reduce((sum, { weight }) => sum + weight, 0);
  let above = 0;
  const atRisk = order.find(({ weight }) => (above += weight) > 0.1 * total)!;
  const sections: string[][] = [];
  for (const one of [...outputs, at("named-run")]) {
    const options = ["--book", at("named.json"), "--group-by", "desk", "--confidence", "0.9", "--output", at("v.html")];
    expect(await run("report", one, ...options)).toMatchObject({ status: 0, stderr: "" });
    sections.push(cells(html("v.html"), "Value at risk"));
    expect(cells(html("v.html"), "By group").slice(0, 1)).toEqual(["desk"]);
  }
  const [first, ...others] = sections;
  expect(Number(first[first.indexOf("Value at risk") + 1].replaceAll(",", ""))).toBeCloseTo(atRisk.loss, 3);
  expect(first).toContain(`${atRisk.name} *`);
  expect(first[first.indexOf("Worst scenarios") + 3]).toBe(order[0].name);
  const part = (name: string): number =>
    Number(first[first.lastIndexOf(name) + 2].replaceAll(",", "").replace("−", "-"));
  expect(part("Paris") + part("London")).toBeCloseTo(atRisk.loss, 3);
  for (const other of others) expect(other).toEqual(first);
});

test("var writes a report with the distribution and the parts", async () => {
  const { status } = await run(
    "var",
    at("named.json"),
    "--confidence",
    "0.9",
    "--report",
    at("var.html"),
    "--threads",
    "1",
  );
  expect(status).toBe(0);
  const text = html("var.html");
  expect(text).toContain("Profit or loss under 20 scenarios, EUR");
  expect(cells(text, "Value at risk")).toEqual(expect.arrayContaining(["ACME", "BETA", "Expected shortfall"]));
});

test("a report shows what has changed since earlier results, and trades that came and went", async () => {
  const { trades } = named;
  const price = async (name: string, of: readonly object[], spot: number): Promise<BookReport> => {
    const { ACME, BETA } = named.market.underlyings;
    const market = { ...named.market, underlyings: { ACME: { ...ACME, spot }, BETA } };
    writeFileSync(at("day.json"), JSON.stringify({ asOf: "2026-11-20", market, trades: of }));
    await run("price", at("day.json"), "-o", at(`${name}.json`), "--threads", "1");
    return JSON.parse(readFileSync(at(`${name}.json`), "utf8")) as BookReport;
  };
  const before = await price("before", [trades[0], trades[1]], 100);
  const after = await price("after", [trades[0], trades[2]], 105);
  await run("report", at("after.json"), "--before", at("before.json"), "-o", at("change.html"));
  const change = /<dt>Change<\/dt><dd[^>]*>([^<]*)<\/dd><small>([^<]*)/.exec(html("change.html"))!;
  const number = Number(change[1].replace("−", "-").replaceAll(",", ""));
  expect(number).toBeCloseTo(after.totals[0].value - before.totals[0].value, 2);
  expect(change[2]).toMatch(/^since 2026-11-20, of which new trades [\d.]+, ended trades [\d.]+$/);
});

test("trades of a table come with their market, which the report shows with its fits", async () => {
  const strikes = [80, 90, 100, 110, 120];
  const quotes = [0.5, 1].flatMap((expiry) =>
    strikes.map((strike) => ({ expiry, strike, implied: 0.2 + 0.0001 * Math.abs(strike - 100) })),
  );
  const volatility = { quotes, fit: "svi" };
  const market = { rates: { EUR: 0.05 }, underlyings: { ACME: { ...book.market.underlyings.ACME, volatility } } };
  writeFileSync(at("market.json"), JSON.stringify({ asOf: "2026-11-20", market }));
  writeFileSync(at("trades.csv"), "id,underlying,payoff,strike,expiry\nA,ACME,call,100,1\n");
  const files = ["--market", at("market.json")];
  await run("price", at("trades.csv"), ...files, "-o", at("t.csv"), "--threads", "1");
  expect(await run("report", at("t.csv"), "--book", at("trades.csv"), ...files, "-o", at("t.html"))).toMatchObject({
    status: 0,
  });
  const shown = cells(html("t.html"), "Market");
  expect(shown).toEqual(expect.arrayContaining(["ACME", "EUR", "5.000 %"]));
  expect(shown.some((cell) => /^(good|doubtful)/.test(cell))).toBe(true);
  expect((await run("report", at("t.csv"), ...files, "-o", at("t.html"))).stderr).toContain("give the trades, too");
});
