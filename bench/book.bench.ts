import { spawnSync } from "node:child_process";
import { createReadStream, createWriteStream, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { once } from "node:events";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { type Benchmark, type Context, median } from "./harness.ts";
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

/** Trade `i` of a book without end; Knuth's linear congruential generator, so that every run prices the same. */
function* tradesOf(count: number, mix: Mix): Generator<string> {
  let state = 12_345;
  const uniform = (low: number, high: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return low + ((high - low) * state) / 2 ** 32;
  };
  for (let i = 0; i < count; i++) {
    const pays = mix === "mixed" && i % 4 === 3;
    yield JSON.stringify({
      id: `T${i}`,
      underlying: pays ? "PAYER" : "ACME",
      payoff: uniform(0, 1) < 0.5 ? "call" : "put",
      strike: Number(((pays ? 80 : 100) * uniform(0.8, 1.2)).toFixed(2)),
      expiry: Number(uniform(0.1, 2).toFixed(4)),
      exercise: mix === "mixed" && i % 4 === 0 ? "european" : "american",
      volatility: Number(uniform(0.15, 0.45).toFixed(4)),
    });
  }
}

/** Writes a book of any size in little memory. */
async function writeBook(path: string, count: number, mix: Mix): Promise<void> {
  const file = createWriteStream(path);
  file.write(`${JSON.stringify(header)}\n`);
  for (const line of tradesOf(count, mix)) if (!file.write(`${line}\n`)) await once(file, "drain");
  file.end();
  await once(file, "finish");
}

async function countLines(path: string): Promise<number> {
  let lines = 0;
  for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>)
    for (const byte of chunk) if (byte === 10) lines++;
  return lines;
}

/** Milliseconds from a kernel's source to something that can be launched, in a process that has compiled nothing before. */
function coldCompile(): number {
  const source = `
    import { openDevice } from ${JSON.stringify(join(root, "dist/device/index.js"))};
    import { solverKernel } from ${JSON.stringify(join(root, "dist/fdm/index.js"))};
    const device = await openDevice({ backend: "cpu" });
    const variant = { exercise: "brennan-schwartz", shape: "lognormal", dividends: false, closed: true, capacity: 161 };
    console.log((await device.compile(solverKernel(variant), { precision: "f64" })).compileMs);
    device[Symbol.dispose]();`;
  const { stdout, stderr } = spawnSync(process.execPath, ["--input-type=module", "-e", source], { encoding: "utf8" });
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
    await streams(context, folder);
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

async function starts(context: Context, folder: string): Promise<void> {
  const times = context.quick ? 2 : 9;
  const one = join(folder, "one.json");
  const [trade] = tradesOf(1, "american");
  writeFileSync(one, JSON.stringify({ ...header, trades: [JSON.parse(trade)] }));
  const common = { device: context.cpu, precision: "f64" } as const;
  const seconds = (path: string) => async () => (await runProgram(program, ["price", path])).seconds;
  const report = (name: string, figure: number, unit: string): void =>
    context.report({ ...common, case: name, figure, unit });
  report("a book of one American trade, fresh process", await repeated(times, seconds(one)), "s");
  report("the DAX book, fresh process", await repeated(times, seconds(join(root, "examples/dax/book.json"))), "s");
  report("pricing kernel, cold compile", await repeated(times, coldCompile), "ms");
}

export const benchmark: Benchmark = {
  name: "book",
  description: "books through the command line: trades a second, peak memory, start-up (build first: npm run build)",
  run,
};
