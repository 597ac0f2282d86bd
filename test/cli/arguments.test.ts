/** Arguments of the command, and tables that only some arguments and books give. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { parseColumnMap, parseFraction } from "../../src/cli/arguments.ts";
import { longFileOf } from "../../src/cli/commands/price-file.ts";
import { calibrationTables } from "../../src/cli/format/calibration.ts";
import { scenarioTables } from "../../src/cli/format/scenario-table.ts";
import { market, trade } from "../book/books.ts";
import { feynkac } from "./in-process.ts";

const folder = mkdtempSync(join(tmpdir(), "feynkac-arguments-"));
afterAll(() => rmSync(folder, { recursive: true }));

test("a share is a part of one, up to all of it", () => {
  expect(["100%", "1", "0.1%", "0.25"].map(parseFraction)).toEqual([1, 1, 0.001, 0.25]);
  for (const text of ["0", "0%", "101%", "1.5", "-1", "x"])
    expect(() => parseFraction(text)).toThrow("expected a share");
});

test("columns are terms by pairs, or by a JSON file that may have words for values", () => {
  expect(parseColumnMap("CallPut=payoff, Comment=")).toEqual({ CallPut: "payoff", Comment: "" });
  const path = join(folder, "map.json");
  const map = { CallPut: "payoff", Side: { term: "quantity", values: { Buy: 1 } } };
  writeFileSync(path, JSON.stringify(map));
  expect(parseColumnMap(path)).toEqual(map);
  for (const text of ["=payoff", "A=b=c", "A=b,C"]) expect(() => parseColumnMap(text)).toThrow("COLUMN=term");
  for (const wrong of ["[]", '{ "A": 1 }', '{ "A": { "values": {} } }', '{ "A": { "term": "a", "values": 1 } }']) {
    writeFileSync(path, wrong);
    expect(() => parseColumnMap(path)).toThrow('expected { "COLUMN": "term" }');
  }
  expect(() => parseColumnMap(join(folder, "none.json"))).toThrow("cannot read");
});

test("threads share a file with columns of its own, and none whose results are grouped", () => {
  const path = join(folder, "long.ndjson");
  writeFileSync(path, `${JSON.stringify({ asOf: "2026-11-20", market: market() })}\n${"\n".repeat(1 << 15)}`);
  const options = (more: object) => ({ format: "json", ...more }) as never;
  expect(longFileOf(path, [{ format: "json" }], options({}))).toBeDefined();
  expect(longFileOf(path, [{ format: "json" }], options({ keep: ["desk"] }))?.source.keep).toEqual(["desk"]);
  expect(longFileOf(path, [{ format: "json" }], options({ groupBy: "desk" }))).toBeUndefined();
  expect(longFileOf(path, [{ format: "json" }, { format: "csv" }], options({}))).toBeUndefined();
  expect(longFileOf(path, [{ format: "table" }], options({}))).toBeUndefined();
});

test("each table of scenarios has the rates that it is of", () => {
  const scenarios = { time: [0], spot: [0], volatility: [0], rate: [-0.01, 0.02] };
  const totals = [{ currency: "EUR", scenarios: [[[[11, 13]]]] }];
  const [down, up] = scenarioTables(scenarios, totals as never);
  expect(down).toMatch(/^EUR, rates [-−]0\.01 [^]*\b11\./);
  expect(up).toMatch(/^EUR, rates \+0\.02 [^]*\b13\./);
});

test("tables of scenarios name dates ahead in days if they are whole ones, and in years if not", () => {
  const time = [0, 1 / 365, 30 / 365, 1, 5, 0.123456789, 30.5 / 365];
  const scenarios = { time, spot: [0], volatility: [0], rate: [0] };
  const totals = [{ currency: "EUR", scenarios: time.map(() => [[[1]]]) }];
  const titles = scenarioTables(scenarios, totals as never).map((table) => /^EUR(.*), rates/.exec(table)![1]);
  const expected = ["", "+1 day", "+30 days", "+365 days", "+1,825 days", "+0.123457 years", "+0.0835616 years"];
  expect(titles).toEqual(expected.map((date) => (date === "" ? "" : `, ${date}`)));
});

test("a table of fits has butterflies and calendars at their own places", () => {
  const at = (strike: number) => ({ free: false, min: -0.5, at: { strike, expiry: 1, logMoneyness: 0 } });
  const fit = { model: "svi", status: "converged", quotes: [], rmse: 0.001, worst: null, seconds: 1 };
  const text = calibrationTables({
    underlyings: { A: { ...fit, butterfly: at(91), calendar: at(117) } },
    rates: {},
  } as never);
  const [titles, row] = text.split("\n");
  expect(titles.indexOf("calendar")).toBeGreaterThan(titles.indexOf("butterfly"));
  expect(row).toMatch(/-0\.500 at 91\.0000, 1 .*-0\.500 at 117\.000, 1/);
});

test.each(["taylor", "revaluation"])("%s: dividends that were paid are in the column of dividends", async (method) => {
  const path = (name: string, content: unknown): string => {
    writeFileSync(join(folder, name), JSON.stringify(content));
    return join(folder, name);
  };
  const on = (day: number, spot: number) => ({
    asOf: `2026-11-${day}T16:00:00Z`,
    market: market({ spot, dividends: { discrete: [{ date: "2026-11-18T12:00:00Z", cash: 3 }] } }),
    trades: [trade({ expiry: "2027-05-20", exercise: "european" })],
  });
  const books = [path("before.json", on(17, 100)), path("after.json", on(19, 97))];
  const { stdout: json } = await feynkac(["explain", ...books, "--method", method, "--format", "json"]);
  const [{ terms }] = (JSON.parse(json) as { results: readonly { terms: Record<string, number> }[] }).results;
  const paid = terms["exDividend"] + terms["dividends"];
  expect(Math.abs(paid)).toBeGreaterThan(0.5);
  const { stdout } = await feynkac(["explain", ...books, "--method", method]);
  const [titles, row] = stdout.split("\n").slice(2);
  const at = titles.indexOf("dividends") + "dividends".length;
  expect(Number(/\S+$/.exec(row.slice(0, at))![0])).toBeCloseTo(paid, 3);
});
