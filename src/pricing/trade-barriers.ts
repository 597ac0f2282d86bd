import { BookError } from "../base/errors.ts";
import type { Barrier } from "../book/index.ts";
import {
  inwardFirst,
  isPast,
  isMonitored,
  type KnockOut,
  type OneFactorProblem,
  type MonitoredLevel,
  type ProblemDifference,
} from "../pde/fdm/index.ts";
import { lessCash } from "../market/products/index.ts";
import type { TradeColumns } from "./columns/trade-columns.ts";

/**
 * Returns the problem of a row (a trade in one case of the scenarios) with its barriers. A breached knock-out ends the
 * trade. The trade becomes active when the first of its knock-ins is breached; a knock-out ends it before that, too. If
 * no knock-in is ever breached, their rebate is paid at expiry. So
 *
 *   V = V(payoff, knock-outs with rebates) − V(payoff − rebate of the knock-ins, all barriers knock out, no rebates)
 *
 * by in–out parity: both values are the same up to the first knock-in, and the second is zero after it. Parity fails
 * with early exercise, which is possible only after the knock-in, so such a problem keeps its knock-ins.
 *
 * @throws BookError knock-ins with different rebates
 */
export function withBarriers(plain: OneFactorProblem, columns: TradeColumns, row: number): ProblemDifference {
  const all = columns.barriersOf(row);
  if (all.length === 0) return { problem: plain, subtracted: undefined };
  const { expiry, spots } = plain;
  const ins = all.filter(({ type }) => type.endsWith("-in"));
  const outs = all.filter((barrier) => !ins.includes(barrier)).map((barrier) => knockOut(barrier, false));
  const problem = outs.length === 0 ? plain : { ...plain, barriers: inwardFirst(outs) };
  const asOuts = ins.map((barrier) => ({ ...knockOut(barrier, true), rebate: 0 }));
  const isHit = (spot: number): boolean => asOuts.some((one) => isPast(one, spot) && isMonitored(one, 0, expiry));
  if (ins.length === 0 || spots.every(isHit)) return { problem, subtracted: undefined };
  const rebate = commonRebate(columns, row, ins);
  if (problem.american || problem.exerciseTimes !== undefined) {
    const levels = ins.map(monitoredLevel);
    return { problem: { ...problem, knockIns: { levels, rebate } }, subtracted: undefined };
  }
  return {
    problem,
    subtracted: {
      ...problem,
      payoff: rebate === 0 ? problem.payoff : lessCash(problem.payoff, rebate),
      barriers: inwardFirst([...outs.map((out) => ({ ...out, rebate: 0 })), ...asOuts]),
    },
  };
}

/** Each field is named: what a spread makes has a form of its own, with which all that reads barriers is slower. */
function knockOut(barrier: Barrier, open: boolean): KnockOut {
  const { side, level, from, to, times } = monitoredLevel(barrier);
  return { side, level, from, to, times, rebate: barrier.rebate, rebateAt: barrier.rebateAt, open };
}

function monitoredLevel({ type, level, from, to, monitoring }: Barrier): MonitoredLevel {
  // A window of one instant is a date.
  const times = monitoring.kind === "discrete" ? monitoring.times : from === to ? [from] : undefined;
  return { side: type.startsWith("up") ? "up" : "down", level, from, to, times };
}

function commonRebate(columns: TradeColumns, row: number, [{ rebate }, ...others]: readonly Barrier[]): number {
  if (others.some((other) => other.rebate !== rebate))
    throw new BookError(
      `trades[${columns.indexInRun[Math.floor(row / columns.cases.count)]}].barriers`,
      "knock-ins have one rebate together, paid if none is ever hit: give each of them the same",
    );
  return rebate;
}
