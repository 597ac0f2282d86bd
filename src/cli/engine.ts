/** What the commands need of the layers below, so that they start without loading them, and are tested without them. */
import type { BookContext, BookReport, ParsedTrade, TradeResult } from "../book/index.ts";
import type { Device } from "../device/index.ts";

export interface EngineOptions {
  readonly backend: "auto" | "cpu" | "webgpu";
  readonly threads: number | undefined;
  readonly precision: "f64" | "f32";
}

export interface RunOptions {
  readonly precision: "f64" | "f32";
  readonly greeks: "all" | "grid" | "none";
  /** Error aimed at, as a part of the spot. */
  readonly accuracy: number;
  readonly signal: AbortSignal;
  readonly onProgress: (progress: { done: number; total: number | undefined }) => void;
}

/** A device, opened, with the pricer on it. */
export interface Engine extends AsyncDisposable {
  readonly device: BookReport["device"];
  priceTrades(
    trades: AsyncIterable<ParsedTrade>,
    context: BookContext,
    options: RunOptions,
  ): AsyncIterable<readonly TradeResult[]>;
}

export type OpenEngine = (options: EngineOptions) => Promise<Engine>;

/** @throws DeviceUnavailableError with what is missing */
export async function openEngine({ backend, threads, precision }: EngineOptions): Promise<Engine> {
  const [{ openDevice }, { priceTrades }] = await Promise.all([
    import("../device/index.ts"),
    import("../pricing/index.ts"),
  ]);
  const device: Device = await openDevice({ backend, precision, ...(threads === undefined ? {} : { threads }) });
  return {
    device: { backend: device.backend, name: device.name },
    priceTrades: (trades, context, options) => priceTrades(trades, context, { ...options, device }),
    [Symbol.asyncDispose]: async () => device[Symbol.dispose](),
  };
}
