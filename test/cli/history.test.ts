/** `feynkac history`: scenarios from a history, against moves between levels that are taken by hand. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as fc from "fast-check";
import { parquetReadObjects } from "hyparquet";
import { afterAll, describe, expect, test } from "vitest";
import { openEngine } from "../../src/cli/engine.ts";
import { main } from "../../src/cli/main.ts";
import { kept } from "./in-process.ts";

const folder = mkdtempSync(join(tmpdir(), "feynkac-history-"));
afterAll(() => rmSync(folder, { recursive: true }));
const at = (name: string): string => join(folder, name);

async function feynkac(...args: readonly string[]): Promise<{ status: number; stdout: string; stderr: string }> {
  const { terminal, stdout, stderr } = kept();
  const status = await main(args, terminal, new AbortController().signal, openEngine);
  return { status, stdout: stdout(), stderr: stderr() };
}

/** Makes scenarios of the text of a history. */
async function historyOf(text: string, ...args: readonly string[]) {
  const file = at("history.csv");
  writeFileSync(file, text);
  return { file, ...(await feynkac("history", file, ...args)) };
}

const cellsOf = (csv: string): string[][] =>
  csv
    .trim()
    .split("\n")
    .map((line) => line.split(","));

/** Some business days, with levels of a spot and of a rate. */
const histories = fc.record({
  levels: fc.array(
    fc.record({
      spot: fc.double({ min: 0.5, max: 500, noNaN: true }),
      rate: fc.double({ min: -0.1, max: 0.2, noNaN: true }),
    }),
    { minLength: 13, maxLength: 40 },
  ),
  horizon: fc.constantFrom(1, 2, 10),
  isLong: fc.boolean(),
});
/** The business day after `n` others, from Monday 2 March 2026 on. */
const dayOf = (n: number): string =>
  new Date(Date.UTC(2026, 2, 2 + 7 * Math.floor(n / 5) + (n % 5))).toISOString().slice(0, 10);

test("moves are those between the levels at both ends of each window, in any order of rows", async () => {
  const run = fc.asyncProperty(histories, async ({ levels, horizon, isLong }) => {
    const days = levels.map((level, n) => ({ ...level, date: dayOf(n) })).toReversed();
    const text = isLong
      ? `date,factor,value\n${days.map((d) => `${d.date},rate.EUR,${d.rate}\n${d.date},spot.SAP,${d.spot}`).join("\n")}`
      : `spot.SAP,date,rate.EUR\n${days.map((d) => `${d.spot},${d.date},${d.rate}`).join("\n")}`;
    const options = ["--horizon", `${horizon}d`, "--weights", "exponential", "--decay", "0.9"];
    const { status, stdout, stderr } = await historyOf(text, ...options);
    expect([status, stderr.includes("overlap")]).toEqual([0, horizon > 1]);
    const [head, ...rows] = cellsOf(stdout);
    expect(rows).toHaveLength(levels.length - horizon);
    expect(new Set(rows.map((row) => row[head.indexOf("horizon")]))).toEqual(new Set([`${horizon}d`]));
    rows.forEach((row, s) => {
      const cell = (name: string): number => Number(row[head.indexOf(name)]);
      const [before, after] = [levels[s], levels[s + horizon]];
      expect(row[0]).toBe(dayOf(s + horizon));
      expect(before.spot * (1 + cell("spot.SAP"))).toBeCloseTo(after.spot, 9);
      expect(before.rate + cell("rate.EUR")).toBeCloseTo(after.rate, 12);
      if (s > 0) expect(Number(rows[s - 1][1]) / cell("weight")).toBeCloseTo(0.9, 12);
    });
  });
  await fc.assert(run, { numRuns: 30 });
});

test("price and var read what history writes, as CSV and as Parquet", { timeout: 60_000 }, async () => {
  const market = { rates: { EUR: 0.02 }, underlyings: { SAP: { spot: 100, currency: "EUR", volatility: 0.2 } } };
  const book = at("book.json");
  const trades = [{ id: "1", underlying: "SAP", forward: 100, expiry: 1 }];
  writeFileSync(book, JSON.stringify({ asOf: "2026-11-20", market, trades }));
  const spots = [50, 55, 44, 66, 33];
  const text = `date,spot.SAP\n${spots.map((spot, n) => `${dayOf(n)},${spot}`).join("\n")}\n`;
  for (const name of ["scenarios.csv", "scenarios.parquet"]) {
    const out = at(name);
    expect(await historyOf(text, "-o", out)).toMatchObject({ status: 0, stdout: "" });
    const { status, stdout } = await feynkac("var", book, "--scenarios", out, "--threads", "1", "--format", "json");
    expect(status).toBe(0);
    // A forward loses what its spot does.
    expect(JSON.parse(stdout)).toMatchObject({ scenarios: 4, valueAtRisk: { scenario: dayOf(4) } });
    expect((JSON.parse(stdout) as { valueAtRisk: { value: number } }).valueAtRisk.value).toBeCloseTo(50, 6);
  }
  const stored = await parquetReadObjects({ file: new Uint8Array(readFileSync(at("scenarios.parquet"))).buffer });
  expect(stored.map((row) => row["name"])).toEqual([1, 2, 3, 4].map(dayOf));
});

describe("missing values", () => {
  const text = ["date,spot.SAP,rate.EUR", "2026-03-02,100,0.01", "2026-03-03,,0.02", "2026-03-04,110,0.04"].join("\n");
  const gap = `${text.replace("3,,", "3,105,")}\n2026-03-20,120,0.05\n2026-03-23,126,0.05`;
  test("are left out with the scenarios that need them, or taken from the date before", async () => {
    expect(await historyOf(text, "--missing", "skip")).toMatchObject({ status: 2 });
    const two = await historyOf(`${text}\n2026-03-05,121,0.05`, "--missing", "skip");
    expect(cellsOf(two.stdout).slice(1)).toEqual([["2026-03-05", "1d", String(121 / 110 - 1), String(0.05 - 0.04)]]);
    expect(two.stderr).toContain("left out 2 scenarios");
    const carried = await historyOf(text, "--missing", "previous");
    expect(cellsOf(carried.stdout).map((row) => row[2])).toEqual(["spot.SAP", "0", String(110 / 100 - 1)]);
    expect(carried.stderr).toContain("1 missing value");
  });
  test("are dates, too, where there are none for more than ten days", async () => {
    expect((await historyOf(gap)).stderr).toContain("no dates between 2026-03-04 and 2026-03-20: --missing skip");
    const skipped = await historyOf(gap, "--missing", "skip");
    expect(cellsOf(skipped.stdout).map((row) => row[0])).toEqual(["name", "2026-03-03", "2026-03-04", "2026-03-23"]);
    expect(cellsOf((await historyOf(gap, "--missing", "previous")).stdout)).toHaveLength(5);
  });
});

test("--from and --to hold both ends of each move", async () => {
  const rows = Array.from({ length: 10 }, (_, n) => `${dayOf(n)},${100 + n}`).join("\n");
  const { stdout } = await historyOf(`date,spot.SAP\n${rows}`, "--from", dayOf(3), "--to", dayOf(6), "--horizon", "2d");
  expect(cellsOf(stdout).map((row) => row[0])).toEqual(["name", dayOf(5), dayOf(6)]);
});

describe("a history that cannot be used names its place", () => {
  const rows = (...all: readonly string[]): string => ["date,spot.SAP,rate.EUR", ...all].join("\n");
  const one = "2026-03-02,100,0.01";
  test.each([
    ["day,spot.SAP\n2026-03-02,1", 'the table: expected a row for each date, with a column "date"'],
    ["date,spott.SAP\n2026-03-02,1", 'column "spott.SAP": no factor (did you mean "spot.SAP"?)'],
    [rows(one, "03/04/2026,100,0.01"), 'row 2, column "date": expected a date such as 2026-11-20, got "03/04/2026"'],
    [rows(one, "2026-03-03,100,0.01", one), "row 3: has the date 2026-03-02 of row 1; a date has one row"],
    [rows(one, "2026-03-03,0,0.01"), 'row 2 (2026-03-03), column "spot.SAP": expected a number above 0, got "0"'],
    [rows(one, "2026-03-03,-5,0.01"), "expected a number above 0"],
    [rows(one, "2026-03-03,1e-20,0.02"), 'column "spot.SAP": has '],
    [rows(one, "2026-03-03,5,3.2"), '(0.03 is 3 %), got "3.2"'],
    [rows(one, "2026-03-03,,0.02"), 'column "spot.SAP": has no value on 2026-03-03: --missing skip'],
    [rows(one), "the history: has too few dates for a horizon of 1: 1"],
    [rows(one, "2026-03-09,5,0.02"), "its dates are 7 days apart at the median"],
    ["date,factor,value\n2026-03-02,rate.EUR,0\n2026-03-02,rate.EUR,0", '"rate.EUR" has a value on 2026-03-02 already'],
  ])("%j", async (text, message) => {
    const { status, stderr, file } = await historyOf(text);
    expect([status, stderr]).toEqual([2, expect.stringContaining(message) as string]);
    expect(stderr).toContain(`${file}: `);
  });
  test("a first value that is missing, and options that say nothing together", async () => {
    const late = await historyOf(rows("2026-03-02,,0.01", "2026-03-03,5,0.02"), "--missing", "previous");
    expect(late.stderr).toContain("and none before: begin later by --from");
    expect((await historyOf(rows(one), "--decay", "0.9")).stderr).toContain("--decay needs --weights exponential");
    expect((await historyOf(rows(one), "--horizon", "1h")).stderr).toContain("business days from 1d");
  });
});
