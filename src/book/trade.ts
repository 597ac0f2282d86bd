/** From a trade as written to a trade that can be priced, or to the error that says why it cannot. */
import { BookError } from "../errors.ts";
import { checkFormula } from "./formulas.ts";
import type { Volatility } from "../market/index.ts";
import { resolveBarriers } from "./barriers.ts";
import type { ResolvedMarket, UnderlyingEntry } from "./market.ts";
import { didYouMean, quote, show } from "./names.ts";
import { accept, inside, type Place } from "./place.ts";
import { isPlainObject, type TradeSpec, tradeSchema } from "./schema/index.ts";
import { type AsOf, MAX_YEARS, type TimeSpec, yearsFrom, yearsText } from "./time.ts";
import type { Exercise, ParsedTrade, Payoff, Trade } from "./types.ts";
import { NOT_YET, resolveVolatility } from "./volatility.ts";

/** What every trade of a book is read against. */
export interface TradeReader {
  readonly asOf: AsOf;
  readonly market: ResolvedMarket;
  /** True, and remembered, when an id has been seen before. */
  readonly seenBefore: (id: string) => boolean;
}

const SEVERAL_UNDERLYINGS =
  'no method prices a trade on several underlyings yet; expected one, by its name: "underlying": "ACME"';

/** Reads one trade from plain JSON data. Never throws: whatever is wrong with the trade is in the result. */
export function readTrade(value: unknown, index: number, place: Place, reader: TradeReader): ParsedTrade {
  try {
    if (!isPlainObject(value)) throw new BookError(place(), `expected a trade (an object), got ${show(value)}`);
    if (value.underlyings !== undefined) throw new BookError(place("underlyings"), SEVERAL_UNDERLYINGS);
    const spec = accept(tradeSchema, value, place);
    const trade = resolveTrade(spec, place, reader);
    if (reader.seenBefore(spec.id))
      throw new BookError(place("id"), `expected an id of its own, got ${quote(spec.id)} again`);
    return { ok: true, trade };
  } catch (error) {
    if (!(error instanceof BookError)) throw error;
    return failedTrade(value, index, error);
  }
}

export function failedTrade(value: unknown, index: number, error: BookError): ParsedTrade {
  const id = isPlainObject(value) && typeof value.id === "string" ? value.id : undefined;
  return { ok: false, id, index, error };
}

function resolveTrade(spec: TradeSpec, place: Place, { asOf, market }: TradeReader): Trade {
  const entry = findUnderlying(spec.underlying, market, place);
  const expiry = resolveExpiry(spec.expiry, asOf, place);
  const payoff = resolvePayoff(spec, place);
  const exercise = resolveExercise(spec, expiry, asOf, place);
  const barriers = resolveBarriers(spec.barriers ?? [], expiry, asOf, inside(place, "barriers"));
  const own = spec.volatility && resolveVolatility(spec.volatility, asOf, inside(place, "volatility"));
  const volatility = chooseVolatility(own, entry, place);
  const quantity = spec.quantity ?? 1;
  return { id: spec.id, underlying: entry.underlying, volatility, payoff, expiry, exercise, barriers, quantity };
}

type UsableEntry = UnderlyingEntry & { readonly underlying: NonNullable<UnderlyingEntry["underlying"]> };

function findUnderlying(name: string, { entries }: ResolvedMarket, place: Place): UsableEntry {
  const entry = entries.get(name);
  if (entry === undefined)
    throw new BookError(place("underlying"), `unknown underlying ${quote(name)}${didYouMean(name, entries.keys())}`);
  const { underlying } = entry;
  if (underlying === undefined)
    throw new BookError(place("underlying"), entry.problem ?? `${quote(name)} cannot be used`);
  return { ...entry, underlying };
}

/**
 * The trade's own volatility goes before the underlying's, so one without a usable volatility can still have trades.
 */
function chooseVolatility(own: Volatility | "quotes" | undefined, entry: UsableEntry, place: Place): Volatility {
  if (own === "quotes") throw new BookError(place("volatility", "quotes"), NOT_YET);
  const volatility = own ?? entry.underlying.volatility;
  if (volatility === undefined) throw new BookError(place("underlying"), entry.volatilityProblem ?? "no volatility");
  return volatility;
}

function resolveExpiry(spec: TimeSpec, asOf: AsOf, place: Place): number {
  const expiry = yearsFrom(asOf, spec);
  if (expiry < 0) throw new BookError(place("expiry"), `the trade expired before asOf (${yearsText(-expiry)} ago)`);
  if (expiry > MAX_YEARS)
    throw new BookError(place("expiry"), `expected at most ${MAX_YEARS} years, got ${expiry.toFixed(0)}`);
  return expiry;
}

function resolvePayoff({ payoff, strike }: TradeSpec, place: Place): Payoff {
  if (payoff.kind === "expression") {
    const at = place("payoff", "expression");
    checkFormula(payoff.expression, ["S"], at);
    const kinks = strike === undefined ? payoff.kinks : [...payoff.kinks, strike];
    return { kind: "expression", expression: payoff.expression, kinks: sortedUnique(kinks), place: at };
  }
  if (strike === undefined) throw new BookError(place("strike"), "expected a positive number, got nothing");
  return { ...payoff, strike };
}

function resolveExercise({ exercise }: TradeSpec, expiry: number, asOf: AsOf, place: Place): Exercise {
  if (exercise === undefined) return { kind: "european" };
  if (exercise.kind !== "bermudan") return exercise;
  const times = exercise.times.map((time, i) => {
    const years = yearsFrom(asOf, time);
    if (years < 0 || years > expiry) throw new BookError(place("exercise", i), "expected a date from asOf to expiry");
    return years;
  });
  return { kind: "bermudan", times: sortedUnique(times) };
}

function sortedUnique(values: readonly number[]): number[] {
  return [...new Set(values)].sort((a, b) => a - b);
}
