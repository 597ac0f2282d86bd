import type { ScenarioErrorEstimates, ScenarioValues, Scenarios, Trade } from "../book/index.ts";
import { type OneFactorProblem, type Shift, totalVariance } from "../fdm/index.ts";
import { laterTrade } from "./later-trade.ts";
import { shiftedProblems, type TradeProblems } from "./trade-barriers.ts";
import { tradeProblems } from "./trade-problem.ts";

/** What a method finds out about one trade: everything of a result that depends on numbers. */
export interface Valuation extends Partial<Ladder> {
  readonly value: number;
  readonly delta: number | null;
  readonly gamma: number | null;
  readonly theta: number | null;
  readonly vega: number | null;
  readonly rho: number | null;
  readonly errorEstimate: number;
  readonly method: string;
  readonly warnings: readonly string[];
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
  const others = scenarios.time.flatMap((time) => {
    const then = time === 0 ? trade : laterTrade(trade, time);
    const problems = then === trade ? today : then && tradeProblems(then, index, scenarios);
    return shiftedCases(problems, scenarios, time);
  });
  return [today, ...others];
}

/** Those of one date, the base case left out. What a move of rates changes is made once for all volatilities. */
function shiftedCases(
  problems: TradeProblems | undefined,
  scenarios: Scenarios,
  time: number,
): (TradeProblems | undefined)[] {
  const byRate = scenarios.rate.map((rate) => problems && shiftedProblems(problems, { volatility: 0, rate }));
  return scenarios.volatility.flatMap((volatility) =>
    byRate.flatMap((moved, j) =>
      isBase(time, { volatility, rate: scenarios.rate[j] })
        ? []
        : [moved && shiftedProblems(moved, { volatility, rate: 0 })],
    ),
  );
}

function isBase(time: number, { volatility, rate }: Shift): boolean {
  return time === 0 && volatility === 0 && rate === 0;
}

/**
 * Puts the values of a case, counted as in `cases`, at the scenarios' spots into a column; returns the largest of their
 * error estimates.
 */
export type ReadCase = (index: number, column: Float64Array) => number;

/** What a trade is worth under all scenarios. */
export interface Ladder {
  readonly scenarios: ScenarioValues;
  readonly scenarioErrorEstimates: ScenarioErrorEstimates;
}

/** values[time][spot][volatility][rate], case by case, and the largest error estimate of each case. */
export function ladderOf(scenarios: Scenarios, cases: readonly unknown[], read: ReadCase): Ladder {
  const { time: times, spot, volatility: volatilities, rate: rates } = scenarios;
  const column = new Float64Array(spot.length);
  const values = emptyScenarioValues(scenarios);
  let others = 1;
  const estimates = times.map((time, t) =>
    volatilities.map((volatility, i) =>
      rates.map((rate, j) => {
        const index = isBase(time, { volatility, rate }) ? 0 : others++;
        const isSettled = cases[index] === undefined;
        if (isSettled) column.fill(0);
        const estimate = isSettled ? 0 : read(index, column);
        for (let s = 0; s < column.length; s++) values[t][s][i][j] = finiteOrNull(column[s]);
        return finiteOrNull(estimate);
      }),
    ),
  );
  return { scenarios: values, scenarioErrorEstimates: estimates };
}

const finiteOrNull = (x: number): number | null => (Number.isFinite(x) ? x : null);

/** Scenario values to be filled in. */
export function emptyScenarioValues({ time, spot, volatility, rate }: Scenarios): (number | null)[][][][] {
  // Of numbers that are not whole, and without a gap: a copy holds numbers in place, and is quick to write as text.
  const row: (number | null)[] = [...rate].fill(0.5);
  return time.map(() => spot.map(() => volatility.map(() => row.slice())));
}

/** Whether nothing moves at random, so that the price is a deterministic path's. */
export function isDeterministic(problem: OneFactorProblem): boolean {
  return problem.expiry === 0 || totalVariance(problem) === 0;
}
