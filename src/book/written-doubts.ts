/** Doubts about fits that a book has beside the numbers in the place of quotes, as `feynkac calibrate` writes them. */
import type { Volatility } from "../market/index.ts";
import type { Place } from "./place.ts";
import type { ResolvedRates } from "./rates.ts";

type Doubts = readonly string[] | undefined;

/** Returns a volatility with the doubts of the fit that it comes from. A volatility that no fit gives has none. */
export function doubtedVolatility(volatility: Volatility, doubts: Doubts, place: Place): Volatility {
  if (doubts === undefined || doubts.length === 0) return volatility;
  const { kind } = volatility;
  const isFit = kind === "surface" || kind === "heston" || kind === "stochasticLocal";
  return isFit ? { ...volatility, fit: { place: place(), doubts } } : volatility;
}

/**
 * Returns rates with the doubts of the fit that they come from: on their curve, or on Hull and White's model where
 * the curve still has its quotes.
 */
export function doubtedRates(rates: ResolvedRates, doubts: Doubts, place: Place): ResolvedRates {
  if (doubts === undefined || doubts.length === 0) return rates;
  const { model, curve: own, shortRate } = rates;
  if (!("curve" in model)) return rates;
  const fit = { place: place(), doubts };
  if (model.curve.fit === undefined) {
    const curve = { ...model.curve, fit };
    return { ...rates, curve: own && curve, model: { ...model, curve } };
  }
  if (model.kind !== "hullWhite" || model.fit !== undefined) return rates;
  return { ...rates, model: { ...model, fit }, shortRate: shortRate && { ...shortRate, fit } };
}
