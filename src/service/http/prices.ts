/** Prices concurrent requests together, in one launch. */
import type { Book, ParsedTrade, Scenarios, ScenarioTable, TradeResult } from "../../book/index.ts";
import { type Device, offeredPrecision } from "../../device/index.ts";
import type { Precision } from "../../kernel/index.ts";
import {
  explainBook,
  type ExplainOptions,
  type ExplainReport,
  type NumberedOptions,
  priceTrades,
} from "../../pricing/index.ts";

/** The options that requests must have in common to be priced together. */
export type PriceSettings = Pick<
  NumberedOptions,
  "greeks" | "accuracy" | "method" | "strict" | "sensitivityErrorEstimates" | "timePerTrade"
>;

/** The trades and the options of one request for prices. */
export interface PriceRequest extends PriceSettings {
  readonly trades: readonly ParsedTrade[];
  readonly asOf: string;
  readonly scenarios: Scenarios | undefined;
  readonly scenarioTable?: ScenarioTable | undefined;
  readonly seed: number | undefined;
  readonly signal: AbortSignal;
}

interface Waiting {
  readonly request: PriceRequest;
  readonly resolve: (results: readonly TradeResult[]) => void;
  readonly reject: (error: unknown) => void;
}

/** The maximum number of trades that are priced together if they belong to several requests. */
const MAX_TOGETHER = 4096;

/** The time in milliseconds after which the next launch starts, even if the previous one has not ended. */
const PATIENCE = 20;

/** The maximum number of concurrent launches. */
const MAX_LAUNCHES = 8;

/**
 * Prices the trades of requests on one device. Small requests that arrive while the device is busy wait, and are then
 * priced together.
 */
export class RequestPricer {
  readonly #device: Device;
  #precision: Precision | undefined;
  #waiting: Waiting[] = [];
  #isWorking = false;
  #underWay = 0;
  #launches = 0;

  constructor(device: Device) {
    this.#device = device;
  }

  /** The number of waiting requests. */
  get waiting(): number {
    return this.#waiting.length;
  }

  /** The number of launches so far. */
  get launches(): number {
    return this.#launches;
  }

  /**
   * Prices the trades of a request and returns the results in the order of the trades. @throws as `priceTrades`; the
   * signal's reason as soon as it is aborted
   */
  price(request: PriceRequest): Promise<readonly TradeResult[]> {
    const { signal } = request;
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason as Error);
      signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
      this.#waiting.push({ request, resolve, reject });
      if (this.#isWorking) return;
      this.#isWorking = true;
      setImmediate(() => void this.#work()); // those of this turn of the event loop go together
    });
  }

  /** Prices the trades of a request and yields results in batches as they are computed. @throws as `price` */
  async *stream({
    trades,
    signal,
    scenarios,
    scenarioTable,
    asOf,
    seed,
    ...settings
  }: PriceRequest): AsyncGenerator<readonly TradeResult[]> {
    this.#precision ??= await offeredPrecision(this.#device, "f64");
    const accuracy = relativeOf(settings);
    const options = { ...settings, accuracy, device: this.#device, precision: this.#precision, signal };
    yield* priceTrades(trades, { asOf, scenarios, scenarioTable, seed }, options);
  }

  /** Explains the change of value between two books. @throws as `explainBook`; the signal's reason */
  async explain(
    before: Book,
    after: Book,
    options: Omit<ExplainOptions, "device" | "accuracy"> & Pick<PriceSettings, "accuracy">,
  ): Promise<ExplainReport> {
    this.#precision ??= await offeredPrecision(this.#device, "f64");
    const common = { accuracy: relativeOf(options), device: this.#device, precision: this.#precision };
    return explainBook(before, after, { ...options, ...common });
  }

  async #work(): Promise<void> {
    for (let next = this.#take(); next.length > 0; next = this.#take()) {
      this.#underWay++;
      const launch = this.#launch(next).finally(() => void this.#underWay--);
      // Where many are under way, the next one waits for this one, however long it takes.
      await (this.#underWay < MAX_LAUNCHES ? within(PATIENCE, launch) : launch);
    }
    this.#isWorking = false;
  }

  /** Takes the request that has waited longest, and the others that can be priced together with it. */
  #take(): readonly Waiting[] {
    const live = this.#waiting.filter(({ request }) => !request.signal.aborted);
    this.#waiting = [];
    const taken: Waiting[] = [];
    let trades = 0;
    for (const one of live) {
      const { request } = one;
      const fits = taken.length === 0 || trades + request.trades.length <= MAX_TOGETHER;
      if (fits && isAlike(request, live[0].request)) {
        taken.push(one);
        trades += request.trades.length;
      } else this.#waiting.push(one);
    }
    return taken;
  }

  /** Prices several requests together. The computation is aborted only if all of them have been aborted. */
  async #launch(all: readonly Waiting[]): Promise<void> {
    this.#launches++;
    const ending = new AbortController();
    const look = (): void => {
      if (all.every(({ request }) => request.signal.aborted)) ending.abort(all[0].request.signal.reason);
    };
    for (const { request } of all) request.signal.addEventListener("abort", look, { once: true });
    try {
      const [{ request }] = all;
      const trades = all.flatMap((one) => one.request.trades);
      const results: TradeResult[] = [];
      for await (const batch of this.stream({ ...request, trades, signal: ending.signal })) results.push(...batch);
      let next = 0;
      for (const { request: one, resolve } of all) resolve(results.slice(next, (next += one.trades.length)));
    } catch (error) {
      for (const { reject } of all) reject(error);
    } finally {
      for (const { request } of all) request.signal.removeEventListener("abort", look);
    }
  }
}

/** Converts the accuracy of a request, which is relative, to the option of the library. */
const relativeOf = ({ accuracy }: Pick<PriceSettings, "accuracy">) =>
  accuracy === undefined ? undefined : { relative: accuracy };

/**
 * Tells whether two requests can be priced in one launch. Their scenarios must be the same object, that of a stored
 * market, or absent.
 */
function isAlike(a: PriceRequest, b: PriceRequest): boolean {
  return (
    a.greeks === b.greeks &&
    a.accuracy === b.accuracy &&
    a.method === b.method &&
    a.strict === b.strict &&
    a.sensitivityErrorEstimates === b.sensitivityErrorEstimates &&
    a.timePerTrade === b.timePerTrade &&
    a.seed === b.seed &&
    a.scenarios === b.scenarios &&
    a.scenarioTable === b.scenarioTable &&
    ((a.scenarios === undefined && a.scenarioTable === undefined) || a.asOf === b.asOf)
  );
}

/** Waits until a promise resolves, but at most `patience` milliseconds. The promise must not reject. */
function within(patience: number, promise: Promise<void>): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, patience);
    void promise.then(() => {
      clearTimeout(timer);
      resolve();
    });
  });
}
