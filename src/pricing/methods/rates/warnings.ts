import type { RatesTrade } from "../../../book/index.ts";
import { expiryWarnings, MAX_RATE, MAX_VOLATILITY, MIN_DAYS, warn } from "../../unit-warnings.ts";

/** A normal volatility beyond this was probably meant in percent: 10 % of a rate. */
const MAX_NORMAL_VOLATILITY = 0.1;

/** Returns warnings about the terms of a trade on rates. */
export function ratesWarnings(trade: RatesTrade): string[] {
  return [...expiryWarnings(trade.expiry, MIN_DAYS.bond), ...unitWarnings(trade), ...withoutVolatility(trade)];
}

/** Warnings about rates and volatilities that were probably meant in percent. */
function unitWarnings({ id, currency, rates, product }: RatesTrade): string[] {
  const warnings: string[] = [];
  if ("curve" in rates) warn(warnings, "rate", currency, rates.curve.values, MAX_RATE);
  if ("bond" in product) {
    const { coupons, notional } = product.bond;
    const coupon = coupons.map(({ start, end, amount }) => amount / (notional * (end - start)));
    warn(warnings, "coupon", id, coupon, MAX_RATE);
    return warnings;
  }
  warn(warnings, "strike", id, [product.strike], MAX_RATE);
  const { quote } = product;
  if (quote !== undefined)
    warn(warnings, "volatility", id, [quote.sigma], quote.kind === "normal" ? MAX_NORMAL_VOLATILITY : MAX_VOLATILITY);
  return warnings;
}

/** A warning about an option whose rates are certain to be the forward rates, so that it has its intrinsic value. */
function withoutVolatility({ product, rates, currency, expiry }: RatesTrade): string[] {
  if (rates.kind !== "curve" || product.kind === "bond" || !(expiry > 0)) return [];
  const mayQuote = product.kind !== "bondOption";
  if (mayQuote && product.quote !== undefined) return [];
  return [
    `the rates of ${currency} are a curve without volatility, so the option has its intrinsic value at the forward ` +
      `rates; give ${mayQuote ? 'the trade a "volatility", or ' : ""}market.rates.${currency} a model, such as hullWhite`,
  ];
}
