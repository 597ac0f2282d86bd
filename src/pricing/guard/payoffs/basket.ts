/** Bounds of payoffs on several assets. */
import type { Payoff } from "../../../book/index.ts";
import type { BoundsAt, Sides } from "../sides.ts";
import { UNBOUNDED } from "../../range.ts";
import { vanillaValue } from "../sides.ts";

type Basket = Extract<Payoff, { readonly kind: "basket" }>;

/**
 * Returns the bounds of a basket option. Its index B is bounded by the assets: a sum by their sum, the largest and the
 * smallest by each of them, and a geometric mean by the arithmetic mean. A call is worth at least B − K and at most B⁺
 * + (−K)⁺; for a put the same holds with −B.
 */
export function basketBounds(sides: Sides, payoff: Basket): BoundsAt {
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
  { money, assets }: Sides,
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
