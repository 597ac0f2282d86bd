import { checkAccuracy, type RelativeAccuracy } from "../base/accuracy.ts";
import { type Book, METHOD_NAMES, type MethodName } from "../book/index.ts";
import type { Device } from "../device/index.ts";
import { SpecError } from "../base/errors.ts";
import { checkDevice, checkKeys, checkOneOf, typeInWords } from "../base/argument-checks.ts";
import type { Precision } from "../kernel/index.ts";
import { checkWorkOptions } from "../base/event-loop.ts";

/**
 * The sensitivities to compute: "all"; "buckets" for all, and the risk by each input of the market; "grid" for those
 * that a grid gives at no extra cost (delta, gamma, theta); or "none".
 * @stable
 */
export type Greeks = (typeof GREEKS)[number];

/** The sensitivities that can be requested. */
export const GREEKS = ["all", "buckets", "grid", "none"] as const;

/**
 * The pricing method. `auto` takes the cheapest method that can price a trade. A named method prices all trades, and
 * those that it cannot price fail. `fdm` can price every option, those with several factors by `adi`; `closed-form` and
 * `deterministic` can price some.
 * @stable
 */
export type Method = MethodName;

/** The progress that `onProgress` receives after each batch. @stable */
export interface BookProgress {
  /** The number of trades with a result, errors included. */
  readonly done: number;
  /** The number of all trades; undefined for a stream of unknown length. */
  readonly total: number | undefined;
}

/** The options of `priceBook` and `priceTrades`. An unknown option is an error. @stable */
export interface PricingOptions {
  /**
   * The device, which is not disposed. Without one, the best device of the machine is opened and disposed afterwards.
   */
  readonly device?: Device | undefined;
  /**
   * The precision. It is f64 by default, and f32 on WebGPU, where kernels compile in a tenth of the time. There f64
   * means f32x2, an emulated double precision. Every result says its precision.
   */
  readonly precision?: Precision;
  /** The sensitivities to compute, "all" by default. */
  readonly greeks?: Greeks;
  /** Adds `sensitivityErrorEstimates` to results, which costs up to a third more; false by default. */
  readonly sensitivityErrorEstimates?: boolean;
  /** The pricing method: by default the book's, if it names one, otherwise "auto". */
  readonly method?: Method | undefined;
  /**
   * The target error of values, from 1e-8 to 1e-3, relative to the spot (the largest of several) or to the notional. By
   * default it is 1e-5, for trades with several factors 1e-4, for Monte Carlo and sparse grids 1e-3, and for rates
   * 1e-7. Meshes and time steps are chosen for it, trade by trade. The error that was reached is `errorEstimate` of the
   * result, in the currency.
   */
  readonly accuracy?: RelativeAccuracy | undefined;
  /**
   * The maximum time for a trade in seconds, > 0; no limit by default. A method that refines its values stops before
   * the step that would exceed it, and returns its result so far with its error estimate and a warning. Results then
   * depend on the speed of the machine. The first value, sensitivities and scenarios are always computed.
   */
  readonly timePerTrade?: number | undefined;
  /**
   * True to report a trade that depends on a doubtful fit to quotes as an error: a fit that has not converged, has
   * arbitrage, leaves quotes out or misses them, or that the trade extrapolates. False by default: such a result has a
   * warning.
   */
  readonly strict?: boolean | undefined;
  /**
   * The number of trades priced together, at least 1; results come in batches of this size. By default it is chosen by
   * device and scenarios so that the device is busy, some hundreds of trades or more. A smaller batch gives earlier
   * results and takes less memory, but more time. Results do not depend on it, except in the last digits on a GPU.
   */
  readonly batchSize?: number;
  /**
   * A signal that ends the run. `priceBook` and `priceTrades` then throw its reason, between two launches; a running
   * call of a GPU driver is waited for.
   */
  readonly signal?: AbortSignal | undefined;
  /** A callback after each batch, before its results are yielded. */
  readonly onProgress?: (progress: BookProgress) => void;
  /**
   * A function that opens the device that replaces a lost `device`; by default a CPU device. It is disposed when the
   * run ends.
   */
  readonly openFallback?: () => Promise<Device>;
}

/** The options with default values that books and command lines can set, with the accuracy as a plain number. */
export interface NumberedOptions extends Pick<
  PricingOptions,
  "greeks" | "sensitivityErrorEstimates" | "method" | "timePerTrade" | "strict" | "batchSize"
> {
  /** The target error of values, relative to the spot or the notional. */
  readonly accuracy?: number | undefined;
}

/** The options of a run after all defaults were applied. */
export interface Settings {
  /** The sensitivities that methods compute. */
  readonly greeks: Exclude<Greeks, "buckets">;
  /** True if risk by bucket is wanted, too, where all sensitivities are. */
  readonly buckets?: boolean;
  readonly sensitivityErrorEstimates: boolean;
  readonly method: Method;
  /** The requested relative accuracy; undefined if each method uses its own default. */
  readonly accuracy: number | undefined;
  /** The maximum time for a trade in seconds; undefined without a limit. Methods ask `Batch.budget`. */
  readonly timePerTrade: number | undefined;
  /** True if trades that depend on doubtful fits are errors. */
  readonly strict: boolean;
  /** The seed of random numbers. */
  readonly seed: number;
  /** True where trades will be priced under named scenarios, too. */
  readonly isUnderNamed?: boolean;
}

const KNOWN: Readonly<Record<keyof PricingOptions, true>> = {
  device: true,
  precision: true,
  greeks: true,
  sensitivityErrorEstimates: true,
  method: true,
  accuracy: true,
  timePerTrade: true,
  strict: true,
  batchSize: true,
  signal: true,
  onProgress: true,
  openFallback: true,
};

/** Checks that a book is one that was read. `path` is its name in the error message. @throws SpecError */
export function checkBook(path: string, book: Book): void {
  const isRead = ({ trades }: Book): boolean =>
    Array.isArray(trades) && trades.every((one) => typeof one?.ok === "boolean");
  if (typeof book !== "object" || book === null || !isRead(book))
    throw new SpecError(`${path}: got ${typeInWords(book)}, expected a book from parseBook or readBook`);
}

/** Checks options at run time, because unknown ones would be ignored silently. @throws SpecError */
export function checkOptions(options: PricingOptions): void {
  if (options?.device !== undefined) checkDevice(options.device);
  checkKeys("", options, Object.keys(KNOWN));
  checkWorkOptions(options);
  const { accuracy, greeks = "all", method = "auto", sensitivityErrorEstimates = false, strict = false } = options;
  if (accuracy !== undefined) checkAccuracy("accuracy", accuracy, ["relative"]);
  checkOneOf("sensitivityErrorEstimates", sensitivityErrorEstimates, [true, false]);
  checkOneOf("strict", strict, [true, false]);
  checkOneOf("greeks", greeks, GREEKS);
  checkOneOf("method", method, METHOD_NAMES);
}
