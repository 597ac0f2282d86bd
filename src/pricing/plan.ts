import type { ScenarioValues, Scenarios, Trade } from "../book/index.ts";
import { type OneFactorProblem, type Shift, totalVariance } from "../fdm/index.ts";
import { laterTrade } from "./later-trade.ts";
import { shiftedProblems, type TradeProblems } from "./trade-barriers.ts";
import { tradeProblems } from "./trade-problem.ts";

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

/**
 * The problems behind a trade and its scenarios: the trade as it is first, then every other time, volatility and rate, each of them
 * for all spots. Undefined where the trade is settled before the scenario's date: it is worth nothing.
 */
export type Cases = readonly [TradeProblems, ...(TradeProblems | undefined)[]];

/** Of the trade `trades[index]`. @throws KernelError for a formula that cannot be read; BookError for terms that cannot be priced together */
export function casesOf(trade: Trade, index: number, scenarios: Scenarios | undefined): Cases {
  const today = tradeProblems(trade, index, scenarios);
  if (scenarios === undefined) return [today];
  const all = shifts(scenarios);
  const others = scenarios.time.flatMap((time) => {
    const then = time === 0 ? trade : laterTrade(trade, time);
    const problems = then === trade ? today : then && tradeProblems(then, index, scenarios);
    return all.filter((shift) => !isBase(time, shift)).map((shift) => problems && shiftedProblems(problems, shift));
  });
  return [today, ...others];
}

function shifts({ volatility, rate }: Scenarios): Shift[] {
  return volatility.flatMap((volatility) => rate.map((rate) => ({ volatility, rate })));
}

function isBase(time: number, { volatility, rate }: Shift): boolean {
  return time === 0 && volatility === 0 && rate === 0;
}

/** values[time][spot][volatility][rate] from the value of a case, counted as in `cases`, at its (1 + spot index)-th spot. */
export function scenarioValues(
  scenarios: Scenarios,
  cases: readonly unknown[],
  value: (index: number, spot: number) => number,
): ScenarioValues {
  let others = 1;
  const at = (index: number, spot: number): number | null => {
    const result = cases[index] === undefined ? 0 : value(index, spot);
    return Number.isFinite(result) ? result : null;
  };
  return scenarios.time.map((time) => {
    const indices = scenarios.volatility.map((volatility) =>
      scenarios.rate.map((rate) => (isBase(time, { volatility, rate }) ? 0 : others++)),
    );
    return scenarios.spot.map((_, spot) => indices.map((row) => row.map((index) => at(index, spot + 1))));
  });
}

/** Whether nothing moves at random, so that the price is a deterministic path's. */
export function isDeterministic(problem: OneFactorProblem): boolean {
  return problem.expiry === 0 || totalVariance(problem) === 0;
}
