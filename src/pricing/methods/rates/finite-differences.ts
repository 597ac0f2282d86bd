/** Claims with rights under short rates of one factor by finite differences. */
import type { RatesTrade } from "../../../book/index.ts";
import { SpecError } from "../../../base/errors.ts";
import type { Precision } from "../../../kernel/index.ts";
import { constant } from "../../../market/index.ts";
import {
  blackKarasinskiOnGrid,
  checkOnGrid,
  cirOnGrid,
  GridEngine,
  type ShortRateGridModel,
  hullWhiteOnGrid,
  usersRateOnGrid,
} from "../../../pde/short-rates/index.ts";
import { type DatedRules, PER_YEAR, DatedSession, type Resolution } from "./by-dates.ts";
import type { RatesMethod } from "./method.ts";
import { hasNotice, notDated } from "./claims.ts";
import { cirAt, type RatesMarket } from "./rates-market.ts";

/** Richardson's extrapolation of levels from `first` on, whose errors are of even orders from the second on. */
const two = (first: number): Resolution<number> => [
  [4 / 3, first + 1],
  [-1 / 3, first],
];
const three = (first: number): Resolution<number> => [
  [64 / 45, first + 2],
  [-20 / 45, first + 1],
  [1 / 45, first],
];

/** The part of the change to the last two levels that counts as an error; see `compared`. */
function weightOf({ diffusion, volatility, lacksErrorExpansion }: ShortRateGridModel): number {
  if (lacksErrorExpansion === true) return 20;
  if (diffusion.isTimed) return 14;
  // Of 300 random trades whose volatility falls by up to 50 times the worst error was 12 times the change.
  return volatility.times.length > 0 ? 20 : 4;
}

/**
 * Three levels, compared with the last two of them and with the last alone: two extrapolations may agree by chance. Of
 * the 60 random trades in test/fixtures/rates/estimates.json the worst error was 0.85 of such an estimate.
 */
const compared = (first: number): DatedRules<ShortRateGridModel, number>["dates"] => ({
  value: three(first),
  checks: [
    [(market) => weightOf(market), two(first + 1)],
    [0.1, [[1, first + 2]]],
  ],
});

/**
 * The method of finite differences of the short rate, for models without a known transition density. The drift is
 * fitted to the discount curve on the mesh.
 *
 * Error: 1e-9 to 1e-7 of the notional for rights on dates, by extrapolation of three levels. Rights at any time are
 * treated as by `recursionRates`. Verified: test/pde/short-rates/grid.test.ts, test/pricing/finite-rates.test.ts.
 */
export const finiteRates: RatesMethod = {
  name: "fdm",
  refuses,
  open: (device, precision) => new DatedSession(new GridEngine(device, precision), rulesOf(precision)),
};

function refuses({ rates: { kind }, product }: RatesTrade): string | undefined {
  if (kind === "curve" || kind === "g2" || kind === "bdt") return `a model that is not of one diffusion, ${kind}`;
  if (hasNotice(product)) return "a period of notice";
  return notDated(product);
}

function marketOf(market: RatesMarket): ShortRateGridModel {
  const { model } = market;
  const curve = { logDiscount: (t: number) => market.logDiscount(t), breaks: market.breaks() };
  switch (model.kind) {
    case "hullWhite":
      return hullWhiteOnGrid(model.meanReversion, market.sigma(model.volatility), curve);
    case "vasicek":
      return hullWhiteOnGrid(model.kappa, constant(model.sigma), curve);
    case "cir":
      return cirOnGrid(cirAt(market), curve);
    case "blackKarasinski":
      return blackKarasinskiOnGrid(model.meanReversion, market.sigma(constant(model.volatility)), curve);
    case "shortRate":
      return usersRateOnGrid({ ...model, years: market.years, shift: market.volatilityShift }, curve);
    default:
      throw new SpecError(`rates: expected a model of one diffusion, got ${model.kind}`);
  }
}

/** Rounding errors relative to the largest payment, and what three levels leave where checks agree. */
const ROUNDING: Readonly<Record<Precision, number>> = { f64: 2e-9, f32x2: 1e-8, f32: 2e-5 };

const rulesOf = (precision: Precision): DatedRules<ShortRateGridModel, number> => ({
  marketOf,
  checked: ({ flows }, market) => checkOnGrid(market, flows[flows.length - 1][0]),
  dates: compared(0),
  // Another level would be lost in the rounding of f32.
  finer: precision === "f32" ? undefined : compared(1),
  moved: two(0),
  windows: two(1),
  perYear: PER_YEAR,
  least: { dates: ROUNDING[precision], windows: Math.max(1e-6, ROUNDING[precision]) },
});
