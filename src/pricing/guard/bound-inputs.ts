/** Present values of money and assets that are delivered later, from which bounds are derived. */
import type { Payoff } from "../../book/index.ts";
import { integrate, integratedVariance, type Volatility } from "../../market/index.ts";
import { hostNormalCdf, logNormalOption } from "../../market/models/index.ts";
import type { Range } from "../plan/kind.ts";
import type { Asset, Terms } from "../terms.ts";

/** The value today of one unit of money that is paid later. */
export interface MoneyValues {
  /** The value of 1 paid at expiry. */
  readonly atExpiry: number;
  /** The largest value of 1 paid at any time up to expiry; infinite where rates are random. */
  readonly largest: number;
  /** Returns the value of 1 paid at a time. */
  readonly at: (time: number) => number;
}

/** The value today of one asset that is delivered later. */
export interface AssetValues {
  /** An upper bound of the value of one asset delivered at expiry, as a fraction of today's spot. */
  readonly kept: number;
  /** The largest amount by which cash dividends up to expiry reduce this value. */
  readonly cash: number;
  /** The largest value of one asset delivered at any time up to expiry, as a fraction of today's spot. */
  readonly largest: number;
  /** True where `kept` times the spot less `cash` is also a lower bound of the asset delivered at expiry. */
  readonly isMartingale: boolean;
  /**
   * Returns the value of one asset delivered at a time: an upper bound as a fraction of the spot, and its reduction by
   * cash dividends.
   */
  readonly at: (time: number) => { readonly kept: number; readonly cash: number };
  /** The total variance to expiry for Black and Scholes' formula; undefined where the formula does not apply. */
  readonly variance: number | undefined;
}

/** Returns the present values of money paid later, from which bounds of a trade's value are derived. */
export function moneyValues({ rates, shortRate, expiry }: Terms): MoneyValues {
  const at = (time: number): number => Math.exp(-integrate(rates, time));
  const atExpiry = at(expiry);
  let largest = Math.max(1, atExpiry);
  for (const time of rates.times) if (time < expiry) largest = Math.max(largest, at(time));
  return { at, atExpiry, largest: shortRate === undefined ? largest : Number.POSITIVE_INFINITY };
}

/** Returns the present values of a trade's assets delivered later, from which bounds of its value are derived. */
export function assetValues(terms: Terms): readonly AssetValues[] {
  const { assets, expiry, shortRate } = terms;
  return assets.map((asset) => {
    const { dividends } = asset.underlying;
    const at = (time: number): { kept: number; cash: number } => delivered(terms, asset, time);
    const { kept, cash } = at(expiry);
    const isPlain = asset.volatility.kind === "deterministic" && cash === 0 && shortRate === undefined;
    return {
      kept,
      cash,
      at,
      // A spot that reverts to its forward cannot be held: waiting may pay without end.
      largest:
        asset.volatility.kind === "gaussianFactors"
          ? Number.POSITIVE_INFINITY
          : Math.max(1, Math.exp(-dividends.yield * expiry)),
      isMartingale: isMartingale(asset.volatility),
      variance:
        isPlain && asset.volatility.kind === "deterministic"
          ? integratedVariance(asset.volatility.sigma, expiry)
          : undefined,
    };
  });
}

/** A formula's volatility, and SABR's with β = 1, may grow so fast that the discounted spot loses value in the mean. */
function isMartingale(volatility: Volatility): boolean {
  const own = volatility.kind === "stochasticLocal" ? volatility.variance : volatility;
  return own.kind !== "local" && !(own.kind === "sabr" && own.beta === 1);
}

/**
 * Dividends take a part of the spot, then cash; what is left of the spot is never below zero, so cash takes at most
 * this.
 */
function delivered({ rates }: Terms, { underlying: { dividends } }: Asset, until: number) {
  let kept = 1;
  let cash = 0;
  for (const { time, cash: paid, proportional } of dividends.discrete) {
    if (time > until) break;
    kept *= 1 - proportional;
    cash *= 1 - proportional;
    if (paid > 0) cash += paid * Math.exp(dividends.yield * time - integrate(rates, time));
  }
  const growth = Math.exp(-dividends.yield * until);
  return { kept: kept * growth, cash: cash * growth };
}

/**
 * Returns Black and Scholes' value of a call (sign 1) or put (−1); `asset` is the value today of the asset delivered at
 * expiry.
 */
export function vanillaValue(sign: number, asset: number, strike: number, discount: number, variance: number): number {
  if (!(asset > 0)) return Math.max(-sign * strike * discount, 0);
  const mean = Math.log(asset / discount) - 0.5 * variance;
  return discount * logNormalOption(sign > 0 ? "call" : "put", strike, mean, variance);
}

/**
 * Returns Black and Scholes' value of a digital option that pays 1; undefined where the value is discontinuous, without
 * variance at the strike.
 */
export function digitalValue(
  sign: number,
  asset: number,
  strike: number,
  discount: number,
  variance: number,
): number | undefined {
  const width = Math.sqrt(variance);
  if (!(asset > 0 && width > 1e-4)) return undefined;
  const d = Math.log(asset / (strike * discount)) / width - 0.5 * width;
  return discount * hostNormalCdf(sign * d);
}

/** A function that returns the bounds of a trade's value at given spots of its assets. */
export type BoundsAt = (spots: readonly number[]) => Range;

/** The quantities from which the bounds of a payoff's value are derived. */
export interface BoundInputs {
  readonly terms: Terms;
  readonly money: MoneyValues;
  readonly assets: readonly AssetValues[];
  /** True where the holder may exercise before expiry; `isExercisableNow` says the same of today. */
  readonly isEarly: boolean;
  readonly isExercisableNow: boolean;
}

type Of<Kind extends Payoff["kind"]> = Extract<Payoff, { readonly kind: Kind }>;

/** Returns the bounds of a call or put. */
export function vanillaBounds(
  { terms, money, assets: [asset], isEarly, isExercisableNow }: BoundInputs,
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
  { terms, money, assets: [asset], isEarly, isExercisableNow }: BoundInputs,
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
