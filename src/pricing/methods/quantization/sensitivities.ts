/** Sensitivities by differences of values on the same trees. */
import { sigmasOf, type Volatility } from "../../../market/index.ts";
import { bumped, type Terms } from "../../terms.ts";
import { datesOf, unitsOf, varianceAt } from "./factors.ts";
import type { Instance } from "./solve.ts";

/** The sizes of bumps: of the spot relative to it, of volatilities and rates absolute. */
const SPOT = 0.01;
const VOLATILITY = 0.01;
const RATE = 1e-3;
const DAY = 1 / 365;

/** A difference to both sides. */
interface Pair {
  readonly up: Instance;
  readonly down: Instance;
  /** The distance from the one to the other. */
  readonly distance: number;
}

/** A trade after what is decided today, and the same some time later. */
interface Passing {
  /** The amount that today's decision pays. */
  readonly paid: number;
  readonly now: Instance;
  readonly later: Instance;
}

/** The instances that sensitivities are differences of. */
export interface Moves {
  readonly instances: readonly Instance[];
  readonly spot: Pair;
  /** Far enough for some points of the grid to lie between. */
  readonly wide: Pair;
  readonly volatility: Pair | undefined;
  readonly rate: Pair | undefined;
  /** One for each decision that may be taken today. */
  readonly passings: readonly Passing[];
  readonly years: number;
}

/**
 * The values that sensitivities of a base need.
 * @param later the terms after some years, undefined where the trade is settled by then.
 * @param all whether vega and rho are asked for.
 */
export function movesOf(base: Instance, later: (years: number) => Terms | undefined, all: boolean): Moves {
  const { terms, spot } = base;
  const instances: Instance[] = [];
  const add = (own: Terms, at = spot): Instance => {
    const made = { ...base, terms: own, spot: at, isBump: true, estimate: undefined, failure: undefined };
    instances.push(made);
    return made;
  };
  const around = (size: number): Pair => ({
    up: add(terms, spot * (1 + size)),
    down: add(terms, spot * (1 - size)),
    distance: 2 * size * spot,
  });
  const [down, rate] = [Math.min(VOLATILITY, volatilityOf(terms.assets[0].volatility)), RATE];
  const volatility = (by: number): Instance => add(bumped(terms, { kind: "volatility", asset: 0, by }));
  const short = (by: number): Instance => add(bumped(terms, { kind: "rate", by }));
  const { passings, years } = passingsOf(base, later, add);
  return {
    instances,
    spot: around(SPOT),
    wide: around(wideOf(base)),
    volatility: all ? { up: volatility(VOLATILITY), down: volatility(-down), distance: VOLATILITY + down } : undefined,
    rate: all ? { up: short(rate), down: short(-rate), distance: 2 * rate } : undefined,
    passings,
    years,
  };
}

/** The lowest instantaneous volatility, below which it cannot be moved. */
function volatilityOf(volatility: Volatility): number {
  if (volatility.kind === "deterministic") return Math.min(...volatility.sigma.values);
  if (volatility.kind !== "gaussianFactors") return 0;
  const [a, b = 0] = sigmasOf(volatility);
  return Math.sqrt(Math.max(a * a + 2 * volatility.rho * a * b + b * b, 0));
}

/**
 * A value on a tree is a sum of kinked functions of the spot, one for each point. Second differences reach over some of
 * them: the points in the middle of an optimal grid are √(6π)/N standard deviations apart.
 */
function wideOf({ terms, estimate }: Instance): number {
  const size = estimate?.size ?? 0;
  const dates = datesOf(terms);
  if (size === 0 || dates.length === 0) return SPOT;
  const deviation = Math.sqrt(varianceAt(terms.assets[0].volatility, dates[dates.length - 1]));
  return Math.min(Math.max(SPOT, (POINTS * Math.sqrt(6 * Math.PI) * deviation) / size), 0.25);
}
const POINTS = 3;

/** A swing with a right today is looked at without it, taken or not: a difference in time is no exercise. */
function passingsOf(
  base: Instance,
  later: (years: number) => Terms | undefined,
  add: (own: Terms) => Instance,
): { readonly passings: readonly Passing[]; readonly years: number } {
  const { terms, spot } = base;
  const next = datesOf(terms).find((time) => time > 0);
  if (next === undefined) return { passings: [], years: DAY };
  // No date passes.
  const years = Math.min(DAY, 0.5 * next);
  const then = later(years);
  if (then === undefined) return { passings: [], years };
  const { payoff } = terms;
  if (payoff.kind !== "swing" || payoff.times[0] > 0)
    return { passings: [{ paid: 0, now: base, later: add(then) }], years };
  const { min, max } = unitsOf(terms);
  const count = payoff.times.length - 1;
  const passings = [0, 1].flatMap((taken): readonly Passing[] => {
    const left = { min: Math.max(min - taken, 0), max: max - taken };
    if (left.min > count || left.max < 0) return [];
    const without = (own: Terms): Terms => {
      if (own.payoff.kind !== "swing") return own;
      // Later the right of today is gone by itself.
      const times = own.payoff.times.slice(own.payoff.times.length - count);
      return { ...own, payoff: { ...own.payoff, times, ...left } };
    };
    const gain = payoff.right === "call" ? spot - payoff.strike : payoff.strike - spot;
    return [{ paid: taken * gain, now: add(without(terms)), later: add(without(then)) }];
  });
  return { passings, years };
}

export interface Sensitivities {
  readonly delta: number;
  readonly gamma: number;
  readonly theta: number;
  readonly vega: number;
  readonly rho: number;
}

const valueOf = ({ estimate }: Instance): number => estimate?.value ?? Number.NaN;

const slope = (pair: Pair | undefined): number =>
  pair === undefined ? Number.NaN : (valueOf(pair.up) - valueOf(pair.down)) / pair.distance;

/** Returns the sensitivities of a base from the values of its moves. */
export function sensitivitiesOf(base: Instance, moves: Moves): Sensitivities {
  const { wide, passings, years } = moves;
  const half = 0.5 * wide.distance;
  const [best] = passings.toSorted((a, b) => b.paid + valueOf(b.now) - a.paid - valueOf(a.now));
  return {
    delta: slope(moves.spot),
    gamma: (valueOf(wide.up) - 2 * valueOf(base) + valueOf(wide.down)) / (half * half),
    theta: best === undefined ? 0 : (valueOf(best.later) - valueOf(best.now)) / years,
    vega: slope(moves.volatility),
    rho: slope(moves.rate),
  };
}
