import type { ScenarioValues, Scenarios } from "../book/index.ts";
import type { OneFactorProblem, Shift } from "../fdm/index.ts";
import { totalVariance } from "../fdm/index.ts";

/** What a method finds out about one trade: everything of a result that depends on numbers. */
export interface Valuation {
  readonly value: number;
  readonly delta: number | null;
  readonly gamma: number | null;
  readonly theta: number | null;
  readonly vega: number | null;
  readonly rho: number | null;
  readonly errorEstimate: number;
  readonly method: string;
  readonly warnings: readonly string[];
  readonly scenarios?: ScenarioValues;
}

/** The combinations of the volatility and rate axes, the base case (no shift) first. */
export function shifts(scenarios: Scenarios | undefined): Shift[] {
  const all: Shift[] = [{ volatility: 0, rate: 0 }];
  if (scenarios === undefined) return all;
  for (const volatility of scenarios.volatility)
    for (const rate of scenarios.rate) if (volatility !== 0 || rate !== 0) all.push({ volatility, rate });
  return all;
}

/** values[spot][volatility][rate] from the value under a shift at the problem's (1 + spot index)-th spot. */
export function scenarioValues(scenarios: Scenarios, value: (shift: number, spot: number) => number): ScenarioValues {
  const all = shifts(scenarios);
  const at = (volatility: number, rate: number): number =>
    all.findIndex((shift) => shift.volatility === volatility && shift.rate === rate);
  return scenarios.spot.map((_, spot) =>
    scenarios.volatility.map((volatility) =>
      scenarios.rate.map((rate) => {
        const result = value(at(volatility + 0, rate + 0), spot + 1);
        return Number.isFinite(result) ? result : null;
      }),
    ),
  );
}

/** Whether nothing moves at random, so that the price is a deterministic path's. */
export function isDeterministic(problem: OneFactorProblem): boolean {
  return problem.expiry === 0 || totalVariance(problem) === 0;
}
