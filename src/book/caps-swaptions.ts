/** Converts caps, floors and swaptions from the form of the book to the form that is priced. */
import { BookError } from "../base/errors.ts";
import { ONE_SECOND } from "../market/index.ts";
import type { ResolvedMarket } from "./market.ts";
import { inside, type PathOf } from "./paths.ts";
import { readIndexLeg, readIndexSwap } from "./rates-legs.ts";
import { checkBefore, laterThanNow, resolveExercise, timesBack } from "./rates-times.ts";
import type { FloatingPeriod, LegPeriod, Period, RatesExercise, RatesTrade } from "./rates-types.ts";
import type { IndexLegSpec, LegSpec, RatesTradeSpec } from "./schema/index.ts";
import { type Clock, dayNumber, type TimeSpec, yearsText } from "./time.ts";

/**
 * A first period that is shorter than `years` and also shorter than `part` of a regular period is merged with the next
 * one.
 */
const SHORTEST = { years: 7 / 365, part: 0.25 };

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

/** A product, with the currency and the curve of its index, if it names one. */
export type ReadProduct = Pick<RatesTrade, "product" | "projection"> & { readonly currency?: string };

/** Trades of one kind after validation. */
export type Form<K extends RatesTradeSpec["kind"]> = Extract<RatesTradeSpec, { readonly kind: K }>;

/** Tells whether a leg takes its conventions from an index. */
const isOnIndex = <L extends object>(leg: L): leg is Extract<L, Pick<IndexLegSpec, "index">> => "index" in leg;

/** Converts a cap or a floor. @throws BookError for a rate that is missing, or periods that are all past */
export function resolveCap(spec: Form<"capFloor">, clock: Clock, market: ResolvedMarket, pathOf: PathOf): ReadProduct {
  const { right, strike, leg, volatility } = spec;
  const at = inside(pathOf, right);
  const read = isOnIndex(leg)
    ? readIndexLeg(leg, at, { linear: market.linear.value, curveOf: market.curveOf.value })
    : { floating: leftRates(leg, clock, at) };
  if (read.floating.length === 0)
    throw new BookError(at("end"), "expected a time after asOf: all its payments are past");
  const periods = read.floating.map((period) => ({ ...period, quote: volatility }));
  const product = { kind: "capFloor", right, strike, notional: leg.notional, periods } as const;
  return "currency" in read ? { product, ...read } : { product };
}

/** The periods of a cap in years, with the rate of the one that has begun. */
function leftRates(leg: LegSpec, clock: Clock, pathOf: PathOf): FloatingPeriod[] {
  const { fixing } = leg;
  const [first, ...others] = leftPeriods(leg, clock, pathOf).map(floatingPeriod);
  const { start } = first;
  if (start < 0 && fixing === undefined)
    throw new BookError(
      pathOf("fixing"),
      `expected the rate of the period that began ${yearsText(-start)} before asOf, got nothing`,
    );
  if (start > ONE_SECOND && fixing !== undefined)
    throw new BookError(
      pathOf("fixing"),
      `no period has begun: the first one begins ${yearsText(start)} after asOf; leave the fixing out until then`,
    );
  return [{ ...first, rate: fixing }, ...others];
}

/** A period whose rate is published at its start. */
const floatingPeriod = (period: LegPeriod): FloatingPeriod => ({ ...period, fixed: period.start, rate: undefined });

/** Converts a swaption. @throws BookError for times of exercise at which the swap cannot be entered */
export function resolveSwaption(
  spec: Form<"swaption">,
  clock: Clock,
  market: ResolvedMarket,
  pathOf: PathOf,
): ReadProduct {
  const { right, strike, leg, volatility } = spec;
  const at = inside(pathOf, "swap");
  if (isOnIndex(leg)) {
    const linear = market.linear.value;
    // Days are those of the schedule, whatever the time of day of asOf is.
    const years = (time: TimeSpec): number => (dayNumber(clock.asOf, time) - linear.reference) / 365;
    const exercise = resolveExercise(spec, { asOf: clock.asOf, years }, pathOf);
    const first = { kind: "years", years: exercise.kind === "dates" ? exercise.times[0] : exercise.to } as const;
    const { periods, floating, ...read } = readIndexSwap(leg, first, at, { linear, curveOf: market.curveOf.value });
    const legs = [periods, floating];
    if (legs.some((one) => one.length === 0)) throw new BookError(at("end"), "expected a time after asOf");
    checkBefore(
      exercise,
      Math.min(...legs.map((one) => one.at(-1)!.start)) + ONE_SECOND,
      "the last period of the swap",
      pathOf,
    );
    checkStarts(exercise, periods, floating, pathOf);
    const { notional } = leg;
    return {
      product: { kind: "swaption", right, strike, notional, periods, floating, exercise, quote: volatility },
      ...read,
    };
  }
  const periods = leftPeriods(leg, clock, at);
  const exercise = resolveExercise(spec, clock, pathOf);
  checkBefore(exercise, periods[periods.length - 1].end, "the swap's last payment", pathOf);
  checkResets(exercise, periods, pathOf);
  const floating = periods.map(floatingPeriod);
  const { notional } = leg;
  return { product: { kind: "swaption", right, strike, notional, periods, floating, exercise, quote: volatility } };
}

/** Checks that periods of both legs begin together after each exercise of a right on a swap. */
function checkStarts(
  exercise: RatesExercise,
  periods: readonly LegPeriod[],
  floating: readonly LegPeriod[],
  pathOf: PathOf,
): void {
  const times = exercise.kind === "dates" ? exercise.times : [exercise.to];
  const startAfter = (leg: readonly LegPeriod[], time: number): number | undefined =>
    leg.find(({ start }) => start > time - ONE_SECOND)?.start;
  const wrong = times.find((time) => startAfter(periods, time) !== startAfter(floating, time));
  if (wrong !== undefined)
    throw new BookError(
      pathOf(times.length > 1 ? "exercise" : "expiry"),
      `expected times after which periods of both legs begin together, got ${yearsText(wrong)} from asOf`,
    );
  if (exercise.kind === "american") checkResets(exercise, floating, pathOf);
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

/** The periods that end after `asOf`, and are paid at their ends. */
function leftPeriods(leg: Pick<LegSpec, "start" | "end" | "frequency">, clock: Clock, pathOf: PathOf): LegPeriod[] {
  laterThanNow(leg.end, clock, () => pathOf("end"));
  return periodsOf(leg, clock, pathOf)
    .filter(({ end }) => end > 0)
    .map(({ start, end }) => ({ start, end, accrual: end - start, paid: end }));
}
