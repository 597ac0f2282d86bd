/** Converts trades on interest rates from the form of the book to the form that is priced. */
import { BookError } from "../base/errors.ts";
import { ONE_SECOND, type RatesModel } from "../market/index.ts";
import type { ResolvedMarket } from "./market.ts";
import { didYouMean, quote } from "./names.ts";
import { inside, type PathOf } from "./paths.ts";
import { type Form, type ReadProduct, resolveCap, resolveSwaption } from "./caps-swaptions.ts";
import { checkBefore, laterThanNow, lastExercise, resolveExercise, timesBack } from "./rates-times.ts";
import type { Bond, RatesProduct, RatesTrade, RedemptionRight } from "./rates-types.ts";
import type { BondSpec, RatesTradeSpec, RedemptionSpec } from "./schema/index.ts";
import { type AsOf, Clock, type TimeSpec, yearsFrom } from "./time.ts";

/** Two times that differ by less than this are considered equal. In years. */
export const TIME_TOLERANCE = 1e-9;

/**
 * Checks that no two periods overlap, because the price in the overlap would be ambiguous. @throws BookError if two do
 */
export function checkApart(periods: readonly { readonly from: number; readonly to: number }[], pathOf: PathOf): void {
  const sorted = periods.map((period, i) => ({ ...period, i })).toSorted((a, b) => a.from - b.from || a.to - b.to);
  for (let k = 1; k < sorted.length; k++) {
    const [before, after] = [sorted[k - 1], sorted[k]];
    // Windows may meet; a date may not be in another period, not even at its end.
    const hasDate = before.from === before.to || after.from === after.to;
    if (after.from < before.to + (hasDate ? TIME_TOLERANCE : -TIME_TOLERANCE))
      throw new BookError(pathOf(after.i), "expected periods that do not overlap; split them, with one price each");
  }
}

/**
 * Converts a trade on interest rates from the book's form. @throws BookError an unknown currency, dates that contradict
 * each other, or exercise rights that begin too late
 */
export function resolveRatesTrade(
  spec: RatesTradeSpec,
  pathOf: PathOf,
  asOf: AsOf,
  market: ResolvedMarket,
): RatesTrade {
  const { id, quantity = 1, tags } = spec;
  const read = resolveProduct(spec, new Clock(asOf), market, pathOf);
  const { product, projection } = read;
  const currency = spec.currency ?? read.currency;
  if (currency === undefined) throw new BookError(pathOf("currency"), 'expected a currency, such as "EUR"');
  if (currency !== (read.currency ?? currency))
    throw new BookError(pathOf("currency"), `expected that of the index, ${quote(read.currency!)}`);
  const rates = findRates(currency, market, pathOf);
  const marketPrice = spec.kind === "bond" ? spec.marketPrice : undefined;
  return {
    kind: "rates",
    id,
    currency,
    rates,
    ...(projection === undefined ? {} : { projection }),
    product,
    expiry: lastTime(product),
    ...(marketPrice === undefined ? {} : { marketPrice }),
    quantity,
    ...(tags === undefined ? {} : { tags: { ...tags } }),
  };
}

function findRates(currency: string, { rates }: ResolvedMarket, pathOf: PathOf): RatesModel {
  const model = rates.get(currency);
  if (model !== undefined) return model;
  const known = didYouMean(currency, rates.keys());
  throw new BookError(pathOf("currency"), `market.rates does not have ${quote(currency)}${known}`);
}

function resolveProduct(spec: RatesTradeSpec, clock: Clock, market: ResolvedMarket, pathOf: PathOf): ReadProduct {
  if (spec.kind === "capFloor") return resolveCap(spec, clock, market, pathOf);
  if (spec.kind === "swaption") return resolveSwaption(spec, clock, market, pathOf);
  return { product: resolveBondProduct(spec, clock, pathOf) };
}

function resolveBondProduct(spec: Form<"bond" | "bondOption">, clock: Clock, pathOf: PathOf): RatesProduct {
  switch (spec.kind) {
    case "bond": {
      const at = "maturity" in spec.bond || !("cashflows" in spec) ? inside(pathOf, "bond") : pathOf;
      const bond = resolveBond(spec.bond, clock, at);
      const calls = resolveRights(spec.bond.calls, bond, clock, inside(at, "calls"));
      const puts = resolveRights(spec.bond.puts, bond, clock, inside(at, "puts"));
      return { kind: "bond", bond, calls, puts };
    }
    case "bondOption": {
      const bond = resolveBond(spec.on, clock, inside(pathOf, "on", "bond"));
      const exercise = resolveExercise(spec, clock, pathOf);
      const last = endOf(bond);
      checkBefore(exercise, last, "the bond's last payment", pathOf);
      const { payoff, strike, strikeIs = "dirty" } = spec;
      return { kind: "bondOption", right: payoff, strike, strikeIs, bond, exercise };
    }
    default:
      return spec satisfies never;
  }
}

/**
 * Returns the payments of a bond after `asOf`. @throws BookError a maturity that is not after `asOf`, or coupons
 * without a frequency
 */
export function resolveBond(spec: BondSpec, clock: Clock, pathOf: PathOf): Bond {
  if ("cashflows" in spec) {
    const flows = spec.cashflows.map(
      ([time, amount], i) => [laterThanNow(time, clock, () => pathOf("cashflows", i)), amount] as const,
    );
    const sorted = flows.toSorted(([a], [b]) => a - b);
    const notional = spec.notional ?? Math.abs(sorted[sorted.length - 1][1]);
    return { flows: sorted, coupons: [], notional };
  }
  const { maturity, coupon = 0, frequency, notional } = spec;
  const end = laterThanNow(maturity, clock, () => pathOf("maturity"));
  if (coupon === 0) return { flows: [[end, notional]], coupons: [], notional };
  if (frequency === undefined)
    throw new BookError(pathOf("frequency"), "expected the number of coupons a year, got nothing");
  const times = timesBack(maturity, frequency, 0, clock, pathOf);
  const amount = (notional * coupon) / frequency;
  const coupons = times.slice(1).map((time, i) => ({ start: times[i], end: time, amount }));
  const flows = coupons.map(({ end: time }) => [time, time === end ? amount + notional : amount] as const);
  return { flows, coupons, notional };
}

/** The redemption rights that remain from `asOf` on, in increasing order of time. */
function resolveRights(
  specs: readonly RedemptionSpec[] | undefined,
  bond: Bond,
  clock: Clock,
  pathOf: PathOf,
): RedemptionRight[] {
  const last = endOf(bond);
  const rights = (specs ?? []).map(({ from: first, to: end, price, notice: before }, i) => {
    const [from, to] = [clock.years(first), clock.years(end)];
    if (to < from) throw new BookError(pathOf(i, "to"), "expected a time that is not before from");
    if (to > last + ONE_SECOND)
      throw new BookError(pathOf(i, first === end ? "date" : "to"), "expected a time up to the bond's last payment");
    const notice = before === undefined ? 0 : noticeOf(before, clock, () => pathOf(i, "notice"));
    return { from: from - notice, to: to - notice, notice, price };
  });
  checkApart(rights, pathOf);
  return rights
    .filter(({ to }) => to >= 0)
    .map(({ from, ...right }) => ({ from: Math.max(from, 0), ...right }))
    .toSorted((a, b) => a.from - b.from);
}

/** Periods of notice are shorter than this; a larger number was meant in days. In years. */
const MAX_NOTICE = 5;

/** Converts a period of notice to years. @throws BookError if it is a date, negative, or too long */
function noticeOf(time: TimeSpec, clock: Clock, path: () => string): number {
  const years = time.kind === "years" || time.kind === "tenor" ? yearsFrom(clock.asOf, time) : Number.NaN;
  if (years >= 0 && years <= MAX_NOTICE) return years;
  throw new BookError(path(), `expected a length of time: a tenor such as "30D", or years, 0 to ${MAX_NOTICE}`);
}

/** The time of the last payment of a bond. */
const endOf = ({ flows }: Bond): number => flows[flows.length - 1][0];

function lastTime(product: RatesProduct): number {
  switch (product.kind) {
    case "bond":
      return endOf(product.bond);
    case "capFloor":
      return product.periods[product.periods.length - 1].paid;
    default:
      return lastExercise(product.exercise);
  }
}
