import type { Trade } from "../../../book/index.ts";
import type { Device } from "../../../device/index.ts";
import { assetsOf } from "../../terms.ts";
import {
  type Acceptance,
  type Batch,
  type MethodSession,
  type PricingMethod,
  TARGET_ERRORS,
} from "../../plan/method.ts";
import { isMonitoredForLife, barriersOfType } from "../../equations/parts.ts";
import { COST_ON_NARROW_RIDGE, hasNarrowRidge } from "../../equations/ridge.ts";
import { ValuationPlan } from "../../plan/plan.ts";

/** Axes of `solveOnSparseGrid`. */
const MAX_ASSETS = 10;

/** The time in microseconds of a node: its cell's mean, its time steps. */
const COST = 50;
/** Nodes of a trade on d underlyings at an accuracy of 1e-3, and with each digit more; measured for d = 1 … 6. */
const NODES = [0, 200, 1_000, 4_000, 13_000, 60_000, 800_000] as const;
const NODES_PER_DIGIT = 5;

/**
 * The method of sparse grids: trades on up to ten underlyings with time-dependent volatilities, with knock-outs and
 * Bermudan exercise. The error estimate is that of the combination technique.
 *
 * Source: design/sparsegrid.md. Verified: test/pricing/sparse-grid, against closed forms and alternating directions.
 */
export const sparseGrid = {
  name: "sparse-grid",
  minCost: COST * NODES[1],
  accuracy: TARGET_ERRORS["sparse-grid"],
  accepts,
  open: (device) => ({
    async plan(batch, trades) {
      // Sparse grids are loaded where they are used.
      const [{ solver }, { EquationEstimator }] = await Promise.all([
        import("./solver.ts"),
        import("../../equations/estimator.ts"),
      ]);
      return new ValuationPlan(batch, trades, new EquationEstimator(solver, batch, device));
    },
    [Symbol.dispose]() {},
  }),
} as const satisfies PricingMethod & { open(device: Device): MethodSession };

function accepts(batch: Batch, trade: number): Acceptance {
  const { columns } = batch;
  const beyond = columns.beyondEquations(trade);
  if (beyond !== undefined) return beyond;
  const terms = columns.tradeOf(trade);
  const { underlying, exercise, barriers, expiry } = terms;
  const assets = assetsOf(terms);
  if (assets.length > MAX_ASSETS) return `${assets.length} underlyings, more than ${MAX_ASSETS}`;
  if (underlying.shortRate !== undefined) return "a stochastic short rate";
  if (assets.some(({ volatility }) => volatility.kind !== "deterministic"))
    return "a volatility that is not a function of time";
  if (assets.some((asset) => asset.underlying.dividends.discrete.some(({ time }) => time < expiry)))
    return "dividends on dates before expiry";
  if (exercise.kind === "american") return "American exercise";
  if (exercise.kind !== "european" && barriers.some(({ type }) => type.endsWith("-in")))
    return "early exercise after a knock-in";
  if (barriersOfType(barriers, "").some((level) => level.times === undefined && !isMonitoredForLife(level, expiry)))
    return "a barrier that is monitored continuously in a window";
  const { count, spots } = columns.cases;
  const cost = costOf(terms, batch) * count;
  const isNarrow = barriers.length > 0 && hasNarrowRidge(terms, [...assets.keys()]);
  return isNarrow ? Math.max(cost, COST_ON_NARROW_RIDGE * count * (1 + spots)) : cost;
}

/** The cost of a sensitivity by differences, relative to that of a value. */
const BUMP = 0.2;

/** The expected cost of a value and its sensitivities, in microseconds. */
function costOf(terms: Trade, { settings }: Batch): number {
  const d = assetsOf(terms).length;
  const digits = Math.max(-3 - Math.log10(settings.accuracy ?? TARGET_ERRORS["sparse-grid"]), 0);
  const nodes = (NODES[d] ?? NODES[6] * 6 ** (d - 6)) * NODES_PER_DIGIT ** digits;
  const fromGamma = terms.exercise.kind === "european" && terms.barriers.length === 0;
  const bumps = settings.greeks === "all" && !fromGamma ? 2 * d + 2 + d * (d - 1) : 0;
  return COST * nodes * (1 + BUMP * bumps);
}
