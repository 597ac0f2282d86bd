import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, describe, expect, test } from "vitest";
import { type NewSheet, readWorkbook, writeWorkbook } from "../../src/book/index.ts";
import { plainBookOf, workbookOf } from "../../src/cli/workbook/index.ts";
import { openEngine } from "../../src/cli/engine.ts";
import { main } from "../../src/cli/main.ts";
import { feynkac, kept } from "./in-process.ts";

const folder = mkdtempSync(join(tmpdir(), "feynkac-workbook-"));
afterAll(() => rmSync(folder, { recursive: true }));
const at = (name: string): string => join(folder, name);

/** The package, as a name that the compiler does not look for. */
const PACKAGE: string = "hucre/xlsx";

/** Whether the optional package is installed, as `npm ci` does. */
const hasPackage = ((): boolean => {
  try {
    return createRequire(import.meta.url).resolve("hucre/package.json") !== "";
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ERR_PACKAGE_PATH_NOT_EXPORTED";
  }
})();

type Fields = Record<string, unknown>;

async function file(name: string, ...sheets: readonly NewSheet[]): Promise<string> {
  writeFileSync(at(name), await writeWorkbook(sheets));
  return at(name);
}

const sheet = (name: string, columns: string, ...rows: NewSheet["rows"]): NewSheet => ({
  name,
  columns: columns.split(" "),
  rows,
});

const about = sheet("book", "name value", ["asOf", "2026-11-20"]);
const rates = sheet("rates", "currency rate", ["EUR", 0.03]);
const acme = sheet("underlyings", "underlying spot currency volatility", ["ACME", 100, "EUR", 0.25]);
const put = sheet("trades", "id underlying payoff strike expiry", ["T1", "ACME", "put", 100, "2027-11-20"]);

async function priced(...args: readonly string[]): Promise<Fields[]> {
  const { terminal, stdout, stderr } = kept();
  const run = ["price", ...args, "--format", "json", "--greeks", "none", "--threads", "1"];
  const status = await main(run, terminal, new AbortController().signal, openEngine);
  if (status > 1) throw new Error(stderr());
  return (JSON.parse(stdout()) as { readonly results: Fields[] }).results;
}

// What JSON can say and a cell cannot, as well as what books usually have.
const name = fc.constantFrom("ACME", "BRK.B", "600000", "a b", "[x]", '"q"', "Ä-1", "1Y", "2027-11-20", "__x__");
const number = fc.double({ noDefaultInfinity: true, noNaN: true }).map((value) => (value === 0 ? 0 : value));
const time = fc.constantFrom<string | number>("2027-11-20", "1Y6M", "2027-11-20T16:00:00+01:00", 0.25, 2);
const partial = (of: Record<string, fc.Arbitrary<unknown>>): fc.Arbitrary<Fields> =>
  fc.record(of, { requiredKeys: [] });
const nodes = fc.array(fc.record({ date: time, zero: number }), { maxLength: 3 });
const volatility = fc.oneof(
  number,
  fc.record({ heston: partial({ v0: number, kappa: number, rho: number }) }),
  fc.record({ termStructure: fc.array(fc.record({ date: time, volatility: number })) }),
  fc.record({ local: fc.constantFrom("0.2 + 0.1*exp(-S/100)", "[S]", "{") }),
  fc.record({ quotes: fc.array(partial({ expiry: time, strike: number, implied: number })), fit: fc.constant("svi") }),
);
const barrier = partial({ type: fc.constant("up-and-out"), level: number, monitoring: fc.array(time), window: number });
const trade = partial({
  id: name,
  underlying: name,
  underlyings: fc.array(name),
  payoff: fc.oneof(
    fc.constantFrom("call", "put"),
    fc.record({ digital: fc.constant("call"), cash: number }),
    fc.record({ expression: fc.constant("max(S - 1, 0)"), kinks: fc.array(number) }),
  ),
  strike: number,
  expiry: time,
  exercise: fc.oneof(
    fc.constant("american"),
    fc.array(time),
    fc.record({ schedule: fc.record({ every: fc.constant("3M") }) }),
  ),
  barriers: fc.array(barrier, { maxLength: 3 }),
  volatility,
  tags: fc.dictionary(fc.constantFrom("desk", "a.b", "Ort"), fc.oneof(name, number)),
  bond: fc.record({ maturity: time, coupon: number, calls: fc.array(fc.record({ date: time, price: number })) }),
});
const book = fc.record({
  asOf: fc.constantFrom("2026-11-20", "2026-11-20T16:00:00Z"),
  market: partial({
    rates: fc.dictionary(name, fc.oneof(number, nodes, fc.record({ hullWhite: fc.record({ curve: nodes }) }))),
    underlyings: fc.dictionary(
      name,
      partial({
        spot: number,
        currency: name,
        volatility,
        dividends: partial({
          yield: fc.oneof(number, nodes),
          discrete: fc.array(partial({ date: time, cash: number, proportional: number })),
        }),
      }),
    ),
    fx: fc.dictionary(name, fc.oneof(number, partial({ rate: number, date: time }))),
    curves: fc.dictionary(
      name,
      partial({ index: name, zeros: nodes, instruments: fc.array(partial({ swap: time, rate: number })) }),
    ),
    fixings: fc.dictionary(name, fc.dictionary(fc.constantFrom("2026-11-18", "2026-11-19"), number)),
    correlations: fc.array(fc.tuple(name, name, number)),
    doubts: partial({ rates: fc.dictionary(name, fc.array(fc.constantFrom("a; b", '"c"'))) }),
  }),
  scenarios: fc.oneof(
    partial({ spot: fc.array(number), time: fc.array(time) }),
    fc.array(
      fc.record({
        name,
        moves: partial({ spot: fc.dictionary(name, fc.oneof(number, fc.record({ to: number }))), time }),
      }),
    ),
  ),
  trades: fc.array(trade),
});

/** The same values without prototypes and in one order, which JSON does not tell. */
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

describe.skipIf(!hasPackage)("workbooks (skipped where hucre is not installed)", () => {
  test("a book is the same after it has been a workbook", async () => {
    await fc.assert(
      fc.asyncProperty(book, async (one) => {
        expect(plain(await plainBookOf(await workbookOf(one)))).toEqual(plain(one));
      }),
      { numRuns: 40 },
    );
  });

  const examples = join(import.meta.dirname, "../../examples");
  test.each(
    readdirSync(examples)
      .map((name) => join(examples, name, "book.json"))
      .filter(exists),
  )("%s as a workbook is priced to the same values", async (path) => {
    const workbook = at("example.xlsx");
    expect((await feynkac(["convert", path, "-o", workbook])).stderr).toBe("");
    const [json, xlsx] = await Promise.all(
      [path, workbook].map((one) => feynkac(["price", one, "--format", "ndjson"])),
    );
    // The stand-in of the pricer has no rates and no convertible bonds.
    expect(json.stdout !== "" || /callable|convertible/.test(path)).toBe(true);
    expect(xlsx.stdout).toBe(json.stdout);
    await feynkac(["convert", workbook, "-o", at("again.json")]);
    expect(JSON.parse(readFileSync(at("again.json"), "utf8"))).toEqual(JSON.parse(readFileSync(path, "utf8")));
  });

  test("dates are dates of the spreadsheet, and texts stay texts", async () => {
    const { readXlsx } = (await import(PACKAGE)) as {
      readXlsx: (bytes: Uint8Array) => Promise<{ sheets: { name: string; rows: unknown[][] }[] }>;
    };
    const trades = [{ id: "=1+1", underlying: "007", expiry: "2027-11-20", tags: { code: "008" } }];
    const { sheets } = await readXlsx(await workbookOf({ asOf: "2026-11-20T16:00:00Z", trades }));
    expect(sheets.map(({ name: own, rows }) => [own, ...rows])).toEqual([
      ["book", ["name", "value"], ["asOf", "2026-11-20T16:00:00Z"]],
      ["trades", ["id", "underlying", "expiry", "tag.code"], ["=1+1", "007", new Date("2027-11-20T00:00:00Z"), "008"]],
    ]);
  });

  test("the template is priced as it is, and has a sheet for every part", async () => {
    await feynkac(["convert", "-o", at("template.xlsx")]);
    const results = await priced(at("template.xlsx"), "--backend", "cpu");
    expect(results.map(({ id, status }) => [id, status])).toEqual([
      ["put", "ok"],
      ["knock-out", "ok"],
      ["call", "ok"],
    ]);
    const names = (await readWorkbook(readFileSync(at("template.xlsx")))).map((one) => one.name);
    expect(names).toEqual(expect.arrayContaining(["book", "trades", "underlyings", "quotes", "fixings", "scenarios"]));
  });

  test("results are those of CSV, with totals by group and values by scenario", async () => {
    await feynkac(["convert", "-o", at("book.xlsx")]);
    const outputs = ["results.xlsx", "results.csv"].flatMap((one) => ["-o", at(one)]);
    await feynkac(["price", at("book.xlsx"), ...outputs]);
    const [results, scenarioValues, totals, info] = await readWorkbook(readFileSync(at("results.xlsx")));
    const [titles, ...lines] = readFileSync(at("results.csv"), "utf8").trim().split("\n");
    const ids = lines.map((line) => line.split(",")[0]);
    const isScenario = (column: string): boolean => column.startsWith("scenarioValue");
    expect(results.columns).toEqual(titles.split(",").filter((column) => !isScenario(column)));
    expect(results.rows.map(({ cells }) => cells[0])).toEqual(ids);
    const value = results.columns.indexOf("value");
    expect(results.rows.map(({ cells }) => String(cells[value]))).toEqual(lines.map((line) => line.split(",")[value]));
    expect(scenarioValues.rows).toHaveLength(2 * ids.length);
    expect(totals.columns.slice(0, 3)).toEqual(["level", "currency", "underlying"]);
    expect(info.rows[0].cells).toEqual(["asOf", "2026-11-20T00:00:00.000Z"]);
    await feynkac(["price", at("book.xlsx"), "-o", at("groups.xlsx"), "--group-by", "desk"]);
    const groups = (await readWorkbook(readFileSync(at("groups.xlsx")))).find((one) => one.name === "totals")!;
    await feynkac(["price", at("book.xlsx"), "-o", at("groups.csv"), "--group-by", "desk"]);
    const [, ...rows] = readFileSync(at("groups.csv"), "utf8").trim().split("\n");
    const labels = (line: string): string => line.split(",").slice(0, 4).join();
    expect(groups.rows.map(({ cells }) => cells.slice(0, 4).join())).toEqual(rows.map(labels));
    expect(new Set(groups.rows.map(({ cells }) => cells[0]))).toEqual(new Set(["Paris", "London"]));
  });

  test("trades beside a market, tags, columns of a desk's own, and sheets that are not read", async () => {
    const trades = await file(
      "desk.xlsx",
      sheet("trades", "id underlying CallPut strike expiry Desk", ["T1", "ACME", "P", 100, "2027-11-20", "Paris"]),
      sheet("_notes", "anything", ["at all"]),
    );
    const market = await file("market.xlsx", about, rates, acme);
    const own = await file("own.xlsx", about, rates, acme, put);
    const [beside] = await priced(trades, "--market", market, "--map", "CallPut=payoff", "--keep", "Desk");
    const [whole] = await priced(own);
    expect(beside).toMatchObject({ value: whole["value"], tags: { Desk: "Paris" } });
    const { stderr } = await feynkac(["price", own, "--market", market]);
    expect(stderr).toContain("this one has its own market");
    expect((await feynkac(["price", trades, "--map", "CallPut=payoff", "--keep", "Desk"])).stderr).toContain(
      'a sheet of trades needs a market: sheets "book", "underlyings", "rates", or --market MARKET.json',
    );
  });

  test.each<readonly [problem: string, sheets: readonly NewSheet[], message: string]>([
    [
      "a rate that is none",
      [about, sheet("rates", "currency rate", ["USD", 0.02], ["EUR", "3 %"]), acme, put],
      'sheet "rates", row 3: market.rates.EUR: expected a rate',
    ],
    [
      "a spot below zero",
      [about, rates, sheet("underlyings", "underlying spot currency volatility", ["ACME", -1, "EUR", 0.2]), put],
      'sheet "underlyings", row 2, column "spot": market.underlyings.ACME.spot: expected a positive number, got -1',
    ],
    [
      "a sheet with a misspelt name",
      [about, rates, acme, put, sheet("dividend", "underlying date cash", ["ACME", "2027-01-04", 2])],
      'sheet "dividend": no part of a book; expected trades, book,',
    ],
    [
      "a dividend of nothing",
      [about, rates, acme, put, sheet("dividends", "underlying date cash", ["ACME", "2027-01-04", "x"])],
      'sheet "dividends", row 2, column "cash": market.underlyings.ACME.dividends.discrete[0].cash: expected',
    ],
    [
      "an underlying that is there twice",
      [about, rates, { ...acme, rows: [...acme.rows, ...acme.rows] }, put],
      'sheet "underlyings", row 3, column "spot": market.underlyings.ACME.spot is given twice',
    ],
    [
      "a key that is missing",
      [about, sheet("rates", "currency rate", [null, 0.03]), acme, put],
      'sheet "rates", row 2, column "currency": expected a name, got nothing',
    ],
    [
      "a cell beside the table",
      [about, { ...rates, columns: ["currency", "rate", ""], rows: [["EUR", 0.03, "?"]] }, acme, put],
      'sheet "rates", row 2: a cell is to the right of the named columns',
    ],
    [
      "JSON that is none",
      [
        about,
        rates,
        { ...acme, columns: ["underlying", "spot", "currency", "volatility"], rows: [["ACME", 1, "EUR", "{x"]] },
      ],
      'sheet "underlyings", row 2, column "volatility":',
    ],
    ["no trades", [about, rates, acme], 'there is no sheet "trades"'],
    [
      "an unknown column",
      [about, rates, acme, sheet("trades", "id strik", ["T1", 1])],
      'sheet "trades", row 1: unknown column "strik"',
    ],
  ])("%s is an error with its place", async (_, sheets, message) => {
    const { status, stderr } = await feynkac(["price", await file("wrong.xlsx", ...sheets)]);
    expect([status, stderr]).toEqual([2, expect.stringContaining(message)]);
  });

  test("a trade that cannot be read is an error of its own, with sheet, row and column", async () => {
    const more = sheet("trades", put.columns.join(" "), ...put.rows, ["T2", "ACME", "put", "#N/A", 1]);
    const results = await priced(await file("one.xlsx", about, rates, acme, more));
    expect(results.map(({ status }) => status)).toEqual(["ok", "error"]);
    expect(JSON.stringify(results[1])).toContain('sheet \\"trades\\", row 3: strike: expected a positive number');
  });

  test("a formula without a value is an error that names its cell", async () => {
    const { writeXlsx } = (await import(PACKAGE)) as {
      writeXlsx: (book: object) => Promise<Uint8Array>;
    };
    const cells = new Map([["1,1", { formula: "1+1" }]]);
    writeFileSync(
      at("formula.xlsx"),
      await writeXlsx({
        sheets: [
          {
            name: "rates",
            rows: [
              ["currency", "rate"],
              ["EUR", null],
            ],
            cells,
          },
        ],
      }),
    );
    const { status, stderr } = await feynkac(["price", at("formula.xlsx")]);
    expect([status, stderr]).toEqual([2, expect.stringContaining('sheet "rates", cell B2: the formula has no value')]);
  });

  test("tables of scenarios and of prices, and the book of a report", async () => {
    const own = await file("own.xlsx", about, rates, acme, put);
    const scenarios = await file("s.xlsx", sheet("moves", "name spot.ACME", ["down", -0.1], ["up", 0.1]));
    writeFileSync(at("s.csv"), "name,spot.ACME\ndown,-0.1\nup,0.1\n");
    const [csv, xlsx] = await Promise.all([at("s.csv"), scenarios].map((path) => priced(own, "--scenarios", path)));
    expect(csv[0]["scenarioValues"]).toHaveLength(2);
    expect(xlsx).toEqual(csv);
    writeFileSync(at("p.csv"), "spot,strike,expiry,type,price\n21,20,0.25,C,1.875\n");
    const prices = await file("p.xlsx", sheet("prices", "spot strike expiry type price", [21, 20, 0.25, "C", 1.875]));
    const [fromCsv, fromXlsx] = await Promise.all(
      [at("p.csv"), prices].map((path) => feynkac(["implied", path, "--format", "csv"])),
    );
    expect(fromXlsx.stdout).toBe(fromCsv.stdout);
    await feynkac(["price", own, "-o", at("r.json")]);
    const { status, stderr } = await feynkac(["report", at("r.json"), "--book", own, "-o", at("r.html")]);
    expect([status, stderr]).toEqual([0, ""]);
  });

  test("a run in parts and unreadable files say what to do", async () => {
    const own = await file("own.xlsx", about, rates, acme, put);
    expect((await feynkac(["price", own, "-o", `${at("parts")}/`])).stderr).toContain("feynkac convert");
    writeFileSync(at("broken.xlsx"), "PK\u0003\u0004 and no more");
    const { status, stderr } = await feynkac(["price", at("broken.xlsx")]);
    expect([status, stderr]).toEqual([2, expect.stringContaining("not a workbook (.xlsx) that can be read")]);
    await expect(workbookOf({ asOf: "2026-11-20", trades: [{ id: " T" }] })).rejects.toThrow(
      "trades[0].id: cannot be written into a workbook such that it is read again as it is",
    );
  });
});

function exists(path: string): boolean {
  try {
    return readFileSync(path).length > 0;
  } catch {
    return false;
  }
}
