/** Converts trades on interest rates from the form of the book to the form that is priced. */
import { BookError } from "../base/errors.ts";
import { ONE_SECOND, type RatesModel } from "../market/index.ts";
import type { ResolvedMarket } from "./market.ts";
import { didYouMean, quote } from "./names.ts";
import { inside, type PathOf } from "./paths.ts";
import type { Bond, Period, RatesExercise, RatesProduct, RatesTrade, RedemptionRight } from "./rates-types.ts";
import type { BondSpec, ExerciseSpec, LegSpec, RatesTradeSpec, RedemptionSpec } from "./schema/index.ts";
import { type AsOf, MAX_YEARS, type TimeSpec, yearsFrom, yearsText, monthsBefore, Clock } from "./time.ts";

/** The maximum number of payments of one trade. */
const MAX_PAYMENTS = 10_000;
/**
 * A first period that is shorter than `years` and also shorter than `part` of a regular period is merged with the next
 * one.
 */
const SHORTEST = { years: 7 / 365, part: 0.25 };

/**
 * Returns the ends of payment periods, `frequency` of them a year, counted back from `end`, in increasing order and in
 * years. The first is the latest one at or before `start`. Dates step by calendar months if a period is a whole number
 * of months. Times in years step by 1/`frequency`. @throws BookError more payments than a trade may have
 */
function timesBack(end: TimeSpec, frequency: number, start: number, clock: Clock, pathOf: PathOf): number[] {
  const last = clock.years(end);
  const expected = (last - start) * frequency;
  if (expected > MAX_PAYMENTS)
    throw new BookError(pathOf("frequency"), `expected at most ${MAX_PAYMENTS} payments, got ${Math.ceil(expected)}`);
  const times = [last];
  for (let k = 1; times[0] > start; k++) times.unshift(clock.years(back(end, last, k, frequency, clock)));
  return times;
}

function back(end: TimeSpec, last: number, periods: number, frequency: number, { asOf }: Clock): TimeSpec {
  const months = (12 * periods) / frequency;
  if (end.kind === "years" || 12 % frequency !== 0) return { kind: "years", years: last - periods / frequency };
  return monthsBefore(asOf, end, months);
}

/**
 * Returns the payment periods of a swap leg. The first one is shorter if `start` is not a whole number of periods
 * before `end`.
 */
function periodsOf(
  { start: from, end, frequency }: { readonly start: TimeSpec; readonly end: TimeSpec; readonly frequency: number },
  clock: Clock,
  pathOf: PathOf,
): Period[] {
  const start = clock.years(from);
  const last = clock.years(end);
  if (!(last > start))
    throw new BookError(pathOf("end"), `expected a time after start, which is ${yearsText(start)} from asOf`);
  const times = timesBack(end, frequency, start, clock, pathOf);
  const shortest = Math.min(SHORTEST.years, SHORTEST.part / frequency);
  const ends = times.filter((time) => time > start + shortest);
  return ends.map((time, i) => ({ start: i === 0 ? start : ends[i - 1], end: time }));
}

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
  const { id, currency, quantity = 1, tags } = spec;
  const rates = findRates(currency, market, pathOf);
  const clock = new Clock(asOf);
  const product = resolveProduct(spec, clock, pathOf);
  const marketPrice = spec.kind === "bond" ? spec.marketPrice : undefined;
  return {
    kind: "rates",
    id,
    currency,
    rates,
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

function resolveProduct(spec: RatesTradeSpec, clock: Clock, pathOf: PathOf): RatesProduct {
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
    case "capFloor": {
      const { right, strike, leg } = spec;
      const at = inside(pathOf, right);
      const { notional, fixing } = leg;
      const periods = leftPeriods(leg, clock, at);
      const [{ start }] = periods;
      if (start < 0 && fixing === undefined)
        throw new BookError(
          at("fixing"),
          `expected the rate of the period that began ${yearsText(-start)} before asOf, got nothing`,
        );
      return { kind: "capFloor", right, strike, notional, periods, fixing, quote: spec.volatility };
    }
    case "swaption": {
      const { right, strike, leg } = spec;
      const at = inside(pathOf, "swap");
      const periods = leftPeriods(leg, clock, at);
      const exercise = resolveExercise(spec, clock, pathOf);
      checkBefore(exercise, periods[periods.length - 1].end, "the swap's last payment", pathOf);
      checkResets(exercise, periods, pathOf);
      return { kind: "swaption", right, strike, notional: leg.notional, periods, exercise, quote: spec.volatility };
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

const pastText = (years: number): string => (years === 0 ? "asOf itself" : `one ${yearsText(-years)} before it`);

/** Converts a time to years. @throws BookError if it is not after `asOf` or too far in the future */
function laterThanNow(time: TimeSpec, clock: Clock, path: () => string): number {
  const years = clock.years(time);
  if (years <= 0) throw new BookError(path(), `expected a time after asOf, got ${pastText(years)}`);
  if (years > MAX_YEARS) throw new BookError(path(), `expected at most ${MAX_YEARS} years, got ${years.toFixed(0)}`);
  return years;
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

function resolveExercise(
  { expiry, exercise }: { readonly expiry?: TimeSpec | undefined; readonly exercise?: ExerciseSpec | undefined },
  clock: Clock,
  pathOf: PathOf,
): RatesExercise {
  const atExpiry = expiry === undefined ? undefined : notPast(expiry, clock, () => pathOf("expiry"));
  if (exercise?.kind === "bermudan") {
    const times = exercise.times.map((time, i) => {
      const years = notPast(time, clock, () => pathOf("exercise", i));
      if (atExpiry === undefined || years <= atExpiry) return years;
      throw new BookError(pathOf("exercise", i), `expected a date up to expiry, ${yearsText(atExpiry)} from asOf`);
    });
    if (atExpiry !== undefined) times.push(atExpiry);
    return { kind: "dates", times: [...new Set(times)].sort((a, b) => a - b) };
  }
  if (atExpiry === undefined)
    throw new BookError(pathOf("expiry"), 'expected a date, or a list of dates as "exercise"; got nothing');
  if (exercise?.kind === "american") return { kind: "american", from: 0, to: atExpiry };
  return { kind: "dates", times: [atExpiry] };
}

function notPast(time: TimeSpec, clock: Clock, path: () => string): number {
  const years = clock.years(time);
  if (years < 0) throw new BookError(path(), `expected a date from asOf on, got ${pastText(years)}`);
  if (years > MAX_YEARS) throw new BookError(path(), `expected at most ${MAX_YEARS} years, got ${years.toFixed(0)}`);
  return years;
}

const lastExercise = (exercise: RatesExercise): number =>
  exercise.kind === "american" ? exercise.to : exercise.times[exercise.times.length - 1];

function checkBefore(exercise: RatesExercise, end: number, what: string, pathOf: PathOf): void {
  if (lastExercise(exercise) < end) return;
  const field = exercise.kind === "dates" && exercise.times.length > 1 ? "exercise" : "expiry";
  throw new BookError(pathOf(field), `expected a time before ${what}, ${yearsText(end)} from asOf`);
}

/**
 * Checks that a swap is entered at or before its start, or at the start of a period: within a period the two legs would
 * be settled with interest that depends on the rate at its start.
 */
function checkResets(exercise: RatesExercise, periods: readonly Period[], pathOf: PathOf): void {
  if (exercise.kind === "american") {
    const [{ start }] = periods;
    if (exercise.to <= start + ONE_SECOND) return;
    throw new BookError(
      pathOf("exercise"),
      `expected an American right that ends by the swap's start, ${yearsText(Math.max(start, 0))} from asOf, got one up ` +
        `to ${yearsText(exercise.to)}; write the starts of periods as a list of dates`,
    );
  }
  const between = exercise.times.find(
    (time) => time > periods[0].start && !periods.some(({ start }) => Math.abs(start - time) < ONE_SECOND),
  );
  if (between !== undefined)
    throw new BookError(
      pathOf(exercise.times.length > 1 ? "exercise" : "expiry"),
      `expected times up to the swap's start or at the start of a period, got ${yearsText(between)} from asOf`,
    );
}

/** The periods that end after `asOf`. */
function leftPeriods(leg: Pick<LegSpec, "start" | "end" | "frequency">, clock: Clock, pathOf: PathOf): Period[] {
  laterThanNow(leg.end, clock, () => pathOf("end"));
  return periodsOf(leg, clock, pathOf).filter(({ end }) => end > 0);
}

/** The time of the last payment of a bond. */
const endOf = ({ flows }: Bond): number => flows[flows.length - 1][0];

function lastTime(product: RatesProduct): number {
  switch (product.kind) {
    case "bond":
      return endOf(product.bond);
    case "capFloor":
      return product.periods[product.periods.length - 1].end;
    default:
      return lastExercise(product.exercise);
  }
}
