/**
 * Converts trades from the form of the book to the form that is priced, or to the errors that say why that is
 * impossible.
 */
import { BookError } from "../base/errors.ts";
import { knownPayoff, resolvePathPayoff } from "./path-payoff.ts";
import { type Dividends, flatVolatility, type Volatility } from "../market/index.ts";
import { resolveScripted } from "./scripted-trade.ts";
import { resolveLinearTrade } from "./linear-trade.ts";
import { resolveConvertible } from "./convertible.ts";
import { resolveRatesTrade } from "./rates-trade.ts";
import { type BarriersLeft, resolveBarriers } from "./barriers.ts";
import { History } from "./history.ts";
import type { ResolvedMarket, UnderlyingEntry } from "./market.ts";
import { didYouMean, quote, show } from "./names.ts";
import { accept, inside, type PathOf, checkFormula } from "./paths.ts";
import { currencyOf } from "./results.ts";
import { compositeRate, settlementOf } from "./settlement.ts";
import {
  type BarrierSpec,
  convertibleTradeSchema,
  type ForwardTradeSpec,
  forwardTradeSchema,
  isPlainObject,
  LINEAR_FIELDS,
  linearTradeSchema,
  RATES_FIELDS,
  REFUSED,
  type PayoffSpec,
  ratesTradeSchema,
  scriptedTradeSchema,
  type TradeSpec,
  tags,
  tradeSchema,
  basketTradeSchema,
} from "./schema/index.ts";
import { type AsOf, MAX_YEARS, type TimeSpec, yearsText, Clock } from "./time.ts";
import type { Exercise, ForwardTrade, ParsedTrade, Payoff, Trade } from "./types.ts";
import { NOT_PRICED, resolveVolatility } from "./volatility.ts";

/** The context that reading a trade requires: the valuation date, the market, and the ids of earlier trades. */
export interface TradeReader {
  readonly asOf: AsOf;
  readonly market: ResolvedMarket;
  /** Records an id, and tells whether it was recorded before. */
  readonly seenBefore: (id: string) => boolean;
}

/**
 * Reads one trade from plain JSON data. It never throws; the result contains the trade's error. `index` is the trade's
 * number from 0, and `pathOf` formats positions in it for error messages.
 */
export function readTrade(value: unknown, index: number, pathOf: PathOf, reader: TradeReader): ParsedTrade {
  try {
    if (!isPlainObject(value)) throw new BookError(pathOf(), `expected a trade (an object), got ${show(value)}`);
    const isLinear = LINEAR_FIELDS.some((field) => Object.hasOwn(value, field)) && !Object.hasOwn(value, "swaption");
    const trade = Object.hasOwn(value, "script")
      ? resolveScripted(accept(scriptedTradeSchema, value, pathOf), pathOf, { ...reader, underlyings: onUnderlyings })
      : isLinear
        ? resolveLinearTrade(accept(linearTradeSchema, value, pathOf), pathOf, reader.market.linear.value)
        : Object.hasOwn(value, "forward")
          ? resolveForward(accept(forwardTradeSchema, value, pathOf), pathOf, reader)
          : Object.hasOwn(value, "convertible")
            ? resolveConvertible(accept(convertibleTradeSchema, value, pathOf), pathOf, reader.asOf, reader.market)
            : RATES_FIELDS.some((field) => Object.hasOwn(value, field))
              ? resolveRatesTrade(accept(ratesTradeSchema, value, pathOf), pathOf, reader.asOf, reader.market)
              : resolveTrade(acceptTrade(value, pathOf), pathOf, reader);
    if (reader.seenBefore(trade.id))
      throw new BookError(pathOf("id"), `expected an id of its own, got ${quote(trade.id)} again`);
    const { reporting } = reader.market;
    if (reporting === undefined) return { ok: true, trade, index };
    return { ok: true, trade, index, reporting: reporting.of(currencyOf(trade), pathOf()) };
  } catch (error) {
    if (!(error instanceof BookError)) throw error;
    return failedTrade(value, index, error);
  }
}

function acceptTrade(value: Record<string, unknown>, pathOf: PathOf): TradeSpec {
  return value.underlyings === undefined
    ? accept(tradeSchema, value, pathOf)
    : accept(basketTradeSchema, value, pathOf);
}

/** Returns the entry of a book for a trade that could not be read. */
export function failedTrade(value: unknown, index: number, error: BookError): ParsedTrade {
  if (!isPlainObject(value)) return { ok: false, id: undefined, index, error };
  const id = typeof value.id === "string" ? value.id : undefined;
  const read = tags.read(value.tags);
  return { ok: false, id, index, error, ...(read === REFUSED ? {} : { tags: read }) };
}

function resolveTrade(spec: TradeSpec, pathOf: PathOf, { asOf, market }: TradeReader): Trade {
  const { underlying: name, underlyings } = spec;
  const names = underlyings ?? [name as string];
  const dividendsOf = (one: string): Dividends["discrete"] => market.underlyings.get(one)?.dividends.discrete ?? [];
  const clock = new Clock(asOf, names.length === 1 ? dividendsOf(names[0]) : names.flatMap(dividendsOf));
  const on = underlyings === undefined ? resolveOne(spec, pathOf, asOf, market) : resolveBasket(spec, market, pathOf);
  const pair = names.findIndex((_, i) => on.assets?.[i].underlying.pair !== undefined);
  if (pair >= 0)
    throw new BookError(
      pathOf("underlyings", pair),
      `${quote(names[pair])} is a currency pair, whose curves differ from those of the others; write a "script", which ` +
        "takes pairs beside other underlyings",
    );
  const { underlying, volatility, assets, correlations } = on;
  const written = clock.years(spec.expiry);
  const isPaidElsewhere =
    (spec.payment ?? spec.paymentLag ?? spec.quanto ?? spec.composite ?? underlying.pair) !== undefined;
  // One that has expired may still be paid.
  const expiry = written < 0 && isPaidElsewhere ? 0 : resolveExpiry(spec.expiry, clock, pathOf);
  const isByTime = (assets ?? [on]).some((asset) => asset.underlying.dividends.excess !== undefined);
  const settlement =
    isPaidElsewhere || isByTime || written <= 0
      ? settlementOf(spec, { ...on, expiry: written }, clock, market, pathOf)
      : undefined;
  const historyOf = (asset: number): History =>
    new History(names[asset], market.fixings, clock, compositeRate(settlement, asset));
  const given =
    resolvePathPayoff(spec, expiry, clock, () => historyOf(0), pathOf) ??
    resolvePayoff(spec, names.length, underlying, pathOf);
  const exercise = resolveExercise(spec, expiry, clock, pathOf);
  const touch = spec.payoff.kind === "touch" ? touchBarriers(spec.payoff, underlying) : [];
  const monitored = [...(spec.barriers ?? []), ...touch];
  const { barriers, knockedOut }: BarriersLeft =
    monitored.length === 0
      ? NO_BARRIERS
      : resolveBarriers(monitored, names, expiry, clock, historyOf, inside(pathOf, "barriers"));
  const payoff = knockedOut === undefined ? given : knownPayoff(knockedOut);
  const { id, quantity = 1, tags } = spec;
  // Spread into one another, objects get shapes of their own: that took 8 µs a trade, and slowed all that reads it.
  const trade: Draft<Trade> = { id, underlying, volatility, payoff, expiry, exercise, barriers, quantity };
  // What is known needs no mesh.
  if (barriers.length === 0 && isKnown(payoff)) trade.volatility = flatVolatility(0);
  if (assets !== undefined) trade.assets = assets;
  if (correlations !== undefined) trade.correlations = correlations;
  if (settlement !== undefined) trade.settlement = settlement;
  if (tags !== undefined) trade.tags = { ...tags };
  return trade;
}

/** Tells whether a payoff is an amount, whatever the spot is. */
const isKnown = (payoff: Payoff): boolean => payoff.kind === "expression" && Number.isFinite(Number(payoff.expression));

function resolveForward(spec: ForwardTradeSpec, pathOf: PathOf, { asOf, market }: TradeReader): ForwardTrade {
  const { id, forward: strike, quantity = 1, tags: written } = spec;
  const { underlying } = findUnderlying(spec.underlying, market, pathOf, "underlying");
  if (underlying.pair !== undefined)
    throw new BookError(
      pathOf("underlying"),
      `${quote(underlying.name)} is a currency pair, whose forwards have a delivery; write ` +
        '{ "fxForward": { "pair", "amount", "rate", "delivery" } }',
    );
  const expiry = resolveExpiry(spec.expiry, new Clock(asOf, underlying.dividends.discrete), pathOf);
  const trade: Draft<ForwardTrade> = { kind: "forward", id, underlying, strike, expiry, quantity };
  if (written !== undefined) trade.tags = { ...written };
  return trade;
}

type Draft<T> = { -readonly [Key in keyof T]: T[Key] };

const NO_BARRIERS: BarriersLeft = { barriers: [] };

/** The underlyings of a trade, with what is the first of them. */
type OnUnderlyings = Pick<Trade, "underlying" | "volatility" | "assets" | "correlations">;

/**
 * Returns the underlying of a trade with its volatility. @throws BookError if the underlying is unknown, or if neither
 * it nor the trade has a volatility
 */
function resolveOne(
  spec: Pick<TradeSpec, "underlying" | "volatility">,
  pathOf: PathOf,
  asOf: AsOf,
  market: ResolvedMarket,
): OnUnderlyings {
  const name = spec.underlying as string;
  const entry = findUnderlying(name, market, pathOf, "underlying");
  const own = spec.volatility && resolveVolatility(spec.volatility, asOf, inside(pathOf, "volatility"));
  const volatility = chooseVolatility(own, entry, pathOf, "underlying");
  const { underlying } = entry;
  if (underlying.shortRate === undefined) return { underlying, volatility };
  return { underlying, volatility, correlations: market.between.of([name, underlying.currency]) };
}

/**
 * Returns the underlyings of a basket. @throws BookError for a name that is repeated or unknown, or underlyings in
 * different currencies
 */
function resolveBasket(
  { underlyings: names = [], quanto, composite }: Pick<TradeSpec, "underlyings" | "quanto" | "composite">,
  market: ResolvedMarket,
  pathOf: PathOf,
  isConverted = (quanto ?? composite) !== undefined,
): OnUnderlyings {
  const twice = names.findIndex((name, i) => names.indexOf(name) < i);
  if (twice > 0) throw new BookError(pathOf("underlyings", twice), `${quote(names[twice])} is there twice`);
  const assets = names.map((name, i) => {
    const entry = findUnderlying(name, market, pathOf, "underlyings", i);
    const volatility = chooseVolatility(undefined, entry, pathOf, "underlyings", i);
    return { underlying: entry.underlying, volatility };
  });
  const [{ underlying, volatility }] = assets;
  const { currency, shortRate } = underlying;
  const other = assets.findIndex((asset) => asset.underlying.currency !== currency);
  if (other > 0 && !isConverted)
    throw new BookError(
      pathOf("underlyings", other),
      `${quote(names[other])} is in ${quote(assets[other].underlying.currency)}, and ${quote(names[0])} in ` +
        `${quote(currency)}; write "quanto" or "composite" with the currency of payment`,
    );
  const correlations = market.between.of(shortRate === undefined ? names : [...names, currency]);
  return { underlying, volatility, assets, correlations };
}

/** Returns some underlyings with the volatilities of the market, and what is the first of them. @throws BookError */
function onUnderlyings(names: readonly string[], pathOf: PathOf, { asOf, market }: TradeReader): OnUnderlyings {
  if (names.length > 1) return resolveBasket({ underlyings: names }, market, pathOf, true);
  return resolveOne({ underlying: names[0], volatility: undefined }, pathOf, asOf, market);
}

/** An underlying that a trade can have. */
type UsableEntry = UnderlyingEntry & { readonly underlying: NonNullable<UnderlyingEntry["underlying"]> };

/** Returns an underlying by its name. @throws BookError if it is unknown or cannot be used */
function findUnderlying(
  name: string,
  { entries }: ResolvedMarket,
  pathOf: PathOf,
  ...path: readonly PropertyKey[]
): UsableEntry {
  const entry = entries.get(name);
  if (entry === undefined)
    throw new BookError(pathOf(...path), `unknown underlying ${quote(name)}${didYouMean(name, entries.keys())}`);
  if (isUsable(entry)) return entry;
  throw new BookError(pathOf(...path), entry.problem ?? `${quote(name)} cannot be used`);
}

const isUsable = (entry: UnderlyingEntry): entry is UsableEntry => entry.underlying !== undefined;

/**
 * The volatility of a trade: its own one, or else that of the underlying. Hence an underlying without a valid
 * volatility can still have trades.
 */
function chooseVolatility(
  own: Volatility | "quotes" | undefined,
  entry: UsableEntry,
  pathOf: PathOf,
  ...path: readonly PropertyKey[]
): Volatility {
  if (own === "quotes") throw new BookError(pathOf("volatility", "quotes"), NOT_PRICED);
  const volatility = own ?? entry.underlying.volatility;
  if (volatility === undefined) throw new BookError(pathOf(...path), entry.volatilityProblem ?? "no volatility");
  return volatility;
}

function resolveExpiry(spec: TimeSpec, clock: Clock, pathOf: PathOf): number {
  const expiry = clock.years(spec);
  if (expiry < 0) throw new BookError(pathOf("expiry"), `the trade expired before asOf (${yearsText(-expiry)} ago)`);
  if (expiry > MAX_YEARS)
    throw new BookError(pathOf("expiry"), `expected at most ${MAX_YEARS} years, got ${expiry.toFixed(0)}`);
  return expiry;
}

function resolvePayoff(
  { payoff, strike }: TradeSpec,
  underlyings: number,
  { currency, pair }: Trade["underlying"],
  pathOf: PathOf,
): Payoff {
  if (payoff.kind === "expression") {
    const at = pathOf("payoff", "expression");
    const names = underlyings === 1 ? ["S"] : Array.from({ length: underlyings }, (_, i) => `S${i + 1}`);
    checkFormula(payoff.expression, names, at);
    const kinks = strike === undefined ? payoff.kinks : [...payoff.kinks, strike];
    return { kind: "expression", expression: payoff.expression, kinks: sortedUnique(kinks), place: at };
  }
  const paysIn = "currency" in payoff ? (payoff.currency ?? currency) : currency;
  if (paysIn !== currency && paysIn !== pair?.base)
    throw new BookError(
      pathOf("payoff", "currency"),
      `expected ${[currency, ...(pair === undefined ? [] : [pair.base])].map(quote).join(" or ")}, got ${quote(paysIn)}`,
    );
  if (payoff.kind === "touch") {
    // What is paid at a touch is a rebate; what is paid in the foreign currency is worth as much as that is then.
    const isForeign = paysIn !== currency;
    const isRebate = payoff.pays === "touched" && !(isForeign && payoff.at === "expiry");
    const amount = isRebate ? "0" : `${payoff.cash}${isForeign ? "*S" : ""}`;
    return { kind: "expression", expression: amount, kinks: [], place: pathOf("payoff") };
  }
  const several = payoff.kind === "basket";
  // Weights of both signs make an index that may be negative, and so may be its strike.
  const isSum = several && payoff.of === "sum";
  if (strike === undefined || (!isSum && strike <= 0))
    throw new BookError(
      pathOf("strike"),
      `expected a ${isSum ? "" : "positive "}number, got ${strike === undefined ? "nothing" : show(strike)}`,
    );
  const { kind, right } = payoff;
  if (kind === "vanilla") return { kind, right, strike };
  if (kind === "digital" && paysIn !== currency) {
    const inTheMoney = `S ${right === "call" ? ">" : "<"} ${strike}`;
    const expression = `${inTheMoney} ? ${payoff.cash}*S : 0`;
    return { kind: "expression", expression, kinks: [strike], place: pathOf("payoff") };
  }
  if (kind === "digital") return { kind, right, strike, cash: payoff.cash };
  return { kind, right, strike, of: payoff.of, weights: weightsOf(payoff, underlyings, pathOf) };
}

/** The barriers of an option that pays if a level is touched, or if none is. */
function touchBarriers(
  { levels, pays, cash, at, currency: written }: Extract<PayoffSpec, { kind: "touch" }>,
  { spot, currency }: Trade["underlying"],
): readonly BarrierSpec[] {
  const isForeign = (written ?? currency) !== currency;
  const isIn = pays === "touched" && isForeign && at === "expiry";
  return levels.map((level) => ({
    type: `${level > spot ? "up" : "down"}-and-${isIn ? "in" : "out"}`,
    level,
    rebate: pays === "touched" && !isIn ? cash * (isForeign ? level : 1) : 0,
    rebateAt: isIn ? "expiry" : at,
  }));
}

/** The weights of a basket payoff. By default, they are 1 and −1 for a spread, and 1 for every underlying otherwise. */
function weightsOf(
  { of, weights }: Extract<PayoffSpec, { kind: "basket" }>,
  underlyings: number,
  pathOf: PathOf,
): readonly number[] {
  if (weights !== undefined) {
    if (weights.length === underlyings) return weights;
    throw new BookError(
      pathOf("payoff", "weights"),
      `expected ${underlyings} weights, one for each underlying, got ${weights.length}`,
    );
  }
  if (of !== "sum") return Array<number>(underlyings).fill(1);
  if (underlyings !== 2)
    throw new BookError(
      pathOf("payoff"),
      `a spread is of two underlyings, got ${underlyings}; expected { "basket", "weights" }`,
    );
  return [1, -1];
}

const EUROPEAN: Exercise = { kind: "european" };

function resolveExercise({ exercise }: TradeSpec, expiry: number, clock: Clock, pathOf: PathOf): Exercise {
  if (exercise === undefined) return EUROPEAN;
  if (exercise.kind !== "bermudan") return exercise;
  const times = exercise.times.map((time, i) => {
    const years = clock.years(time);
    if (years < 0 || years > expiry) throw new BookError(pathOf("exercise", i), "expected a date from asOf to expiry");
    return years;
  });
  return { kind: "bermudan", times: sortedUnique(times) };
}

function sortedUnique(values: readonly number[]): number[] {
  return [...new Set(values)].sort((a, b) => a - b);
}
