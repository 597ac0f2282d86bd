/** Bonds with calls and puts, and options with several dates, under two Gaussian factors. */
import type { RatesTrade } from "../../../book/index.ts";
import { SpecError } from "../../../base/errors.ts";
import type { Precision } from "../../../kernel/index.ts";
import {
  checkOnPlane,
  type Fineness,
  type PlaneMarket,
  RecursionEngine,
  twoFactorRecursion,
} from "../../../quadrature/rates/index.ts";
import { type DatedRules, DatedSession } from "./by-dates.ts";
import type { RatesMethod } from "./method.ts";
import type { RatesMarket } from "./rates-market.ts";

/** Rights on dates are priced by two resolutions, whose difference tells the error. */
const FINE: Fineness = { density: 2.5, reach: 6.5 };
const COARSE: Fineness = { density: 1.75, reach: 5.5 };
const MOVED: Fineness = { density: 1.75, reach: 6 };
/** The fineness of rights at any time, where the number of dates decides. */
const WINDOW: Fineness = { density: 1.3, reach: 5 };

/**
 * The method of backward recursion from date to date by the exact transition density of the G2++ model, whose two
 * factors form a plane.
 *
 * Error: for rights on dates that of two resolutions. Verified: test/quadrature/rates/plane.test.ts.
 */
export const planeRates: RatesMethod = {
  name: "convolution",
  resultName: "convolution",
  refuses,
  open: (device, precision) =>
    new DatedSession(new RecursionEngine(twoFactorRecursion, device, precision), rulesOf(precision)),
};

function refuses({ rates, product }: RatesTrade): string | undefined {
  if (rates.kind !== "g2") return `a model that is not of two Gaussian factors, ${rates.kind}`;
  if (product.kind === "capFloor") return "a sum of options";
  return product.kind === "swaption" && product.quote !== undefined ? "a quoted volatility" : undefined;
}

/** The largest correlation of a plane that rounding does not make a line. In f32 it moves values by less than that. */
const MOST_CORRELATED: Readonly<Record<Precision, number>> = { f64: 1, f32x2: 1, f32: 1 - 1e-6 };

function marketOf(market: RatesMarket, precision: Precision): PlaneMarket {
  const { model, volatilityShift } = market;
  if (model.kind !== "g2") throw new SpecError(`rates: expected g2, got ${model.kind}`);
  const [sigma, eta] = [model.sigma, model.eta].map((own) => Math.max(own + volatilityShift, 0));
  const most = MOST_CORRELATED[precision];
  const rho = Math.min(Math.max(model.rho, -most), most);
  return { parameters: [model.a, sigma, model.b, eta, rho], logDiscount: (t) => market.logDiscount(t) };
}

/** Rounding errors relative to the largest payment. */
const ROUNDING: Readonly<Record<Precision, number>> = { f64: 1e-8, f32x2: 2e-8, f32: 1e-5 };

const rulesOf = (precision: Precision): DatedRules<PlaneMarket, Fineness> => ({
  marketOf: (market) => marketOf(market, precision),
  checked: (claim, market, hasWindows) => checkOnPlane(claim, market, hasWindows ? WINDOW : FINE),
  dates: { value: [[1, FINE]], checks: [[2, [[1, COARSE]]]] },
  moved: [[1, MOVED]],
  windows: [[1, WINDOW]],
  // Nodes are many where dates are close to each other.
  perYear: [2, 4, 8],
  least: { dates: ROUNDING[precision], windows: 1e-5 },
});
