/** Bounds of payoffs that depend on the path of one spot. */
import type { Payoff } from "../../../book/index.ts";
import type { BoundsAt, Sides } from "../sides.ts";
import { INSTANT } from "../../../market/index.ts";
import { UNBOUNDED } from "../../range.ts";

type Of<Kind extends Payoff["kind"]> = Extract<Payoff, { readonly kind: Kind }>;

/** Parts of a life at which a continuous average is looked at: forwards are smooth between them. */
const PARTS = 64;

/** The spot at `time`, paid at expiry: what it is worth per unit of today's spot at most, and what cash takes. */
function paidLater({ money, assets: [asset] }: Sides, time: number): { readonly kept: number; readonly cash: number } {
  const { kept, cash } = asset.at(time);
  const wait = money.atExpiry / money.at(time);
  return { kept: kept * wait, cash: cash * wait };
}

/**
 * Returns the bounds of an average option. The value of an arithmetic mean is the mean of the forwards. A geometric
 * mean is worth at most that, so that a put on it is worth at least the same put on the arithmetic mean.
 */
export function averageBounds(sides: Sides, { right, strike, mean, times, past }: Of<"average">): BoundsAt {
  const {
    terms,
    money,
    assets: [asset],
  } = sides;
  const bond = strike * money.atExpiry;
  // Between a random short rate and the spot there may be covariance.
  if (terms.shortRate !== undefined || terms.expiry === 0)
    return () => ({ low: 0, high: right === "put" ? bond : Infinity });
  const isContinuous = times === "continuous";
  const dates = isContinuous
    ? Array.from({ length: PARTS }, (_, k) => ((k + 0.5) / PARTS) * terms.expiry)
    : times.filter((time) => time >= 0);
  const weight = isContinuous ? terms.expiry : dates.length;
  const total = weight + past.count;
  let kept = 0;
  let cash = 0;
  for (const time of dates) {
    const one = paidLater(sides, time);
    kept += (one.kept * weight) / (dates.length * total);
    cash += (one.cash * weight) / (dates.length * total);
  }
  const known = total > 0 ? (past.count * past.mean * money.atExpiry) / total : 0;
  // A sum for an integral: smooth between a few dozen dates, but for those of curves and dividends.
  const slack = isContinuous ? CONTINUOUS_SLACK : 0;
  return ([spot]) => {
    if (total === 0) return UNBOUNDED;
    const most = (spot * kept + known) * (1 + slack);
    const isLow = mean === "arithmetic" && asset.isMartingale;
    const least = isLow ? Math.max(spot * kept - cash, 0) * (1 - slack) + known : 0;
    return right === "call"
      ? { low: Math.max(least - bond, 0), high: most }
      : { low: Math.max(bond - most, 0), high: bond };
  };
}

/** The relative error that the midpoint rule may have. */
const CONTINUOUS_SLACK = 0.01;

/**
 * Returns the bounds of a lookback option. The maximum is at least, and the minimum at most, each monitored spot:
 * today's, an extremum already observed, and the one at expiry.
 */
export function lookbackBounds(
  sides: Sides,
  { right, strike, isFloating, from, extremum, times }: Of<"lookback">,
): BoundsAt {
  const {
    money,
    terms,
    assets: [asset],
  } = sides;
  const bond = strike * money.atExpiry;
  const isMaximum = (right === "call") !== isFloating;
  const countsNow = times === "continuous" ? from <= 0 : times.some((time) => time <= 0 && time >= from);
  const countsLast = times === "continuous" || times.some((time) => time >= terms.expiry - INSTANT);
  return ([spot]) => {
    const most = spot * asset.kept;
    const least = asset.isMartingale ? Math.max(most - asset.cash, 0) : 0;
    const known = [...(countsNow ? [spot] : []), ...(extremum === undefined ? [] : [extremum])];
    // What the extreme, paid at expiry, is worth: at least of a largest, at most of a smallest.
    const extreme = isMaximum
      ? Math.max(...known.map((one) => one * money.atExpiry), countsLast ? least : 0)
      : Math.min(...known.map((one) => one * money.atExpiry), countsLast ? most : Infinity);
    if (isFloating)
      return right === "call"
        ? { low: Math.max(least - extreme, countsLast ? 0 : -Infinity), high: most }
        : { low: Math.max(extreme - most, countsLast ? 0 : -Infinity), high: Infinity };
    return right === "call"
      ? { low: Math.max(extreme - bond, 0), high: Infinity }
      : { low: Math.max(bond - extreme, 0), high: bond };
  };
}

/**
 * Returns the bounds of a swing option. It is worth at least the best choice of dates made today (`max` of those that
 * pay, and at least `min`), and at most the calls or puts on the `max` dates where they are most valuable.
 */
export function swingBounds(sides: Sides, { right, strike, times, min, max }: Of<"swing">): BoundsAt {
  const {
    money,
    terms,
    assets: [asset],
  } = sides;
  if (terms.shortRate !== undefined) return () => UNBOUNDED;
  const sign = right === "call" ? 1 : -1;
  const dates = times.filter((time) => time >= 0).map((time) => ({ ...asset.at(time), bond: strike * money.at(time) }));
  const count = Math.min(max, dates.length);
  const duty = Math.min(min, dates.length);
  return ([spot]) => {
    const worth = dates.map(({ kept, cash, bond }) => {
      const most = spot * kept;
      const least = asset.isMartingale ? Math.max(most - cash, 0) : 0;
      return { low: sign * ((sign > 0 ? least : most) - bond), high: sign > 0 ? most : bond };
    });
    const low = worth.map((one) => one.low).toSorted((a, b) => b - a);
    const high = worth.map((one) => one.high).toSorted((a, b) => b - a);
    const sum = (values: readonly number[]): number => values.reduce((total, one) => total + one, 0);
    return {
      low: sum(low.slice(0, count).map((one, k) => (k < duty ? one : Math.max(one, 0)))),
      high: sum(high.slice(0, count)),
    };
  };
}
