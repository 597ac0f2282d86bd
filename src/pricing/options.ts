import { checkAccuracy, type RelativeAccuracy } from "../accuracy.ts";
import { METHOD_NAMES, type MethodName } from "../book/index.ts";
import type { Device } from "../device/index.ts";
import { SpecError } from "../errors.ts";
import type { Precision } from "../kernel/index.ts";

/**
 * The sensitivities to compute: "all"; "grid", those that the mesh gives at no extra cost (delta, gamma, theta); or
 * "none".
 */
export type Greeks = "all" | "grid" | "none";

/**
 * The pricing method: `auto` takes the cheapest method that prices a trade; a method by name prices all trades, with
 * errors for those that it cannot price. `fdm` prices every trade, those of several factors by `adi`; `closed-form` and
 * `deterministic` price some.
 */
export type Method = MethodName;

/** The progress that `onProgress` receives after each batch. */
export interface BookProgress {
  /** The number of trades with a result, errors included. */
  readonly done: number;
  /** The number of all trades; undefined for a stream of unknown length. */
  readonly total: number | undefined;
}

/** The options of `priceBook` and `priceTrades`. An unknown option is an error. */
export interface PricingOptions {
  /** The device, which is borrowed. Without one, the best device of the machine is opened and disposed afterwards. */
  readonly device?: Device | undefined;
  /**
   * The precision, "f64" by default, which is f32x2, emulated double, on WebGPU. There "f32" is faster, and its kernels
   * compile in a tenth of the time. Every result says its precision.
   */
  readonly precision?: Precision;
  /** The sensitivities to compute, "all" by default. */
  readonly greeks?: Greeks;
  /** Adds `sensitivityErrorEstimates` to results; false by default. They cost up to a third more. */
  readonly sensitivityErrorEstimates?: boolean;
  /** The pricing method: by default the book's, if it names one, otherwise "auto". */
  readonly method?: Method | undefined;
  /**
   * The error of the value to aim at, relative to the spot (the largest of several) or to the notional: from 1e-8 to
   * 1e-3, by default 1e-5, and 1e-4 of trades in several factors (Monte Carlo, sparse grids: 1e-3; rates: 1e-7). Meshes
   * and time steps are chosen for it, trade by trade. What was reached is in `errorEstimate`, in the currency.
   */
  readonly accuracy?: RelativeAccuracy | undefined;
  /**
   * The maximum seconds for a trade, > 0; no limit by default. A method that refines its values stops before the step
   * that would exceed it, and returns its result so far with its error estimate and a warning: results then depend on
   * the machine. The first value, sensitivities and scenarios are always computed.
   */
  readonly timePerTrade?: number | undefined;
  /**
   * The number of trades priced together, from 1; results come in batches of this size. By default it is chosen by
   * device and scenarios so that the device is busy: some hundreds of trades or more. A smaller batch gives earlier
   * results and takes less memory, but more time. Results do not depend on it, except in the last digits on a GPU.
   */
  readonly batchSize?: number;
  /**
   * A signal that ends the run: `priceBook` and `priceTrades` then throw its reason, between two launches. A running
   * call into a GPU driver is awaited.
   */
  readonly signal?: AbortSignal | undefined;
  /** A callback after each batch, before its results are yielded. */
  readonly onProgress?: (progress: BookProgress) => void;
  /** Opens the device that replaces a lost `device`; a CPU device by default. It is disposed when the run ends. */
  readonly openFallback?: () => Promise<Device>;
}

/** The options that have numerical defaults, with the accuracy as a number, as books and commands write it. */
export interface NumberedOptions extends Pick<
  PricingOptions,
  "greeks" | "sensitivityErrorEstimates" | "method" | "timePerTrade" | "batchSize"
> {
  /** The relative accuracy. */
  readonly accuracy?: number | undefined;
}

/** The options with all defaults applied. */
export interface Settings {
  readonly greeks: Greeks;
  readonly sensitivityErrorEstimates: boolean;
  readonly method: Method;
  /** The requested accuracy; undefined if each method uses its own default. */
  readonly accuracy: number | undefined;
  /** The maximum seconds for a trade; undefined without a limit. Methods consult `Batch.budget`. */
  readonly timePerTrade: number | undefined;
  /** The seed of random numbers. */
  readonly seed: number;
}

const KNOWN: Readonly<Record<keyof PricingOptions, true>> = {
  device: true,
  precision: true,
  greeks: true,
  sensitivityErrorEstimates: true,
  method: true,
  accuracy: true,
  timePerTrade: true,
  batchSize: true,
  signal: true,
  onProgress: true,
  openFallback: true,
};

/** Checks options at run time, since unknown ones would be ignored silently. @throws SpecError */
export function checkOptions(options: PricingOptions): void {
  if (options?.device !== undefined && typeof options.device.launch !== "function")
    throw new SpecError("device: expected one from openDevice: priceBook(book, { device: await openDevice() })");
  const unknown = Object.keys(options).find((key) => !Object.hasOwn(KNOWN, key));
  if (unknown !== undefined)
    throw new SpecError(`${unknown}: unknown option; expected one of ${Object.keys(KNOWN).join(", ")}`);
  const { accuracy, greeks = "all", method = "auto", sensitivityErrorEstimates = false } = options;
  if (accuracy !== undefined) checkAccuracy("accuracy", accuracy, ["relative"]);
  if (typeof sensitivityErrorEstimates !== "boolean")
    throw new SpecError(
      `sensitivityErrorEstimates: got ${JSON.stringify(sensitivityErrorEstimates)}, expected true or false`,
    );
  if (!["all", "grid", "none"].includes(greeks))
    throw new SpecError(`greeks: got ${JSON.stringify(greeks)}, expected "all", "grid" or "none"`);
  if (!METHOD_NAMES.includes(method)) {
    const known = METHOD_NAMES.map((name) => JSON.stringify(name)).join(", ");
    throw new SpecError(`method: got ${JSON.stringify(method)}, expected one of ${known}`);
  }
}
