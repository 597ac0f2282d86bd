import type { Device } from "../../../device/index.ts";
import { WARNING } from "../../columns/result-columns.ts";
import { ValuationPlan } from "../../plan/plan.ts";
import type { Estimator } from "../../plan/request.ts";
import { type RightsEstimate, rightsEstimator } from "../../rights/estimator.ts";
import { refusalOf } from "../../rights/factors.ts";
import { termsOf } from "../../terms.ts";
import type { Acceptance, Batch, MethodSession, PricingMethod } from "../../plan/method.ts";
import { maxLevelOf, solve } from "./solve.ts";
import { TARGET_ERRORS } from "../target-errors.ts";

/** The time in microseconds that a case of a trade takes on one core, about: less than a tree would. */
const COST = 2e4;

/**
 * The method of convolution: swing options in one or two Gaussian factors, and early exercise under mean-reverting
 * ones, by dynamic programming on a grid of the factors. Transitions between dates are exact in time. Values are
 * extrapolated from two grids, and for American exercise also from two numbers of dates; the error estimate is the
 * amount by which that changes them. Sensitivities are differences of values on the same grids.
 *
 * Cost on one core: 0.1 s in one factor; in two factors 0.1 s for 12 dates, and seconds for a year of days. Source:
 * design/swings.md. Verified: test/pricing/convolution.
 */
export const convolution = {
  name: "convolution",
  minCost: COST,
  accepts,
  open: (device) => ({
    plan: (batch, trades) => Promise.resolve(new ValuationPlan(batch, trades, estimatorOf(device))),
    [Symbol.dispose]() {},
  }),
} as const satisfies PricingMethod & { open(device: Device): MethodSession };

const estimatorOf = (device: Device): Estimator<RightsEstimate> => ({
  ...rightsEstimator,
  accuracy: TARGET_ERRORS.convolution,
  limited: WARNING.inaccurate,
  finerLevel: ({ terms, level }) => Math.min(level + 1, maxLevelOf(terms)),
  estimate: (requests, settings) => solve(device, requests, settings),
});

function accepts({ columns }: Batch, trade: number): Acceptance {
  const { cases } = columns;
  const terms = termsOf(columns.tradeOf(trade), 0, { volatility: 0, rate: 0 })!;
  return refusalOf(terms) ?? cases.count * (1 + cases.spots) * COST;
}
