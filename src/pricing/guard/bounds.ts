/** Bounds of a value that hold in every model of the book: nothing beyond them is a price. */
import type { BoundsAt } from "./sides.ts";
import type { Sides } from "./sides.ts";
import type { Terms } from "../terms.ts";
import { assetSides, moneySide } from "./sides.ts";
import { UNBOUNDED } from "../range.ts";
import { basketBounds } from "./payoffs/basket.ts";
import { averageBounds, lookbackBounds, swingBounds } from "./payoffs/path.ts";
import { digitalBounds, vanillaBounds } from "./payoffs/single.ts";

/**
 * Returns a function for the bounds of a trade's value at given spots. The bounds assume only that discounted spots,
 * with dividends added back, are martingales, or supermartingales where a volatility may grow without bound. They
 * therefore hold with negative rates, local and stochastic volatility and discrete dividends:
 *
 *   European   the no-arbitrage bounds from the forward; Black and Scholes' value itself where it applies
 *   early      at least what exercise pays now and the European bound; at most the largest discounted strike or spot
 *   barriers   at least zero, at most the bound without barriers, and the largest rebate
 */
export function boundsOf(terms: Terms): BoundsAt {
  const { exercise, barriers } = terms;
  const isEarly = exercise.kind !== "european";
  const isExercisableNow =
    exercise.kind === "american" || (exercise.kind === "bermudan" && exercise.times.some((time) => time <= 0));
  const sides: Sides = { terms, money: moneySide(terms), assets: assetSides(terms), isEarly, isExercisableNow };
  const plain = plainBounds(sides);
  if (barriers.length === 0) return plain;
  const rebate = rebateOf(sides);
  return (spots) => {
    const { low, high } = plain(spots);
    return { low: low === Number.NEGATIVE_INFINITY ? low : Math.min(low, 0), high: Math.max(high, 0) + rebate };
  };
}

/** Bounds of a trade without its barriers. */
function plainBounds(sides: Sides): BoundsAt {
  const { payoff, assets } = sides.terms;
  switch (payoff.kind) {
    case "vanilla":
      return assets.length === 1 ? vanillaBounds(sides, payoff) : unbounded;
    case "digital":
      return assets.length === 1 ? digitalBounds(sides, payoff) : unbounded;
    case "basket":
      return basketBounds(sides, payoff);
    case "average":
      return averageBounds(sides, payoff);
    case "lookback":
      return lookbackBounds(sides, payoff);
    case "swing":
      return swingBounds(sides, payoff);
    case "expression":
      return constantBounds(sides, Number(payoff.expression));
    default:
      return payoff satisfies never;
  }
}

/** The bounds of a payoff that is a constant, as one-touches and no-touches have. */
function constantBounds({ money, isEarly }: Sides, paid: number): BoundsAt {
  if (!Number.isFinite(paid)) return unbounded;
  const value = paid === 0 ? 0 : paid * (isEarly ? money.largest : money.atExpiry);
  return () => ({ low: Math.min(value, 0), high: Math.max(value, 0) });
}

const unbounded: BoundsAt = () => UNBOUNDED;

/** The most that rebates are worth: the largest, if it is paid at the dearest time. */
function rebateOf({ terms: { barriers }, money }: Sides): number {
  let largest = 0;
  for (const { type, rebate, rebateAt } of barriers) {
    const atExpiry = type.endsWith("-in") || rebateAt === "expiry";
    if (rebate > 0) largest = Math.max(largest, rebate * (atExpiry ? money.atExpiry : money.largest));
  }
  return largest;
}
