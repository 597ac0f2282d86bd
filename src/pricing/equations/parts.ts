/** The problems whose signed sum is the value of a trade with barriers, and the values that need no solution. */
import type { Barrier } from "../../book/index.ts";
import { BookError } from "../../base/errors.ts";
import {
  type Boundary,
  type Condition,
  isMonitored,
  isPast,
  type MonitoredLevel,
  regimeChanges,
  SAME_DATE,
} from "../../pde/fdm/index.ts";
import { integrate } from "../../market/index.ts";
import type { Terms } from "../terms.ts";
import { diffusionOf } from "../trade-problem.ts";
import type { Range } from "./coordinates.ts";
import { assetName, payoffAt } from "./equation.ts";
import { apply, type Expression, integralOf } from "./expression.ts";

/** A barrier on one of the assets. */
export interface AssetBarrier extends MonitoredLevel {
  /** The index of the asset. */
  readonly asset: number;
  readonly rebate: number;
  /** True where the rebate is paid at expiry, false where it is paid at the breach. */
  readonly paysAtExpiry: boolean;
}

/** The value of a trade that is known without a solution. */
export interface KnownValue {
  readonly value: number;
  readonly method: "payoff" | "knocked-out";
  /** True where it is the present value of an amount paid at expiry. */
  readonly discounted: boolean;
}

/** One of the problems whose sum is the value of a trade; by in–out parity one may be subtracted. */
export interface SignedProblem {
  /** The sign with which the problem's value is added. */
  readonly sign: 1 | -1;
  /** The knock-outs of the problem. */
  readonly knockOuts: readonly AssetBarrier[];
  /** The amount subtracted from the payoff, which is the rebate of knock-ins. */
  readonly less: number;
}

/**
 * Returns the value of a trade at today's spots if it is known without a solution, because the trade is knocked out or
 * expires today; otherwise undefined.
 */
export function knownAt(terms: Terms, spots: readonly number[]): KnownValue | undefined {
  const { barriers, expiry } = terms;
  const hit = barriersOfType(barriers, "-out").find((level) => isHit(level, spots, expiry));
  if (hit !== undefined) {
    const value = hit.rebate * (hit.paysAtExpiry ? Math.exp(-integrate(terms.rates, expiry)) : 1);
    return { value, method: "knocked-out", discounted: hit.paysAtExpiry };
  }
  if (expiry > 0) return undefined;
  const ins = barriersOfType(barriers, "-in");
  const isIn = ins.length === 0 || ins.some((level) => isHit(level, spots, expiry));
  return { value: isIn ? payoffAt(terms, spots) : ins[0].rebate, method: "payoff", discounted: false };
}

/** Tells whether today's spots breach one of the knock-outs of a problem. */
export const isKnockedOut = ({ knockOuts }: SignedProblem, spots: readonly number[], expiry: number): boolean =>
  knockOuts.some((level) => isHit(level, spots, expiry));

const isHit = (level: AssetBarrier, spots: readonly number[], expiry: number): boolean =>
  isPast(level, spots[level.asset]) && isMonitored(level, 0, expiry);

/** Returns the barriers of a kind: knock-outs ("-out"), knock-ins ("-in"), or all (""). */
export const barriersOfType = (barriers: readonly Barrier[], kind: "-out" | "-in" | ""): readonly AssetBarrier[] =>
  barriers.filter(({ type }) => type.endsWith(kind)).map(levelOf);

/**
 * Returns the problems whose signed sum is the value of a trade, for all given spots today. European knock-ins are
 * valued by in–out parity, as by `withBarriers` in one factor. @throws BookError knock-ins with different rebates
 */
export function signedProblemsOf(
  { barriers, expiry }: Terms,
  all: readonly (readonly number[])[],
  path: string,
): readonly SignedProblem[] {
  const outs = barriersOfType(barriers, "-out");
  const ins = barriersOfType(barriers, "-in");
  const whole: SignedProblem = { sign: 1, knockOuts: outs, less: 0 };
  if (ins.length === 0 || all.every((spots) => ins.some((level) => isHit(level, spots, expiry)))) return [whole];
  const [{ rebate }] = ins;
  if (ins.some((other) => other.rebate !== rebate))
    throw new BookError(
      `${path}.barriers`,
      "knock-ins have one rebate together, paid if none is ever hit: give each of them the same",
    );
  const knockOuts = [...outs, ...ins].map((level) => ({ ...level, rebate: 0 }));
  return [whole, { sign: -1, knockOuts, less: rebate }];
}

function levelOf({ type, level, rebate, rebateAt, monitoring, from, to, asset = 0 }: Barrier): AssetBarrier {
  const times = monitoring.kind === "discrete" ? monitoring.times : from === to ? [from] : undefined;
  const side = type.startsWith("up") ? "up" : "down";
  return { asset, side, level, from, to, times, rebate, paysAtExpiry: rebateAt === "expiry" };
}

/** Returns the value at time t of a barrier's rebate. Rates are deterministic where there is a rebate. */
export function rebateOf({ rebate, paysAtExpiry }: AssetBarrier, { rates, expiry }: Terms): Expression {
  if (!paysAtExpiry || rebate === 0) return rebate;
  return apply((paid, integral) => paid * Math.exp(-integral), rebate, integralOf(rates, expiry));
}

/** Returns a payoff less an amount (`SignedProblem.less`). */
export const lessRebate = (payoff: Expression, less: number): Expression =>
  less === 0 ? payoff : apply((value, rebate) => value - rebate, payoff, less);

/** Returns the conditions for `solve` of early exercise before expiry. */
export function exerciseOf(
  exercise: Terms["exercise"],
  expiry: number,
  payoff: Expression,
): readonly Condition<string>[] {
  if (exercise.kind === "european") return [];
  if (exercise.kind === "american") return [{ kind: "exercise", payoff }];
  const at = exercise.times.filter((time) => time > SAME_DATE * expiry && time < expiry * (1 - SAME_DATE));
  return at.length === 0 ? [] : [{ kind: "exercise", payoff, at }];
}

/** Returns the conditions for `solve` of knock-outs that are monitored on dates or for a part of the life. */
export const knockOutsOf = (levels: readonly AssetBarrier[], terms: Terms): readonly Condition<string>[] =>
  levels.flatMap((barrier) => {
    const { side, level, times, from, to, asset } = barrier;
    const at = times?.filter((time) => time > 0);
    if (at?.length === 0) return [];
    const edge = { [side === "up" ? "above" : "below"]: level };
    const when = at === undefined ? { from, until: to } : { at };
    const axis = assetName(terms.assets.length, asset);
    return [{ kind: "knock-out", axis, ...edge, value: rebateOf(barrier, terms), ...when }];
  });

/**
 * Splits the knock-outs that are monitored on dates or for a part of the life: `last` are those that are monitored at
 * expiry; `before` are all of them, with their dates before expiry.
 */
export function datedKnockOuts(
  knockOuts: readonly AssetBarrier[],
  expiry: number,
): { readonly last: readonly AssetBarrier[]; readonly before: readonly AssetBarrier[] } {
  const dated = knockOuts.filter((one) => !isMonitoredForLife(one, expiry));
  return {
    last: dated.filter(({ times }) => times?.some((time) => isAtExpiry(time, expiry)) === true),
    before: dated.map((one) => ({ ...one, times: one.times?.filter((time) => !isAtExpiry(time, expiry)) })),
  };
}

/** The barriers of an asset on its axis. */
export interface AxisBarriers {
  /**
   * The axis, which ends at the innermost barriers that are monitored for the whole life; those beyond them cannot be
   * breached first.
   */
  readonly range: Range;
  /** The barrier at the lower end of the axis, if there is one. */
  readonly low: AssetBarrier | undefined;
  /** The barrier at the upper end of the axis, if there is one. */
  readonly high: AssetBarrier | undefined;
  /** The barriers inside the axis that are monitored on dates or for a part of the life. */
  readonly inner: readonly AssetBarrier[];
}

/** Returns an asset's axis with its barriers; those beyond the range of the axis are omitted. */
export function axisBarriers(
  range: Range,
  knockOuts: readonly AssetBarrier[],
  asset: number,
  expiry: number,
): AxisBarriers {
  const own = knockOuts.filter((one) => one.asset === asset && one.level > range.from && one.level < range.to);
  const whole = own.filter((level) => isMonitoredForLife(level, expiry));
  const low = whole.filter(({ side }) => side === "down").sort((a, b) => b.level - a.level)[0];
  const high = whole.filter(({ side }) => side === "up").sort((a, b) => a.level - b.level)[0];
  const [from, to] = [low?.level ?? range.from, high?.level ?? range.to];
  const inner = own.filter((one) => !isMonitoredForLife(one, expiry) && one.level > from && one.level < to);
  return { range: { ...range, from, to }, low, high, inner };
}

/** Returns the boundary conditions at those ends of an axis that are barriers. */
export function endsAt({ low, high }: AxisBarriers, terms: Terms): { low?: Boundary<string>; high?: Boundary<string> } {
  const paying = (level: AssetBarrier): Boundary<string> => ({ kind: "dirichlet", value: rebateOf(level, terms) });
  return { ...(low === undefined ? {} : { low: paying(low) }), ...(high === undefined ? {} : { high: paying(high) }) };
}

/** Tells whether a time is the expiry. */
export const isAtExpiry = (time: number, expiry: number): boolean => time >= expiry * (1 - SAME_DATE);

/** Tells whether a barrier is monitored continuously for the whole life. */
export const isMonitoredForLife = ({ times, from, to }: AssetBarrier, expiry: number): boolean =>
  times === undefined && from <= SAME_DATE * expiry && to >= expiry * (1 - SAME_DATE);

/** A jump of a rate or a volatility that a step must not go across. */
const JUMP = 2e-3;

/** Returns the times at which the short rate or a volatility jumps, so that the time grid must restart there. */
export function restartsOf({ assets, rates, expiry }: Terms): readonly number[] {
  const curves = [
    rates,
    ...assets.flatMap(({ volatility }) => (volatility.kind === "deterministic" ? [volatility.sigma] : [])),
  ];
  const dates = new Set(
    curves.flatMap(({ times, values }) => times.filter((_, i) => Math.abs(values[i + 1] - values[i]) > JUMP)),
  );
  for (const { volatility, underlying } of assets) {
    if (volatility.kind !== "surface" && volatility.kind !== "local") continue;
    const diffusion = diffusionOf(volatility, underlying.spot, expiry);
    for (const time of regimeChanges({ diffusion, spots: [underlying.spot], expiry })) dates.add(time);
  }
  return [...dates]
    .filter((time) => time > SAME_DATE * expiry && time < expiry * (1 - SAME_DATE))
    .toSorted((a, b) => a - b);
}

/**
 * Returns the expression for what is paid at a barrier's date: its rebate if the spot is at or beyond its level,
 * otherwise the payoff.
 */
export function paidBeyond(
  barrier: AssetBarrier,
  terms: Terms,
  spots: readonly Expression[],
  payoff: Expression,
): Expression {
  const { asset, side, level } = barrier;
  const beyond =
    side === "up"
      ? (spot: number, edge: number, paid: number, other: number) => (spot >= edge ? paid : other)
      : (spot: number, edge: number, paid: number, other: number) => (spot <= edge ? paid : other);
  return apply(beyond, spots[asset], level, rebateOf(barrier, terms), payoff);
}
