/** The exchange rates of a structured product: of its payments, and of underlyings in other currencies than its own. */
import { BookError } from "../base/errors.ts";
import type { Conversion, PaidRate } from "../market/scripts/index.ts";
import type { ResolvedMarket } from "./market.ts";
import { didYouMean, quote } from "./names.ts";
import type { PathOf } from "./paths.ts";
import { pairBetween } from "./settlement.ts";
import type { ScriptedTrade } from "./types.ts";

/** The underlyings of a structured product, with the exchange rates that it needs among them, behind its own. */
export type OnUnderlyings = Pick<ScriptedTrade, "underlying" | "volatility" | "assets" | "correlations">;

/** The underlyings of a structured product, and how its currency follows from theirs. */
interface InCurrencies {
  readonly on: OnUnderlyings;
  /** The exchange rates of payments. */
  readonly paid: readonly PaidRate[];
  readonly exchange?: readonly (Conversion | undefined)[];
}

/** What the underlyings of a structured product are found by. */
interface Given {
  readonly names: readonly string[];
  readonly currency: string;
  /** The currencies of its payments. */
  readonly paidIn: readonly string[];
  readonly market: ResolvedMarket;
  readonly pathOf: PathOf;
  /** Returns underlyings with these names. @throws BookError */
  find(names: readonly string[]): OnUnderlyings;
}

/**
 * Returns the underlyings of a structured product with the exchange rates that it needs. @throws BookError for a rate,
 * a volatility or a correlation that the market lacks, and for what has no drift in another currency
 */
export function inCurrencies(
  own: OnUnderlyings,
  { names, currency, paidIn, market, pathOf, find }: Given,
): InCurrencies {
  const assets = own.assets ?? [own];
  const all = [...names];
  const at = (from: string): Conversion => {
    const { found, power } = pairBetween(from, currency, assets, market, pathOf);
    if (!all.includes(found.name)) all.push(found.name);
    return { asset: all.indexOf(found.name), power };
  };
  const paid = paidIn.filter((one) => one !== currency).map((one): PaidRate => ({ currency: one, ...at(one) }));
  // Pairs that are added may be in other currencies in turn, as that of which this currency is the base.
  const exchange: (Conversion | undefined)[] = [];
  const currencyOf = (name: string): string => market.underlyings.get(name)!.currency;
  for (let i = 0; i < all.length; i++)
    exchange.push(currencyOf(all[i]) === currency ? undefined : at(currencyOf(all[i])));
  if (!market.rates.has(currency))
    throw new BookError(
      pathOf("currency"),
      `market.rates has no ${quote(currency)}${didYouMean(currency, market.rates.keys())}`,
    );
  if (paid.length === 0 && exchange.every((one) => one === undefined)) return { on: own, paid };
  const on = all.length > names.length ? find(all) : own;
  check(on, { exchange, paid }, pathOf);
  return { on, paid, ...(exchange.some((one) => one !== undefined) ? { exchange } : {}) };
}

function check(
  on: OnUnderlyings,
  { exchange, paid }: Required<Pick<InCurrencies, "exchange" | "paid">>,
  pathOf: PathOf,
): void {
  const assets = on.assets ?? [on];
  const nameOf = (i: number): string => assets[i].underlying.name;
  if (assets.some(({ underlying }) => underlying.shortRate !== undefined))
    throw new BookError(pathOf(), "in several currencies, it needs rates without a model; write a curve");
  const moved = exchange.flatMap((rate, i) => (rate === undefined ? [] : [i, rate.asset]));
  const local = moved.find((i) => assets[i].volatility.kind !== "deterministic");
  if (local !== undefined)
    throw new BookError(
      pathOf(),
      `the volatility of ${quote(nameOf(local))} depends on its spot; the drift of underlyings in another currency ` +
        'takes one that does not: a number or { "termStructure" }',
    );
  const rates = new Set(
    [...exchange.flatMap((rate) => rate?.asset ?? []), ...paid.map(({ asset }) => asset)].map(nameOf),
  );
  const missing = on.correlations?.assumed.find(([a, b]) => rates.has(a) || rates.has(b));
  if (missing !== undefined)
    throw new BookError(
      pathOf(),
      `market.correlations lacks ${quote(missing[0])} and ${quote(missing[1])}, on which its value depends`,
    );
}
