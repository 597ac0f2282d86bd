/** Underlyings with volatilities fitted to quotes, after a shift of the spot. */
import { BookError } from "../base/errors.ts";
import { runBlocking } from "../base/event-loop.ts";
import { memoizeBy } from "../base/memoize.ts";
import type { Underlying, Volatility } from "../market/index.ts";
import { type MovableInput, once } from "./market-inputs.ts";
import type { QuotedSmile } from "./quoted-smile.ts";
import type { QuotesKept } from "./quotes-kept.ts";
import type { Market } from "./types.ts";

/** The volatilities that were fitted to quotes, by underlying. They are plain data that another thread can use. */
export type MarketFits = ReadonlyMap<string, Volatility>;

interface Quoted {
  readonly smile: () => QuotedSmile;
  /**
   * The underlyings at other spots that were computed so far. The keys are the spot, and what remains constant in the
   * quotes.
   */
  readonly moved: Map<number, Map<QuotesKept, Underlying>>;
}

/**
 * The quotes of underlyings. They are kept outside the underlying, because that must be plain data to be sent to a
 * worker.
 */
const quoted = new WeakMap<Underlying, Quoted>();

/** Records the quotes to which the volatility of an underlying was fitted. `smile` may fit them when it is called. */
export function rememberQuotes(underlying: Underlying, smile: () => QuotedSmile): void {
  quoted.set(underlying, { smile, moved: new Map() });
}

/** Returns the fitted quotes of an underlying; undefined if its volatility was not fitted to quotes. */
export const quotedSmile = (underlying: Underlying): QuotedSmile | undefined => quoted.get(underlying)?.smile();

/** Tells whether the volatility of an underlying was fitted to quotes. */
export const hasQuotes = (underlying: Underlying): boolean => quoted.has(underlying);

/** Returns the volatilities of a market that were fitted to quotes, so that another thread need not fit them again. */
export function fitsOf({ underlyings }: Market): MarketFits {
  const fits = new Map<string, Volatility>();
  for (const [name, underlying] of underlyings)
    if (underlying.volatility !== undefined && hasQuotes(underlying)) fits.set(name, underlying.volatility);
  return fits;
}

/**
 * Returns an underlying at another spot. If its volatility was fitted to quotes, these are moved and fitted again, once
 * for all trades. `keep` specifies what stays constant in the quotes. @throws BookError if the quotes cannot be fitted
 * at that spot
 */
export function movedUnderlying(underlying: Underlying, spot: number, keep: QuotesKept): Underlying {
  const quotes = quoted.get(underlying);
  if (quotes === undefined || keep === "sticky-local-volatility") return { ...underlying, spot };
  let ofSpot = quotes.moved.get(spot);
  if (ofSpot === undefined) quotes.moved.set(spot, (ofSpot = new Map<QuotesKept, Underlying>()));
  let moved = ofSpot.get(keep);
  if (moved === undefined) {
    const { rates, dividends } = underlying;
    const volatility = quotes.smile().refit({ carry: { spot, rates, dividends }, keep: keptStrike(keep) });
    if (volatility === undefined)
      throw new BookError("scenarios.spot", `the quotes of ${underlying.name} have no fit at the spot ${spot}`);
    moved = { ...underlying, spot, volatility };
    ofSpot.set(keep, moved);
  }
  return moved;
}

/** Returns the inputs of a volatility that was fitted to quotes: their implied volatilities, at constant strikes. */
export const quoteInputs = memoizeBy((underlying: Underlying): readonly MovableInput<Volatility>[] => {
  const smile = quotedSmile(underlying);
  if (smile === undefined) return [];
  const { quotes, isLocal, refit } = smile;
  const times = [...new Set(quotes.map(({ time }) => time))].sort((a, b) => a - b);
  const made = quotes.map(({ expiry, time, strike, implied }, i): MovableInput<Volatility> => ({
    at: { expiry, strike },
    from: isLocal ? (times[times.indexOf(time) - 1] ?? 0) : 0,
    limits: { up: Number.POSITIVE_INFINITY, down: implied },
    moved: (by) => {
      const moves = quotes.map((_, other) => (other === i ? by : 0));
      const volatility = runBlocking(() => refit({ carry: underlying, keep: "strike", moves, areSmall: true }));
      if (volatility === undefined)
        throw new BookError(
          `market.underlyings.${underlying.name}.volatility`,
          `no fit to the quotes with that of ${expiry}, ${strike} moved by ${by}`,
        );
      return volatility;
    },
  }));
  return made.map((input) => ({ ...input, moved: once(input.moved) }));
});

/** Returns the quantity that quotes keep when the spot moves: their strike, or their moneyness. */
export const keptStrike = (keep: Exclude<QuotesKept, "sticky-local-volatility">): "strike" | "moneyness" =>
  keep === "sticky-strike" ? "strike" : "moneyness";
