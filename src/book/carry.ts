/** The forwards of an underlying, and the prices of quotes on it. */
import { afterDividend, type Dividends, type ForwardCurve, integrate } from "../market/index.ts";
import type { OptionQuoteSpec } from "./schema/index.ts";

/** The inputs from which the forwards of an underlying follow. */
export interface Carry {
  readonly spot: number;
  readonly rates: ForwardCurve;
  readonly dividends: Dividends;
}

/** Returns the forward: the spot grown at r − q, less the dividends before the time. */
export function forwardAt({ spot, rates, dividends }: Carry, time: number): number {
  let [forward, now] = [spot, 0];
  const grow = (to: number): void => {
    forward *= Math.exp(integrate(rates, to) - integrate(rates, now) - dividends.yield * (to - now));
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

/** Returns the price of a quote, or the mean of its bid and ask. */
export const midOf = ({ price, bid, ask }: OptionQuoteSpec): number | undefined =>
  bid === undefined || ask === undefined ? price : 0.5 * (bid + ask);
