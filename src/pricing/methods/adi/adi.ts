import type { Device } from "../../../device/index.ts";
import { assetsOf, factorsOf } from "../../terms.ts";
import {
  type Acceptance,
  type Batch,
  type MethodSession,
  type PricingMethod,
  TARGET_ERRORS,
} from "../../plan/method.ts";
import { ValuationPlan } from "../../plan/plan.ts";
import { COST_ON_NARROW_RIDGE, hasNarrowRidge } from "../../equations/ridge.ts";
import { ownAxesOf } from "./estimate.ts";

/** The time in microseconds that a case of a trade takes on one core, about. */
const COST = 10_000;

/** Axes of `solve`. */
const MAX_FACTORS = 3;

/**
 * The method of finite differences in two and three factors, by alternating directions: several underlyings, Heston's
 * and SABR's volatilities, Hull and White's short rate. Values are extrapolated in space and in time. The error
 * estimate is cautious: it combines the correction by extrapolation and the distance to a coarser solution.
 *
 * Cost: 2 to 50 ms for each case of a trade in two factors on one core at the default accuracy. Source:
 * design/factors.md. Verified: test/pricing/factors, against closed forms and published references.
 */
export const adi = {
  name: "adi",
  alias: "fdm",
  minCost: COST,
  accuracy: TARGET_ERRORS.adi,
  accepts,
  open: (device) => ({
    async plan(batch, trades) {
      // Alternating directions are loaded where they are used.
      const [{ solver }, { EquationEstimator }] = await Promise.all([
        import("./solver.ts"),
        import("../../equations/estimator.ts"),
      ]);
      return new ValuationPlan(batch, trades, new EquationEstimator(solver, batch, device));
    },
    [Symbol.dispose]() {},
  }),
} as const satisfies PricingMethod & { open(device: Device): MethodSession };

function accepts({ columns }: Batch, trade: number): Acceptance {
  const beyond = columns.beyondEquations(trade);
  if (beyond !== undefined) return beyond;
  const terms = columns.tradeOf(trade);
  const { underlying, exercise, barriers, expiry } = terms;
  const assets = assetsOf(terms);
  const factors = factorsOf({ assets, shortRate: underlying.shortRate });
  if (factors === 1) return "one factor";
  if (factors > MAX_FACTORS)
    return `${factors} factors (its underlyings, their stochastic volatilities, the short rate), more than ${MAX_FACTORS}`;
  if (assets.some(({ volatility }) => volatility.kind === "surface")) return "a volatility surface and several factors";
  if (exercise.kind !== "european" && barriers.some(({ type }) => type.endsWith("-in")))
    return "early exercise after a knock-in, and several factors";
  if (underlying.shortRate !== undefined && barriers.some(({ rebate }) => rebate !== 0))
    return "a rebate under a stochastic short rate";
  const { count, spots } = columns.cases;
  const own = ownAxesOf({ assets, shortRate: underlying.shortRate, expiry, barriers });
  return hasNarrowRidge(terms, own) ? COST_ON_NARROW_RIDGE * count * (1 + spots) : COST * count;
}
