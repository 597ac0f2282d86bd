/** Runs in parts under named scenarios: what they hold, what they are resumed with, and what a killed one ends with. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import type { BookReport } from "../../../src/book/index.ts";
import { openEngine } from "../../../src/cli/engine.ts";
import { main } from "../../../src/cli/main.ts";
import { kept } from "../../cli/in-process.ts";
import { counted } from "../../support/extent.ts";
import { bundled, programFolder } from "../../support/program.ts";
import { hashesOf, priceKilled, random, runOrKill } from "./killed.ts";

const folder = mkdtempSync(join(tmpdir(), "feynkac-run-scenarios-"));
const programs = programFolder();
afterAll(() => {
  rmSync(folder, { recursive: true });
  rmSync(programs, { recursive: true });
});
const at = (name: string): string => join(folder, name);

const header = {
  asOf: "2026-11-20T16:00:00Z",
  market: {
    reporting: "EUR",
    rates: { EUR: 0.05, USD: 0.04 },
    fx: { EURUSD: { rate: 1.1, date: "2026-11-24" } },
    underlyings: {
      ACME: { spot: 100, currency: "EUR", volatility: 0.2 },
      IBM: { spot: 250, currency: "USD", volatility: 0.3 },
    },
  },
};
/** Options of two underlyings, some American, forwards, a trade that cannot be read. */
const trade = (i: number): object => {
  const underlying = i % 3 === 0 ? "IBM" : "ACME";
  const strike = (underlying === "IBM" ? 250 : 100) * (0.85 + (i % 7) / 20);
  const terms = { id: `T${i}`, underlying, expiry: 0.3 + (i % 5) / 4, quantity: (i % 4) - 1.5, tags: { desk: i % 2 } };
  if (i % 11 === 5) return { ...terms, forward: strike };
  if (i === 7) return { ...terms, payoff: "put", strike: -1 };
  return { ...terms, payoff: i % 2 === 0 ? "put" : "call", strike, exercise: i % 5 === 0 ? "american" : "european" };
};
const book = at("book.ndjson");
const lines = (count: number): string =>
  [header, ...Array.from({ length: count }, (_, i) => trade(i))].map((one) => JSON.stringify(one)).join("\n");
writeFileSync(book, lines(60));

/** Scenarios of which so many differ in volatility and rates that values are interpolated between nodes. */
const MOVES = Array.from({ length: 70 }, (_, s) => ({
  spot: Number((0.1 * Math.sin(7 * s + 1)).toFixed(6)),
  volatility: Number((0.03 * Math.cos(5 * s)).toFixed(6)),
  rate: Number((0.002 * Math.cos(11 * s)).toFixed(6)),
  fx: Number((0.03 * Math.sin(3 * s)).toFixed(6)),
}));
const table = at("scenarios.csv");
const tableText = (moves: typeof MOVES): string =>
  [
    "name,spot.*,spot.IBM,volatility.*,rate.EUR,fx.EURUSD",
    ...moves.map(
      ({ spot, volatility, rate, fx }, s) => `S${s},${spot},${s % 2 === 0 ? -spot : ""},${volatility},${rate},${fx}`,
    ),
  ].join("\n");
writeFileSync(table, tableText(MOVES));

async function feynkac(...args: readonly string[]): Promise<{ status: number; stdout: string; stderr: string }> {
  const { terminal, stdout, stderr } = kept();
  const status = await main(args, terminal, new AbortController().signal, openEngine);
  return { status, stdout: stdout(), stderr: stderr() };
}

const price = (run: string, ...more: readonly string[]) =>
  feynkac("price", book, "--output", `${at(run)}/`, "--chunk-trades", "13", "--threads", "1", ...more);

test(
  "merged and grouped, a run is what price writes, whose totals are sums of its trades",
  { timeout: 60_000 },
  async () => {
    const grouped = ["--group-by", "desk,underlying"];
    expect((await price("run", "--scenarios", table)).status).toBe(1); // one trade cannot be priced
    await feynkac(
      "price",
      book,
      "--scenarios",
      table,
      "--threads",
      "1",
      "-o",
      at("one.json"),
      "-o",
      at("one.parquet"),
      ...grouped,
    );
    expect(
      (await feynkac("merge", at("run"), "-o", at("other.json"), "-o", at("other.parquet"), ...grouped)).stderr,
    ).toBe("");
    for (const format of ["json", "parquet"])
      expect(readFileSync(at(`other.${format}`)).equals(readFileSync(at(`one.${format}`)))).toBe(true);
    const report = JSON.parse(readFileSync(at("other.json"), "utf8")) as BookReport;
    expect(report.scenarioNames).toEqual(MOVES.map((_, s) => `S${s}`));
    const manifest = JSON.parse(readFileSync(join(at("run"), "manifest.json"), "utf8")) as BookReport;
    for (const { currency, scenarioValues, scenarioValueErrorEstimates } of manifest.totals) {
      const own = report.results.flatMap((one) => (one.status === "ok" && one.currency === currency ? [one] : []));
      MOVES.forEach((_, s) => {
        const sum = own.reduce((total, one) => total + one.quantity * one.scenarioValues![s]!, 0);
        const error = own.reduce(
          (total, one) => total + Math.abs(one.quantity) * one.scenarioValueErrorEstimates![s]!,
          0,
        );
        expect(scenarioValues![s]).toBeCloseTo(sum, 9);
        expect(scenarioValueErrorEstimates![s]).toBeCloseTo(error, 9);
      });
    }
    expect(manifest.totals.map(({ currency }) => currency)).toEqual(["USD", "EUR"]);
    const verified = await feynkac("verify", at("run"), "--reprice", "30%", "--threads", "1");
    expect(verified.stdout).toContain("0 of them differ");
    expect(verified.status).toBe(0);
  },
);

test("a run keeps moves by maturity", { timeout: 60_000 }, async () => {
  const [few, byMaturity] = [at("few.ndjson"), at("maturities.csv")];
  writeFileSync(few, lines(5));
  writeFileSync(byMaturity, "name,rate.USD.6M,rate.USD.2Y,rate.EUR\nA,0.01,-0.02,\nB,,0.01,0.01\n");
  const args = ["price", few, "--scenarios", byMaturity, "--threads", "1"];
  expect((await feynkac(...args, "-o", `${at("maturities")}/`)).status).toBe(0);
  expect((await feynkac("verify", at("maturities"), "--reprice", "100%")).stdout).toContain("0 of them differ");
  await feynkac(...args, "-o", at("few.json"));
  await feynkac("merge", at("maturities"), "-o", at("merged.json"));
  expect(readFileSync(at("merged.json"), "utf8")).toBe(readFileSync(at("few.json"), "utf8"));
});

test(
  "a run is resumed with the scenarios that it began with, whatever file has them",
  { timeout: 60_000 },
  async () => {
    expect((await price("other", "--scenarios", table)).status).toBe(1);
    const copy = at("copy.csv");
    writeFileSync(copy, tableText(MOVES).replaceAll("\n", "\r\n").replaceAll("0.1,", "0.10,"));
    expect((await price("other", "--scenarios", copy, "--resume")).stderr).toContain("5 of 5 parts were there already");
    writeFileSync(copy, tableText(MOVES.with(3, { ...MOVES[3], rate: 0.01 })));
    for (const more of [["--scenarios", copy], []]) {
      const { status, stderr } = await price("other", "--resume", ...more);
      expect(stderr).toContain(`--resume: the run was begun with --scenarios ${table}, got `);
      expect(status).toBe(2);
    }
    const stored = join(at("other"), "scenarios.json");
    writeFileSync(stored, readFileSync(stored, "utf8").replace("S1", "S_"));
    const { status, stdout } = await feynkac("verify", at("other"));
    expect(stdout).toContain("scenarios.json: other scenarios than those with which the run began");
    expect(status).toBe(1);
  },
);

test(
  "a run that is killed at random moments ends with the bytes of one that was not",
  { timeout: 120_000 },
  async () => {
    const program = bundled('import { runFromShell } from "./src/cli/main.ts";\nawait runFromShell();', programs);
    const many = at("many.ndjson");
    writeFileSync(many, lines(400).replace(',"strike":-1', ',"strike":80'));
    const args = (name: string): string[] => [
      "price",
      many,
      "--scenarios",
      table,
      "--chunk-trades",
      "20",
      "--threads",
      "1",
      "--output",
      `${at(name)}/`,
    ];
    const began = performance.now();
    expect(await runOrKill(program, args("whole"))).toBe(0);
    const longest = performance.now() - began;
    const killed = await priceKilled(program, args("killed"), {
      kills: counted("FEYNKAC_KILLS", 2, 6),
      longest,
      random: random(3),
    });
    expect(killed).toBeGreaterThan(0);
    expect(hashesOf(at("killed"))).toEqual(hashesOf(at("whole")));
  },
);
