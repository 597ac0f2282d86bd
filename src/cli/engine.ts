/**
 * The interface through which the commands use the rest of the library. Commands can start without loading the library,
 * and tests can replace it.
 */
import type { EngineOptions } from "./choose-backend.ts";
import type { Book, BookContext, BookReport, MethodName, ParsedTrade, TradeResult } from "../book/index.ts";
import type { Device } from "../device/index.ts";
import type { Precision } from "../kernel/index.ts";
import type { Pipeline } from "../service/pipeline/index.ts";
import type {
  ExplainMethod,
  ExplainReport,
  ImpliedOptions,
  ImpliedVolatility,
  QuotedOption,
  Sticky,
  Work,
} from "../pricing/index.ts";
import { chooseBackend } from "./choose-backend.ts";

/** The options with which a command prices trades. */
export interface RunOptions {
  readonly precision: Precision;
  /** The sensitivities to compute: all, with risk by bucket, those that a mesh gives at no cost, or none. */
  readonly greeks: "all" | "buckets" | "grid" | "none";
  /** True to add error estimates of the sensitivities to results. */
  readonly sensitivityErrorEstimates?: boolean;
  /** The target error of a value, relative to the spot. */
  readonly accuracy?: number | undefined;
  /** The maximum time for a trade in seconds. */
  readonly timePerTrade?: number | undefined;
  /** True to report trades that depend on doubtful fits to quotes as errors. */
  readonly strict?: boolean | undefined;
  /** The numerical method, which replaces the book's own choice. */
  readonly method?: MethodName | undefined;
  readonly signal: AbortSignal;
  readonly onProgress: (progress: { done: number; total: number | undefined }) => void;
}

/** The options with which a command prices trades for an explanation of the change of value. */
export interface ExplainRunOptions extends Omit<RunOptions, "greeks" | "sensitivityErrorEstimates" | "method"> {
  readonly method: ExplainMethod;
  readonly sticky?: Sticky | undefined;
  readonly groupBy?: readonly string[] | undefined;
}

/** An opened device with the functions that price trades on it. */
export interface Engine extends AsyncDisposable {
  readonly device: BookReport["device"];
  /** The precision of the computation: the requested one, or f32x2 if f64 is emulated. */
  readonly precision: Precision;
  /** The reason for which "auto" chose this device, if it had a choice. */
  readonly reason?: string | undefined;
  priceTrades(
    trades: AsyncIterable<ParsedTrade>,
    context: BookContext,
    options: RunOptions,
  ): AsyncIterable<readonly TradeResult[]>;
  impliedVolatilities(
    quotes: readonly QuotedOption[],
    context: Pick<BookContext, "asOf">,
    options: Omit<ImpliedOptions, "device" | "accuracy"> & Pick<RunOptions, "accuracy">,
  ): Promise<readonly ImpliedVolatility[]>;
  explainBook(before: Book, after: Book, options: ExplainRunOptions): Promise<ExplainReport>;
  /**
   * Starts the threads that price a long file in chunks. Absent if only one thread can use the device, as with WebGPU.
   */
  readonly startPipeline?: () => Promise<Pipeline>;
}

/**
 * A function that opens the device of a command. With the back end "auto", the choice depends on the result of `work`,
 * the expected work; `work` is called only if there is a choice. @throws DeviceUnavailableError with what is missing
 */
export type OpenEngine = (options: EngineOptions, work?: () => Promise<Work | undefined>) => Promise<Engine>;

/** Opens the device that a command's options select. */
export const openEngine: OpenEngine = async (options, work) => {
  const { device: index, threads, precision } = options;
  const choice = work === undefined ? undefined : await chooseBackend(options, work);
  // Not taken apart: a function of `pricing` loads its modules when it is named.
  const [{ offeredPrecision, openDevice }, pricing] = await Promise.all([
    import("../device/index.ts"),
    import("../pricing/index.ts"),
  ]);
  const device: Device = await openDevice({
    backend: choice?.backend ?? options.backend,
    precision,
    share: "always", // a kernel may take seconds, in which this thread would hear no Ctrl-C
    ...(threads === undefined ? {} : { threads }),
    ...(index === undefined ? {} : { device: index }),
  });
  return {
    device: { backend: device.backend, name: device.name },
    reason: choice?.reason,
    precision: await offeredPrecision(device, precision),
    priceTrades: (trades, context, options) =>
      pricing.priceTrades(trades, context, { ...withRelative(options), device }),
    impliedVolatilities: (quotes, context, options) =>
      pricing.impliedVolatilities(quotes, context, { ...withRelative(options), device }),
    explainBook: (before, after, options) => pricing.explainBook(before, after, { ...withRelative(options), device }),
    ...(device.backend === "webgpu"
      ? {}
      : {
          startPipeline: async () => {
            const [{ Pipeline }, { workerStarters }] = await Promise.all([
              import("../service/pipeline/index.ts"),
              import("../base/threads/index.ts"),
            ]);
            const file = new URL("../cli/pipeline-worker.cjs", import.meta.url);
            return new Pipeline(device, (data) => workerStarters(file, data));
          },
        }),
    [Symbol.asyncDispose]: async () => device[Symbol.dispose](),
  };
};

/** Converts options of the command line to options of the library. An accuracy on the command line is relative. */
const withRelative = <T extends { readonly accuracy?: number | undefined }>({ accuracy, ...rest }: T) => ({
  ...rest,
  accuracy: accuracy === undefined ? undefined : { relative: accuracy },
});
