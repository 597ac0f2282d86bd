/** The vega of every quote of a book beside its values. */
import { type Greeks, openDevice, parseBook, priceBook } from "../src/index.ts";
import { type Benchmark, type Context, median } from "./harness.ts";

const DAY = 864e5;
const AS_OF = Date.UTC(2026, 10, 20);
const dateAfter = (days: number): string => new Date(AS_OF + days * DAY).toISOString().slice(0, 10);

const STRIKES = Array.from({ length: 20 }, (_, k) => 60 + 5 * k);
const DAYS = Array.from({ length: 10 }, (_, e) => 30 + 70 * e);

/** A smile of SVI, so that the quotes determine its parameters. */
function impliedAt(days: number, strike: number, level: number): number {
  const t = days / 365;
  const x = Math.log(strike / 100) - 0.02;
  const width = 0.22 * Math.sqrt(t) + 0.05;
  return Math.sqrt((0.4 * level * level * t + 0.3 * level * Math.sqrt(t) * (Math.hypot(x, width) - 0.5 * x)) / t);
}

/** Underlyings with 200 quotes each, and European options with expiries between those of the quotes. */
function bookOf(underlyings: number, trades: number): string {
  const quoted = Array.from({ length: underlyings }, (_, u) => {
    const level = 0.15 + (0.2 * ((u * 37) % 100)) / 100;
    const implied = DAYS.map((days) => STRIKES.map((strike) => impliedAt(days, strike, level)));
    const quotes = { expiries: DAYS.map(dateAfter), strikes: STRIKES, implied };
    return [`U${u}`, { spot: 100, currency: "EUR", volatility: { quotes, fit: "svi" } }] as const;
  });
  return JSON.stringify({
    asOf: dateAfter(0),
    market: { rates: { EUR: 0.02 }, underlyings: Object.fromEntries(quoted) },
    trades: Array.from({ length: trades }, (_, i) => ({
      id: `T${i}`,
      underlying: `U${i % underlyings}`,
      payoff: i % 2 === 0 ? "put" : "call",
      strike: 75 + ((i * 11) % 50),
      expiry: dateAfter(DAYS[(i * 7) % 9] + ((i * 13) % 60)),
    })),
  });
}

async function run(context: Context): Promise<void> {
  const [underlyings, trades] = context.quick ? [10, 200] : [500, 10_000];
  const text = bookOf(underlyings, trades);
  using device = await openDevice({ backend: "cpu", threads: 2 });
  const secondsOf = async (greeks: Greeks): Promise<number> => {
    const started = performance.now();
    const { failed } = await priceBook(parseBook(text), { device, greeks });
    if (failed > 0) throw new Error(`${failed} trades failed`);
    return (performance.now() - started) / 1000;
  };
  const all: readonly Greeks[] = ["none", "all", "buckets"];
  // Kernels are compiled.
  for (const greeks of all) await secondsOf(greeks);
  const found = new Map<Greeks, number[]>(all.map((greeks) => [greeks, []]));
  for (let k = 0; k < (context.quick ? 1 : 3); k++)
    for (const greeks of all) found.get(greeks)!.push(await secondsOf(greeks));
  const values = median(found.get("none")!);
  for (const greeks of all)
    context.report({
      case:
        `${underlyings} underlyings × 200 quotes, ${trades.toLocaleString("en-US")} European options, ` +
        `fits and greeks "${greeks}"`,
      device: context.cpu,
      precision: "f64",
      figure: median(found.get(greeks)!),
      unit: "s",
      peers: { "values alone": values },
    });
}

export const benchmark: Benchmark = {
  name: "buckets",
  description: "values of a book, all sensitivities, and risk by bucket with the vega of every quote",
  run,
};
