/** The parts that a trade with barriers is the sum of, and the values known without a solution. */
import type { Barrier } from "../../book/index.ts";
import { BookError } from "../../errors.ts";
import { type Condition, isMonitored, isPast, type MonitoredLevel, SAME_DATE } from "../../fdm/index.ts";
import { integrate } from "../../market/index.ts";
import type { Terms } from "../terms.ts";
import type { Range } from "./domain.ts";
import { payoffAt } from "./payoff.ts";
import type { Parameters } from "./text.ts";

/** A barrier of one of the assets. */
export interface Level extends MonitoredLevel {
  readonly asset: number;
  readonly rebate: number;
  readonly paysAtExpiry: boolean;
}

/** A value that needs no solution. */
export interface Known {
  readonly value: number;
  readonly method: "payoff" | "knocked-out";
  /** True where it is paid at expiry. */
  readonly discounted: boolean;
}

/** A problem and its weight in the value of a trade: in–out parity subtracts one. */
export interface Part {
  readonly sign: 1 | -1;
  readonly knockOuts: readonly Level[];
  /** The amount subtracted from the payoff: the rebate of knock-ins. */
  readonly less: number;
}

/** Returns the value of a trade at today's spots if it needs no solution: it is knocked out, or expires. */
export function knownAt(terms: Terms, spots: readonly number[]): Known | undefined {
  const { barriers, expiry } = terms;
  const hit = levelsOf(barriers, "-out").find((level) => isHit(level, spots, expiry));
  if (hit !== undefined) {
    const value = hit.rebate * (hit.paysAtExpiry ? Math.exp(-integrate(terms.rates, expiry)) : 1);
    return { value, method: "knocked-out", discounted: hit.paysAtExpiry };
  }
  if (expiry > 0) return undefined;
  const ins = levelsOf(barriers, "-in");
  const isIn = ins.length === 0 || ins.some((level) => isHit(level, spots, expiry));
  return { value: isIn ? payoffAt(terms, spots) : ins[0].rebate, method: "payoff", discounted: false };
}

/** Tells whether one of a part's knock-outs is breached by today's spots. */
export const isKnockedOut = ({ knockOuts }: Part, spots: readonly number[], expiry: number): boolean =>
  knockOuts.some((level) => isHit(level, spots, expiry));

const isHit = (level: Level, spots: readonly number[], expiry: number): boolean =>
  isPast(level, spots[level.asset]) && isMonitored(level, 0, expiry);

/** Returns the barriers of a kind as levels. */
export const levelsOf = (barriers: readonly Barrier[], kind: "-out" | "-in" | ""): readonly Level[] =>
  barriers.filter(({ type }) => type.endsWith(kind)).map(levelOf);

/**
 * Returns the parts whose weighted sum is a trade, for given spots today: European knock-ins by in–out parity, as
 * `withBarriers` of one factor. @throws BookError knock-ins with several rebates
 */
export function partsOf(
  { barriers, expiry }: Terms,
  all: readonly (readonly number[])[],
  path: string,
): readonly Part[] {
  const outs = levelsOf(barriers, "-out");
  const ins = levelsOf(barriers, "-in");
  const whole: Part = { sign: 1, knockOuts: outs, less: 0 };
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

function levelOf({ type, level, rebate, rebateAt, monitoring, from, to, asset = 0 }: Barrier): Level {
  const times = monitoring.kind === "discrete" ? monitoring.times : from === to ? [from] : undefined;
  const side = type.startsWith("up") ? "up" : "down";
  return { asset, side, level, from, to, times, rebate, paysAtExpiry: rebateAt === "expiry" };
}

/** Returns the value at t of a barrier's rebate, as a formula. Rates are deterministic where there is a rebate. */
export function rebateText({ rebate, paysAtExpiry }: Level, { rates, expiry }: Terms, p: Parameters): string {
  const paid = p.add(rebate, "rebate");
  return paysAtExpiry && rebate !== 0 ? `${paid}*exp(-${p.integral(rates, expiry, "r")})` : paid;
}

/** Returns the payoff of a part as a formula, less the rebate under in–out parity. */
export const lessText = (payoff: string, less: number, p: Parameters): string =>
  less === 0 ? payoff : `${payoff} - ${p.add(less)}`;

/** Returns the conditions of early exercise before expiry. */
export function exerciseOf(
  exercise: Terms["exercise"],
  expiry: number,
  payoff: string,
  p: Parameters,
): readonly Condition<string>[] {
  if (exercise.kind === "european") return [];
  if (exercise.kind === "american") return [{ kind: "exercise", payoff }];
  const inside = exercise.times.filter((time) => time > SAME_DATE * expiry && time < expiry * (1 - SAME_DATE));
  return inside.length === 0 ? [] : [{ kind: "exercise", payoff, at: datesOf(inside, p) }];
}

/** More dates are numbers of the problem: each parameter is one more of every formula. */
const MANY_DATES = 30;

const datesOf = (times: readonly number[], p: Parameters): readonly (number | string)[] =>
  times.length > MANY_DATES ? times : times.map((time) => p.add(time, "t"));

/** Returns the condition of a knock-out on dates or in a window. */
export function knockOutOf(level: Level, names: readonly string[], value: string, p: Parameters): Condition<string> {
  const edge = { [level.side === "up" ? "above" : "below"]: p.add(level.level, "H") };
  const when =
    level.times === undefined
      ? { from: p.add(level.from, "t"), until: p.add(level.to, "t") }
      : {
          at: datesOf(
            level.times.filter((time) => time > 0),
            p,
          ),
        };
  return { kind: "knock-out", axis: names[level.asset], ...edge, value, ...when };
}

/** The barriers of an asset on its axis. */
export interface AxisBarriers {
  /** The axis, which ends at the innermost barriers of the whole life, since those beyond them are never breached. */
  readonly range: Range;
  readonly low: Level | undefined;
  readonly high: Level | undefined;
  /** The barriers on dates or in a window, inside the axis. */
  readonly inner: readonly Level[];
}

/** Places an asset's barriers on its axis; those beyond its range are never breached. */
export function axisBarriers(range: Range, knockOuts: readonly Level[], asset: number, expiry: number): AxisBarriers {
  const own = knockOuts.filter((one) => one.asset === asset && one.level > range.from && one.level < range.to);
  const whole = own.filter((level) => isWhole(level, expiry));
  const low = whole.filter(({ side }) => side === "down").sort((a, b) => b.level - a.level)[0];
  const high = whole.filter(({ side }) => side === "up").sort((a, b) => a.level - b.level)[0];
  const [from, to] = [low?.level ?? range.from, high?.level ?? range.to];
  const inner = own.filter((one) => !isWhole(one, expiry) && one.level > from && one.level < to);
  return { range: { ...range, from, to }, low, high, inner };
}

/** Tells whether a date is that of expiry. */
export const isAtExpiry = (time: number, expiry: number): boolean => time >= expiry * (1 - SAME_DATE);

/** Tells whether a barrier is monitored continuously over the whole life. */
export const isWhole = ({ times, from, to }: Level, expiry: number): boolean =>
  times === undefined && from <= SAME_DATE * expiry && to >= expiry * (1 - SAME_DATE);

/** A jump of a rate or a volatility that a step must not go across. */
const JUMP = 2e-3;

/** Returns the dates at which the short rate or a volatility jumps, where the time grid must restart. */
export function restartsOf({ assets, rates, expiry }: Terms): readonly number[] {
  const curves = [
    rates,
    ...assets.flatMap(({ volatility }) => (volatility.kind === "deterministic" ? [volatility.sigma] : [])),
  ];
  const dates = new Set(
    curves.flatMap(({ times, values }) => times.filter((_, i) => Math.abs(values[i + 1] - values[i]) > JUMP)),
  );
  return [...dates]
    .filter((time) => time > SAME_DATE * expiry && time < expiry * (1 - SAME_DATE))
    .toSorted((a, b) => a - b);
}

/** Returns the condition that a spot is at or beyond a level, as a formula. */
export const hitText = ({ asset, side, level }: Level, spots: readonly string[], p: Parameters): string =>
  `${spots[asset]} ${side === "up" ? ">=" : "<="} ${p.add(level, "H")}`;
