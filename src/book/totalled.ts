/** What totals take of trades, and how they count them. */
import type { TradeResult } from "./result-types.ts";
import type { Market } from "./types.ts";

/** The properties of a trade that the totals of its result depend on. */
export type TotalledTrade =
  | TradeOnUnderlyings
  | { readonly kind: "rates"; readonly quantity: number; readonly currency: string }
  | {
      readonly kind: "linear";
      readonly quantity: number;
      readonly currency: string;
      readonly pair?: { readonly name: string; readonly spot: number };
    };

/** How many trades were priced, how many have an error, and how many depend on doubtful fits to quotes. */
export interface TradeCounts {
  readonly priced: number;
  readonly failed: number;
  readonly doubtful?: number;
  /** The first warning about a doubtful fit. */
  readonly doubt?: string;
}

interface TradeOnUnderlyings {
  readonly kind?: "convertible" | "forward" | "scripted" | undefined;
  readonly quantity: number;
  readonly underlying: { readonly name: string; readonly currency: string; readonly spot: number };
  readonly settlement?: {
    readonly currency: string;
    readonly exchange: readonly ({ readonly pair: string; readonly spot: number } | undefined)[];
  };
  readonly assets?: readonly { readonly underlying: { readonly name: string; readonly spot: number } }[];
}

/**
 * Returns what totals take of a trade, from its result alone; undefined for a result that does not say its quantity, as
 * that of a trade which could not be read. Where no `spots` are known there are no cash
 * deltas, and a trade is on rates alone if its underlying is its currency.
 */
export function totalledByLabels(
  result: TradeResult,
  spots: Readonly<Record<string, number>> | undefined,
): TotalledTrade | undefined {
  const { underlying: name, currency, quantity } = result;
  if (name === undefined || currency === undefined || quantity === undefined) return undefined;
  const spot = spots === undefined ? (name === currency ? undefined : Number.NaN) : spots[name];
  // Those of a converted option have its currency pairs, too.
  const several = result.status === "ok" ? Object.keys(result.sensitivities ?? {}) : [];
  if (spot !== undefined && several.length === 0) return { quantity, underlying: { name, currency, spot } };
  // Trades on rates and curves alone, which have no spot.
  if (several.length === 0) return { kind: "rates", quantity, currency };
  const assets = several.map((one) => ({ underlying: { name: one, spot: spots?.[one] ?? Number.NaN } }));
  return { quantity, underlying: { name, currency, spot: Number.NaN }, assets };
}

/** Returns the spots of a market by the names of underlyings and currency pairs. */
export function spotsOf({ underlyings, exchangeRates }: Market): Record<string, number> {
  const spots = [...underlyings.values()].map(({ name, spot }) => [name, spot] as const);
  return { ...Object.fromEntries(exchangeRates ?? []), ...Object.fromEntries(spots) };
}
