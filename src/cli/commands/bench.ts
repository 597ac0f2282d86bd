import { type ParsedTrade, readBook } from "../../book/index.ts";
import type { OpenEngine, RunOptions } from "../engine.ts";
import type { EngineOptions } from "../choose-backend.ts";
import { EXIT_STATUS } from "../failure.ts";
import type { Terminal } from "../terminal.ts";

/** The options of the command `feynkac bench`. */
export interface BenchOptions extends EngineOptions, Pick<RunOptions, "greeks" | "accuracy"> {
  readonly trades: number;
}

/**
 * Runs `feynkac bench`. It measures how fast this machine prices American puts with Greeks: the fastest of three
 * repetitions, after one that compiles. Returns the exit status.
 */
export async function bench(
  options: BenchOptions,
  terminal: Terminal,
  signal: AbortSignal,
  openEngine: OpenEngine,
): Promise<number> {
  await using engine = await openEngine(options);
  const book = benchBook(options.trades);
  const { precision, greeks, accuracy } = options;
  const runOptions: RunOptions = { precision, greeks, accuracy, signal, onProgress: () => {} };
  const once = async (): Promise<number> => {
    const start = performance.now();
    for await (const results of engine.priceTrades(inTurn(book.trades), book, runOptions)) {
      for (const result of results) if (result.status === "error") throw new Error(result.error.message);
    }
    return (performance.now() - start) / 1000;
  };
  const first = await once();
  const best = Math.min(await once(), await once(), await once());
  const rate = Math.round(options.trades / best).toLocaleString("en-US");
  const count = options.trades.toLocaleString("en-US");
  terminal.stdout.write(
    `${count} American puts, ${engine.precision}, greeks ${greeks}, on ${engine.device.name}\n` +
      `${rate} options a second (${best.toFixed(3)} s; the first run, with compiling, ${first.toFixed(3)} s)\n`,
  );
  return EXIT_STATUS.ok;
}

async function* inTurn(trades: readonly ParsedTrade[]): AsyncGenerator<ParsedTrade> {
  yield* trades;
}

/**
 * A book with `count` trades: strikes from 70 to 130, expiries from one month to two years, and the default accuracy.
 */
function benchBook(count: number): ReturnType<typeof readBook> {
  const trades = Array.from({ length: count }, (_, i) => ({
    id: `P${i}`,
    underlying: "X",
    payoff: "put",
    strike: 70 + ((i * 7) % 61),
    expiry: (1 + (i % 24)) / 12,
    exercise: "american",
  }));
  const underlyings = { X: { spot: 100, currency: "EUR", dividends: { yield: 0.01 }, volatility: 0.25 } };
  return readBook({ asOf: "2026-01-01", market: { rates: { EUR: 0.03 }, underlyings }, trades });
}
