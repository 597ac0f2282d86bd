/** The forwards implied by put–call parity of option quotes, and the dividend yield that agrees with them. */
import { BookError } from "../base/errors.ts";
import { discountFactor } from "../market/index.ts";
import { type Carry, forwardAt, quotedPrice } from "./carry.ts";
import type { PathOf } from "./paths.ts";
import type { FittedSpec, OptionQuoteSpec } from "./schema/index.ts";
import { type AsOf, timeText, yearsFrom } from "./time.ts";

/** The forward price of an underlying at one expiry, implied by put–call parity. */
export interface ParityForward {
  /** The expiry as the book writes it. */
  readonly expiry: number | string;
  /** The forward: the weighted mean of K + (C − P)/D over the strikes K with a call and a put. */
  readonly forward: number;
  /** The yield per year, for dividends and borrow cost together, with which the spot grows to that forward. */
  readonly yield: number;
  /** The number of strikes with a call and a put. */
  readonly strikes: number;
  /**
   * The relative difference between the forward with one yield for all expiries, which the book then uses, and this
   * one.
   */
  readonly error: number;
}

/** The dividend yield implied by put–call parity over all expiries, and the forwards that it fits. */
export interface Parity {
  /** The yield per year that best fits the forwards of all expiries. */
  readonly yield: number;
  readonly forwards: readonly ParityForward[];
}

/** The largest absolute yield considered. */
const LARGEST_YIELD = 100;

/**
 * Computes the dividend yield q that put–call parity C − P = D·(F(q) − K) implies: for each expiry, and for all
 * expiries by least squares of ln F. Discrete dividends are those of the book. @throws BookError quotes without a call
 * and a put of one expiry and strike, or without a forward above 0
 */
export function parityOf(spec: FittedSpec | undefined, carry: Carry, asOf: AsOf, pathOf: PathOf): Parity {
  const quotes = (spec?.quotes ?? []).filter(({ exercise = spec?.exercise }) => exercise !== "american");
  const pairs = new Map<number, { readonly expiry: number | string; sum: number; weight: number; strikes: number }>();
  const price = (quote: OptionQuoteSpec): number | undefined => (quote.bid === 0 ? undefined : quotedPrice(quote));
  for (const call of quotes) {
    if (call.type === "put") continue;
    const time = yearsFrom(asOf, call.expiry);
    const isTwin = ({ type, strike, expiry }: OptionQuoteSpec): boolean =>
      type === "put" && strike === call.strike && yearsFrom(asOf, expiry) === time;
    const put = quotes.find(isTwin);
    const [c, p] = [price(call), put && price(put)];
    if (put === undefined || c === undefined || p === undefined || !(time > 0)) continue;
    const weight = Math.min(call.weight ?? 1, put.weight ?? 1);
    const known = pairs.get(time) ?? { expiry: timeText(asOf, call.expiry), sum: 0, weight: 0, strikes: 0 };
    known.sum += weight * (call.strike + (c - p) / discountFactor(carry.rates, time));
    known.weight += weight;
    known.strikes += weight > 0 ? 1 : 0;
    pairs.set(time, known);
  }
  const found = [...pairs].filter(([, { weight }]) => weight > 0);
  if (found.length === 0)
    throw new BookError(
      pathOf("dividends", "yield"),
      "expected quotes with the prices of a call and a put of one expiry and strike, both European; " +
        'give them, or a number for "yield"',
    );
  const implied = found.map(([time, { expiry, sum, weight, strikes }]) => {
    const forward = sum / weight;
    if (!(forward > 0))
      throw new BookError(
        pathOf("volatility", "quotes"),
        `put–call parity implies the forward ${forward} at ${expiry}`,
      );
    return { time, expiry, forward, strikes, weight, yield: yieldOf(forward, time, carry) };
  });
  const total = implied.reduce((sum, { weight, time }) => sum + weight * time * time, 0);
  const all = implied.reduce((sum, { weight, time, yield: q }) => sum + weight * time * time * q, 0) / total;
  const forwards = implied.map(({ time, expiry, forward, strikes, yield: q }): ParityForward => {
    const error = forwardAt(withYield(carry, all), time) / forward - 1;
    return { expiry, forward, yield: q, strikes, error };
  });
  return { yield: all, forwards };
}

const withYield = (carry: Carry, q: number): Carry => ({ ...carry, dividends: { ...carry.dividends, yield: q } });

/**
 * The yield for which the model's forward equals the given one. It is found by bisection, because the forward decreases
 * with the yield.
 */
function yieldOf(forward: number, time: number, carry: Carry): number {
  let [low, high] = [-LARGEST_YIELD, LARGEST_YIELD];
  while (high - low > 1e-15 * LARGEST_YIELD) {
    const middle = 0.5 * (low + high);
    if (middle === low || middle === high) break;
    if (forwardAt(withYield(carry, middle), time) > forward) low = middle;
    else high = middle;
  }
  return 0.5 * (low + high);
}
