import type { ResultColumns } from "../../columns/result-columns.ts";
import type { Acceptance, Batch, MethodSession, MethodPlan, PricingMethod } from "../../plan/method.ts";
import { readEach } from "../../plan/read-each.ts";
import { isDeterministic, readDeterministic, readKnownScenarios } from "./known.ts";

/** The time in microseconds that the value of a path takes on one core. */
const COST = 5;

/**
 * The method for trades without randomness in any case of the scenarios, because they have no volatility or expire. The
 * spot follows its forward (`deterministicValue`).
 *
 * Error: rounding. Cost: some evaluations of the payoff on the host, in f64 whatever the device. Verified:
 * test/pricing/limits.test.ts, test/pricing/degenerate.test.ts.
 */
export const deterministic = {
  name: "deterministic",
  minCost: COST,
  accepts,
  open: () => session,
} as const satisfies PricingMethod;

function accepts(batch: Batch, trade: number): Acceptance {
  const { columns } = batch;
  const beyond = columns.beyondEquations(trade);
  if (beyond !== undefined) return beyond;
  if (columns.severalFactors[trade] !== 0) return "several factors";
  const first = columns.rowOf(trade);
  for (let row = first; row < first + columns.cases.count; row++)
    if (!isDeterministic(batch, row)) return "volatility, and time left";
  return COST * columns.cases.count * (1 + columns.cases.spots);
}

const session: MethodSession = {
  plan: (batch, trades) => Promise.resolve(planOf(batch, trades)),
  [Symbol.dispose]() {},
};

/** There is nothing to launch: values are computed as they are read. */
function planOf({ columns, problems }: Batch, trades: readonly number[]): MethodPlan {
  const readTrade = (trade: number, results: ResultColumns): void => {
    const first = columns.rowOf(trade);
    readDeterministic(problems.at(first), trade, results);
    if (columns.cases.scenarios === undefined) return;
    for (let row = first; row < first + columns.cases.count; row++)
      if (columns.settled[row] === 0) readKnownScenarios(problems.at(row), row, results);
  };
  return {
    run: () => Promise.resolve(),
    read: (results, signal) => readEach(trades, results, signal, readTrade),
    [Symbol.dispose]() {},
  };
}
