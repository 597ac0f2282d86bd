/** Long books: the whole command, from its start to its exit, by all threads of the CPU back end. */
import { createWriteStream, mkdtempSync, rmSync } from "node:fs";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { type BookInput, openDevice, parseBook, priceBook } from "../src/index.ts";
import { type Benchmark, type Context, median } from "./harness.ts";
import { runProgram } from "./program.ts";

const UNDERLYINGS = 100;
const round = (x: number): number => Number(x.toFixed(4));

/** The same numbers on every machine: a Weyl sequence for each use of it. */
const spread = (i: number, step: number, from: number, to: number): number =>
  round(from + (to - from) * ((0.5 + i * step) % 1));

const header = {
  asOf: "2026-11-20T00:00:00Z",
  market: {
    rates: { EUR: 0.03 },
    underlyings: Object.fromEntries(
      Array.from({ length: UNDERLYINGS }, (_, i) => [
        `U${i}`,
        {
          spot: 100,
          currency: "EUR",
          dividends: { yield: spread(i, 0.6180339887, 0, 0.03) },
          volatility: spread(i, 0.7548776662, 0.15, 0.4),
        },
      ]),
    ),
  },
};

type Kind = "American" | "half American, a quarter knock-outs, a quarter Bermudans";

function tradeOf(i: number, kind: Kind): BookInput["trades"][number] {
  const expiry = spread(i, 0.569840291, 0.1, 3);
  const plain = {
    id: `T${i}`,
    underlying: `U${i % UNDERLYINGS}`,
    payoff: (i * 7) % 3 === 0 ? "call" : "put",
    strike: spread(i, 0.8191725134, 80, 120),
    expiry,
  } as const;
  if (kind === "American" || i % 2 === 0) return { ...plain, exercise: "american" };
  if (i % 4 === 1) return { ...plain, barriers: [{ type: "up-and-out", level: 130 }] };
  return { ...plain, exercise: Array.from({ length: 6 }, (_, k) => round((expiry * (k + 1)) / 6)) };
}

async function writeBook(path: string, count: number, kind: Kind, isStream: boolean): Promise<void> {
  const file = createWriteStream(path);
  const head = JSON.stringify(header);
  file.write(isStream ? `${head}\n` : `${head.slice(0, -1)}, "trades": [\n`);
  for (let i = 0; i < count; i++) {
    const end = isStream || i === count - 1 ? "\n" : ",\n";
    if (!file.write(`${JSON.stringify(tradeOf(i, kind))}${end}`)) await once(file, "drain");
  }
  file.end(isStream ? "" : "]}\n");
  await once(file, "finish");
}

/** Trades whose values are compared with finite differences at a finer accuracy. */
const COMPARED = 200;

/** The largest error of the first American trades, against another method. */
async function errorOfAmerican(): Promise<number> {
  const trades = Array.from({ length: COMPARED }, (_, i) => tradeOf(i, "American"));
  const book = parseBook({ ...header, trades });
  using device = await openDevice({ backend: "cpu" });
  const ours = await priceBook(book, { device, greeks: "none" });
  const finer = await priceBook(book, { device, greeks: "none", method: "fdm", accuracy: 1e-7 });
  return Math.max(...ours.results.map(({ value }, i) => Math.abs(value! - finer.results[i].value!)));
}

async function timeBooks({ quick, cpu, report }: Context): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "feynkac-long-"));
  const program = resolve("bin/feynkac.js");
  const error = await errorOfAmerican();
  try {
    for (const [count, kind, format] of [
      [100_000, "American", "json"],
      [1_000_000, "American", "ndjson"],
      [100_000, "half American, a quarter knock-outs, a quarter Bermudans", "json"],
    ] as const) {
      const trades = quick ? count / 20 : count;
      const path = join(folder, `book.${format}`);
      await writeBook(path, trades, kind, format === "ndjson");
      const args = ["price", path, "--backend", "cpu", "--output", join(folder, `results.${format}`)];
      const runs = [];
      for (let i = 0; i < (quick ? 1 : 3); i++) runs.push(await runProgram(program, args));
      const name = `feynkac price, ${trades.toLocaleString("en-US")} trades, ${kind}, ${format}, all Greeks`;
      const common = { device: cpu, precision: "f64", ...(kind === "American" ? { error } : {}) } as const;
      report({
        ...common,
        case: `${name}, from start to exit`,
        figure: median(runs.map((run) => run.seconds)),
        unit: "s",
      });
      report({ ...common, case: name, figure: median(runs.map((run) => run.peakMiB)), unit: "MiB peak" });
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

export const benchmark: Benchmark = {
  name: "long",
  description: "long books of trades on one underlying at the default accuracy, the whole command",
  run: timeBooks,
};
