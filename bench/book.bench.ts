import { spawnSync } from "node:child_process";
import { createReadStream, createWriteStream, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { once } from "node:events";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { type Benchmark, type Context, median } from "./harness.ts";
import { type Answer, type Job, lineOf, openQuantLib, runJobs } from "./peers/quantlib.ts";
import { runProgram } from "./program.ts";

const root = join(import.meta.dirname, "..");
const program = join(root, "bin/feynkac.js");

const header = {
  asOf: "2026-11-20T16:00:00Z",
  market: {
    rates: { EUR: 0.03 },
    underlyings: {
      ACME: { spot: 100, currency: "EUR", dividends: { yield: 0.02 }, volatility: 0.25 },
      PAYER: {
        spot: 80,
        currency: "EUR",
        dividends: {
          yield: 0,
          discrete: [
            { date: "2027-03-01", cash: 1.2 },
            { date: "2027-09-01", cash: 1.2 },
          ],
        },
        volatility: 0.3,
      },
    },
  },
};

/** Of four trades one is European, two are American, and one American on an underlying that pays cash dividends. */
type Mix = "mixed" | "american";

interface BookTrade {
  readonly id: string;
  readonly underlying: "ACME" | "PAYER";
  readonly payoff: "call" | "put";
  readonly strike: number;
  readonly expiry: number;
  readonly exercise: "american" | "european";
  readonly volatility: number;
}

/** Trade `i` of a book without end; Knuth's linear congruential generator, so that every run prices the same. */
function* tradesOf(count: number, mix: Mix): Generator<BookTrade> {
  let state = 12_345;
  const uniform = (low: number, high: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return low + ((high - low) * state) / 2 ** 32;
  };
  for (let i = 0; i < count; i++) {
    const pays = mix === "mixed" && i % 4 === 3;
    yield {
      id: `T${i}`,
      underlying: pays ? "PAYER" : "ACME",
      payoff: uniform(0, 1) < 0.5 ? "call" : "put",
      strike: Number(((pays ? 80 : 100) * uniform(0.8, 1.2)).toFixed(2)),
      // Whole days: QuantLib knows no others.
      expiry: Math.round(365 * uniform(0.1, 2)) / 365,
      exercise: mix === "mixed" && i % 4 === 0 ? "european" : "american",
      volatility: Number(uniform(0.15, 0.45).toFixed(4)),
    };
  }
}

/** Writes a book of any size in little memory. */
async function writeBook(path: string, count: number, mix: Mix): Promise<void> {
  const file = createWriteStream(path);
  file.write(`${JSON.stringify(header)}\n`);
  for (const trade of tradesOf(count, mix)) if (!file.write(`${JSON.stringify(trade)}\n`)) await once(file, "drain");
  file.end();
  await once(file, "finish");
}

async function countLines(path: string): Promise<number> {
  let lines = 0;
  for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>)
    for (const byte of chunk) if (byte === 10) lines++;
  return lines;
}

/**
 * Milliseconds from a kernel's source to something that can be launched, in a process that has compiled nothing before.
 */
function coldCompile(): number {
  const source = `
    import { openDevice } from ${JSON.stringify(join(root, "dist/device/index.js"))};
    import { solverKernel } from ${JSON.stringify(join(root, "dist/pde/fdm/index.js"))};
    const device = await openDevice({ backend: "cpu" });
    const variant = { exercise: "brennan-schwartz", shape: "lognormal", dividends: false, closed: true, capacity: 161 };
    console.log((await device.compile(solverKernel(variant), { precision: "f64" })).compileMs);
    device[Symbol.dispose]();`;
  const { stdout, stderr } = spawnSync(process.execPath, ["--input-type=module", "-e", source], {
    encoding: "utf8",
    env: { ...process.env, FEYNKAC_CACHE: "off" },
  });
  const milliseconds = Number(stdout);
  if (!(milliseconds > 0)) throw new Error(`cold compile: ${stderr}`);
  return milliseconds;
}

async function repeated(times: number, run: () => Promise<number> | number): Promise<number> {
  const all: number[] = [];
  for (let i = 0; i < times; i++) all.push(await run());
  return median(all);
}

async function run(context: Context): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "feynkac-book-"));
  try {
    await commands(context, folder);
    await streams(context, folder);
    await formulas(context, folder);
    await starts(context, folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Trades a second and peak memory; a book five times as long must not take more memory. */
async function streams(context: Context, folder: string): Promise<void> {
  const [book, output] = [join(folder, "book.ndjson"), join(folder, "out.ndjson")];
  const counts = context.quick ? [500, 2500] : [20_000, 100_000];
  const threads = new Set([1, availableParallelism()]);
  const cases = [
    ...counts.map((count) => ({ count, mix: "mixed" as const })),
    { count: counts[0], mix: "american" as const },
  ];
  for (const { count, mix } of cases) {
    await writeBook(book, count, mix);
    for (const n of threads) {
      const args = ["price", book, "--format", "ndjson", "--output", output, "--threads", String(n)];
      const { seconds, cpuSeconds, peakMiB } = await runProgram(program, args);
      const lines = await countLines(output);
      if (lines < count) throw new Error(`${count} trades, ${lines} lines of results`);
      const name = `${count.toLocaleString("en-US")} trades, ${mix}, all Greeks, ${n} thread${n === 1 ? "" : "s"}`;
      const common = { device: context.cpu, precision: "f64" } as const;
      context.report({ ...common, case: name, figure: count / seconds, unit: "trades/s" });
      context.report({ ...common, case: name, figure: (1e6 * cpuSeconds) / count, unit: "µs CPU/trade" });
      context.report({ ...common, case: name, figure: peakMiB, unit: "MiB peak" });
    }
  }
}

/**
 * What a user waits for: the command from its start to its exit, compilation, reading and writing included. The peer is
 * a C++ program of QuantLib's fixed point that reads as many jobs from a file, prices them one after another and writes
 * the prices to another.
 */
async function commands(context: Context, folder: string): Promise<void> {
  using quantLib = openQuantLib((text) => {
    context.note(text);
  });
  const counts = context.quick ? [1, 1000] : [1, 1000, 100_000];
  for (const count of counts) {
    const times = count > 1000 ? 1 : context.quick ? 2 : 9;
    const files = { book: join(folder, "book.ndjson"), output: join(folder, "out.ndjson") };
    await writeBook(files.book, count, "american");
    const peers: Record<string, number> = {};
    const sample = [...tradesOf(Math.min(count, SAMPLE), "american")].map(jobOf);
    const exact = await quantLib?.price(sample.map((job) => ({ ...job, iteration: "high", repetitions: 0 })));
    for (const iteration of quantLib === undefined ? [] : (["fast", "accurate"] as const)) {
      const jobs = join(folder, "jobs.txt");
      writeFileSync(jobs, jobLines(tradesOf(count, "american"), iteration));
      const seconds = await repeated(times, () => runJobs(jobs, join(folder, "prices.txt")));
      const prices = readFileSync(join(folder, "prices.txt"), "utf8")
        .trim()
        .split("\n")
        .map((line) => parseFloat(line));
      if (prices.length !== count) throw new Error(`${count} jobs, ${prices.length} prices by QuantLib`);
      const error = Math.max(...exact!.map(({ price }, i) => Math.abs(price - prices[i])));
      peers[`QuantLib QdFp, ${iteration} scheme, one process, error ${error.toExponential(1)}`] = seconds;
    }
    for (const n of new Set([1, availableParallelism()])) {
      const args = ["price", files.book, "--greeks", "none", "--format", "ndjson", "--output", files.output];
      const seconds = await repeated(
        times,
        async () => (await runProgram(program, [...args, "--threads", String(n)])).seconds,
      );
      context.report({
        case: `feynkac price, ${plural(count, "American trade")}, value only, ${plural(n, "thread")}, from start to exit`,
        device: context.cpu,
        precision: "f64",
        figure: seconds,
        unit: "s",
        ...(exact === undefined ? {} : { error: errorOf(files.output, exact), peers }),
      });
    }
  }
}

/** Trades whose error is known: QuantLib's high-precision scheme takes a tenth of a second for one. */
const SAMPLE = 100;

const plural = (count: number, noun: string): string =>
  `${count.toLocaleString("en-US")} ${noun}${count === 1 ? "" : "s"}`;

function jobOf({ payoff, strike, expiry, volatility }: BookTrade): Job {
  const { spot, dividends } = header.market.underlyings.ACME;
  return {
    engine: "qdfp",
    type: payoff,
    exercise: "american",
    spot,
    strike,
    rate: header.market.rates.EUR,
    yield: dividends.yield,
    vol: volatility,
    maturity: expiry,
  };
}

function jobLines(trades: Iterable<BookTrade>, iteration: "fast" | "accurate"): string {
  return [...trades].map((trade) => `${lineOf({ ...jobOf(trade), iteration, repetitions: 0 })}\n`).join("");
}

/** Largest absolute error of the first results. */
function errorOf(output: string, exact: readonly Answer[]): number {
  const lines = readFileSync(output, "utf8").split("\n").slice(0, exact.length);
  const values = lines.map((line) => (JSON.parse(line) as { value: number }).value);
  return Math.max(...values.map((value, i) => Math.abs(value - exact[i].price)));
}

/**
 * Local volatilities of a hundred underlyings by formula, without and with the time, where they are made in kernels.
 */
const FORMULAS = {
  "σ(S)": (number: string) => `0.2 + ${number}*exp(-S/100)`,
  "σ(S, t)": (number: string) => `0.2 + ${number}*exp(-S/100)*(1 + 0.1*t)`,
} as const;
const FORMULA_TRADES = 4000;
const UNDERLYINGS = 100;

/** American puts on underlyings whose formulas are one, or differ in a number. */
function formulaBook(formula: (number: string) => string, differ: boolean): string {
  const { ACME } = header.market.underlyings;
  const numbers = Array.from({ length: UNDERLYINGS }, (_, k) => (differ ? 0.1 + k / 1000 : 0.1).toFixed(3));
  const underlyings = numbers.map((number, k) => [`U${k}`, { ...ACME, volatility: { local: formula(number) } }]);
  const trades = [...tradesOf(FORMULA_TRADES, "american")].map(({ id, strike, expiry, exercise }, i) => {
    return { id, underlying: `U${i % UNDERLYINGS}`, payoff: "put", strike, expiry, exercise };
  });
  const market = { ...header.market, underlyings: Object.fromEntries(underlyings) };
  return JSON.stringify({ ...header, market, trades });
}

/** What a number that differs from underlying to underlying costs: with one formula for all, and with a hundred. */
async function formulas(context: Context, folder: string): Promise<void> {
  const [path, output] = [join(folder, "formulas.json"), join(folder, "out.json")];
  const args = ["price", path, "--greeks", "none", "--format", "json", "--output", output];
  for (const [name, formula] of Object.entries(FORMULAS))
    for (const differ of [false, true]) {
      writeFileSync(path, formulaBook(formula, differ));
      const seconds = await repeated(context.quick ? 2 : 5, async () => (await runProgram(program, args)).seconds);
      const { results } = JSON.parse(readFileSync(output, "utf8")) as { results: readonly { status: string }[] };
      if (results.length !== FORMULA_TRADES || results.some(({ status }) => status !== "ok"))
        throw new Error(`${name}: not every trade was priced`);
      const which = differ ? `${UNDERLYINGS} formulas that differ in a number` : "one formula";
      context.report({
        case: `feynkac price, ${plural(FORMULA_TRADES, "American put")} on ${UNDERLYINGS} underlyings, ${name}, ${which}`,
        device: context.cpu,
        precision: "f64",
        figure: seconds,
        unit: "s",
      });
    }
}

/** Seconds of a whole command, without anything that measures inside of it. `cache`: the directory, or `off`. */
function secondsOf(args: readonly string[], cache: string): number {
  const start = performance.now();
  const { status, stderr } = spawnSync(process.execPath, [program, ...args], {
    env: { ...process.env, FEYNKAC_CACHE: cache },
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(`feynkac ${args.join(" ")}: status ${status}: ${stderr}`);
  return (performance.now() - start) / 1e3;
}

/** Whole commands for little work. What an earlier run has compiled is on disk, or is not. */
async function starts(context: Context, folder: string): Promise<void> {
  const times = context.quick ? 2 : 9;
  const common = { device: context.cpu, precision: "f64" } as const;
  const seconds = (path: string) => async () => (await runProgram(program, ["price", path])).seconds;
  const report = (name: string, figure: number, unit: string): void =>
    context.report({ ...common, case: name, figure, unit });
  report("the DAX book, fresh process", await repeated(times, seconds(join(root, "examples/dax/book.json"))), "s");
  for (const exercise of ["european", "american"]) {
    const kept = join(folder, `cache of ${exercise}`);
    const [path, output] = [join(folder, `${exercise}.json`), join(folder, "one.json")];
    const trade = { id: "T", underlying: "ACME", payoff: "put", strike: 100, expiry: 1, exercise };
    writeFileSync(path, JSON.stringify({ ...header, trades: [trade] }));
    const one = (cache: string): number => secondsOf(["price", path, "--output", output], cache);
    const name = `feynkac price, 1 ${exercise} trade, all Greeks, from start to exit`;
    report(`${name}, nothing on disk`, await repeated(times, () => one("off")), "s");
    one(kept);
    report(`${name}, as after an earlier run`, await repeated(times, () => one(kept)), "s");
  }
  report("pricing kernel, cold compile", await repeated(times, coldCompile), "ms");
}

export const benchmark: Benchmark = {
  name: "book",
  description: "books through the command line: trades a second, peak memory, start-up (build first: npm run build)",
  run,
};
