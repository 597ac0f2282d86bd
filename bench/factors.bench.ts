/** Books of trades in two factors: the whole command, from its start to its exit. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { type Benchmark, type Context, median } from "./harness.ts";
import { runProgram } from "./program.ts";

const program = join(import.meta.dirname, "..", "bin/feynkac.js");

const KINDS = ["heston-european", "heston-american", "spread", "basket", "best-of"] as const;
type Kind = (typeof KINDS)[number];

const market = {
  rates: { EUR: 0.03 },
  underlyings: {
    H: {
      spot: 100,
      currency: "EUR",
      volatility: { heston: { v0: 0.04, kappa: 1.5, theta: 0.05, sigma: 0.4, rho: -0.7 } },
    },
    A: { spot: 100, currency: "EUR", dividends: { yield: 0.02 }, volatility: 0.25 },
    B: { spot: 100, currency: "EUR", volatility: 0.3 },
  },
  correlations: [["A", "B", 0.4]],
};

/** Trade number i of a kind: strikes from 80 to 120, a quarter of a year to two years. */
function tradeOf(kind: Kind, i: number): object {
  const strike = 80 + ((7 * i) % 41);
  const terms = { id: `${kind}-${i}`, expiry: Math.round(365 * (0.25 + ((11 * i) % 36) / 20)) / 365 };
  const pair = { ...terms, underlyings: ["A", "B"] };
  switch (kind) {
    case "heston-european":
      return { ...terms, underlying: "H", payoff: "call", strike };
    case "heston-american":
      return { ...terms, underlying: "H", payoff: "put", strike, exercise: "american" };
    case "spread":
      return { ...pair, payoff: { spread: "call" }, strike: strike - 100 };
    case "basket":
      return { ...pair, payoff: { basket: "put", weights: [0.5, 0.5] }, strike };
    case "best-of":
      return { ...pair, payoff: { bestOf: "call" }, strike };
    default:
      return kind satisfies never;
  }
}

/** Runs the command. @throws Error if a trade was not priced */
async function price(folder: string, trades: readonly object[], args: readonly string[]): Promise<number> {
  const [book, output] = [join(folder, "book.json"), join(folder, "out.json")];
  writeFileSync(book, JSON.stringify({ asOf: "2026-11-20T16:00:00Z", market, trades }));
  const { seconds } = await runProgram(program, ["price", book, "--output", output, ...args]);
  const { results } = JSON.parse(readFileSync(output, "utf8")) as { results: readonly { status: string }[] };
  if (results.length !== trades.length || results.some(({ status }) => status !== "ok"))
    throw new Error("a trade was not priced");
  return seconds;
}

async function run(context: Context): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "feynkac-factors-"));
  const times = context.quick ? 1 : 3;
  const common = { device: context.cpu, precision: "f64", unit: "s" } as const;
  const measure = async (name: string, trades: readonly object[], threads: number): Promise<void> => {
    const runs: number[] = [];
    for (let i = 0; i < times; i++) runs.push(await price(folder, trades, ["--threads", String(threads)]));
    const text = `feynkac price, ${name}, all Greeks, ${threads} thread${threads === 1 ? "" : "s"}, from start to exit`;
    context.report({ ...common, case: text, figure: median(runs) });
  };
  try {
    for (const kind of KINDS) await measure(`1 trade, ${kind}`, [tradeOf(kind, 20)], 1);
    const count = context.quick ? 50 : 1000;
    const mixed = Array.from({ length: count }, (_, i) => tradeOf(KINDS[i % KINDS.length], i));
    for (const threads of new Set([1, availableParallelism()]))
      await measure(`${count.toLocaleString("en-US")} trades, Heston, spreads, baskets, best-of`, mixed, threads);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

export const benchmark: Benchmark = {
  name: "factors",
  description: "books of trades in two factors at the default accuracy, the whole command",
  run,
};
