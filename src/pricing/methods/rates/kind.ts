/** Trades on interest rates: bonds, options on them, caps, floors and swaptions. */
import type { RatesTrade } from "../../../book/index.ts";
import { doubtsAbout } from "../../../market/index.ts";
import type { TradeBounds, TradeKind } from "../../plan/kind.ts";
import type { PricingMethod } from "../../plan/method.ts";
import { expiryWarnings, MAX_RATE, MAX_VOLATILITY, MIN_DAYS, addUnitWarning } from "../../term-warnings.ts";
import { narrowedBounds } from "./bounds.ts";
import { ratesBuckets } from "./buckets.ts";
import { cirRates } from "./cir.ts";
import { closedFormRates } from "./closed-form.ts";
import { finiteRates } from "./finite-differences.ts";
import { latticeRates } from "./lattice.ts";
import { largestPayment, type RatesMethod } from "./method.ts";
import { quotesOf } from "./parts.ts";
import { ratesPricing, ratesRowsOf, ratesTradeOf } from "./pricing.ts";
import { planeRates, recursionRates } from "./recursion.ts";
import { ratesExplanation } from "./roll-forward.ts";

/** The methods of options on single dates, which bound those on several. */
const SINGLE_DATES: readonly RatesMethod[] = [closedFormRates, cirRates];

/** The pricing methods of trades on rates, the cheapest first, made when a trade asks for them. */
let methods: readonly PricingMethod[] | undefined;

/** The error of a value to aim at where nothing is said, relative to the largest payment. */
const ACCURACY = 1e-5;

/** Rounding of values and of their bounds, relative to the largest payment. */
const ROUNDING = 1e-9;

/**
 * The trade kind of bonds, bond options, caps, floors and swaptions: their pricing methods, error targets, bounds and
 * warnings.
 */
export const ratesKind: TradeKind<RatesTrade> = {
  get methods() {
    return (methods ??= [...SINGLE_DATES, recursionRates, planeRates, latticeRates, finiteRates].map(ratesPricing));
  },
  add: (batch, trade) => void ratesRowsOf(batch).of(trade),
  reasonForNone({ rates, currency }) {
    if (rates.kind !== "curve") return undefined;
    return (
      `the rates of ${currency} are a curve without volatility, under which no method prices rights of exercise; ` +
      `give market.rates.${currency} a model, such as hullWhite`
    );
  },
  targetErrorOf: (batch, trade) => (batch.settings.accuracy ?? ACCURACY) * largestPayment(ratesTradeOf(batch, trade)),
  async boundsOf(batch, trades, sessionOf, signal): Promise<TradeBounds> {
    const rows = trades.flatMap((trade) =>
      ratesRowsOf(batch)
        .of(trade)
        .filter((row) => row !== undefined),
    );
    const found = await narrowedBounds(rows, SINGLE_DATES, sessionOf, signal);
    const bounds = new Map(rows.map((row, i) => [row, found[i]]));
    return {
      at(trade, k) {
        const row = ratesRowsOf(batch).of(trade)[k];
        return row && (() => bounds.get(row)!);
      },
      rounding: (trade, _, value) => ROUNDING * (largestPayment(ratesTradeOf(batch, trade)) + Math.abs(value)),
    };
  },
  warnings: ratesWarnings,
  /** A quoted volatility stands in the place of a model. */
  doubts({ rates, product, expiry }) {
    const curve = "curve" in rates ? doubtsAbout(rates.curve.fit, expiry) : [];
    const isModel = rates.kind === "hullWhite" && quotesOf(product).length === 0;
    return isModel ? [...curve, ...doubtsAbout(rates.fit, expiry)] : curve;
  },
  buckets: ratesBuckets,
  ...ratesExplanation,
};

/** A normal volatility beyond this was probably meant in percent: 10 % of a rate. */
const MAX_NORMAL_VOLATILITY = 0.1;

/** Returns warnings about the terms of a trade on rates. */
export function ratesWarnings(trade: RatesTrade): string[] {
  return [...expiryWarnings(trade.expiry, MIN_DAYS.bond), ...unitWarnings(trade), ...withoutVolatility(trade)];
}

/** Warnings about rates and volatilities that were probably meant in percent. */
function unitWarnings({ id, currency, rates, product }: RatesTrade): string[] {
  const warnings: string[] = [];
  if ("curve" in rates) addUnitWarning(warnings, "rate", currency, rates.curve.values, MAX_RATE);
  if ("bond" in product) {
    const { coupons, notional } = product.bond;
    const coupon = coupons.map(({ start, end, amount }) => amount / (notional * (end - start)));
    addUnitWarning(warnings, "coupon", id, coupon, MAX_RATE);
    return warnings;
  }
  addUnitWarning(warnings, "strike", id, [product.strike], MAX_RATE);
  for (const kind of ["normal", "displaced"] as const) {
    const sigmas = quotesOf(product).flatMap((quote) => (quote.kind === kind ? quote.sigma : []));
    addUnitWarning(warnings, "volatility", id, sigmas, kind === "normal" ? MAX_NORMAL_VOLATILITY : MAX_VOLATILITY);
  }
  return warnings;
}

/** A warning about an option whose rates are certain to be the forward rates, so that it has its intrinsic value. */
function withoutVolatility({ product, rates, currency, expiry }: RatesTrade): string[] {
  if (rates.kind !== "curve" || product.kind === "bond" || !(expiry > 0)) return [];
  const mayQuote = product.kind !== "bondOption";
  if (quotesOf(product).length > 0) return [];
  return [
    `the rates of ${currency} are a curve without volatility, so the option has its intrinsic value at the forward ` +
      `rates; give ${mayQuote ? 'the trade a "volatility", or ' : ""}market.rates.${currency} a model, such as hullWhite`,
  ];
}

/** Trades on interest rates: bonds, options on them, caps, floors and swaptions. */
