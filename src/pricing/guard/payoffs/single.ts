/** Bounds of calls, puts and digitals on one asset. */
import type { Payoff } from "../../../book/index.ts";
import type { BoundsAt, Sides } from "../sides.ts";
import { digitalValue, vanillaValue } from "../sides.ts";

type Of<Kind extends Payoff["kind"]> = Extract<Payoff, { readonly kind: Kind }>;

/** Returns the bounds of a call or put. */
export function vanillaBounds(
  { terms, money, assets: [asset], isEarly, isExercisableNow }: Sides,
  { right, strike }: Of<"vanilla">,
): BoundsAt {
  const isCall = right === "call";
  const sign = isCall ? 1 : -1;
  const bond = strike * money.atExpiry;
  // What the European option is worth is known, and bounds a knock-out and an early exercise.
  const isExact = asset.variance !== undefined && (isEarly || terms.barriers.length > 0);
  return (spots) => {
    const spot = spots[0]; // no pattern, which would make an iterator for each of many scenarios
    const most = spot * asset.kept;
    const least = asset.isMartingale ? Math.max(most - asset.cash, 0) : 0;
    let low = Math.max(isCall ? least - bond : bond - most, 0);
    let high = isCall ? most : bond;
    if (isExact) {
      const value = vanillaValue(sign, most, strike, money.atExpiry, asset.variance);
      low = Math.max(low, value);
      high = Math.min(high, value);
    }
    if (!isEarly) return { low, high };
    if (isExercisableNow) low = Math.max(low, sign * (spot - strike));
    return { low, high: Math.max(low, isCall ? spot * asset.largest : strike * money.largest) };
  };
}

/** Returns the bounds of a digital option. */
export function digitalBounds(
  { terms, money, assets: [asset], isEarly, isExercisableNow }: Sides,
  { right, strike, cash }: Of<"digital">,
): BoundsAt {
  const sign = right === "call" ? 1 : -1;
  const isExact = asset.variance !== undefined && cash > 0 && (isEarly || terms.barriers.length > 0);
  const paid = cash === 0 ? 0 : cash * (isEarly ? money.largest : money.atExpiry);
  return (spots) => {
    const spot = spots[0];
    let low = Math.min(paid, 0);
    let high = Math.max(paid, 0);
    const value = isExact ? digitalValue(sign, spot * asset.kept, strike, money.atExpiry, asset.variance) : undefined;
    if (value !== undefined) {
      low = cash * value;
      if (!isEarly) high = cash * value;
    }
    if (isExercisableNow && sign * (spot - strike) > 0) low = Math.max(low, cash);
    return { low, high };
  };
}
