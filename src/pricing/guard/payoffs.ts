/** Bounds of payoffs that depend on the path of one spot. */
import type { Payoff } from "../../book/index.ts";
import { ONE_SECOND } from "../../market/index.ts";
import { UNBOUNDED } from "../plan/kind.ts";
import { type BoundsAt, type BoundInputs, vanillaValue } from "./bound-inputs.ts";

type Of<Kind extends Payoff["kind"]> = Extract<Payoff, { readonly kind: Kind }>;

/** Parts of a life at which a continuous average is looked at: forwards are smooth between them. */
const PARTS = 64;

/** The spot at `time`, paid at expiry: what it is worth per unit of today's spot at most, and what cash takes. */
function paidLater(
  { money, assets: [asset] }: BoundInputs,
  time: number,
): { readonly kept: number; readonly cash: number } {
  const { kept, cash } = asset.at(time);
  const wait = money.atExpiry / money.at(time);
  return { kept: kept * wait, cash: cash * wait };
}

/**
 * Returns the bounds of an average option. The value of an arithmetic mean is the mean of the forwards. A geometric
 * mean is worth at most that, so that a put on it is worth at least the same put on the arithmetic mean.
 */
export function averageBounds(sides: BoundInputs, { right, strike, mean, times, past }: Of<"average">): BoundsAt {
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
  sides: BoundInputs,
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
  const countsLast = times === "continuous" || times.some((time) => time >= terms.expiry - ONE_SECOND);
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
export function swingBounds(sides: BoundInputs, { right, strike, times, min, max }: Of<"swing">): BoundsAt {
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

type Basket = Extract<Payoff, { readonly kind: "basket" }>;

/**
 * Returns the bounds of a basket option. Its index B is bounded by the assets: a sum by their sum, the largest and the
 * smallest by each of them, and a geometric mean by the arithmetic mean. A call is worth at least B − K and at most B⁺
 * + (−K)⁺; for a put the same holds with −B.
 */
export function basketBounds(sides: BoundInputs, payoff: Basket): BoundsAt {
  const { money, assets, isEarly, isExercisableNow } = sides;
  const { right, strike, weights } = payoff;
  const isCall = right === "call";
  const now = (spots: readonly number[]): number => (isCall ? 1 : -1) * (indexOf(payoff, spots) - strike);
  if (!isMean(payoff))
    return isExercisableNow ? (spots) => ({ low: Math.max(now(spots), 0), high: Infinity }) : () => POSITIVE;
  const bond = strike * money.atExpiry;
  const single = singleBound(sides, payoff);
  const discount = isEarly ? money.largest : money.atExpiry;
  return (spots) => {
    const most = assets.map(({ kept }, i) => spots[i] * kept);
    const least = assets.map(({ cash, isMartingale }, i) => (isMartingale ? Math.max(most[i] - cash, 0) : 0));
    const dearest = isEarly ? assets.map(({ largest }, i) => spots[i] * largest) : most;
    const b = indexRange(payoff, most, least);
    let low = Math.max(isCall ? b.low - bond : bond - b.high, 0, single(spots));
    if (isExercisableNow) low = Math.max(low, now(spots));
    const positive = weights.map((weight) => Math.max(weight, 0));
    const negative = weights.map((weight) => Math.max(-weight, 0));
    const paid = isCall ? positiveMost(payoff, positive, dearest) : sumOf(negative, dearest);
    const fixed = Math.max(isCall ? -strike : strike, 0) * discount;
    // Nothing of no weight times infinity.
    return { low, high: (Number.isNaN(paid) ? Infinity : paid) + (fixed > 0 ? fixed : 0) };
  };
}

const POSITIVE = { ...UNBOUNDED, low: 0 };

/** Tells whether the index is homogeneous, so that bounds of its parts make one of it. */
const isMean = ({ of, weights }: Basket): boolean =>
  of === "sum"
    ? true
    : of === "product"
      ? weights.every((weight) => weight >= 0) && Math.abs(weights.reduce((sum, one) => sum + one, 0) - 1) < 1e-12
      : weights.every((weight) => weight >= 0);

const sumOf = (weights: readonly number[], values: readonly number[]): number =>
  weights.reduce((sum, weight, i) => (weight === 0 ? sum : sum + weight * values[i]), 0);

/** Bounds of today's value of the index that is paid at expiry. */
function indexRange(
  { of, weights }: Basket,
  most: readonly number[],
  least: readonly number[],
): { readonly low: number; readonly high: number } {
  const each = (values: readonly number[]): readonly number[] => weights.map((weight, i) => weight * values[i]);
  switch (of) {
    case "sum":
      return {
        low: weights.reduce((sum, weight, i) => sum + weight * (weight > 0 ? least[i] : most[i]), 0),
        high: weights.reduce((sum, weight, i) => sum + weight * (weight > 0 ? most[i] : least[i]), 0),
      };
    case "max":
      return { low: Math.max(...each(least)), high: sumOf(weights, most) };
    case "min":
      return { low: 0, high: Math.min(...each(most)) };
    case "product":
      return { low: 0, high: sumOf(weights, most) };
    default:
      return of satisfies never;
  }
}

/** The most that the positive part of the index is worth. */
const positiveMost = ({ of, weights }: Basket, positive: readonly number[], most: readonly number[]): number =>
  of === "min" ? Math.min(...weights.map((weight, i) => weight * most[i])) : sumOf(positive, most);

/** The index of some spots. */
function indexOf({ of, weights }: Basket, spots: readonly number[]): number {
  const each = weights.map((weight, i) => weight * spots[i]);
  switch (of) {
    case "sum":
      return each.reduce((sum, one) => sum + one, 0);
    case "max":
      return Math.max(...each);
    case "min":
      return Math.min(...each);
    case "product":
      return spots.reduce((product, spot, i) => product * spot ** weights[i], 1);
    default:
      return of satisfies never;
  }
}

/**
 * A best-of call is worth at least each of its calls, and a worst-of put each of its puts: Black and Scholes' values
 * where they are right.
 */
function singleBound(
  { money, assets }: BoundInputs,
  { of, right, strike, weights }: Basket,
): (spots: readonly number[]) => number {
  if (!(strike > 0) || !((of === "max" && right === "call") || (of === "min" && right === "put"))) return () => 0;
  const sign = right === "call" ? 1 : -1;
  return (spots) =>
    Math.max(
      0,
      ...assets.map(({ variance, kept }, i) =>
        variance === undefined ? 0 : vanillaValue(sign, weights[i] * spots[i] * kept, strike, money.atExpiry, variance),
      ),
    );
}
