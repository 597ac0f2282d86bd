/** Today's values of money and assets that are paid later, for bounds. */
import type { Range } from "./range.ts";
import { integrate, integratedVariance, type Volatility } from "../../market/index.ts";
import { hostNormalCdf, logNormalOption } from "../../models/index.ts";
import type { Asset, Terms } from "../terms.ts";

/** The value today of one unit of money that is paid later. */
export interface MoneySide {
  readonly atExpiry: number;
  /** Paid at the time up to expiry at which it is worth most; infinite where rates are random. */
  readonly largest: number;
  readonly at: (time: number) => number;
}

/** The value today of one asset that is delivered later. */
export interface AssetSide {
  /** The value of one delivered at expiry, per unit of today's spot, at most. */
  readonly kept: number;
  /** The most that cash dividends up to expiry take from `kept`. */
  readonly cash: number;
  /** The value of one delivered at the time up to expiry at which it is worth most, per unit of today's spot. */
  readonly largest: number;
  /** True where the spot less `cash` is a lower bound of what is delivered: nothing is lost on the way. */
  readonly isMartingale: boolean;
  /** The value of one delivered at a time: per unit of the spot at most, and what cash dividends take from it. */
  readonly at: (time: number) => { readonly kept: number; readonly cash: number };
  /** Black and Scholes' total variance up to expiry; undefined where their formula is not the value. */
  readonly variance: number | undefined;
}

export function moneySide({ rates, shortRate, expiry }: Terms): MoneySide {
  const at = (time: number): number => Math.exp(-integrate(rates, time));
  const atExpiry = at(expiry);
  let largest = Math.max(1, atExpiry);
  for (const time of rates.times) if (time < expiry) largest = Math.max(largest, at(time));
  return { at, atExpiry, largest: shortRate === undefined ? largest : Number.POSITIVE_INFINITY };
}

export function assetSides(terms: Terms): readonly AssetSide[] {
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

/** Returns Black and Scholes' value of a vanilla; `asset` is what the asset at expiry is worth today. */
export function vanillaValue(sign: number, asset: number, strike: number, discount: number, variance: number): number {
  if (!(asset > 0)) return Math.max(-sign * strike * discount, 0);
  const mean = Math.log(asset / discount) - 0.5 * variance;
  return discount * logNormalOption(sign > 0 ? "call" : "put", strike, mean, variance);
}

/** Returns the value of a digital that pays 1; undefined where it jumps. */
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

/** The bounds of a trade at some spots of its assets. */
export type BoundsAt = (spots: readonly number[]) => Range;

/** The inputs from which payoffs derive bounds of their price. */
export interface Sides {
  readonly terms: Terms;
  readonly money: MoneySide;
  readonly assets: readonly AssetSide[];
  /** True where the holder may exercise before expiry; `isExercisableNow`: today. */
  readonly isEarly: boolean;
  readonly isExercisableNow: boolean;
}
