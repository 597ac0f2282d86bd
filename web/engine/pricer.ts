/** Prices trades that a picture makes up: plain lists in, plain lists out. */
import type { BookContext, PricedTrade, Scenarios, Trade } from "../../src/book/index.ts";
import type { Device } from "../../src/device/index.ts";
import { type Greeks, priceTrades } from "../../src/pricing/index.ts";

export class Pricer {
  readonly device: Device;
  readonly #context: BookContext;
  readonly #precision: "f64" | "f32";
  readonly #signal: AbortSignal;

  constructor(device: Device, precision: "f64" | "f32", context: BookContext, signal: AbortSignal) {
    this.device = device;
    this.#precision = precision;
    this.#context = context;
    this.#signal = signal;
  }

  /** One result for each trade; undefined where there is no trade, or no price. */
  async price(
    trades: readonly (Trade | undefined)[],
    options: { readonly greeks?: Greeks; readonly accuracy?: number },
    scenarios?: Scenarios,
  ): Promise<(PricedTrade | undefined)[]> {
    const places = trades.flatMap((trade, i) => (trade === undefined ? [] : [i]));
    const parsed = trades.flatMap((trade) => (trade === undefined ? [] : [{ ok: true, trade } as const]));
    const context = { ...this.#context, scenarios };
    const results = new Array<PricedTrade | undefined>(trades.length).fill(undefined);
    const { greeks = "all", accuracy } = options;
    const aim = accuracy === undefined ? undefined : { relative: accuracy };
    const run = { greeks, accuracy: aim, device: this.device, precision: this.#precision, signal: this.#signal };
    let done = 0;
    for await (const batch of priceTrades(parsed, context, run))
      for (const result of batch) {
        const place = places[done++];
        if (result.status === "ok") results[place] = result;
      }
    return results;
  }
}
