/** `feynkac var` and tables of scenarios: measures of a book, their parts, and the profits that they are made of. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as fc from "fast-check";
import { parquetMetadata, parquetReadObjects } from "hyparquet";
import { afterAll, describe, expect, test } from "vitest";
import { readBook } from "../../src/book/index.ts";
import { openEngine } from "../../src/cli/engine.ts";
import { main } from "../../src/cli/main.ts";
import { createCpuDevice } from "../../src/device/cpu/index.ts";
import { type ApproximateRisk, type BookRisk, type ComparedRisk, priceBook } from "../../src/pricing/index.ts";
import { lossAt, meanLoss, measureErrors, samplingErrors, tailOf } from "../../src/pricing/risk/tail.ts";
import { kept } from "./in-process.ts";

const folder = mkdtempSync(join(tmpdir(), "feynkac-var-"));
afterAll(() => rmSync(folder, { recursive: true }));
const at = (name: string): string => join(folder, name);

const market = {
  reporting: "EUR",
  rates: { EUR: 0.02, USD: 0.04 },
  fx: { EURUSD: { rate: 1.1, date: "2026-11-24" } },
  underlyings: {
    SAP: { spot: 100, currency: "EUR", volatility: 0.2 },
    IBM: { spot: 250, currency: "USD", volatility: 0.3 },
  },
};
const trades = [
  { id: "1", underlying: "SAP", payoff: "put", strike: 95, expiry: 1, quantity: -10, tags: { desk: "A" } },
  { id: "2", underlying: "IBM", payoff: "call", strike: 260, expiry: 0.5, quantity: 3, tags: { desk: "B" } },
  { id: "3", underlying: "IBM", forward: 255, expiry: 0.5, quantity: 2, tags: { desk: "A" } },
];
const MOVES = Array.from({ length: 40 }, (_, s) => ({
  sap: Number((0.1 * Math.sin(7 * s + 1)).toFixed(6)),
  ibm: Number((0.12 * Math.cos(5 * s)).toFixed(6)),
  fx: Number((0.03 * Math.sin(3 * s)).toFixed(6)),
  rate: Number((0.002 * Math.cos(11 * s)).toFixed(6)),
}));
const book = at("book.json");
writeFileSync(book, JSON.stringify({ asOf: "2026-11-20", market, trades }));
const table = at("scenarios.csv");
const rows = MOVES.map(({ sap, ibm, fx, rate }, s) => `S${s},${sap},${ibm},${fx},${rate}`);
writeFileSync(table, `name,spot.SAP,spot.IBM,fx.EURUSD,rate.USD\n${rows.join("\n")}\n`);

async function feynkac(...args: readonly string[]): Promise<{ status: number; stdout: string; stderr: string }> {
  const { terminal, stdout, stderr } = kept();
  const status = await main(args, terminal, new AbortController().signal, openEngine);
  return { status, stdout: stdout(), stderr: stderr() };
}

/** The value of each trade in euros, in a market that has moved. */
async function valuesAt({ sap, ibm, fx, rate }: (typeof MOVES)[number]): Promise<readonly number[]> {
  using device = createCpuDevice({ threads: 1 });
  const moved = {
    ...market,
    rates: { EUR: 0.02, USD: 0.04 + rate },
    fx: { EURUSD: { rate: 1.1 * (1 + fx), date: "2026-11-24" } },
    underlyings: {
      SAP: { ...market.underlyings.SAP, spot: 100 * (1 + sap) },
      IBM: { ...market.underlyings.IBM, spot: 250 * (1 + ibm) },
    },
  };
  const { results } = await priceBook(readBook({ asOf: "2026-11-20", market: moved, trades }), { device });
  return results.map((result, i) => {
    if (result.status === "error") throw new Error(result.error.message);
    return trades[i].quantity * result.reporting!.value;
  });
}

test(
  "has the measures and parts of the profits of moved books, in the reporting currency",
  { timeout: 60_000 },
  async () => {
    const pnl = at("pnl.parquet");
    const options = ["--scenarios", table, "--confidence", "0.9", "--group-by", "desk", "--pnl", pnl];
    const { status, stdout, stderr } = await feynkac("var", book, ...options, "--threads", "1", "--format", "json");
    expect(stderr).not.toContain("rror");
    expect(status).toBe(0);
    const risk = JSON.parse(stdout) as BookRisk;
    const today = await valuesAt({ sap: 0, ibm: 0, fx: 0, rate: 0 });
    const profits: number[][] = [];
    for (const moves of MOVES) profits.push((await valuesAt(moves)).map((value, i) => value - today[i]));
    const total = profits.map((own) => own.reduce((sum, one) => sum + one, 0));
    const losses = total.map((one) => -one).sort((a, b) => b - a);
    // Of 40 scenarios the tail of a tenth has four; the fifth is the least loss with nine tenths at or below it.
    expect(risk.valueAtRisk.value).toBeCloseTo(losses[4], 6);
    expect(risk.expectedShortfall.value).toBeCloseTo((losses[0] + losses[1] + losses[2] + losses[3]) / 4, 6);
    const stored = await parquetReadObjects({ file: new Uint8Array(readFileSync(pnl)).buffer });
    stored.forEach((row, i) => (row["pnl"] as number[]).forEach((one, s) => expect(one).toBeCloseTo(profits[s][i], 6)));
    for (const parts of [risk.components.trades, ...Object.values(risk.components.groups)])
      for (const measure of ["valueAtRisk", "expectedShortfall"] as const) {
        const sum = parts.reduce((all, part) => all + part[measure], 0);
        expect(sum).toBeCloseTo(risk[measure].value, 8);
      }
    expect(Object.keys(risk.components.groups)).toEqual(["underlying", "desk"]);
    expect(risk.worst[0].profit).toBeCloseTo(-losses[0], 6);
    const text = await feynkac("var", book, ...options.slice(0, 4), "--threads", "1");
    expect(text.stdout).toContain(risk.valueAtRisk.scenario);
  },
);

describe("the tail of a weighted distribution", () => {
  test("has a quantile without interpolation, and the mean beyond it", () => {
    const profits = [-5, 3, -1, -9, 2];
    const weights = [1, 1, 1, 0.5, 1.5];
    const tail = tailOf(profits, 0.75, weights);
    // A quarter of the weight 5 is 1.25: all 0.5 of the worst, and 0.75 of the next.
    expect(lossAt(tail, profits)).toBe(5);
    expect(meanLoss(tail, profits)).toBeCloseTo((0.5 * 9 + 0.75 * 5) / 1.25, 12);
    expect(lossAt(tailOf([-1, -2, -3, -4], 0.75), [-1, -2, -3, -4])).toBe(3);
    for (const none of [0, 1e308])
      expect(() =>
        tailOf(
          profits,
          0.75,
          profits.map(() => none),
        ),
      ).toThrow("expected some above 0");
  });

  test("has the sampling error of a normal distribution's quantile", () => {
    // Quantiles of the logistic distribution; the error of its quantile at p is √(p(1 − p)/n)/f, f = p(1 − p).
    const count = 4000;
    const profits = Array.from({ length: count }, (_, s) => Math.log((s + 0.5) / (count - s - 0.5)));
    const { valueAtRisk } = samplingErrors(profits, 0.9);
    expect(valueAtRisk! / (Math.sqrt(0.09 / count) / 0.09)).toBeCloseTo(1, 1);
  });

  test("never tells a sampling error of 0 where scenarios are too few to tell", () => {
    const profits = fc.uniqueArray(fc.integer({ min: -1000, max: 1000 }), { maxLength: 60, minLength: 1 });
    fc.assert(
      fc.property(profits, fc.double({ min: 0.001, max: 0.999, noNaN: true }), (own, confidence) => {
        const inTail = own.length * (1 - confidence);
        for (const error of Object.values(samplingErrors(own, confidence)))
          expect(error === null || (error > 0 && inTail > 1)).toBe(true);
      }),
    );
    expect(samplingErrors([1, 2, 3], 0.99)).toEqual({ valueAtRisk: null, expectedShortfall: null });
  });

  test("errors of both measures cover whatever profits are within theirs", () => {
    const number = (min: number, max: number) => fc.double({ min, max, noNaN: true });
    // Profits that nearly tie, with errors as large as what they differ by, and weights.
    const scenario = fc.record({
      profit: number(-1, 1),
      error: number(0, 1),
      at: number(-1, 1),
      weight: number(0.1, 2),
    });
    fc.assert(
      fc.property(fc.array(scenario, { minLength: 1, maxLength: 30 }), number(0.01, 0.99), (all, confidence) => {
        const profits = all.map(({ profit }) => profit);
        const weights = all.map(({ weight }) => weight);
        const measures = (of: readonly number[]): readonly number[] => {
          const tail = tailOf(of, confidence, weights);
          return [lossAt(tail, of), meanLoss(tail, of)];
        };
        const errors = measureErrors(
          profits,
          all.map(({ error }) => error),
          confidence,
          weights,
        );
        const now = measures(profits);
        const truth = measures(all.map(({ profit, error, at }) => profit + at * error));
        // Rounding of sums of thirty numbers of size 1.
        expect(Math.abs(truth[0] - now[0])).toBeLessThanOrEqual(errors.valueAtRisk! + 1e-13);
        expect(Math.abs(truth[1] - now[1])).toBeLessThanOrEqual(errors.expectedShortfall! + 1e-13);
      }),
      { numRuns: 1000 },
    );
    // The second largest of three losses is known well, but may be the place of one that is not.
    expect(measureErrors([-3, -2, -1.9], [0, 0, 0.6], 0.5)).toEqual({
      valueAtRisk: expect.closeTo(0.5, 12) as number,
      expectedShortfall: expect.closeTo(0.5 / 3, 12) as number,
    });
  });

  test("has no confidence without a tail", async () => {
    for (const confidence of [0, 1, Number.NaN])
      expect(() => tailOf([1, 2], confidence)).toThrow("expected a share between 0 and 1");
    const { status, stderr } = await feynkac("var", book, "--scenarios", table, "--confidence", "100%");
    expect([status, stderr]).toEqual([2, expect.stringContaining("expected a share below 1") as string]);
  });
});

describe("under named scenarios price prints", () => {
  const run = async (...args: readonly string[]) =>
    (await feynkac("price", book, "--scenarios", table, "--threads", "1", ...args)).stdout;
  const NUMBER = String.raw`-?[\d,]+\.\d+`;
  const rowsOf = (stdout: string) =>
    Array.from(stdout.matchAll(new RegExp(`^(S\\d+) +(${NUMBER}) +(${NUMBER}) +\\S+$`, "gm")), ([, name, ...cells]) => {
      const [value, change] = cells.map((cell) => Number(cell.replaceAll(",", "")));
      return { name, value, change };
    });

  test("the total in the reporting currency and its change, the worst first", { timeout: 60_000 }, async () => {
    const rows = rowsOf(await run());
    expect(rows).toHaveLength(MOVES.length);
    const sum = (all: readonly number[]): number => all.reduce((total, one) => total + one, 0);
    const today = sum(await valuesAt({ sap: 0, ibm: 0, fx: 0, rate: 0 }));
    for (const { name, value, change } of [rows[0], rows[20]]) {
      const then = sum(await valuesAt(MOVES[Number(name.slice(1))]));
      expect(value).toBeCloseTo(then, 4);
      expect(change).toBeCloseTo(then - today, 4);
    }
    const changes = rows.map(({ change }) => change);
    expect(changes).toEqual(changes.toSorted((a, b) => a - b));
  });

  test("as many rows as are asked for, and how many there are", async () => {
    const stdout = await run("--rows", "4");
    expect(rowsOf(stdout).map(({ name }) => name)).toEqual(
      rowsOf(await run())
        .slice(0, 4)
        .map(({ name }) => name),
    );
    expect(stdout).toContain("… and 36 scenarios more: --rows all shows them");
  });

  test("on a screen what it takes", async () => {
    const lines = 40;
    const { terminal, stdout } = kept("", true, 100, lines);
    const args = ["price", book, "--scenarios", table, "--threads", "1"];
    await main(args, terminal, new AbortController().signal, openEngine);
    const shown = rowsOf(stdout());
    expect(stdout()).toContain(`… and ${MOVES.length - shown.length} scenarios more`);
    expect(shown.length).toBeGreaterThan(5);
    // One line is for the prompt.
    expect(stdout().split("\n").length).toBeLessThan(lines);
  });

  test("a table for each currency without one to report in, and what has no value", async () => {
    const own = at("currencies.json");
    const { reporting: _, ...rest } = market;
    const scenarios = [
      { name: "SKEW", moves: { skew: { SAP: 0.1 } } },
      { name: "DOWN", moves: { spot: { "*": -0.1 } } },
    ];
    writeFileSync(own, JSON.stringify({ asOf: "2026-11-20", market: rest, trades, scenarios }));
    const { stdout } = await feynkac("price", own, "--threads", "1");
    const [euros, dollars] = ["EUR", "USD"].map((currency) => stdout.split(`scenario, ${currency} `)[1]);
    expect(euros).toMatch(/^ *value +change +error\nDOWN .*\n1 scenario without a value of every trade/);
    expect(dollars).toMatch(/^ *value +change +error\nDOWN .*\nSKEW .* 0\.0+ +\S+\n/);
  });
});

test("--rows says how many parts and worst scenarios var lists", async () => {
  const run = async (rows: string) =>
    (await feynkac("var", book, "--scenarios", table, "--threads", "1", "--rows", rows)).stdout;
  const few = await run("2");
  expect(few).toContain("and 1 more: --rows all");
  expect(few).toContain("and 38 more: --rows all");
  const all = await run("all");
  expect(all).not.toContain("more");
  expect(all.match(/^S\d+/gm)).toHaveLength(MOVES.length);
});

describe("--approximate", () => {
  const run = async (...args: readonly string[]) => {
    const options = ["--scenarios", table, "--threads", "1", "--confidence", "0.9"];
    const found = await feynkac("var", book, ...options, ...args);
    expect(found.status).toBe(0);
    return found.stdout;
  };
  type Answer = BookRisk & {
    readonly method: string;
    readonly approximation: BookRisk & ComparedRisk & ApproximateRisk;
  };
  const answer = async (...args: readonly string[]) => JSON.parse(await run(...args, "--format", "json")) as Answer;

  test("has both risks, the error between them and its parts, in every output", { timeout: 60_000 }, async () => {
    const [report, pnl] = [at("approximate.html"), at("approximate.parquet")];
    const plain = await answer();
    const { approximation, ...full } = await answer("--approximate", "--report", report, "--pnl", pnl);
    expect(full).toEqual({ ...plain, method: "revaluation" });
    const rows = await parquetReadObjects({ file: new Uint8Array(readFileSync(pnl)).buffer });
    const total = (column: string): readonly number[] =>
      MOVES.map((_, s) => rows.reduce((sum, row) => sum + (row[column] as number[])[s], 0));
    const [exact, near] = [total("pnl"), total("approximation")];
    const errors = near.map((one, s) => one - exact[s]);
    const { error } = approximation;
    expect(error.rootMeanSquare).toBeCloseTo(Math.hypot(...errors) / Math.sqrt(errors.length), 9);
    expect(Math.abs(error.largest.value)).toBeCloseTo(Math.max(...errors.map(Math.abs)), 9);
    expect(error.trades.reduce((sum, one) => sum + one.rootMeanSquare, 0)).toBeCloseTo(error.rootMeanSquare, 9);
    // A forward is exact, and the put on the calmer underlying is not.
    expect(error.trades.at(-1)!.name).toBe("3");
    for (const of of ["valueAtRisk", "expectedShortfall"] as const) {
      expect(approximation[of].value - full[of].value).toBeCloseTo(error[of], 9);
      expect(Math.abs(error[of])).toBeLessThan(0.1 * full[of].value);
      expect(approximation[of].errorEstimate).toBeNull();
    }
    expect(approximation.worst[0].approximation).toBeCloseTo(Math.min(...near), 6);
    const text = await run("--approximate");
    expect(text).toMatch(/^trade +of root mean square$/m);
    expect(text).toMatch(/^worst by approximation +revaluation +approximation$/m);
    expect(readFileSync(report, "utf8")).toContain("differ by a root mean square of");
  });

  test("alone prices nothing under scenarios, and says so", async () => {
    const [report, pnl] = [at("only.html"), at("only.parquet")];
    const beside = await answer("--approximate");
    const only = await answer("--approximate", "only", "--report", report, "--pnl", pnl);
    expect(only).toMatchObject({ method: "approximation", approximation: { missing: [] } });
    for (const of of ["valueAtRisk", "expectedShortfall"] as const) expect(only[of]).toEqual(beside.approximation[of]);
    expect(await run("--approximate", "only")).toContain("all profits are approximated by the sensitivities of today");
    expect(readFileSync(report, "utf8")).toContain("approximated by the sensitivities of today");
    const [row] = await parquetReadObjects({ file: new Uint8Array(readFileSync(pnl)).buffer });
    expect(Object.keys(row)).toEqual(["id", "value", "approximation"]);
  });

  test("tells what has no sensitivity, and how many scenarios move it", async () => {
    const [moved, report] = [at("yields.csv"), at("yields.html")];
    writeFileSync(moved, "name,skew.SAP\nA,0.1\nB,0.2\nC,0\n");
    const sentence = "1 trade without sensitivity to the skew";
    const options = ["--scenarios", moved, "--threads", "1", "--approximate", "only", "--report", report];
    const { stdout } = await feynkac("var", book, ...options);
    expect(stdout).toContain(`${sentence} ("skew.SAP"), which 2 scenarios move: left out of the approximation`);
    expect(readFileSync(report, "utf8")).toContain(sentence);
  });
});

describe("--horizon", () => {
  const spanned = at("spanned.csv");
  const withSpan = (span: string): string =>
    `name,spot.SAP,horizon\n${MOVES.map(({ sap }, s) => `S${s},${sap},${span}`).join("\n")}\n`;
  const run = async (span: string, ...args: readonly string[]) => {
    writeFileSync(spanned, withSpan(span));
    const found = await feynkac("var", book, "--scenarios", spanned, "--threads", "1", "--confidence", "0.9", ...args);
    expect(found.status).toBe(0);
    return found.stdout;
  };
  type Answer = BookRisk & { readonly horizon: string; readonly span: string; readonly scaledBy: number };
  const answer = async (...args: Parameters<typeof run>) =>
    JSON.parse(await run(...args, "--format", "json")) as Answer;

  test("scales all profits by the square root of the ratio, and every output says so", async () => {
    const [report, pnl] = [at("scaled.html"), at("scaled.parquet")];
    const daily = await answer("1d");
    expect(daily).toMatchObject({ horizon: null, span: "1d", scaledBy: 1 });
    const scaled = await answer("1d", "--horizon", "2w", "--report", report, "--pnl", pnl);
    expect(scaled).toMatchObject({ horizon: "10d", span: "1d", value: daily.value });
    const root = Math.sqrt(10);
    expect(scaled.scaledBy).toBeCloseTo(root, 14);
    for (const of of ["valueAtRisk", "expectedShortfall"] as const) {
      expect(scaled[of].value).toBeCloseTo(root * daily[of].value, 9);
      expect(scaled[of].errorEstimate).toBeCloseTo(root * daily[of].errorEstimate!, 12);
      expect(scaled[of].samplingError).toBeCloseTo(root * daily[of].samplingError!, 9);
      const parts = scaled.components.trades.reduce((sum, part) => sum + part[of], 0);
      expect(parts).toBeCloseTo(scaled[of].value, 9);
    }
    expect(scaled.worst[0].profit).toBeCloseTo(root * daily.worst[0].profit, 9);
    const sentence = "those over 1d times √(10/1) = 3.16228, as if moves were independent from day to day";
    expect(readFileSync(report, "utf8")).toContain(sentence);
    const file = new Uint8Array(readFileSync(pnl)).buffer;
    const known = Object.fromEntries(parquetMetadata(file).key_value_metadata!.map(({ key, value }) => [key, value]));
    expect(known).toMatchObject({ "feynkac.horizon": "10d", "feynkac.span": "1d", "feynkac.scaledBy": String(root) });
    const [row] = await parquetReadObjects({ file });
    const worst = MOVES.findIndex((_, s) => `S${s}` === scaled.worst[0].scenario);
    expect((row["pnl"] as number[])[worst]).toBeCloseTo(scaled.worst[0].profit, 6);
    expect(await run("1d", "--horizon", "10d")).toContain(sentence);
  });

  test("is what scenarios span without being asked, and a label where that is unknown", async () => {
    expect(await run("10d")).toContain("40 scenarios over 10d\n");
    expect(await run("10d", "--horizon", "10d")).not.toContain("times");
    const [known, unknown] = [await answer("1d"), await answer("", "--horizon", "1m")];
    expect(unknown).toMatchObject({ horizon: "21d", span: null, scaledBy: 1, valueAtRisk: known.valueAtRisk });
    const report = at("label.html");
    const sentence = "10d is a label: the scenarios do not say what their moves span, and nothing is scaled";
    expect(await run("", "--horizon", "10d", "--report", report)).toContain(sentence);
    expect(readFileSync(report, "utf8")).toContain(sentence);
  });
});

describe("a table of scenarios that cannot be used names its place", () => {
  test.each([
    ["name,spot.SAQ\nA,0.1\n", 'column "spot.SAQ": no spot of "SAQ" (did you mean "SAP"?)'],
    ["name,spott.SAP\nA,0.1\n", 'column "spott.SAP": no factor (did you mean "spot.SAP"?)'],
    ["name,spot.SAP\nA,x\n", 'row 1, column "spot.SAP": expected a number from -1, got "x"'],
    ["name,spot.SAP\nA,-1\n", 'row 1, column "spot.SAP": expected a relative move above −1, got −1'],
    ["spot.SAP\n0.1\n", 'the table: expected a row for each scenario, with a column "name"'],
    ["name,spot.SAP\nA\n", "line 2: expected 2 cells"],
    ["name,weight,weight\nA,1,2\n", 'line 1: column "weight" is there twice'],
    ["name,horizon\nA,1 day\n", 'row 1, column "horizon": expected business days from 1d to 1000d, or 1w (5 of them)'],
    ["name,horizon\nA,5d\nB,1w\nC,\n", 'row 3, column "horizon": expected that of the first row, "5d", got ""'],
    ["name,rate.EUR,rate.EUR.5Y\nA,,0.1\nB,0.1,0.2\n", 'row 2, column "rate.EUR.5Y": expected moves of rate of "EUR"'],
  ])("%j", async (text, message) => {
    const file = at("bad.csv");
    writeFileSync(file, text);
    const { status, stderr } = await feynkac("price", book, "--scenarios", file, "--threads", "1");
    expect([status, stderr]).toEqual([2, expect.stringContaining(`${file}: ${message}`) as string]);
  });
});

test("names what its output cannot be, and says why trades have no value", async () => {
  const options = ["var", book, "--scenarios", table, "--threads", "1"];
  for (const output of [
    ["-o", at("r.csv")],
    ["--format", "parquet"],
    ["-o", at("r.txt"), "-o", at("r.json")],
  ]) {
    const { status, stderr } = await feynkac(...options, ...output);
    expect(status).toBe(2);
    expect(stderr).toMatch(/text or JSON, not (csv|parquet)|expected one file/);
  }
  const bad = at("bad.json");
  writeFileSync(bad, JSON.stringify({ asOf: "2026-11-20", market, trades: [trades[2], { ...trades[0], strike: -1 }] }));
  const { status, stderr } = await feynkac("var", bad, ...options.slice(2));
  expect([status, stderr]).toEqual([1, expect.stringContaining("trades[1].strike: ") as string]);
});

test("what results warn of is told", async () => {
  const doubtful = at("doubtful.json");
  const rates = { ...market.rates, EUR: 1.5 };
  writeFileSync(doubtful, JSON.stringify({ asOf: "2026-11-20", market: { ...market, rates }, trades }));
  const { status, stderr } = await feynkac("var", doubtful, "--scenarios", table);
  expect([status, stderr]).toEqual([0, expect.stringContaining("the rate of EUR is 150 %") as string]);
});
