/** Implied volatilities: the constant volatility at which an option is worth its price, whatever prices the option. */
import { type BookContext, forwardAt, type Trade, type TradeResult } from "../book/index.ts";
import { blackDeviation } from "../calibration/index.ts";
import { flatVolatility, integrate } from "../market/index.ts";
import type { PricingOptions } from "./options.ts";
import { priceTrades } from "./price-book.ts";

/** An option with its price. The volatility of `option` does not count. */
export interface QuotedOption {
  readonly option: Trade;
  readonly price: number;
  /** The distance up to which the true price may differ from `price`, such as half of its last decimal. */
  readonly priceError: number;
}

/** The implied volatility of a price, or the reason for which there is none. */
export type ImpliedVolatility =
  | {
      readonly volatility: number;
      /**
       * The largest distance between `volatility` and that of any price within `priceError`, with the error estimates
       * of the method that prices the option; null if no volatility up to 2,000 % gives the largest of these prices.
       */
      readonly errorEstimate: number | null;
      readonly method: string;
      readonly warnings: readonly string[];
    }
  | { readonly volatility: null; readonly reason: string };

/** The options of `impliedVolatilities`; `accuracy` is that of the prices at the volatilities that are tried. */
export type ImpliedOptions = Pick<PricingOptions, "device" | "precision" | "accuracy" | "signal"> & {
  /** Called after each round, with the number of volatilities that are found. */
  readonly onProgress?: (progress: { readonly done: number; readonly total: number }) => void;
};

/** The highest volatility that is tried. */
const HIGHEST = 20;
/** The largest number of rounds of the search. The bracket is halved at least every third one. */
const ROUNDS = 150;

/**
 * Finds implied volatilities by a safeguarded secant method, which prices all options together in each round, and then
 * the volatilities that enclose those of all prices within the error of the quote.
 *
 * Values must rise with the volatility: calls and puts of any exercise do, with any dividends and rates.
 */
export async function impliedVolatilities(
  quotes: readonly QuotedOption[],
  context: Pick<BookContext, "asOf">,
  { onProgress, ...options }: ImpliedOptions,
): Promise<ImpliedVolatility[]> {
  const searches = quotes.map((quote) => new Search(quote));
  for (let round = 0; round < ROUNDS; round++) {
    const open = searches.filter(({ next }) => next !== undefined);
    onProgress?.({ done: searches.length - open.length, total: searches.length });
    if (open.length === 0) break;
    const trades = open.map(({ quote, next }) => ({
      ok: true as const,
      trade: { ...quote.option, volatility: flatVolatility(next!) },
    }));
    let at = 0;
    for await (const batch of priceTrades(trades, { ...context, scenarios: undefined }, { ...options, greeks: "none" }))
      for (const result of batch) open[at++].take(result);
  }
  return searches.map(({ result }) => result);
}

/** A volatility that was tried: the value there less the price, and its error estimate. */
interface Trial {
  readonly volatility: number;
  readonly excess: number;
  readonly error: number;
}

/** The search for the volatility of one price: what to try next, and what was found. */
class Search {
  readonly quote: QuotedOption;
  /** The volatility to price the option at next; undefined once the search has ended. */
  next: number | undefined = 0;
  result: ImpliedVolatility = { volatility: null, reason: "no volatility was found, which should not happen" };
  #low: Trial | undefined;
  #high: Trial | undefined;
  #last: Trial | undefined;
  /** The bracket's width three rounds ago, two rounds ago and one round ago. */
  #widths: number[] = [];
  #side: 1 | -1 | undefined;
  #distance = 0;
  #upper = 0;

  constructor(quote: QuotedOption) {
    this.quote = quote;
    if (!(quote.price >= 0 && quote.price < Infinity)) this.#fail(`expected a price from 0 on, got ${quote.price}`);
    else if (quote.option.expiry === 0) this.#fail("the option has expired, so that its price has no volatility");
  }

  /** Takes the result of pricing the option at `next`. */
  take(result: TradeResult): void {
    if (result.status === "error") return this.#fail(result.error.message);
    const { price } = this.quote;
    const trial = { volatility: this.next!, excess: result.value - price, error: result.errorEstimate ?? 0 };
    if (this.#side !== undefined) return this.#enclose(trial, this.#side);
    if (trial.volatility === 0) return this.#begin(trial, result.value);
    if (trial.excess < 0) this.#low = trial;
    else this.#high = trial;
    const { volatility, excess, error } = trial;
    const isExact = Math.abs(excess) <= Math.max(0.25 * error, 4 * Number.EPSILON * price);
    if (isExact || this.#width <= 4 * Number.EPSILON * volatility) return this.#found(trial, result);
    this.next = this.#nextTrial(trial);
    this.#last = trial;
    if (this.next === undefined)
      this.#fail(
        `no volatility up to ${100 * HIGHEST} % gives the price ${price}: the option is worth ${price + excess} there`,
      );
  }

  /** Compares the price with the value without volatility, the least that the option can be worth. */
  #begin(least: Trial, value: number): void {
    const { option, price, priceError } = this.quote;
    const what = option.exercise.kind === "european" ? "the discounted intrinsic value" : "the value of exercise";
    if (least.excess > priceError + least.error)
      return this.#fail(`the price ${price} is below ${what}, ${value}, which is the value without volatility`);
    if (-least.excess <= least.error)
      return this.#fail(`the price ${price} is ${what}, and says nothing of the volatility`);
    this.#low = least;
    this.next = Math.min(Math.max(this.#guess(), 1e-4), 0.5 * HIGHEST);
  }

  /** Black's implied volatility of the price, which is that of a European option without dividends in cash. */
  #guess(): number {
    const { option, price } = this.quote;
    const { underlying, payoff, expiry } = option;
    if (payoff.kind !== "vanilla") return 0.2;
    const discount = Math.exp(-integrate(underlying.rates, expiry));
    const forward = forwardAt(underlying, expiry);
    const quoted = { forward, strike: payoff.strike, price: price / discount, sign: payoff.right === "call" ? 1 : -1 };
    const { deviation } = blackDeviation({ quoted });
    return deviation > 0 ? deviation / Math.sqrt(expiry) : 0.2;
  }

  get #width(): number {
    return this.#high === undefined ? Infinity : this.#high.volatility - this.#low!.volatility;
  }

  /** The next volatility to try after `trial`; undefined if there is none up to the highest. */
  #nextTrial(trial: Trial): number | undefined {
    const { volatility } = trial;
    if (volatility >= HIGHEST && this.#high === undefined) return undefined;
    const slope = this.#slopeAt(trial);
    const secant = slope > 0 ? volatility - trial.excess / slope : Number.NaN;
    const low = this.#low!.volatility;
    if (this.#high === undefined) {
      const most = Math.min(3 * volatility, HIGHEST);
      return secant > volatility && secant < most ? Math.max(secant, volatility * (1 + 1e-9)) : most;
    }
    const high = this.#high.volatility;
    this.#widths = [...this.#widths.slice(-2), high - low];
    const isSlow = this.#widths.length === 3 && this.#widths[2] > 0.5 * this.#widths[0];
    if (!isSlow && secant > low && secant < high) return secant;
    this.#widths = [];
    return low > 0.1 * high ? Math.sqrt(low * high) : 0.5 * (low + high);
  }

  /** The slope between the last two trials. */
  #slopeAt({ volatility, excess }: Trial): number {
    const from = this.#last ?? this.#low!;
    return volatility === from.volatility ? 0 : (excess - from.excess) / (volatility - from.volatility);
  }

  #found(trial: Trial, { method, warnings }: Extract<TradeResult, { status: "ok" }>): void {
    const { volatility, error } = trial;
    this.result = { volatility, errorEstimate: null, method, warnings };
    // The slope of the secant is that of a rounding error where the trials have come too close.
    const { volatility: from } = this.#last ?? this.#low!;
    const isFar = Math.abs(volatility - from) > 1e-3 * volatility;
    const slope = isFar ? this.#slopeAt(trial) : Number.NaN;
    const needed = this.quote.priceError + 2 * error + Math.abs(trial.excess);
    const first = slope > 0 ? (1.1 * needed) / slope : 1e-6 * volatility;
    this.#distance = Math.min(Math.max(first, 1e-14 * volatility), volatility);
    this.#side = 1;
    this.#tryAt(1);
  }

  /** Encloses the volatilities of all prices within the error, first above and then below. */
  #enclose({ excess, error, volatility }: Trial, side: 1 | -1): void {
    const found = this.result.volatility!;
    const reached = side * excess - error;
    const isReached = reached >= this.quote.priceError || volatility === 0;
    if (!isReached) {
      if (volatility >= HIGHEST) return this.#end(null);
      // As much further as the slope so far says, but no more than four times as far.
      const factor = reached > 0 ? (1.1 * (this.quote.priceError + 2 * error)) / (reached + 2 * error) : 4;
      this.#distance *= Math.min(Math.max(factor, 1.2), 4);
      return this.#tryAt(side);
    }
    if (side < 0) return this.#end(Math.max(this.#upper, found - volatility));
    this.#upper = volatility - found;
    this.#side = -1;
    this.#tryAt(-1);
  }

  #tryAt(side: 1 | -1): void {
    this.next = Math.min(Math.max(this.result.volatility! + side * this.#distance, 0), HIGHEST);
  }

  #end(errorEstimate: number | null): void {
    this.result = { ...this.result, errorEstimate } as ImpliedVolatility;
    this.next = undefined;
  }

  #fail(reason: string): void {
    this.result = { volatility: null, reason };
    this.next = undefined;
  }
}
