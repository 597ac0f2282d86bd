/** Forward prices of an underlying, and the prices of option quotes on it. */
import { afterDividend, type Dividends, type ForwardCurve, integrate, yieldTo } from "../market/index.ts";
import type { OptionQuoteSpec } from "./schema/index.ts";

/**
 * The inputs that determine the forward prices of an underlying: its spot, the rates of its currency, and its
 * dividends.
 */
export interface Carry {
  readonly spot: number;
  readonly rates: ForwardCurve;
  readonly dividends: Dividends;
}

/**
 * Returns the forward price of an underlying at a time in years. The spot grows at r − q and loses the discrete
 * dividends up to that time.
 */
export function forwardAt({ spot, rates, dividends }: Carry, time: number): number {
  let [forward, now] = [spot, 0];
  const growth = (to: number): number => integrate(rates, to) - yieldTo(dividends, to);
  const grow = (to: number): void => {
    forward *= Math.exp(growth(to) - growth(now));
    now = to;
  };
  for (const dividend of dividends.discrete) {
    if (dividend.time > time) break;
    grow(dividend.time);
    forward = afterDividend(forward, dividend);
  }
  grow(time);
  return forward;
}

/** Returns the price of an option quote, or the mean of its bid and ask; undefined if it has neither. */
export const quotedPrice = ({ price, bid, ask }: OptionQuoteSpec): number | undefined =>
  bid === undefined || ask === undefined ? price : 0.5 * (bid + ask);
