/** Stands in for the pricer: every trade is worth its intrinsic value, so tests of the command need no device. */
import {
  labelsOf,
  type ParsedTrade,
  type Scenarios,
  type Trade,
  type TradeResult,
  unreadResult,
} from "../../src/book/index.ts";
import { explainBook, impliedVolatilities } from "../../src/pricing/index.ts";
import { PlainDevice } from "../support/plain-device.ts";
import type { Engine, ExplainRunOptions, OpenEngine, RunOptions } from "../../src/cli/engine.ts";
import type { EngineOptions } from "../../src/cli/choose-backend.ts";
import { onUnderlyings } from "../support/on-underlyings.ts";

type Asked = EngineOptions & (Partial<RunOptions> | ExplainRunOptions);

export interface FakeEngine {
  readonly open: OpenEngine;
  /** What the command asked for. */
  readonly asked: Asked[];
  readonly closed: () => number;
}

export function fakeEngine(batchSize = 100): FakeEngine {
  const asked: Asked[] = [];
  let closed = 0;
  const open: OpenEngine = async (options) => {
    const engine: Engine = {
      device: { backend: "cpu", name: "fake" },
      precision: options.backend === "webgpu" && options.precision === "f64" ? "f32x2" : options.precision,
      async *priceTrades(trades, { scenarios }, run) {
        asked.push({ ...options, ...run });
        let batch: TradeResult[] = [];
        let done = 0;
        for await (const parsed of trades) {
          batch.push(resultOf(parsed, scenarios));
          run.onProgress({ done: ++done, total: undefined });
          if (batch.length < batchSize) continue;
          yield batch;
          batch = [];
        }
        if (batch.length > 0) yield batch;
      },
      explainBook: (before, after, run) => {
        asked.push({ ...options, ...run });
        const accuracy = run.accuracy === undefined ? undefined : { relative: run.accuracy };
        return explainBook(before, after, { ...run, accuracy, device: new PlainDevice() });
      },
      impliedVolatilities: (quotes, context, run) =>
        impliedVolatilities(quotes, context, { ...run, accuracy: undefined, device: new PlainDevice() }),
      [Symbol.asyncDispose]: async () => void closed++,
    };
    return engine;
  };
  return { open, asked, closed: () => closed };
}

function resultOf(parsed: ParsedTrade, scenarios: Scenarios | undefined): TradeResult {
  if (!parsed.ok) return unreadResult(parsed);
  const value = intrinsic(onUnderlyings(parsed));
  return {
    id: parsed.trade.id,
    ...labelsOf(parsed.trade),
    status: "ok",
    value,
    delta: 0.5,
    gamma: 0.0125,
    theta: -1.5,
    vega: 39.25,
    rho: null,
    errorEstimate: 2 ** -16,
    method: "intrinsic",
    precision: "f64",
    backend: "cpu",
    warnings: parsed.trade.id.startsWith("W") ? ["a warning"] : [],
    ...(scenarios && {
      scenarios: scenarios.time.map((_, t) => scenarios.spot.map((_, i) => [[value + i + 100 * t]])),
    }),
  };
}

function intrinsic({ payoff, underlying }: Trade): number {
  if (payoff.kind !== "vanilla") return 1;
  const distance = underlying.spot - payoff.strike;
  return Math.max(payoff.right === "call" ? distance : -distance, 0);
}
