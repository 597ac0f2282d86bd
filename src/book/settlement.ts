/** Reads how an option is paid: on which day, in which currency, and at which exchange rate. */
import { BookError } from "../base/errors.ts";
import { constant, discountFactor, type ForwardCurve, type PiecewiseConstant } from "../market/index.ts";
import { calendarOf } from "../market/conventions/index.ts";
import { History } from "./history.ts";
import type { ResolvedMarket } from "./market.ts";
import { didYouMean, quote } from "./names.ts";
import { inside, type PathOf } from "./paths.ts";
import type { ConversionSpec, TradeSpec } from "./schema/index.ts";
import { type Clock, dayNumber } from "./time.ts";
import type { ExchangeRate, Settlement, Trade } from "./types.ts";

/** The terms of an option that its settlement depends on. */
type Terms = Pick<Trade, "underlying" | "volatility" | "assets" | "expiry">;

/**
 * Returns how an option is paid; undefined where that is at expiry, in its underlying's currency. @throws BookError for
 * a payment before expiry or before `asOf`, and for markets that lack what a payment in another currency needs
 */
export function settlementOf(
  spec: TradeSpec,
  terms: Terms,
  clock: Clock,
  market: ResolvedMarket,
  pathOf: PathOf,
): Settlement | undefined {
  const { underlying, assets = [terms] } = terms;
  const { quanto, composite } = spec;
  if (quanto !== undefined && composite !== undefined)
    throw new BookError(pathOf("composite"), 'expected either "quanto" or "composite"');
  const written = quanto ?? composite;
  const at = inside(pathOf, quanto === undefined ? "composite" : "quanto");
  const currency = written?.currency ?? underlying.currency;
  if (composite !== undefined && assets.some((asset) => asset.underlying.pair !== undefined))
    throw new BookError(
      pathOf("composite"),
      `expected none of a currency pair; name the pair with ${currency} as its second currency as the underlying`,
    );
  const { exchange, names } = exchangeOf(written, terms, currency, market, at);
  const rates = composite === undefined ? [] : exchange;
  const fixings = fixingsOf(spec, assets, rates, clock, market, pathOf);
  const isPair = assets.length === 1 && underlying.pair !== undefined;
  const payment = paymentOf(spec, terms, isPair, clock, market, pathOf);
  const isByTime = assets.some((asset) => asset.underlying.dividends.excess !== undefined);
  const isElsewhere = payment !== terms.expiry || written !== undefined || isPair;
  const isPlain = !isElsewhere && fixings === undefined && !isByTime;
  if (isPlain) return undefined;
  if (!(payment >= 0 && terms.expiry <= payment))
    throw new BookError(
      pathOf(spec.payment === undefined ? "expiry" : "payment"),
      payment < 0 ? "paid before asOf; leave the trade out" : "expected a payment at expiry or later",
    );
  if (assets.some((asset) => asset.underlying.shortRate !== undefined))
    throw new BookError(
      pathOf(),
      isElsewhere
        ? "paid later or in another currency, it needs rates without a model; write a curve"
        : "with a dividend yield by time it needs rates without a model; write a curve, or one yield",
    );
  const discount = isPair && written === undefined ? underlying.pair.domestic : curveOf(currency, market, at);
  const given = written?.correlation;
  const known = market.between.of(names);
  const correlations =
    given === undefined || names.length !== 2
      ? known
      : {
          names,
          matrix: [
            [1, given],
            [given, 1],
          ],
          assumed: [],
        };
  const missing = correlations.assumed.find(([a, b]) => names.indexOf(b) >= assets.length || a === b);
  if (written !== undefined && missing !== undefined)
    throw new BookError(
      at(),
      `market.correlations lacks ${quote(missing[0])} and ${quote(missing[1])}, on which its value depends`,
    );
  const conversion = quanto === undefined ? (composite === undefined ? undefined : "composite") : "quanto";
  return { currency, discount, payment, fixings, conversion, units: quanto?.rate ?? 1, exchange, correlations };
}

/** Returns the curve of a currency. @throws BookError where it has none */
function curveOf(currency: string, market: ResolvedMarket, at: PathOf): ForwardCurve {
  const model = market.rates.get(currency);
  if (model === undefined)
    throw new BookError(
      at("currency"),
      `market.rates has no ${quote(currency)}${didYouMean(currency, market.rates.keys())}`,
    );
  if (model.kind === "curve") return model.curve;
  throw new BookError(at("currency"), `the rates of ${currency} are a model; payments in it need a curve`);
}

/** Returns the exchange rate of a composite option's underlying; undefined for any other. */
export const compositeRate = (settlement: Settlement | undefined, asset: number): ExchangeRate | undefined =>
  settlement?.conversion === "composite" ? settlement.exchange[asset] : undefined;

function paymentOf(
  { payment, paymentLag, paymentCalendar, expiry: written }: TradeSpec,
  { underlying, expiry }: Terms,
  isPair: boolean,
  clock: Clock,
  market: ResolvedMarket,
  pathOf: PathOf,
): number {
  if (payment !== undefined) {
    if (paymentLag !== undefined) throw new BookError(pathOf("paymentLag"), 'expected none beside "payment"');
    return clock.years(payment);
  }
  const day = dayNumber(clock.asOf, written);
  if (paymentLag !== undefined) {
    const calendar =
      paymentCalendar === undefined && isPair
        ? market.pairs.value.get(underlying.name)!.calendar
        : calendarOf(paymentCalendar ?? "weekends");
    return expiry + (calendar.addBusinessDays(day, paymentLag) - day) / 365;
  }
  if (paymentCalendar !== undefined)
    throw new BookError(pathOf("paymentCalendar"), 'expected none without "paymentLag"');
  return isPair ? expiry + (market.pairs.value.get(underlying.name)!.deliveryOf(day) - day) / 365 : expiry;
}

/**
 * Returns the spots at an expiry that has passed, or of today, from the fixings of the market; undefined for an expiry
 * to come, and for one of today without fixings. @throws BookError for one that is missing
 */
function fixingsOf(
  { expiry: written }: TradeSpec,
  assets: readonly Pick<Terms, "underlying">[],
  rates: readonly (ExchangeRate | undefined)[],
  clock: Clock,
  market: ResolvedMarket,
  pathOf: PathOf,
): readonly number[] | undefined {
  const expiry = clock.years(written);
  if (expiry > 0) return undefined;
  const found = assets.map(({ underlying: { name } }, i) =>
    new History(name, market.fixings, clock, rates[i]).on(written, pathOf("expiry")),
  );
  if (expiry === 0 && found.every((one) => one === undefined)) return undefined;
  const missing = found.indexOf(undefined);
  if (missing < 0) return found as number[];
  const { name } = assets[missing].underlying;
  throw new BookError(
    pathOf("expiry"),
    `it expired before asOf or on it, and market.fixings has no ${quote(name)} of that day; add it, or leave the ` +
      "trade out",
  );
}

/**
 * Returns the underlying that is the exchange rate of two currencies, with the power 1 if its spot is units of the
 * second one for one of the first, and else −1. A pair among the trade's own underlyings comes first. @throws BookError
 */
export function pairBetween(
  from: string,
  to: string,
  own: readonly Pick<Terms, "underlying">[],
  market: ResolvedMarket,
  at: PathOf,
): { readonly found: Terms["underlying"]; readonly power: 1 | -1 } {
  const forms = [from + to, to + from];
  const found = [...own.map(({ underlying }) => underlying), ...market.underlyings.values()].find(
    ({ pair, currency }) => forms.includes((pair?.base ?? "") + currency),
  );
  if (found !== undefined) return { found, power: found.currency === to ? 1 : -1 };
  throw new BookError(
    at(),
    `market.underlyings has no currency pair ${forms.join(" or ")}; add ` +
      `"${forms[0]}": { "fx": "${forms[0]}", "volatility": … }`,
  );
}

/** Returns the exchange rates of underlyings, and the names of all risk factors in the order of their correlations. */
function exchangeOf(
  written: ConversionSpec | undefined,
  { assets: several, underlying, volatility }: Terms,
  currency: string,
  market: ResolvedMarket,
  at: PathOf,
): { readonly exchange: readonly (ExchangeRate | undefined)[]; readonly names: readonly string[] } {
  const assets = several ?? [{ underlying, volatility }];
  const names = assets.map((asset) => asset.underlying.name);
  if (written === undefined) return { exchange: assets.map(() => undefined), names };
  for (const {
    underlying: { name },
    volatility: of,
  } of assets)
    if (of.kind !== "deterministic")
      throw new BookError(
        at(),
        `the volatility of ${quote(name)} depends on its spot; payments in another currency take one that does not: ` +
          'give the trade a "volatility" or the underlying a number or { "termStructure" }',
      );
  const exchange = assets.map(({ underlying: of }): ExchangeRate | undefined => {
    if (of.currency === currency) return undefined;
    const { found, power } = pairBetween(of.currency, currency, assets, market, at);
    const pair = found.pair!;
    const days = discountFactor(pair.domestic, pair.lag) / discountFactor(pair.foreign, pair.lag);
    if (!names.includes(found.name)) names.push(found.name);
    return {
      pair: found.name,
      quoted: pair.quoted,
      lag: pair.lag,
      currency: of.currency,
      spot: found.spot,
      power,
      rate: (found.spot * days) ** power,
      sigma: sigmaOf(written, found, at),
      row: names.indexOf(found.name),
    };
  });
  return { exchange, names };
}

function sigmaOf(
  { volatility }: ConversionSpec,
  { name, volatility: known }: Pick<Terms["underlying"], "name" | "volatility">,
  at: PathOf,
): PiecewiseConstant {
  if (volatility !== undefined) return constant(volatility);
  if (known?.kind === "deterministic") return known.sigma;
  throw new BookError(
    at("volatility"),
    known === undefined
      ? `${quote(name)} has no volatility; write one here, or there`
      : `the volatility of ${quote(name)} depends on its spot; write here the one that moves the forward, a number`,
  );
}
