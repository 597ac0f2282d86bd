import type { Device } from "../../../device/index.ts";
import { WARNING } from "../../columns/result-columns.ts";
import { termsOf } from "../../terms.ts";
import type { Acceptance, Batch, MethodSession, PricingMethod } from "../../plan/method.ts";
import { ValuationPlan } from "../../plan/plan.ts";
import type { Estimator } from "../../plan/request.ts";
import { type RightsEstimate, rightsEstimator } from "../../rights/estimator.ts";
import { refusalOf } from "../../rights/factors.ts";
import { Trees } from "./trees.ts";
import { TARGET_ERRORS } from "../target-errors.ts";

/** The time in microseconds that a case of a trade takes on one core, about: less than paths would. */
const COST = 3e5;

/** The number of times that points may be doubled for accuracy. */
const MAX_LEVEL = 2;

/**
 * The method of quantization trees: swing options, and early exercise under mean-reverting factors. Values are
 * extrapolated from two numbers of points, and for American exercise also from two numbers of dates. The error estimate
 * is the amount by which that changes them. In one factor transition probabilities are exact; in two they are
 * frequencies of simulated paths, which depend on the seed. Sensitivities are differences of values on the same trees.
 *
 * Cost on one core: 0.2 s for a tree of 12 dates, 1 to 3 s for a year of days; trades with the same dates and factors
 * share their trees. Source: docs/quantization.md. Verified: test/pricing/quantization.
 */
export const quantization = {
  name: "quantization",
  minCost: COST,
  accuracy: TARGET_ERRORS.quantization,
  accepts,
  open: (device) => {
    const trees = Trees.open(device);
    return {
      plan: (batch, trades) => Promise.resolve(new ValuationPlan(batch, trades, estimatorOf(trees, device))),
      [Symbol.dispose]: () => {
        trees.close();
      },
    };
  },
} as const satisfies PricingMethod & { open(device: Device): MethodSession };

function accepts({ columns }: Batch, trade: number): Acceptance {
  const { cases } = columns;
  const reason = refusalOf(termsOf(columns.tradeOf(trade), 0, { volatility: 0, rate: 0 })!);
  return reason ?? cases.count * (1 + cases.spots) * COST;
}

const estimatorOf = (trees: Trees, device: Device): Estimator<RightsEstimate> => ({
  ...rightsEstimator,
  accuracy: TARGET_ERRORS.quantization,
  limited: WARNING.treeLimited,
  finerLevel: ({ level }) => Math.min(level + 1, MAX_LEVEL),
  async estimate(requests, settings) {
    // Most books do without.
    const { solve } = await import("./solve.ts");
    await solve(trees, device, requests, settings);
  },
});
