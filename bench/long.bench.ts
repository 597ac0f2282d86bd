/** Long books: the whole command, from its start to its exit, on the CPU and on each number of NVIDIA GPUs. */
import { createWriteStream, mkdtempSync, rmSync } from "node:fs";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { type BookInput, openDevice, parseBook, priceBook } from "../src/index.ts";
import { type Benchmark, type Context, median } from "./harness.ts";
import { type Place, placesHere, type Run, runProgram } from "./program.ts";

const UNDERLYINGS = 100;
const round = (x: number): number => Number(x.toFixed(4));

/** The same numbers on every machine: a Weyl sequence for each use of it. */
const spread = (i: number, step: number, from: number, to: number): number =>
  round(from + (to - from) * ((0.5 + i * step) % 1));

type Kind =
  | "American"
  | "half American, a quarter knock-outs, a quarter Bermudans"
  | "American with a curve, a term structure and four cash dividends"
  | "half American, 441 scenarios"
  | "half American, under Heston";
const MIXED: Kind = "half American, a quarter knock-outs, a quarter Bermudans";
const CURVES: Kind = "American with a curve, a term structure and four cash dividends";
const LADDER: Kind = "half American, 441 scenarios";
const HESTON: Kind = "half American, under Heston";

const DATES = [0.08, 0.25, 0.5, 0.75, 1, 1.5, 2, 3, 4, 5];

function underlyingOf(i: number, kind: Kind): object {
  const volatility = spread(i, 0.7548776662, 0.15, 0.4);
  const plain = { spot: 100, currency: "EUR", dividends: { yield: spread(i, 0.6180339887, 0, 0.03) }, volatility };
  if (kind === CURVES)
    return {
      ...plain,
      volatility: {
        termStructure: DATES.map((date) => ({ date, volatility: round(volatility + 0.02 / (1 + date)) })),
      },
      dividends: { ...plain.dividends, discrete: [0.2, 0.7, 1.2, 1.7].map((date) => ({ date, cash: 1 })) },
    };
  if (kind !== HESTON) return plain;
  const v0 = round(volatility ** 2);
  const kappa = spread(i, 0.4142135624, 1, 3);
  const sigma = spread(i, 0.7320508076, 0.3, 0.6);
  return {
    ...plain,
    volatility: { heston: { v0, kappa, theta: v0, sigma, rho: spread(i, 0.2360679775, -0.8, -0.3) } },
  };
}

const headerOf = (kind: Kind): Omit<BookInput, "trades"> => ({
  asOf: "2026-11-20T00:00:00Z",
  market: {
    rates: { EUR: kind === CURVES ? DATES.map((date) => ({ date, zero: round(0.02 + 0.004 * date ** 0.5) })) : 0.03 },
    underlyings: Object.fromEntries(
      Array.from({ length: UNDERLYINGS }, (_, i) => [`U${i}`, underlyingOf(i, kind)]),
    ) as BookInput["market"]["underlyings"],
  },
  ...(kind === LADDER
    ? {
        scenarios: {
          spot: Array.from({ length: 21 }, (_, i) => round(-0.2 + 0.02 * i)),
          volatility: Array.from({ length: 21 }, (_, i) => round(-0.05 + 0.005 * i)),
        },
      }
    : {}),
});

function tradeOf(i: number, kind: Kind): BookInput["trades"][number] {
  const expiry = spread(i, 0.569840291, 0.1, 3);
  const plain = {
    id: `T${i}`,
    underlying: `U${i % UNDERLYINGS}`,
    payoff: (i * 7) % 3 === 0 ? "call" : "put",
    strike: spread(i, 0.8191725134, 80, 120),
    expiry,
  } as const;
  if (kind === HESTON || kind === LADDER) return i % 2 === 0 ? { ...plain, exercise: "american" } : plain;
  if (kind !== MIXED || i % 2 === 0) return { ...plain, exercise: "american" };
  if (i % 4 === 1) return { ...plain, barriers: [{ type: "up-and-out", level: 130 }] };
  return { ...plain, exercise: Array.from({ length: 6 }, (_, k) => round((expiry * (k + 1)) / 6)) };
}

async function writeBook(path: string, count: number, kind: Kind, isStream: boolean): Promise<void> {
  const file = createWriteStream(path);
  const head = JSON.stringify(headerOf(kind));
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
  const book = parseBook({ ...headerOf("American"), trades });
  using device = await openDevice({ backend: "cpu" });
  const ours = await priceBook(book, { device, greeks: "none" });
  const finer = await priceBook(book, { device, greeks: "none", method: "fdm", accuracy: { relative: 1e-7 } });
  return Math.max(...ours.results.map(({ value }, i) => Math.abs(value! - finer.results[i].value!)));
}

async function timeBooks({ quick, cpu, report }: Context): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "feynkac-long-"));
  const program = resolve("bin/feynkac.js");
  const error = await errorOfAmerican();
  const places = await placesHere(cpu);
  try {
    for (const [count, kind, format] of [
      [100_000, "American", "json"],
      [2_000, LADDER, "json"],
      [100_000, MIXED, "json"],
      [1_000_000, "American", "ndjson"],
      [100_000, CURVES, "json"],
      [1_000, HESTON, "json"],
    ] as const) {
      const trades = quick ? count / 20 : count;
      const path = join(folder, `book.${format}`);
      await writeBook(path, trades, kind, format === "ndjson");
      const runs = places.map((): Run[] => []);
      const output = join(folder, `results.${format}`);
      const priceAt = ({ args }: Place): Promise<Run> =>
        runProgram(program, ["price", path, ...args, "--output", output]);
      // The first run on a GPU compiles what no disk has yet.
      for (const place of places.slice(1)) await priceAt(place);
      for (let i = 0; i < (quick ? 1 : 3); i++)
        for (const [k, place] of places.entries()) runs[k].push(await priceAt(place));
      const name = `feynkac price, ${trades.toLocaleString("en-US")} trades, ${kind}, ${format}, all Greeks`;
      for (const [k, { device }] of places.entries()) {
        const common = { device, precision: "f64", ...(kind === "American" ? { error } : {}) } as const;
        report({
          ...common,
          case: `${name}, from start to exit`,
          figure: median(runs[k].map((run) => run.seconds)),
          unit: "s",
        });
        report({ ...common, case: name, figure: median(runs[k].map((run) => run.peakMiB)), unit: "MiB peak" });
      }
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
