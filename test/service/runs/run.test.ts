/** Runs in parts: what is written, what is resumed, what verify finds. */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { TradeResult } from "../../../src/book/index.ts";
import { isSameVersion, openRunBook, openStore } from "../../../src/service/runs/index.ts";
import { feynkac } from "../../cli/in-process.ts";
import { type FakeEngine, fakeEngine } from "../../cli/fake-engine.ts";

let folder: string;
let book: string;
let run: string;

const header = {
  asOf: "2026-11-20T16:00:00Z",
  market: { rates: { EUR: 0.05 }, underlyings: { ACME: { spot: 100, currency: "EUR", volatility: 0.2 } } },
};
const trade = (i: number): object => ({
  id: i % 5 === 0 ? `W${i}` : `T${i}`,
  underlying: "ACME",
  payoff: "put",
  strike: i === 7 ? -1 : 90 + i,
  expiry: 1,
  quantity: 1 + (i % 3),
});
const lines = (count: number, head: object = header): string =>
  [head, ...Array.from({ length: count }, (_, i) => trade(i))].map((line) => `${JSON.stringify(line)}\n`).join("");

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "feynkac-run-"));
  book = join(folder, "book.ndjson");
  run = join(folder, "run");
  writeFileSync(book, lines(25));
});
afterEach(() => rmSync(folder, { recursive: true }));

const parts = (): string[] => readdirSync(join(run, "parts")).sort();
const contents = (): Record<string, string> =>
  Object.fromEntries(parts().map((name) => [name, readFileSync(join(run, "parts", name), "base64")]));
const manifest = (): Record<string, unknown> => JSON.parse(readFileSync(join(run, "manifest.json"), "utf8"));
const price = (...more: string[]) => feynkac(["price", book, "--output", `${run}/`, "--chunk-trades", "10", ...more]);
const change = (name: string, at: number): void => {
  const path = join(run, name);
  const bytes = readFileSync(path);
  bytes[at] ^= 1;
  writeFileSync(path, bytes);
};

/** The stand-in of the pricer, in batches of three, with something done to each batch of results. */
function changing(change: (results: readonly TradeResult[]) => readonly TradeResult[]): FakeEngine {
  const engine = fakeEngine(3);
  return {
    ...engine,
    open: async (options) => {
      const opened = await engine.open(options);
      return {
        ...opened,
        async *priceTrades(...asked: Parameters<typeof opened.priceTrades>) {
          for await (const results of opened.priceTrades(...asked)) yield change(results);
        },
      };
    },
  };
}

describe("a run in parts", () => {
  test("has a part for each chunk, and a manifest", async () => {
    const { status, stdout, stderr } = await price();
    expect({ status, stdout }).toEqual({ status: 1, stdout: "" }); // one trade cannot be priced
    expect(stderr).toContain("25 trades in 3 parts, 1 trade not priced");
    expect(parts()).toHaveLength(3);
    expect(manifest()).toMatchObject({
      status: "complete",
      trades: 25,
      priced: 24,
      failed: 1,
      options: { greeks: "all", precision: "f64" },
      seed: 1,
      chunks: [
        { first: 0, rows: 10, outcome: { priced: 9, failed: 1 } },
        { first: 10, rows: 10 },
        { first: 20, rows: 5 },
      ],
    });
  });

  test.each(["json", "ndjson", "csv", "parquet"])("merged is what price writes as %s", async (format) => {
    await price();
    const [one, other] = [join(folder, "one"), join(folder, "other")];
    await feynkac(["price", book, "--format", format, "--output", one]);
    expect((await feynkac(["merge", run, "--format", format, "--output", other])).status).toBe(0);
    expect(readFileSync(other).equals(readFileSync(one))).toBe(true);
  });

  test("keeps scenarios, with each number at its place", async () => {
    // No two axes have the same length, and no two scenarios the same value.
    const axes = {
      time: [0, 0.5],
      spot: [-0.1, 0, 0.1, 0.2],
      volatility: [0, 0.01, 0.02, 0.03, 0.04],
      rate: [0, 0.01, 0.02],
    };
    const { time, spot, volatility, rate } = axes;
    writeFileSync(book, lines(25, { ...header, scenarios: axes }));
    const engine = changing((results) =>
      results.map((result) => {
        if (result.status !== "ok") return result;
        const errors = time.map((_, t) => volatility.map((_v, v) => rate.map((_r, r) => 100 * t + 10 * v + r)));
        const scenarios = errors.map((all) => spot.map((_, s) => all.map((row) => row.map((x) => x + 1000 * s))));
        return { ...result, scenarios, scenarioErrorEstimates: errors };
      }),
    );
    const [one, other] = [join(folder, "one.json"), join(folder, "other.json")];
    await feynkac(["price", book, "--output", one], { engine });
    await feynkac(["price", book, "--output", `${run}/`, "--chunk-trades", "10"], { engine });
    await feynkac(["merge", run, "--output", other]);
    expect(readFileSync(other, "utf8")).toBe(readFileSync(one, "utf8"));
    const { results } = JSON.parse(readFileSync(other, "utf8")) as { results: TradeResult[] };
    const [first] = results;
    if (first.status !== "ok") throw new Error(first.error.message);
    expect(first.scenarios?.[1][3][4][2]).toBe(3142);
    expect(first.scenarioErrorEstimates?.[1][4][2]).toBe(142);
  });

  test("with sums by bucket is what its manifest says", async () => {
    const engine = changing((results) =>
      results.map((result) => {
        const at = { expiry: "2027-11-20", strike: 100 };
        const bucket = { factor: "volatility", of: "ACME", at, value: 0.3, errorEstimate: null } as const;
        return result.status === "ok" ? { ...result, buckets: [bucket] } : result;
      }),
    );
    const args = ["price", book, "--greeks", "buckets", "--output", `${run}/`, "--chunk-trades", "10"];
    await feynkac(args, { engine });
    const { status, stdout } = await feynkac(["verify", run]);
    expect(stdout).toContain("3 of 3 parts");
    expect(status).toBe(0);
  });

  test("keeps the seed of its book, and that of each result", async () => {
    writeFileSync(book, lines(25, { ...header, seed: 77 }));
    const engine = changing((results) => results.map((one) => (one.status === "ok" ? { ...one, seed: 77 } : one)));
    await feynkac(["price", book, "--output", `${run}/`, "--chunk-trades", "10"], { engine });
    expect(manifest()).toMatchObject({ seed: 77 });
    const merged = await feynkac(["merge", run, "--format", "ndjson"]);
    const rows = merged.stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as { readonly id?: string; readonly seed?: number });
    expect(rows.filter(({ seed }) => seed === 77)).toHaveLength(24);
  });

  test("without trades is a run, too", async () => {
    writeFileSync(book, lines(0));
    expect((await price()).status).toBe(0);
    expect((await feynkac(["verify", run])).status).toBe(0);
    expect((await feynkac(["merge", run, "--format", "csv"])).stdout.split("\n")).toHaveLength(2);
  });

  test("is the same bytes in batches of any size", async () => {
    await price();
    const first = contents();
    rmSync(run, { recursive: true });
    await feynkac(["price", book, "--output", `${run}/`, "--chunk-trades", "10"], { engine: fakeEngine(3) });
    expect(contents()).toEqual(first);
  });
});

test.each(["json", "csv"])("tags by --keep, and merge --group-by, are those of one file: %s", async (format) => {
  const [table, market] = [join(folder, "trades.csv"), join(folder, "market.json")];
  const rows = Array.from({ length: 25 }, (_, i) => `T${i},ACME,put,${90 + i},1,${i % 3 === 0 ? "Paris" : "Rome"}`);
  writeFileSync(table, ["id,underlying,CallPut,strike,expiry,desk", ...rows].join("\n"));
  writeFileSync(market, JSON.stringify(header));
  const common = [table, "--market", market, "--keep", "desk", "--map", "CallPut=payoff"];
  const groups = format === "json" ? ["--group-by", "desk"] : [];
  const whole = await feynkac(["price", ...common, "--format", format, ...groups]);
  expect(whole.status).toBe(0);
  await feynkac(["price", ...common, "--output", `${run}/`, "--chunk-trades", "10"]);
  const merged = await feynkac(["merge", run, "--format", format, ...groups]);
  expect(merged.stdout).toContain("Paris");
  expect(merged.stdout).toBe(whole.stdout);
  const other = await feynkac(["price", table, "--market", market, "--output", `${run}/`, "--resume"]);
  expect(other).toMatchObject({ status: 2, stderr: expect.stringContaining("desk") });
  const keepOnly = ["--keep", "desk", "--output", `${run}/`, "--resume"];
  const unmapped = await feynkac(["price", table, "--market", market, "--map", "CallPut=id", ...keepOnly]);
  expect(unmapped).toMatchObject({ status: 2 });
});

describe("--resume", () => {
  test("prices what is missing or damaged, and nothing else", async () => {
    await price();
    const first = contents();
    const [missing, damaged] = parts();
    rmSync(join(run, "parts", missing));
    change(`parts/${damaged}`, 100);
    writeFileSync(join(run, "parts", ".00001-x.parquet.1.0.tmp"), "what a killed process left behind");
    const { stderr } = await price("--resume");
    expect(stderr).toContain("20 trades priced");
    expect(stderr).toContain("1 of 3 parts were there already");
    expect(contents()).toEqual(first);
  });

  test("prices a damaged part of an interrupted run again", async () => {
    await price();
    const whole = contents();
    rmSync(run, { recursive: true });
    let batches = 0;
    const engine = changing((results) => {
      if (++batches > 7) throw new Error("the power failed");
      return results;
    });
    await feynkac(["price", book, "--output", `${run}/`, "--chunk-trades", "10"], { engine });
    expect(manifest()).toMatchObject({ status: "running" });
    // Two parts of ten trades were ended, and each has its receipt.
    const [damaged] = parts().filter((name) => name.endsWith(".parquet"));
    expect(parts().filter((name) => name.endsWith(".json"))).toHaveLength(2);
    change(`parts/${damaged}`, 100);
    const { stderr } = await price("--resume");
    expect(stderr).toContain("15 trades priced");
    expect(stderr).toContain("1 of 3 parts were there already");
    expect(contents()).toEqual(whole);
  });

  test("names each device that has priced a part, once", async () => {
    const on = (name: string): FakeEngine => {
      const engine = fakeEngine();
      const device = { backend: "cpu", name } as const;
      return { ...engine, open: async (options) => ({ ...(await engine.open(options)), device }) };
    };
    const priceOn = (name: string, ...more: string[]) =>
      feynkac(["price", book, "--output", `${run}/`, "--chunk-trades", "10", ...more], { engine: on(name) });
    const devices = (): unknown => manifest()["devices"];
    await priceOn("first");
    expect(devices()).toEqual([{ backend: "cpu", name: "first" }]);
    rmSync(join(run, "parts", parts()[1]));
    await priceOn("second", "--resume");
    expect(devices()).toEqual(["first", "second"].map((name) => ({ backend: "cpu", name })));
  });

  test("prices nothing of a complete run", async () => {
    await price();
    expect((await price("--resume")).stderr).toContain("0 trades priced");
  });

  test("begins where nothing is", async () => {
    expect((await price("--resume")).stderr).toContain("25 trades priced");
  });

  test.each([
    ["without it", () => {}, [], "has a run already: --resume continues it; or choose another folder"],
    ["another book", () => writeFileSync(book, lines(24)), ["--resume"], "is not what it was when this run began"],
    [
      "another market",
      () => writeFileSync(book, readFileSync(book, "utf8").replace('"EUR":0.05', '"EUR":0.06')),
      ["--resume"],
      "its market is not what it was",
    ],
    ["other options", () => {}, ["--resume", "--greeks", "none"], "begun with greeks all, got none"],
    [
      "another accuracy",
      () => {},
      ["--resume", "--accuracy", "1e-6"],
      "begun with accuracy as by default, got 0.000001",
    ],
    [
      "another version",
      () => writeFileSync(join(run, "manifest.json"), JSON.stringify({ ...manifest(), feynkac: { version: "9.9.9" } })),
      ["--resume"],
      "this run is of feynkac 9.9.9",
    ],
    ["no manifest", () => writeFileSync(join(run, "manifest.json"), "{}"), ["--resume"], "not the manifest of a run"],
    ["no JSON", () => writeFileSync(join(run, "manifest.json"), "{"), ["--resume"], "manifest.json: not JSON"],
  ] as const)("refuses %s", async (_, prepare, options, message) => {
    await price();
    prepare();
    const { status, stderr } = await price(...options);
    expect(stderr).toContain(message);
    expect(status).toBe(2);
  });

  test("is refused of a file, and of standard input", async () => {
    const file = await feynkac(["price", book, "--output", join(folder, "a.json"), "--resume"]);
    expect(file).toMatchObject({ status: 2, stderr: "feynkac: --resume continues a run in parts: --output FOLDER/\n" });
    const stdin = await feynkac(["price", "-", "--output", `${run}/`], { stdin: lines(1) });
    expect(stdin.status).toBe(2);
    expect(stdin.stderr).toContain("reads its book more than once: give a file instead of standard input");
  });
});

describe("verify", () => {
  test("finds nothing wrong with a run as it was made", async () => {
    await price();
    const { status, stdout } = await feynkac(["verify", run]);
    expect(stdout).toContain("3 of 3 parts with 25 results are as the manifest says");
    expect(status).toBe(0);
  });

  const edited = (edit: (text: string) => string): void => {
    const path = join(run, "manifest.json");
    const before = readFileSync(path, "utf8");
    writeFileSync(path, edit(before));
    expect(readFileSync(path, "utf8")).not.toBe(before);
  };

  test.each<[string, () => void, string]>([
    ["a missing part", () => rmSync(join(run, "parts", parts()[1])), "missing"],
    ["a changed byte", () => change(`parts/${parts()[2]}`, 200), "other bytes than its hash says"],
    [
      "other counts",
      () => edited((text) => text.replace('"priced":9,"failed":1', '"priced":10,"failed":0')),
      "9 priced",
    ],
    [
      "another count alone",
      () => edited((text) => text.replace('"priced":9,"failed":1', '"priced":9,"failed":2')),
      "9 priced and 1 failed, the manifest says 9 and 2",
    ],
    ["other totals", () => edited((text) => text.replace(/"value":(\d)/, '"value":1$1')), "sums of the parts' totals"],
    ["a count of failures", () => edited((text) => text.replace('"failed": 1', '"failed": 2')), "the manifest says 2"],
    ["a count of trades", () => edited((text) => text.replace('"trades": 25', '"trades": 26')), "25 trades"],
    ["a gap", () => edited((text) => text.replace('"first":10', '"first":11')), "begins at trade 11, expected 10"],
    ["a run under way", () => edited((text) => text.replace('"complete"', '"running"')), "not complete"],
  ])("finds %s", async (_, damage, message) => {
    await price();
    damage();
    const { status, stdout } = await feynkac(["verify", run]);
    expect(stdout).toContain(message);
    expect(status).toBe(1);
  });

  test("a book of another length, or with another market, is not opened for the run", async () => {
    await price();
    await using open = await openRunBook(await openStore(run), manifest() as never);
    expect(open.file.byteLength).toBe(readFileSync(book).length);
    const whole = readFileSync(book, "utf8");
    writeFileSync(book, whole.replace('"spot":100', '"spot":101'));
    await expect(openRunBook(await openStore(run), manifest() as never)).rejects.toThrow(
      "its market is not what it was when this run began",
    );
    writeFileSync(book, whole);
    // The market is the same, and so are the trades that the manifest knows of.
    writeFileSync(book, `${readFileSync(book, "utf8")}${JSON.stringify(trade(25))}\n`);
    await expect(openRunBook(await openStore(run), manifest() as never)).rejects.toThrow(
      "is not what it was when this run began",
    );
  });

  test("--reprice compares a sample to the bit", async () => {
    await price();
    const same = await feynkac(["verify", run, "--reprice", "100%"]);
    expect(same.stdout).toContain("25 priced again, 0 of them differ");
    const some = await feynkac(["verify", run, "--reprice", "0.5"]);
    expect(some.stdout).toMatch(/\b[1-9]\d* priced again, 0 of them differ/);
    const engine = changing((results) =>
      results.map((one) => (one.status === "ok" ? { ...one, value: one.value * (1 + 2 ** -52) } : one)),
    );
    const other = await feynkac(["verify", run, "--reprice", "0.5"], { engine });
    expect(other.status).toBe(1);
    expect(other.stdout).toMatch(/trade \d+ \(T\d+\): was .* is now /);
  });

  test("of a folder without a run is an error", async () => {
    mkdirSync(run);
    const { status, stderr } = await feynkac(["verify", run]);
    expect(status).toBe(2);
    expect(stderr).toContain("there is no run: expected a folder with manifest.json");
  });
});

test("versions are the same whose commits are, where both are known", () => {
  const of = (version: string, commit?: string) => ({ version, ...(commit === undefined ? {} : { commit }) });
  expect(isSameVersion(of("1.2.3", "abc"), of("1.2.3", "abc"))).toBe(true);
  expect(isSameVersion(of("1.2.3", "abc"), of("1.2.3", "abd"))).toBe(false);
  expect(isSameVersion(of("1.2.3", "abc"), of("1.2.3"))).toBe(true);
  expect(isSameVersion(of("1.2.3", "abc"), of("1.2.4", "abc"))).toBe(false);
});
