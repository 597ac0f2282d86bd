import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { asyncBufferFromFile, parquetReadObjects } from "hyparquet";
import { afterAll, describe, expect, test } from "vitest";
import type { ExplainReport } from "../../src/pricing/index.ts";
import { market, trade } from "../book/books.ts";
import { feynkac } from "./in-process.ts";

const folder = mkdtempSync(join(tmpdir(), "feynkac-explain-"));
afterAll(() => rmSync(folder, { recursive: true }));

function file(name: string, content: unknown): string {
  const path = join(folder, name);
  writeFileSync(path, typeof content === "string" ? content : JSON.stringify(content));
  return path;
}

const dated = (changes: Record<string, unknown> = {}) => trade({ expiry: "2027-05-20", ...changes });
const monday = { asOf: "2026-11-16T16:00:00Z", market: market() };
const tuesday = { asOf: "2026-11-17T16:00:00Z", market: market({ spot: 102, volatility: 0.26 }) };
const before = file("monday.json", { ...monday, trades: [dated({ quantity: 10 }), dated({ id: "T2" })] });
const after = file("tuesday.json", { ...tuesday, trades: [dated({ quantity: 10 }), dated({ id: "T3", strike: 90 })] });
const broken = file("broken.json", '{"asOf": ');

describe("explains", () => {
  test("two books, as a table", async () => {
    const { status, stdout, stderr } = await feynkac(["explain", before, after]);
    expect(status).toBe(0);
    const lines = stdout.split("\n");
    expect(lines[0]).toBe("from 2026-11-16T16:00:00Z to 2026-11-17T16:00:00Z (1 day), by its sensitivities");
    expect(lines[2]).toMatch(
      /^trade +before +after +change +theta +delta +gamma +vega +rho +dividends +2nd order +unexplained +status$/,
    );
    const numbers = (line: string): number[] =>
      (line.match(/-?[\d,]+\.\d+/g) ?? []).map((x) => Number(x.replace(",", "")));
    const [was, is, change, ...terms] = numbers(lines[3]);
    expect(lines[3]).toMatch(/^T1 .* explained$/);
    expect(is - was).toBeCloseTo(change, 4);
    // The columns add up, to the last decimal shown.
    expect(terms.reduce((sum, term) => sum + term, 0)).toBeCloseTo(change, 4);
    expect(lines.slice(4, 6).map((line) => line.split(/ +/).at(-1))).toEqual(["gone", "new"]);
    const [total, , totalChange, ...parts] = numbers(lines[8]);
    expect(lines[7]).toMatch(/^total × quantity .* unexplained +trading$/);
    expect(total).toBeGreaterThan(10 * was);
    expect(parts.reduce((sum, part) => sum + part, 0)).toBeCloseTo(totalChange, 2);
    expect(stderr).toMatch(/^1 trade explained in .* s, 2 new, gone or changed; fake, f64\n$/);
  });

  test("by full revaluation", async () => {
    const { stdout } = await feynkac(["explain", before, after, "--method", "revaluation"]);
    expect(stdout).toContain("by full revaluation, one part of the market at a time\n");
    expect(stdout).toMatch(/change +time +spot +volatility +rate +dividends +cross +unexplained +status\n/);
  });

  test("one book in two markets, whatever its format", async () => {
    const next = file("tuesday-market.json", tuesday);
    const first = file("monday-market.json", monday);
    const csv = file("trades.csv", "id,underlying,payoff,strike,expiry\nT1,ACME,put,100,2027-05-20\n");
    const ndjson = file("book.ndjson", `${JSON.stringify(monday)}\n${JSON.stringify(dated())}\n`);
    const json = file("one.json", { ...monday, trades: [dated()] });
    const two = file("one-after.json", { ...tuesday, trades: [dated()] });
    const runs = [
      [json, two],
      [json, "--market-after", next],
      [ndjson, "--market-after", next],
      [csv, "--market", first, "--market-after", next],
      [csv, csv, "--market", first, "--market-after", next],
    ];
    const outputs = [];
    for (const args of runs) {
      const { status, stdout } = await feynkac(["explain", ...args, "--format", "ndjson"]);
      expect(status).toBe(0);
      outputs.push(stdout);
    }
    expect(new Set(outputs).size).toBe(1);
    expect(JSON.parse(outputs[0])).toMatchObject({ id: "T1", status: "explained", moves: { spot: 2 } });
  });

  test("as JSON, and as CSV of the same numbers into a file", async () => {
    const { stdout } = await feynkac(["explain", before, after, "--format", "json"]);
    const report = JSON.parse(stdout) as ExplainReport;
    expect(report).toMatchObject({ method: "taylor", explained: 1, failed: 0, years: 1 / 365 });
    expect(report.results.map(({ id, status }) => [id, status])).toEqual([
      ["T1", "explained"],
      ["T2", "gone"],
      ["T3", "new"],
    ]);
    const path = join(folder, "out.csv");
    expect(await feynkac(["explain", before, after, "-o", path])).toMatchObject({ status: 0, stdout: "" });
    const [titles, first] = (await readFile(path, "utf8")).split("\n").map((line) => line.split(","));
    const cell = (name: string): number => Number(first[titles.indexOf(name)]);
    const [row] = report.results;
    expect(cell("vega")).toBe(row.terms?.vega);
    expect(cell("unexplained")).toBe(row.unexplained);
    expect(cell("move.volatility")).toBe(row.moves?.volatility);
    expect(first).toHaveLength(titles.length);
  });

  test("kept columns stay with every trade, and totals are grouped by them", async () => {
    const rows = [
      "id,underlying,payoff,strike,expiry,quantity,desk",
      "T1,ACME,put,100,2027-05-20,10,Paris",
      "T2,ACME,call,x,2027-05-20,5,London",
      "T3,ACME,call,95,2027-05-20,-2,",
    ];
    const csv = file("desks.csv", rows.join("\n"));
    const markets = [
      "--market",
      file("monday-desks.json", monday),
      "--market-after",
      file("tuesday-desks.json", tuesday),
    ];
    const run = (...more: string[]) => feynkac(["explain", csv, ...markets, "--keep", "desk", ...more]);
    const table = (await run("--format", "csv")).stdout.split("\n").map((line) => line.split(","));
    const cells = (name: string): string[] => table.slice(1, 4).map((row) => row[table[0].indexOf(name)]);
    // The last column; the error before it has a comma.
    expect(table[0].at(-1)).toBe("tag.desk");
    expect(table.slice(1, 4).map((row) => row.at(-1))).toEqual(["Paris", "London", ""]);
    expect(cells("underlying")).toEqual(["ACME", "", "ACME"]);
    expect(cells("currency")).toEqual(["EUR", "", "EUR"]);
    const { stdout } = await run("--format", "json", "--group-by", "desk");
    const { results, groups = [] } = JSON.parse(stdout) as ExplainReport;
    expect(results.map(({ tags }) => tags?.desk)).toEqual(["Paris", "London", undefined]);
    expect(groups.map(({ group, currency, trades, change }) => ({ group, currency, trades, change }))).toEqual([
      { group: { desk: "Paris" }, currency: "EUR", trades: 1, change: expect.closeTo(10 * results[0].change!, 10) },
      { group: { desk: null }, currency: "EUR", trades: 1, change: expect.closeTo(-2 * results[2].change!, 10) },
    ]);
    const text = (await run("--group-by", "desk")).stdout;
    expect(text).toMatch(/^desk +total × quantity +before +after +change /m);
    expect(text).toMatch(/^Paris +EUR +/m);
    expect(text).toMatch(/^– +EUR +/m);
    const paths = ["groups.csv", "groups.ndjson", "groups.parquet"].map((name) => join(folder, name));
    await run("--group-by", "desk", ...paths.flatMap((path) => ["-o", path]));
    const [titles, ...lines] = readFileSync(paths[0], "utf8")
      .trimEnd()
      .split("\n")
      .map((line) => line.split(","));
    expect(lines.map((line) => line[titles.indexOf("group.desk")])).toEqual(["Paris", ""]);
    const numbers = Object.fromEntries(titles.slice(2).map((name, i) => [name, Number(lines[0][i + 2])]));
    const [{ group: _group, currency: _currency, terms, ...sums }] = groups;
    expect(numbers).toEqual({ ...sums, ...terms });
    expect(readFileSync(paths[1], "utf8")).toBe(groups.map((group) => `${JSON.stringify(group)}\n`).join(""));
    expect(await parquetReadObjects({ file: await asyncBufferFromFile(paths[2]) })).toMatchObject([
      { "group.desk": "Paris", ...numbers },
      { "group.desk": null },
    ]);
  });

  test("quotes: columns of the smile, and its expiries below the totals", async () => {
    const quotes = (up: number) =>
      ["2027-03-19", "2027-09-17"].flatMap((expiry) =>
        [80, 90, 100, 110, 120].map((strike) => ({ expiry, strike, implied: 0.25 + up - 0.001 * (strike - 100) })),
      );
    const on = (asOf: string, spot: number, up: number) => ({
      asOf,
      market: market({ spot, volatility: { quotes: quotes(up), fit: "svi" } }),
      trades: [dated({ quantity: 10 })],
    });
    const files = [file("q1.json", on("2026-11-16", 100, 0)), file("q2.json", on("2026-11-17", 101, 0.01))];
    const { stdout } = await feynkac(["explain", ...files]);
    expect(stdout).toMatch(/ gamma +vega +smile +rho /);
    expect(stdout).toMatch(/^smile +expiry +points +vega +skew +curvature$/m);
    expect(stdout).toMatch(/^ACME +2027-03-19 +1\.0\d +EUR /m);
    const delta = async (sticky: string): Promise<number> => {
      const run = await feynkac(["explain", ...files, "--sticky", sticky, "--format", "json"]);
      return (JSON.parse(run.stdout) as ExplainReport).results[0].terms!.delta!;
    };
    // The volatility at the strike falls with the spot under a sticky delta, as the smile does in the strike.
    expect(await delta("strike")).not.toBeCloseTo(await delta("delta"), 2);
    const { status, stderr } = await feynkac(["explain", ...files, "--sticky", "moneyness"]);
    expect(status).toBe(2);
    expect(stderr).toContain("Allowed choices are strike, delta");
  });

  test("what fails is listed with its book and place, and the exit status says so", async () => {
    const bad = file("bad.json", { ...tuesday, trades: [dated({ strike: "x" }), dated({ id: "T2" })] });
    const { status, stdout } = await feynkac(["explain", before, bad]);
    expect(status).toBe(1);
    expect(stdout).toContain('\nnot explained:\n  T1: after: trades[0].strike: expected a positive number, got "x"\n');
  });

  test("a narrow terminal gets fewer columns, and is told which are missing", async () => {
    const { stdout } = await feynkac(["explain", before, after], { tty: true, columns: 80 });
    expect(
      Math.max(
        ...stdout
          .split("\n")
          .slice(2)
          .map((line) => line.length),
      ),
    ).toBeLessThanOrEqual(80);
    expect(stdout).toContain("no room for before, after, gamma, rho, dividends, 2nd order (see --format csv)\n");
  });

  test("empty books", async () => {
    const empty = file("empty.json", { ...monday, trades: [] });
    const { status, stdout } = await feynkac(["explain", empty, empty]);
    expect({ status, last: stdout.endsWith("no trades\n") }).toEqual({ status: 0, last: true });
    const { stdout: json } = await feynkac(["explain", empty, empty, "--format", "json"]);
    expect(JSON.parse(json)).toMatchObject({ results: [], totals: [], explained: 0, failed: 0 });
  });
});

describe("refuses", () => {
  test.each([
    [[before], "nothing to compare with: give a second book, or --market-after MARKET.json for the same trades"],
    [["-", "-"], "the two books cannot both come from standard input"],
    [["-", "--market-after", after], "standard input cannot be read twice; give the book as a file"],
    [[after, before], "after: asOf: expected a date not before the first book's"],
    [[before, "missing.json"], "cannot read missing.json: there is no such file"],
    [[before, broken], "broken.json: not JSON: line 1, column 10: expected a value, got the end of the text"],
    [[before, "--market-after", after], "trades: expected none in a market file"],
    [[before, after, "--market", after], "trades: expected none in a market file"],
  ])("%j", async (args, message) => {
    const { status, stderr, stdout } = await feynkac(["explain", ...args]);
    expect({ status, stdout }).toEqual({ status: 2, stdout: "" });
    expect(stderr).toContain(message);
  });

  test("a method that is none", async () => {
    const { status, stderr } = await feynkac(["explain", before, after, "--method", "magic"]);
    expect(status).toBe(2);
    expect(stderr).toContain("Allowed choices are taylor, revaluation");
  });
});
