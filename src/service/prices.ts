/** Requests that arrive together are priced in one launch. */
import type { ParsedTrade, Scenarios, TradeResult } from "../book/index.ts";
import { type Device, offeredPrecision } from "../device/index.ts";
import { type PricingOptions, priceTrades } from "../pricing/index.ts";

/** What requests must share to be priced together. */
export type PriceSettings = Pick<PricingOptions, "greeks" | "accuracy" | "method">;

/** Trades of one request. */
export interface Request extends PriceSettings {
  readonly trades: readonly ParsedTrade[];
  readonly asOf: string;
  readonly scenarios: Scenarios | undefined;
  readonly seed: number | undefined;
  readonly signal: AbortSignal;
}

interface Waiting {
  readonly request: Request;
  readonly resolve: (results: readonly TradeResult[]) => void;
  readonly reject: (error: unknown) => void;
}

/** Trades of small requests that go into one launch, at most. */
const MAX_TOGETHER = 4096;

/** Prices on one device. Small requests that come while the device works wait, and go together when it is free. */
export class Prices {
  readonly #device: Device;
  readonly #waiting = new Map<string, Waiting[]>();
  #isWorking = false;

  constructor(device: Device) {
    this.#device = device;
  }

  /** Requests that wait for a launch. */
  get waiting(): number {
    return [...this.#waiting.values()].reduce((sum, { length }) => sum + length, 0);
  }

  /** Results in the order of the trades. @throws as `priceTrades`; the signal's reason */
  price(request: Request): Promise<readonly TradeResult[]> {
    const { greeks, accuracy, method, scenarios, seed, asOf } = request;
    const key = JSON.stringify([greeks, accuracy, method, scenarios, seed, scenarios === undefined ? "" : asOf]);
    return new Promise((resolve, reject) => {
      const group = this.#waiting.get(key);
      if (group === undefined) this.#waiting.set(key, [{ request, resolve, reject }]);
      else group.push({ request, resolve, reject });
      if (!this.#isWorking) {
        this.#isWorking = true;
        setImmediate(() => void this.#work()); // those of this turn of the event loop go together
      }
    });
  }

  /** Batches as they are priced, for a request whose results are streamed. @throws as `price` */
  async *stream({
    trades,
    signal,
    scenarios,
    asOf,
    seed,
    ...settings
  }: Request): AsyncGenerator<readonly TradeResult[]> {
    const precision = await offeredPrecision(this.#device, "f64");
    const options = { ...settings, device: this.#device, precision, signal };
    yield* priceTrades(trades, { asOf, scenarios, seed }, options);
  }

  async #work(): Promise<void> {
    for (let next = this.#take(); next.length > 0; next = this.#take()) await this.#launch(next);
    this.#isWorking = false;
  }

  /** Some requests of one group, the one that has waited longest among them. */
  #take(): readonly Waiting[] {
    for (const [key, group] of this.#waiting) {
      const taken: Waiting[] = [];
      let trades = 0;
      while (group.length > 0 && (taken.length === 0 || trades + group[0].request.trades.length <= MAX_TOGETHER)) {
        const one = group.shift() as Waiting;
        if (one.request.signal.aborted) one.reject(one.request.signal.reason);
        else taken.push(one);
        trades += one.request.trades.length;
      }
      if (group.length === 0) this.#waiting.delete(key);
      if (taken.length > 0) return taken;
    }
    return [];
  }

  /** The run ends early only when nobody waits for it any more. */
  async #launch(all: readonly Waiting[]): Promise<void> {
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
