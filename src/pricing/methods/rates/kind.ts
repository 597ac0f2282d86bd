/** Trades on interest rates: bonds, options on them, caps, floors and swaptions. */
import type { RatesTrade } from "../../../book/index.ts";
import { doubtsAbout } from "../../../market/index.ts";
import type { Limits, TradeKind } from "../../plan/kind.ts";
import { cirRates } from "./cir.ts";
import { closedFormRates } from "./closed-form.ts";
import { recursionRates } from "./recursion.ts";
import { ratesExplanation } from "./explanation.ts";
import { finiteRates } from "./finite-differences.ts";
import { latticeRates } from "./lattice.ts";
import { largestPayment, type RatesMethod } from "./method.ts";
import { planeRates } from "./plane.ts";
import { ratesPricing } from "./pricing.ts";
import { ratesRowsOf, ratesTradeOf } from "./rows.ts";
import { narrowedBounds } from "./single-dates.ts";
import { ratesWarnings } from "./warnings.ts";

/** The methods of options on single dates, which bound those on several. */
const SINGLE_DATES: readonly RatesMethod[] = [closedFormRates, cirRates];

/** The pricing methods of trades on rates, the cheapest first. */
const METHODS = [...SINGLE_DATES, recursionRates, planeRates, latticeRates, finiteRates].map(ratesPricing);

/** The error of a value to aim at where nothing is said, relative to the largest payment. */
const ACCURACY = 1e-5;

/** Rounding of values and of their bounds, relative to the largest payment. */
const ROUNDING = 1e-9;

/** The kind of trades on interest rates. */
export const ratesKind: TradeKind<RatesTrade> = {
  methods: METHODS,
  add: (batch, trade) => void ratesRowsOf(batch).of(trade),
  whyNone({ rates, currency }) {
    if (rates.kind !== "curve") return undefined;
    return (
      `the rates of ${currency} are a curve without volatility, under which no method prices rights of exercise; ` +
      `give market.rates.${currency} a model, such as hullWhite`
    );
  },
  askedOf: (batch, trade) => (batch.settings.accuracy ?? ACCURACY) * largestPayment(ratesTradeOf(batch, trade)),
  async limitsOf(batch, trades, sessionOf, signal): Promise<Limits> {
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
    const isModel = rates.kind === "hullWhite" && !("quote" in product && product.quote !== undefined);
    return isModel ? [...curve, ...doubtsAbout(rates.fit, expiry)] : curve;
  },
  ...ratesExplanation,
};
