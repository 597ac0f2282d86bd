/** Bonds with calls and puts, and options with several dates, under Gaussian short rates. */
import type { RatesTrade } from "../../../book/index.ts";
import { SpecError } from "../../../base/errors.ts";
import type { Precision } from "../../../kernel/index.ts";
import { constant, type RatesModel } from "../../../market/index.ts";
import {
  type Fineness,
  type GaussianMarket,
  mostNodes,
  nodesNeeded,
  oneFactorRecursion,
  RecursionEngine,
} from "../../../quadrature/rates/index.ts";
import { type DatedRules, PER_YEAR, DatedSession } from "./by-dates.ts";
import type { RatesMethod } from "./method.ts";
import type { RatesMarket } from "./rates-market.ts";

/** Rights on dates are priced by two resolutions, whose difference tells the error. */
const FINE: Fineness = { density: 2.5, reach: 7 };
const COARSE: Fineness = { density: 1.75, reach: 6 };
/** The fineness of sensitivities, whose errors cancel for the most part. */
const MOVED: Fineness = { density: 2, reach: 6.5 };
/** The fineness of rights at any time, where the number of dates decides. */
const WINDOW: Fineness = { density: 1.6, reach: 6.5 };
/**
 * The method of backward recursion from date to date by the exact transition density of Hull and White's and Vasicek's
 * short rates. Books call it "convolution", like the method of swings in `methods/convolution`.
 *
 * Error: for rights on dates that of two resolutions, 1e-8 of the notional as a rule. Rights at any time are
 * extrapolated from 12 and 24 dates a year, with an error of 1e-6 to 1e-5 of the notional. Verified:
 * test/pricing/short-rate.test.ts.
 */
export const recursionRates: RatesMethod = {
  name: "convolution",
  resultName: "convolution",
  refuses,
  open: (device, precision) =>
    new DatedSession(new RecursionEngine(oneFactorRecursion, device, precision), rulesOf(precision)),
};

function refuses({ rates, product }: RatesTrade): string | undefined {
  if (product.kind === "capFloor") return "a sum of options";
  if (product.kind === "swaption" && product.quote !== undefined) return "a quoted volatility";
  return !isGaussian(rates) ? `a model that is not Gaussian in one factor, ${rates.kind}` : undefined;
}

const isGaussian = ({ kind }: RatesModel): boolean => kind === "hullWhite" || kind === "vasicek";

/** The mean reversion a and the volatility σ(t) of a market. @throws SpecError other models */
function dynamicsOf(market: RatesMarket): Pick<GaussianMarket, "meanReversion" | "volatility"> {
  const { model } = market;
  switch (model.kind) {
    case "hullWhite":
      return { meanReversion: model.meanReversion, volatility: market.sigma(model.volatility) };
    case "vasicek":
      // A move of the volatility is in the market's model, since the curve depends on it.
      return { meanReversion: model.kappa, volatility: constant(model.sigma) };
    default:
      throw new SpecError(`rates: expected hullWhite or vasicek, got ${model.kind}`);
  }
}

function gaussianMarket(market: RatesMarket): GaussianMarket {
  return { ...dynamicsOf(market), logDiscount: (t) => market.logDiscount(t) };
}

/** Rounding errors relative to the largest payment. */
const ROUNDING: Readonly<Record<Precision, number>> = { f64: 2e-9, f32x2: 1e-8, f32: 5e-6 };

const rulesOf = (precision: Precision): DatedRules<GaussianMarket, Fineness> => ({
  marketOf: gaussianMarket,
  checked(claim, market, hasWindows) {
    const nodes = nodesNeeded(claim, market, hasWindows ? WINDOW : FINE);
    if (nodes > mostNodes)
      throw new SpecError(
        `dates of exercise too close to each other for how far away they are: ${nodes} nodes, at most ${mostNodes}; ` +
          "leave some of the dates out",
      );
  },
  dates: { value: [[1, FINE]], checks: [[2, [[1, COARSE]]]] },
  moved: [[1, MOVED]],
  windows: [[1, WINDOW]],
  perYear: PER_YEAR,
  // At the density of windows the error of nodes was at most 1e-6 of the largest payment.
  least: { dates: ROUNDING[precision], windows: Math.max(1e-6, ROUNDING[precision]) },
});
