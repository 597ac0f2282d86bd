/** Bonds with calls and puts, and options with several dates, under one or two Gaussian factors. */
import type { RatesTrade } from "../../../book/index.ts";
import { SpecError } from "../../../base/errors.ts";
import type { Precision } from "../../../kernel/index.ts";
import { constant } from "../../../market/index.ts";
import {
  checkOnPlane,
  type InductionResolution,
  type GaussianMarket,
  MAX_DATE_NODES,
  maxNodesOf,
  oneFactorInduction,
  type PlaneMarket,
  BackwardInductionEngine,
  twoFactorInduction,
} from "../../../quadrature/rates/index.ts";
import { notDated } from "./claims.ts";
import { type DatedRules, DatedSession, PER_YEAR } from "./by-dates.ts";
import type { RatesMethod } from "./method.ts";
import type { RatesMarket } from "./rates-market.ts";

/**
 * How finely a recursion integrates: rights on dates by two resolutions, whose difference tells the error;
 * sensitivities, whose errors cancel for the most part; and rights at any time, where the number of dates decides.
 */
type Resolutions = Readonly<Record<"fine" | "coarse" | "moved" | "window", InductionResolution>>;

const ONE_FACTOR: Resolutions = {
  fine: { density: 2.5, reach: 7 },
  coarse: { density: 1.75, reach: 6 },
  moved: { density: 2, reach: 6.5 },
  window: { density: 1.6, reach: 6.5 },
};
const TWO_FACTORS: Resolutions = {
  fine: { density: 2.5, reach: 6.5 },
  coarse: { density: 1.75, reach: 5.5 },
  moved: { density: 1.75, reach: 6 },
  window: { density: 1.3, reach: 5 },
};

/** Rounding errors relative to the largest payment. */
const ROUNDING = {
  one: { f64: 2e-9, f32x2: 1e-8, f32: 5e-6 },
  two: { f64: 1e-8, f32x2: 2e-8, f32: 1e-5 },
} as const satisfies Record<string, Readonly<Record<Precision, number>>>;

/** The rules of a recursion but for its market and what it can price. */
const rulesOf = <M>(
  { fine, coarse, moved, window }: Resolutions,
  rules: Pick<DatedRules<M, InductionResolution>, "marketOf" | "checked" | "perYear" | "least">,
): DatedRules<M, InductionResolution> => ({
  ...rules,
  dates: { value: [[1, fine]], checks: [[2, [[1, coarse]]]] },
  moved: [[1, moved]],
  windows: [[1, window]],
});

const refuses =
  (kinds: readonly string[], factors: string) =>
  ({ rates: { kind }, product }: RatesTrade): string | undefined => {
    if (!kinds.includes(kind)) return `a model that is not ${factors}, ${kind}`;
    return product.kind === "capFloor" ? "a sum of options" : notDated(product);
  };

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
  refuses: refuses(["hullWhite", "vasicek"], "Gaussian in one factor"),
  open(device, precision) {
    const rounding = ROUNDING.one[precision];
    const rules = rulesOf<GaussianMarket>(ONE_FACTOR, {
      marketOf: (market) => ({ ...dynamicsOf(market), logDiscount: (t) => market.logDiscount(t) }),
      checked(claim, market, hasWindows) {
        const nodes = maxNodesOf(claim, market, hasWindows ? ONE_FACTOR.window : ONE_FACTOR.fine);
        if (nodes > MAX_DATE_NODES)
          throw new SpecError(
            `dates of exercise too close to each other for how far away they are: ${nodes} nodes, at most ` +
              `${MAX_DATE_NODES}; leave some of the dates out`,
          );
      },
      perYear: PER_YEAR,
      // At the density of windows the error of nodes was at most 1e-6 of the largest payment.
      least: { dates: rounding, windows: Math.max(1e-6, rounding) },
    });
    return new DatedSession(new BackwardInductionEngine(oneFactorInduction, device, precision), rules);
  },
};

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

/**
 * The method of backward recursion from date to date by the exact transition density of the G2++ model, whose two
 * factors form a plane.
 *
 * Error: for rights on dates that of two resolutions. Verified: test/quadrature/rates/plane.test.ts.
 */
export const planeRates: RatesMethod = {
  name: "convolution",
  refuses: refuses(["g2"], "of two Gaussian factors"),
  open(device, precision) {
    const rules = rulesOf<PlaneMarket>(TWO_FACTORS, {
      marketOf: (market) => onPlane(market, precision),
      checked: (claim, market, hasWindows) =>
        checkOnPlane(claim, market, hasWindows ? TWO_FACTORS.window : TWO_FACTORS.fine),
      // Nodes are many where dates are close to each other.
      perYear: [2, 4, 8],
      least: { dates: ROUNDING.two[precision], windows: 1e-5 },
    });
    return new DatedSession(new BackwardInductionEngine(twoFactorInduction, device, precision), rules);
  },
};

/** The largest correlation of a plane that rounding does not make a line. In f32 it moves values by less than that. */
const MOST_CORRELATED: Readonly<Record<Precision, number>> = { f64: 1, f32x2: 1, f32: 1 - 1e-6 };

function onPlane(market: RatesMarket, precision: Precision): PlaneMarket {
  const { model, volatilityShift } = market;
  if (model.kind !== "g2") throw new SpecError(`rates: expected g2, got ${model.kind}`);
  const [sigma, eta] = [model.sigma, model.eta].map((own) => Math.max(own + volatilityShift, 0));
  const most = MOST_CORRELATED[precision];
  const rho = Math.min(Math.max(model.rho, -most), most);
  return { parameters: [model.a, sigma, model.b, eta, rho], logDiscount: (t) => market.logDiscount(t) };
}
