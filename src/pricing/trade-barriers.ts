import type { Barrier, Trade } from "../book/index.ts";
import { BookError } from "../errors.ts";
import {
  inwardFirst,
  isPast,
  isMonitored,
  type KnockOut,
  type OneFactorProblem,
  type Shift,
  shiftedProblem,
  type MonitoredLevel,
} from "../fdm/index.ts";
import { lessCash } from "../products/index.ts";

/** What a trade is worth the first of, less the second where there is one. */
export interface TradeProblems {
  readonly problem: OneFactorProblem;
  /** What a European trade with knock-ins lacks of the one without them while none has been hit. */
  readonly notYet: OneFactorProblem | undefined;
}

export function shiftedProblems({ problem, notYet }: TradeProblems, shift: Shift): TradeProblems {
  return { problem: shiftedProblem(problem, shift), notYet: notYet && shiftedProblem(notYet, shift) };
}

/**
 * A problem with a trade's barriers. Any knock-out that is hit ends the trade; it is alive once any of its knock-ins has been hit (before that a knock-out
 * ends it, too), and pays their rebate at expiry if none ever is. So
 *
 *   V = V(payoff, knock-outs with rebates) − V(payoff − rebate of the knock-ins, all barriers knock out, no rebates),
 *
 * in–out parity: both hold the same up to the first knock-in, and the second has nothing after it. With early exercise, which the knock-in has to come
 * before, there is no such parity: the problem has its knock-ins itself.
 *
 * @throws BookError knock-ins with several rebates
 */
export function withBarriers(plain: OneFactorProblem, trade: Trade, index: number): TradeProblems {
  const { expiry, spots } = plain;
  const outs = trade.barriers.filter(({ type }) => type.endsWith("-out")).map((barrier) => knockOut(barrier, false));
  const ins = trade.barriers.filter(({ type }) => type.endsWith("-in"));
  const problem = outs.length === 0 ? plain : { ...plain, barriers: inwardFirst(outs) };
  const asOuts = ins.map((barrier) => ({ ...knockOut(barrier, true), rebate: 0 }));
  const isHit = (spot: number): boolean => asOuts.some((one) => isPast(one, spot) && isMonitored(one, 0, expiry));
  if (ins.length === 0 || spots.every(isHit)) return { problem, notYet: undefined };
  const rebate = commonRebate(ins, index);
  if (problem.american || problem.exerciseTimes !== undefined)
    return { problem: { ...problem, knockIns: { levels: ins.map(monitoredLevel), rebate } }, notYet: undefined };
  return {
    problem,
    notYet: {
      ...problem,
      payoff: rebate === 0 ? problem.payoff : lessCash(problem.payoff, rebate),
      barriers: inwardFirst([...outs.map((out) => ({ ...out, rebate: 0 })), ...asOuts]),
    },
  };
}

function knockOut(barrier: Barrier, open: boolean): KnockOut {
  const { rebate, rebateAt } = barrier;
  return { ...monitoredLevel(barrier), rebate, rebateAt, open };
}

function monitoredLevel({ type, level, monitoring, from, to }: Barrier): MonitoredLevel {
  const side = type.startsWith("up") ? "up" : "down";
  // A window of one instant is a date.
  const times = monitoring.kind === "discrete" ? monitoring.times : from === to ? [from] : undefined;
  return { side, level, from, to, times };
}

function commonRebate(ins: readonly Barrier[], index: number): number {
  const [{ rebate }] = ins;
  if (ins.some((other) => other.rebate !== rebate))
    throw new BookError(
      `trades[${index}].barriers`,
      "knock-ins have one rebate together, paid if none is ever hit: give each of them the same",
    );
  return rebate;
}
