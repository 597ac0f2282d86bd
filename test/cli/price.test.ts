import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { asyncBufferFromFile, parquetMetadataAsync, parquetReadObjects } from "hyparquet";
import { parquetWriteBuffer } from "hyparquet-writer";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { BookReport } from "../../src/book/index.ts";
import { asOf, book, market, trade } from "../book/books.ts";
import { fakeEngine } from "./fake-engine.ts";
import { feynkac } from "./in-process.ts";
import { readMessages } from "../output/read-arrow.ts";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "feynkac-cli-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

function file(name: string, content: unknown): string {
  const path = join(folder, name);
  writeFileSync(path, typeof content === "string" ? content : JSON.stringify(content));
  return path;
}

const two = book(trade({ id: "A", strike: 110, quantity: -2 }), trade({ id: "B", payoff: "call", strike: 90 }));
const header = { asOf, market: market() };

describe("results", () => {
  test("as a table: rows, totals by currency, nothing but results on standard output", async () => {
    const { status, stdout, stderr } = await feynkac(["price", file("two.json", two)]);
    expect(status).toBe(0);
    expect(stdout).toBe(
      [
        "trade     value    delta     gamma     theta     vega  rho   error  method",
        "A      10.00000  0.50000  0.012500  -1.50000  39.2500    –  1.5e-5  intrinsic",
        "B      10.00000  0.50000  0.012500  -1.50000  39.2500    –  1.5e-5  intrinsic",
        "",
        "total × quantity  trades       value  cash delta      theta  rho   error",
        "EUR                    2  -10.000000  -50.000000  1.5000000    –  4.6e-5",
        "",
        "underlying       trades        delta        gamma        vega  cash delta",
        "ACME        EUR       2  -0.50000000  -0.01250000  -39.250000  -50.000000",
        "",
      ].join("\n"),
    );
    expect(stderr).toMatch(/^2 trades priced in \d+\.\d\d s \([\d,]+ a second\); fake, f64\n$/);
  });

  test("as one JSON object, a BookReport", async () => {
    const { stdout } = await feynkac(["price", file("two.json", two), "--format", "json"]);
    const report = JSON.parse(stdout) as BookReport;
    expect(Object.keys(report)).toEqual(["asOf", "device", "results", "priced", "failed", "totals"]);
    expect(report.results.map(({ id, value }) => [id, value])).toEqual([
      ["A", 10],
      ["B", 10],
    ]);
    expect(report.totals).toEqual([
      {
        currency: "EUR",
        trades: 2,
        value: -10,
        cashDelta: -50,
        theta: 1.5,
        rho: null,
        errorEstimate: 3 * 2 ** -16,
        underlyings: [{ underlying: "ACME", trades: 2, delta: -0.5, gamma: -0.0125, vega: -39.25, cashDelta: -50 }],
      },
    ]);
  });

  test("as NDJSON, with exactly the fields of the book's design", async () => {
    const { stdout } = await feynkac([
      "price",
      file("bad.json", book(trade(), trade({ id: "X", strike: -5 }))),
      "--format",
      "ndjson",
    ]);
    const [priced, failed] = stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    const fields = [
      "id",
      "underlying",
      "currency",
      "quantity",
      "status",
      "value",
      "delta",
      "gamma",
      "theta",
      "vega",
      "rho",
      "errorEstimate",
      "method",
      "precision",
      "backend",
      "warnings",
    ];
    expect(Object.keys(priced)).toEqual(fields);
    // What could not be read has no underlying.
    expect(Object.keys(failed)).toEqual(["id", ...fields.slice(4), "error"]);
    expect(failed.error).toEqual({
      code: "BOOK",
      path: "trades[1].strike",
      message: "trades[1].strike: expected a positive number, got -5",
    });
  });

  test("as CSV, errors as text", async () => {
    const { stdout, status } = await feynkac([
      "price",
      file("bad.json", book(trade({ id: 'a,"b"' }), trade({ strike: "x" }))),
      "--format",
      "csv",
    ]);
    expect(status).toBe(1);
    expect(stdout.split("\n")).toEqual([
      "id,underlying,currency,quantity,status,value,delta,gamma,theta,vega,rho,errorEstimate,method,seed,precision,backend,warnings,error",
      '"a,""b""",ACME,EUR,1,ok,0,0.5,0.0125,-1.5,39.25,,0.0000152587890625,intrinsic,,f64,cpu,,',
      'T1,,,,error,,,,,,,,,,,,,"trades[1].strike: expected a positive number, got ""x"""',
      "",
    ]);
  });

  test("in several formats from one run, each as it is alone", async () => {
    const path = file(
      "tagged.json",
      book(trade({ id: "A", strike: 110, tags: { desk: "Paris" } }), trade({ id: "B" })),
    );
    for (const more of [[], ["--group-by", "desk"]]) {
      const outputs = ["r.json", "r.ndjson", "r.csv", "r.parquet", "r.arrow", "r.txt"].map((name) =>
        join(folder, name),
      );
      const { status, stdout, engine } = await feynkac([
        "price",
        path,
        ...more,
        ...[...outputs, "-"].flatMap((output) => ["-o", output]),
        "--format",
        "csv",
      ]);
      expect([status, engine.asked.length]).toEqual([0, 1]);
      expect(stdout).toBe(readFileSync(outputs[2], "utf8"));
      for (const output of outputs) {
        const together = readFileSync(output);
        await feynkac(["price", path, ...more, "-o", output]);
        expect(readFileSync(output).equals(together)).toBe(true);
      }
    }
  });

  test("of several outputs none appears unless all can be written, and each must be told by its name", async () => {
    const path = file("two.json", two);
    const at = join(folder, "first.csv");
    const failureOf = async (...args: string[]) => (await feynkac(["price", path, ...args])).stderr;
    expect(await failureOf("-o", at, "-o", join(folder, "none", "x.json"))).toContain("there is no such folder");
    expect(await failureOf("-o", at, "-o", join(folder, ".", "first.csv"))).toContain("is given twice");
    expect(await failureOf("-o", at, "-o", join(folder, "x.json"), "--format", "csv")).toContain("leave it out");
    expect(await failureOf("-o", at, "-o", `${folder}/`)).toContain("merge it into files");
    expect(readdirSync(folder).filter((name) => name.includes("first"))).toEqual([]);
  });

  test("under scenarios: in the results, and as totals in the table", async () => {
    const path = file("scenarios.json", { ...two, scenarios: { spot: [-0.1, 0] } });
    const { stdout } = await feynkac(["price", path, "--format", "json"]);
    const report = JSON.parse(stdout) as BookReport;
    expect(report.scenarios).toEqual({ time: [0], spot: [-0.1, 0], volatility: [0], rate: [0] });
    expect(report.results.map((result) => result.status === "ok" && result.scenarios)).toEqual([
      [[[[10]], [[11]]]],
      [[[[10]], [[11]]]],
    ]);
    expect(report.totals[0].scenarios).toEqual([[[[-10]], [[-11]]]]);
    const table = await feynkac(["price", path]);
    expect(table.stdout).toContain("EUR, rates 0       vol 0\nspot -10 %    -10.000000\nspot 0 %      -11.000000\n");
  });

  test("under scenarios at later dates: a table for each", async () => {
    const path = file("later.json", { ...two, scenarios: { time: [0, 7 / 365, 0.123], spot: [-0.1, 0] } });
    const { stdout } = await feynkac(["price", path]);
    expect(stdout).toContain("EUR, rates 0       vol 0\nspot -10 %    -10.000000\nspot 0 %      -11.000000\n");
    expect(stdout).toMatch(/\nEUR, \+7 days, rates 0 +vol 0\nspot -10 % +-110.00000\n/);
    expect(stdout).toMatch(/\nEUR, \+0.123 years, rates 0 +vol 0\nspot -10 % +-210.00000\n/);
  });

  test("of an empty book", async () => {
    const path = file("empty.json", book());
    expect(await feynkac(["price", path])).toMatchObject({ status: 0, stdout: "no trades\n" });
    const { stdout } = await feynkac(["price", path, "--format", "json"]);
    expect(JSON.parse(stdout)).toMatchObject({ results: [], priced: 0, failed: 0, totals: [] });
  });

  test("errors are listed under the table, made safe for a terminal", async () => {
    const { stdout, status } = await feynkac([
      "price",
      file("bad.json", book(trade({ id: "\u001b[31mX", strike: -5 }), trade())),
    ]);
    expect(status).toBe(1);
    expect(stdout).toContain("\n1 trade not priced:\n  �[31mX: trades[0].strike: expected a positive number, got -5\n");
  });

  test("an error of several lines keeps them, so that its caret stands under the place", async () => {
    const broken = { expression: "max(S - 100" };
    const { stdout } = await feynkac([
      "price",
      file("formula.json", book(trade({ id: "F", payoff: broken, strike: undefined }))),
    ]);
    const lines = stdout.split("\n");
    const caret = lines.findIndex((line) => line.trim() === "^");
    expect(caret).toBeGreaterThan(0);
    expect(lines[caret - 1].trim()).toBe("max(S - 100");
    expect(stdout).not.toContain("\ufffd");
  });

  test("a later block with longer names gets its own titles, so that columns stay aligned", async () => {
    const ids = ["A", "B", "a-name-that-is-longer", "C"];
    const path = file("blocks.json", book(...ids.map((id) => trade({ id }))));
    const { stdout } = await feynkac(["price", path], { engine: fakeEngine(2) });
    const lines = stdout.split("\n");
    expect(lines.slice(3, 5)).toEqual(["", expect.stringMatching(/^trade {18}/)]);
    expect(lines[5].indexOf("intrinsic")).toBe(lines[4].indexOf("method"));
    expect(lines[6].indexOf("intrinsic")).toBe(lines[4].indexOf("method"));
  });

  test("warnings stand under the table, each once", async () => {
    const path = file("warned.json", book(...["W1", "B", "W2", "W3"].map((id) => trade({ id }))));
    expect((await feynkac(["price", path])).stdout).toContain("\nwarnings:\n  W1 and 2 more: a warning\n");
    expect((await feynkac(["price", file("two.json", two)])).stdout).not.toContain("warning");
  });

  test("a narrow terminal gets the columns that fit, and the names of the others", async () => {
    const path = file("two.json", two);
    const narrow = await feynkac(["price", path], { tty: true, columns: 60 });
    const rows = narrow.stdout.split("\n").filter((line) => !line.startsWith("no room"));
    expect(Math.max(...rows.map(({ length }) => length))).toBeLessThanOrEqual(60);
    expect(narrow.stdout).toMatch(/^trade +value +delta +gamma +theta +error\n/);
    expect(narrow.stdout).toContain("\nno room for theta, vega, rho, method, cash delta (see --format csv)\n");
    expect((await feynkac(["price", path], { tty: true })).stdout).not.toContain("no room");
  });

  test("a long table is cut on a terminal, unless asked for in full; never in a pipe", async () => {
    const long = file("long.json", book(...Array.from({ length: 250 }, (_, i) => trade({ id: `T${i}` }))));
    const rows = (stdout: string): number => stdout.split("\n").filter((line) => /^T\d+ /.test(line)).length;
    const cut = await feynkac(["price", long], { tty: true });
    const shown = cut.stdout.split("\n").flatMap((line) => /^T\d+/.exec(line) ?? []);
    expect(shown).toEqual(["T0", "T1", "T2", "T3", "T4", "T248", "T249"]);
    expect(cut.stdout).toContain("… 243 more rows: --rows all shows them, --output FILE writes them\n");
    expect(cut.stdout.split("\n").length).toBeLessThanOrEqual(24 - 2); // the summary and the prompt
    expect(cut.stdout).toMatch(/\nEUR +250 /);
    expect(rows((await feynkac(["price", long], { tty: true, rows: 60 })).stdout)).toBe(43);
    expect(rows((await feynkac(["price", long, "--rows", "all"], { tty: true })).stdout)).toBe(250);
    expect(rows((await feynkac(["price", long, "--rows", "1"], { tty: true })).stdout)).toBe(1);
    expect(rows((await feynkac(["price", long])).stdout)).toBe(250);
    expect(rows((await feynkac(["price", long, "--rows", "12"])).stdout)).toBe(12);
    expect((await feynkac(["price", long, "--rows", "0"])).stderr).toContain("expected a whole number from 1 on");
  });

  test("the last rows are wider: no line of a narrow terminal is", async () => {
    const ids = Array.from({ length: 100 }, (_, i) => (i < 90 ? `T${i}` : `a-name-that-is-longer-${i}`));
    const path = file("wider.json", book(...ids.map((id) => trade({ id }))));
    const { stdout } = await feynkac(["price", path], { tty: true, columns: 70 });
    const lines = stdout.split("\n").filter((line) => !/^(?:no room|…)/.test(line));
    expect(Math.max(...lines.map(({ length }) => length))).toBeLessThanOrEqual(70);
    expect(stdout).toContain("a-name-that-is-longer-99 ");
  });

  test("errors by the thousand: the first of them, then how many of each kind; in a pipe all", async () => {
    const wrong = (i: number) => trade({ id: `T${i}`, ...(i % 4 === 0 ? { underlying: "ACMA" } : { strike: -5 }) });
    const path = file("wrong.json", book(...Array.from({ length: 1000 }, (_, i) => wrong(i))));
    const { stdout } = await feynkac(["price", path], { tty: true });
    const lines = stdout.split("\n");
    expect(lines.filter((line) => /^ {2}T\d+: trades/.test(line))).toHaveLength(20);
    expect(lines.slice(-4)).toEqual([
      "  … and 980 more:",
      "    735 × strike: expected a positive number, got -5",
      '    245 × underlying: unknown underlying "ACMA" (did you mean "ACME"?)',
      "",
    ]);
    const all = (await feynkac(["price", path])).stdout;
    expect(all.split("\n").filter((line) => /^ {2}T\d+: trades/.test(line))).toHaveLength(1000);
    expect(all).not.toContain("more:");
  });
});

describe("input", () => {
  const ndjson = [header, trade({ id: "A" }), trade({ id: "B" })].map((line) => JSON.stringify(line)).join("\n");
  const csv = "id,underlying,payoff,strike,expiry\nA,ACME,put,100,1\nB,ACME,call,100,2027-11-20\n";
  const ids = (stdout: string): unknown[] =>
    stdout
      .trimEnd()
      .split("\n")
      .map((line) => (JSON.parse(line) as { id: unknown }).id);

  test("NDJSON and CSV, by their names", async () => {
    expect(ids((await feynkac(["price", file("x.ndjson", ndjson), "--format", "ndjson"])).stdout)).toEqual(["A", "B"]);
    const marketFile = file("market.json", header);
    expect(
      ids((await feynkac(["price", file("x.csv", csv), "--market", marketFile, "--format", "ndjson"])).stdout),
    ).toEqual(["A", "B"]);
  });

  test.each([
    ["JSON", JSON.stringify(book(trade({ id: "A" }), trade({ id: "B" })), undefined, 2), []],
    ["JSON on one line", JSON.stringify(book(trade({ id: "A" }), trade({ id: "B" }))), []],
    ["NDJSON", ndjson, []],
    ["CSV", csv, ["--market", "MARKET"]],
  ])("%s on standard input is recognised", async (_name, stdin, options) => {
    const marketFile = file("market.json", header);
    const args = [
      "price",
      "-",
      "--format",
      "ndjson",
      ...options.map((option) => (option === "MARKET" ? marketFile : option)),
    ];
    const outcome = await feynkac(args, { stdin });
    expect(outcome.stderr).toMatch(/^2 trades priced/);
    expect(ids(outcome.stdout)).toEqual(["A", "B"]);
  });

  test("a market comes from standard input where trades are a file", async () => {
    const args = ["price", file("x.csv", csv), "--market", "-", "--format", "ndjson"];
    const outcome = await feynkac(args, { stdin: JSON.stringify(header) });
    expect(outcome.stderr).toMatch(/^2 trades priced/);
    expect(ids(outcome.stdout)).toEqual(["A", "B"]);
  });

  test("a market that cannot be used says which of the two files it is", async () => {
    const trades = file("x.csv", csv);
    for (const [market, message] of [
      [trades, 'not JSON: line 1, column 1: expected a value, got "i"'],
      [
        file("early.json", { ...header, asOf: "soon" }),
        'asOf: expected an ISO date or instant ("2026-11-20T16:00:00Z"), got "soon"',
      ],
    ]) {
      const outcome = await feynkac(["price", trades, "--market", market]);
      expect(outcome).toMatchObject({ status: 2, stdout: "", stderr: `feynkac: ${market}: ${message}\n` });
    }
  });

  test("a row with a cell that is not JSON keeps its id", async () => {
    const rows = "id,underlying,payoff,strike,expiry,exercise\nA,ACME,put,100,1,[0.5\nB,ACME,call,100,1,\n";
    const marketFile = file("market.json", header);
    const outcome = await feynkac(["price", file("x.csv", rows), "--market", marketFile, "--format", "ndjson"]);
    expect(outcome.status).toBe(1);
    expect(ids(outcome.stdout)).toEqual(["A", "B"]);
  });

  test.each([
    [["price", "nowhere.json"], "feynkac: cannot read nowhere.json: there is no such file\n"],
    [["price", "/"], "feynkac: cannot read /: it is a directory\n"],
    [["price", "-"], "feynkac: expected JSON, got nothing\n"],
    [
      ["price", "-", "--input-format", "csv"],
      "feynkac: a table of trades needs a market beside it: --market MARKET.json\n",
    ],
    [["price", process.execPath], "feynkac: expected JSON or a table of trades, got bytes that are no text\n"],
    [["price", "-", "--market", "-"], "feynkac: the trades and the market cannot both come from standard input\n"],
    [["price"], "error: missing required argument 'book'\n"],
    [["prise"], "error: unknown command 'prise'\n(Did you mean price?)\n"],
    [["price", "-", "--formt", "csv"], "error: unknown option '--formt'\n(Did you mean --format?)\n"],
    [["price", "-", "--precision", "f16"], /Allowed choices are f64, f32, f32x2/],
    [["price", "-", "--threads", "0"], /expected a whole number from 1 on/],
    [["price", "-", "--accuracy", "1"], /expected a number from 1e-8 to 1e-3/],
  ])("%j cannot be used: status 2, nothing on standard output", async (args, message) => {
    const { status, stdout, stderr } = await feynkac(args);
    expect(stdout).toBe("");
    if (typeof message === "string") expect(stderr).toBe(message);
    else expect(stderr).toMatch(message);
    expect(status).toBe(2);
  });

  test("malformed JSON: line and column; an unknown field: the nearest name", async () => {
    expect(await feynkac(["price", file("x.json", '{\n  "asOf": 1,\n}')])).toMatchObject({
      status: 2,
      stdout: "",
      stderr: 'feynkac: not JSON: line 3, column 1: expected a name in double quotes, got "}"\n',
    });
    expect(await feynkac(["price", file("x.json", { ...book(), markett: 1 })])).toMatchObject({
      status: 2,
      stderr: 'feynkac: markett: unknown field (did you mean "market"?)\n',
    });
  });
});

describe("options", () => {
  test("reach the engine, and the engine is closed", async () => {
    const args = ["--backend", "webgpu", "--threads", "3", "--greeks", "grid", "--accuracy", "1e-4"];
    const { engine } = await feynkac(["price", file("two.json", two), ...args]);
    expect(engine.asked).toMatchObject([
      { backend: "webgpu", precision: "f32", threads: 3, greeks: "grid", accuracy: 1e-4 },
    ]);
    expect(engine.closed()).toBe(1);
  });

  test("--method goes before the book's own, which the engine sees with the book", async () => {
    const input = file("method.json", { ...two, method: "closed-form" });
    const first = await feynkac(["price", input]);
    expect(first.engine.asked).toMatchObject([{ method: undefined }]);
    const second = await feynkac(["price", input, "--method", "fdm"]);
    expect(second.engine.asked).toMatchObject([{ method: "fdm" }]);
    const third = await feynkac(["price", input, "--method", "pde"]);
    expect(third.status).toBe(2);
    expect(third.stderr).toMatch(
      "Allowed choices are auto, closed-form, deterministic, integral, fdm, adi, sparse-grid, montecarlo, quantization, convolution.",
    );
  });

  test("f64 on WebGPU is emulated, and the summary says so", async () => {
    for (const precision of ["f64", "f32x2"]) {
      const args = ["--backend", "webgpu", "--precision", precision];
      const { engine, stderr } = await feynkac(["price", file("two.json", two), ...args]);
      expect(engine.asked).toMatchObject([{ precision }]);
      expect(stderr).toMatch(/; fake, f32x2\n$/);
    }
  });

  test("the engine is closed after a failure too", async () => {
    const engine = fakeEngine();
    const aborted = AbortSignal.abort();
    const { status, stderr } = await feynkac(["price", file("two.json", two)], { engine, signal: aborted });
    expect([status, stderr]).toEqual([130, "feynkac: interrupted\n"]);
    expect(engine.closed()).toBe(engine.asked.length);
  });

  test("--output writes the file when it is complete, in the format of its name", async () => {
    const target = join(folder, "results.csv");
    const outcome = await feynkac(["price", file("two.json", two), "--output", target]);
    expect(outcome).toMatchObject({ status: 0, stdout: "" });
    expect(readFileSync(target, "utf8")).toMatch(
      /^id,underlying,currency,quantity,status,value.*\nA,ACME,EUR,-2,ok,10,/,
    );
    expect(readdirSync(folder).filter((name) => name.endsWith(".tmp"))).toEqual([]);
  });

  test("--output leaves the old file when the run fails", async () => {
    const target = file("old.json", "old");
    const tooLong = file("broken.ndjson", JSON.stringify(header));
    const engine = fakeEngine();
    const failing = {
      ...engine,
      open: async (...args: Parameters<typeof engine.open>) => ({
        ...(await engine.open(...args)),
        // oxlint-disable-next-line require-yield -- it fails before it yields
        async *priceTrades() {
          throw new Error("no more");
        },
      }),
    };
    const outcome = await feynkac(["price", tooLong, "--output", target], { engine: failing });
    expect(outcome.status).toBe(70);
    expect(outcome.stderr).toMatch(/mistake of the program.*no more/);
    expect(readFileSync(target, "utf8")).toBe("old");
    expect(readdirSync(folder).filter((name) => name.endsWith(".tmp"))).toEqual([]);
  });

  test("--output takes the format of its name, and refuses a name that says none", async () => {
    const path = file("two.json", two);
    const written = async (name: string): Promise<string> => {
      const target = join(folder, name);
      expect(await feynkac(["price", path, "--output", target])).toMatchObject({ status: 0 });
      return readFileSync(target, "latin1");
    };
    expect(await written("x.JSON")).toMatch(/^\{\n/);
    expect(await written("x.jsonl")).toMatch(/^\{"id":"A"/);
    expect(await written("x.txt")).toMatch(/^trade +value/);
    expect(await written("results")).toMatch(/^trade +value/);
    expect(await written("x.parquet")).toMatch(/^PAR1[^]*PAR1$/);
    const target = join(folder, "x.xls");
    expect(await feynkac(["price", "nowhere.json", "--output", target])).toMatchObject({
      status: 2,
      stdout: "",
      stderr: `feynkac: no format is known by the name of ${target}; known are .arrow, .csv, .json, .jsonl, .ndjson, .parquet, .txt, .xlsx; or say it: --format csv\n`,
    });
    expect(existsSync(target)).toBe(false);
    expect(await feynkac(["price", path, "--output", target, "--format", "csv"])).toMatchObject({ status: 0 });
  });

  test("Parquet has the columns of CSV, with types, and does not go to a terminal", async () => {
    const target = join(folder, "typed.parquet");
    const trades = [trade({ id: "A", strike: 110 }), trade({ id: "W" }), trade({ id: "X", strike: -5 })];
    const path = file("typed.json", { ...book(...trades), scenarios: { time: [0, 0.5], spot: [-0.1, 0, 0.1] } });
    expect(await feynkac(["price", path, "--output", target])).toMatchObject({ status: 1 });
    const results = await asyncBufferFromFile(target);
    const { key_value_metadata: about = [] } = await parquetMetadataAsync(results);
    expect(Object.fromEntries(about.map(({ key, value }) => [key, value]))).toEqual({
      "feynkac.asOf": "2026-11-20T16:00:00.000Z",
      "feynkac.device": '{"backend":"cpu","name":"fake"}',
      "feynkac.scenarios": '{"time":[0,0.5],"spot":[-0.1,0,0.1],"volatility":[0],"rate":[0]}',
    });
    const rows = await parquetReadObjects({ file: results });
    const csv = (await feynkac(["price", path, "--format", "csv"])).stdout.split("\n")[0].split(",");
    expect(rows.map((row) => Object.keys(row))).toEqual([csv, csv, csv]);
    await feynkac(["price", path, "--sensitivity-errors", "--output", target]);
    const [told] = await parquetReadObjects({ file: await asyncBufferFromFile(target) });
    const wider = (await feynkac(["price", path, "--sensitivity-errors", "--format", "csv"])).stdout.split("\n");
    expect(Object.keys(told).join(",")).toBe(wider[0]);
    expect(wider[0]).toContain(",sensitivityErrorEstimates.delta,sensitivityErrorEstimates.gamma,");
    expect(rows[0]).toMatchObject({ id: "A", status: "ok", value: 10, rho: null, warnings: [], error: null });
    expect(rows[0].scenarios).toEqual([10, 11, 12, 110, 111, 112]);
    expect(rows[1].warnings).toEqual(["a warning"]);
    const message = "trades[2].strike: expected a positive number, got -5";
    expect(rows[2]).toMatchObject({ id: "X", status: "error", value: null, error: message });
    expect(rows[2].scenarios ?? null).toBeNull();
    const terminal = await feynkac(["price", path, "--format", "parquet"], { tty: true });
    expect([terminal.status, terminal.stderr]).toEqual([
      2,
      "feynkac: Parquet is not for a terminal to show; give a file: --output results.parquet\n",
    ]);
    expect((await feynkac(["price", path, "--format", "parquet"])).stdout).toMatch(/^PAR1/);
  });

  test("results in Arrow, of price and of explain", async () => {
    const trades = [trade({ id: "A" }), trade({ id: "B", strike: -5 })];
    const path = join(folder, "arrow-book.json");
    writeFileSync(path, JSON.stringify(book(...trades)));
    for (const [command, columns] of [
      [
        ["price", path],
        ["id", "value", "warnings"],
      ],
      [
        ["explain", path, path],
        ["id", "change", "warnings"],
      ],
    ] as const) {
      const output = join(folder, "results.arrow");
      expect((await feynkac([...command, "--output", output])).status).toBe(1);
      const bytes = readFileSync(output);
      expect(bytes.subarray(-6).toString("latin1")).toBe("ARROW1");
      const [schema, ...batches] = readMessages(bytes.subarray(8));
      expect(schema.fields).toEqual(expect.arrayContaining([...columns]));
      expect(batches.reduce((sum, { rows = 0 }) => sum + rows, 0)).toBe(2);
    }
    const terminal = await feynkac(["price", path, "--format", "arrow"], { tty: true });
    expect(terminal.stderr).toBe("feynkac: Arrow is not for a terminal to show; give a file: --output results.arrow\n");
  });

  test("trades in Parquet, as a file and through a pipe", async () => {
    const columnData = [
      { name: "id", data: ["A", "B"] },
      { name: "underlying", data: ["ACME", "ACME"] },
      { name: "payoff", data: ["put", "call"] },
      { name: "strike", data: [110, 90] },
      { name: "expiry", data: [1, 0.5] },
    ];
    const bytes = Buffer.from(parquetWriteBuffer({ columnData }));
    const path = join(folder, "trades.parquet");
    writeFileSync(path, bytes);
    const args = ["--market", file("market.json", header), "--format", "csv"];
    const outcome = await feynkac(["price", path, ...args]);
    expect(outcome.stdout).toMatch(/\nA,ACME,EUR,1,ok,10,.*\nB,ACME,EUR,1,ok,10,/);
    expect((await feynkac(["price", "-", ...args], { stdin: bytes })).stdout).toBe(outcome.stdout);
    expect((await feynkac(["price", "-", ...args, "--input-format", "parquet"], { stdin: bytes })).stdout).toBe(
      outcome.stdout,
    );
    expect((await feynkac(["price", path])).stderr).toContain("a table of trades needs a market beside it");
    expect((await feynkac(["price", file("no.parquet", "PAR1"), ...args])).stderr).toMatch(
      /^feynkac: not Parquet that can be read: /,
    );
    expect((await feynkac(["price", "nowhere.parquet", ...args])).stderr).toBe(
      "feynkac: cannot read nowhere.parquet: there is no such file\n",
    );
  });

  test("--output into a folder that is not there", async () => {
    const outcome = await feynkac(["price", file("two.json", two), "--output", join(folder, "no", "x.csv")]);
    expect(outcome.status).toBe(2);
    expect(outcome.stderr).toMatch(/^feynkac: cannot write \S+: there is no such folder\n$/);
  });
});

test("--version and --help succeed", async () => {
  expect(await feynkac(["--version"])).toMatchObject({
    status: 0,
    stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) as string,
  });
  expect((await feynkac(["price", "--help"])).stdout).toContain("Exit status: 0 all trades priced");
});
