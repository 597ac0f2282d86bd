/** Books under many joint scenarios, as whole commands: file in, Parquet out. */
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { Random } from "../tools/properties/random.ts";
import { type Benchmark, type Context, median } from "./harness.ts";
import { placesHere, runProgram } from "./program.ts";

const AS_OF = "2026-11-20";
const NAMES = Array.from({ length: 20 }, (_, u) => `U${u}`);

/** Daily moves: 1.5 % of spots, 1.2 points of volatility, which rises as spots fall, and 8 basis points of rates. */
function scenariosOf(count: number, random: Random): readonly object[] {
  return Array.from({ length: count }, (_, k) => {
    const market = random.normal();
    const spots = NAMES.map((name) => [name, 0.015 * (0.7 * market + 0.7 * random.normal())] as const);
    return {
      name: `day ${k}`,
      moves: {
        spot: Object.fromEntries(spots),
        volatility: Object.fromEntries(spots.map(([name, by]) => [name, 0.012 * random.normal() - 0.3 * by])),
        rate: { EUR: 0.0008 * random.normal() },
        time: "1D",
      },
    };
  });
}

const CURVE = [
  { date: "2027-05-20", zero: 0.028 },
  { date: "2028-11-20", zero: 0.026 },
  { date: "2031-11-20", zero: 0.027 },
];
const DIVIDENDS = ["2027-04-10", "2028-04-10"].map((date) => ({ date, cash: 1.5 }));

interface Row {
  readonly name: string;
  readonly trades: number;
  readonly scenarios: number;
  readonly underlying: object;
  readonly rates: object | number;
  tradeOf(i: number, random: Random): object;
}

const option = (i: number, random: Random): object => ({
  payoff: i % 3 === 0 ? "call" : "put",
  strike: random.uniform(75, 125),
  expiry: random.uniform(0.1, 2.5),
});

const ROWS: readonly Row[] = [
  {
    name: "American options, a curve and cash dividends",
    trades: 10_000,
    scenarios: 1000,
    underlying: { volatility: 0.25, dividends: { discrete: DIVIDENDS } },
    rates: CURVE,
    tradeOf: (i, random) => ({ ...option(i, random), exercise: "american" }),
  },
  {
    name: "European and American options, constant coefficients",
    trades: 100_000,
    scenarios: 250,
    underlying: { volatility: 0.25, dividends: { yield: 0.02 } },
    rates: 0.03,
    tradeOf: (i, random) => ({ ...option(i, random), exercise: i % 2 === 0 ? "american" : "european" }),
  },
  {
    name: "options under Heston's volatility, half of them American",
    trades: 1000,
    scenarios: 250,
    underlying: { volatility: { heston: { v0: 0.06, kappa: 2, theta: 0.06, sigma: 0.5, rho: -0.6 } } },
    rates: 0.03,
    tradeOf: (i, random) => ({ ...option(i, random), exercise: i % 2 === 0 ? "american" : "european" }),
  },
];

function bookOf({ trades, scenarios, underlying, rates, tradeOf }: Row, part: number): string {
  const random = new Random(7);
  const count = Math.ceil(trades * part);
  return JSON.stringify({
    asOf: AS_OF,
    market: {
      rates: { EUR: rates },
      underlyings: Object.fromEntries(NAMES.map((name) => [name, { spot: 100, currency: "EUR", ...underlying }])),
    },
    scenarios: scenariosOf(scenarios, random),
    trades: Array.from({ length: count }, (_, i) => ({
      id: `T${i}`,
      underlying: NAMES[i % NAMES.length],
      ...tradeOf(i, random),
    })),
  });
}

async function run(context: Context): Promise<void> {
  const program = [resolve("bin/feynkac.js"), join(import.meta.dirname, "../bin/feynkac.js")].find(existsSync)!;
  const folder = mkdtempSync(join(tmpdir(), "feynkac-scenarios-"));
  try {
    const places = await placesHere(context.cpu);
    // Fewer where few cores have to do it.
    const part = context.quick ? 0.002 : places.length > 1 ? 1 : 0.02;
    for (const row of ROWS) {
      const book = join(folder, "book.json");
      writeFileSync(book, bookOf(row, part));
      for (const { args, device } of places) {
        const runs = [];
        for (let k = 0; k < (context.quick ? 1 : 3); k++)
          runs.push(
            await runProgram(program, ["price", book, ...args, "--greeks", "none", "-o", join(folder, "out.parquet")]),
          );
        const seconds = runs.map((one) => one.seconds);
        context.report({
          case:
            `${Math.ceil(row.trades * part).toLocaleString("en-US")} ${row.name} × ` +
            `${row.scenarios} joint scenarios, whole command, ${Math.round(Math.max(...runs.map((one) => one.peakMiB)))} MiB`,
          device,
          precision: "f64",
          figure: median(seconds),
          unit: "s",
          peers: { "first run": seconds[0] },
        });
      }
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
}

export const benchmark: Benchmark = {
  name: "scenarios",
  description: "books under many joint scenarios, as whole commands",
  run,
};
