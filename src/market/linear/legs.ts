/** Legs of swaps, notes and deposits as flows: fixed, term rates, and overnight rates compounded or averaged. */
import { SpecError } from "../../base/errors.ts";
import {
  type Calendar,
  type Day,
  type DayCount,
  isoOf,
  paymentDate,
  scheduleOf,
  type ScheduleSpec,
  yearFraction,
} from "../conventions/index.ts";
import type { Flow, Growth } from "./flows.ts";

/** Published rates of an index by day. */
export type Fixings = ReadonlyMap<Day, number>;

/** An index of interest rates, and the number of its projection curve. */
export interface RateIndex {
  readonly name: string;
  readonly curve: number;
  readonly calendar: Calendar;
  readonly dayCount: DayCount;
  /** The business days from the fixing of a term rate to the start of its period. */
  readonly fixingLag?: number;
  readonly fixings?: Fixings;
}

/** The rule by which overnight rates determine a coupon. */
export interface OvernightRule {
  readonly averaged?: boolean;
  /** `lookback`: rates of earlier days, weighted by those of the period; `shift`: weights of earlier days, too;
   * `lockout`: the last days repeat a rate. */
  readonly observation?: "plain" | "lookback" | "shift" | "lockout";
  /** The number of business days of the observation rule. */
  readonly days?: number;
}

/** The terms of a leg, seen from its receiver. */
export interface LegSpec {
  readonly schedule: ScheduleSpec & { readonly calendar: Calendar };
  /** The notional of each period; the last number holds for all further ones. */
  readonly notional: number | readonly number[];
  readonly dayCount: DayCount;
  /** Whether the day count looks at the coupon periods with this number a year. */
  readonly frequency?: number;
  readonly paymentLag?: number;
  readonly paymentCalendar?: Calendar;
  /** A fixed rate, or the spread over the index; of a list, the last number holds for all further periods. */
  readonly rate: number | readonly number[];
  readonly index?: RateIndex;
  /** Given for an overnight index. */
  readonly overnight?: OvernightRule;
  /** Notional that is exchanged: paid back as it falls (`final`), and paid at the start, too (`ends`, `all`). */
  readonly exchange?: "none" | "final" | "ends" | "all";
  /**
   * Returns the value of one unit of notional from a day on, if the notional is reset at the start of each period and
   * exchanged.
   */
  readonly reset?: (start: Day) => Pick<Flow, "scale" | "factors">;
  /** The number of the discount curve. */
  readonly discount: number;
}

/** A flow with the day on which it is paid. */
export interface PaidFlow extends Flow {
  readonly date: Day;
}

/** The flows of a leg, and the derivative of its value with respect to its rate or spread, also as flows. */
export interface Leg {
  readonly flows: readonly PaidFlow[];
  readonly byRate: readonly PaidFlow[];
  /** The adjusted dates of the periods. */
  readonly dates: readonly Day[];
}

/** Returns the time of a day in years from the reference day, Act/365F. */
export const timeOf = (day: Day, reference: Day): number => (day - reference) / 365;

/** Returns a flow of a known amount. */
export function fixedFlow(amount: number, date: Day, reference: Day, discount: number): PaidFlow {
  return { date, scale: 1, factors: discounting(date, reference, discount), fixed: amount, gearing: 0 };
}

const discounting = (date: Day, reference: Day, curve: number) =>
  [{ curve, time: timeOf(date, reference), power: 1 }] as const;

/** A period of a leg between adjusted dates, with its fraction of a year and the day on which its interest is paid. */
export interface LegDates {
  readonly start: Day;
  readonly end: Day;
  readonly accrual: number;
  readonly paid: Day;
}

/** Returns the periods of a leg. */
export function periodsOfLeg(
  spec: Pick<LegSpec, "schedule" | "dayCount" | "frequency" | "paymentLag" | "paymentCalendar">,
): LegDates[] {
  const { schedule, dayCount, frequency, paymentLag = 0, paymentCalendar = schedule.calendar } = spec;
  const { dates } = scheduleOf(schedule);
  return dates.slice(1).map((end, k) => {
    const start = dates[k];
    const period = frequency === undefined ? {} : { period: { start, end, frequency } };
    const accrual = yearFraction(dayCount, start, end, { ...period, termination: schedule.to });
    return { start, end, accrual, paid: paymentDate(end, paymentLag, paymentCalendar) };
  });
}

/**
 * Returns the flows of a leg after the reference day. Rates with a fixing day before the reference day are fixings. A
 * rate of the reference day itself is a fixing if it is published, otherwise a forward rate.
 *
 * @throws SpecError for a fixing that is missing
 */
export function legOf(spec: LegSpec, reference: Day): Leg {
  const { schedule, paymentCalendar = schedule.calendar, rate, index, discount } = spec;
  const periods = periodsOfLeg(spec);
  if (periods.length === 0) throw new SpecError("schedule: there is no business day between its start and its end");
  const dates = [periods[0].start, ...periods.map(({ end }) => end)];
  const flows: PaidFlow[] = [];
  const byRate: PaidFlow[] = [];
  for (const [k, { start, end, accrual, paid }] of periods.entries()) {
    if (paid <= reference) continue;
    const notional = stepOf(spec.notional, k);
    const whole = fixedFlow(notional * accrual, paid, reference, discount);
    byRate.push(whole);
    const floating = index && floatingOf(index, spec.overnight, start, end, reference);
    const coupon: PaidFlow = {
      date: paid,
      scale: 1,
      factors: whole.factors,
      fixed: notional * accrual * stepOf(rate, k),
      gearing: floating ? (notional * accrual) / floating.accrual : 0,
      growth: floating?.growth,
    };
    const reset = spec.reset?.(start);
    if (reset === undefined) {
      flows.push(coupon);
      continue;
    }
    const scaled = (flow: PaidFlow): PaidFlow => ({
      ...flow,
      scale: flow.scale * reset.scale,
      factors: [...flow.factors, ...reset.factors],
    });
    byRate.push(scaled(byRate.pop()!));
    const exchanged = (
      [
        [-notional, start],
        [notional, end],
      ] as const
    ).map(([amount, day]) => fixedFlow(amount, paymentDate(day, 0, paymentCalendar), reference, discount));
    flows.push(...exchanged.filter(({ date }) => date > reference).map(scaled));
    flows.push(scaled(coupon));
  }
  flows.push(...exchanges(spec, dates, reference));
  return { flows, byRate, dates };
}

/** Returns the value of a period; the last one of a list holds for all further periods. */
const stepOf = (values: number | readonly number[], k: number): number =>
  typeof values === "number" ? values : values[Math.min(k, values.length - 1)];

/**
 * Returns the flows of a leg that pays all its interest at the end: N·((1 + rate)^T − 1) for a fixed rate, or the
 * amount to which the notional grows at all rates of an index, less the notional. The interest comes first, if it is
 * still to be paid.
 *
 * @throws SpecError for terms that such a leg does not have
 */
export function zeroCouponOf(spec: LegSpec, reference: Day): Pick<Leg, "flows"> & { readonly years?: number } {
  const { schedule, dayCount, paymentLag = 0, paymentCalendar = schedule.calendar, index, overnight, discount } = spec;
  checkZeroCoupon(spec);
  const { dates } = scheduleOf(schedule);
  const end = dates.at(-1)!;
  const notional = stepOf(spec.notional, 0);
  const exchanged = exchanges(spec, dates, reference);
  const paid = paymentDate(end, paymentLag, paymentCalendar);
  if (paid <= reference) return { flows: exchanged };
  if (index === undefined) {
    const years = yearFraction(dayCount, dates[0], end, { termination: schedule.to });
    const interest = notional * ((1 + stepOf(spec.rate, 0)) ** years - 1);
    return { flows: [fixedFlow(interest, paid, reference, discount), ...exchanged], years };
  }
  const growths = dates.slice(1).map((to, k) => floatingOf(index, overnight, dates[k], to, reference).growth);
  const growth: Growth = {
    ...growths[0],
    known: growths.reduce((all, { known }) => all * known, 1),
    periods: growths.flatMap(({ periods }) => periods),
  };
  return { flows: [{ ...fixedFlow(0, paid, reference, discount), gearing: notional, growth }, ...exchanged] };
}

function checkZeroCoupon({ rate, notional, index, overnight, dayCount }: LegSpec): void {
  const refuse = (term: string, why: string): never => {
    throw new SpecError(`${term}: a zero coupon leg ${why}`);
  };
  if (typeof notional !== "number") refuse("notional", "has one notional, a number");
  if (index === undefined && typeof rate !== "number") refuse("rate", "has one rate, a number");
  if (index !== undefined && rate !== 0) refuse("spread", "compounds its index without a spread; leave it out");
  if (index !== undefined && dayCount !== index.dayCount)
    refuse("dayCount", `counts days as ${index.name} does; leave it out`);
  if (overnight?.averaged) refuse("compounding", "compounds its rates; leave it out");
}

/** The exchanges of notional after the reference day, on business days. */
function exchanges(spec: LegSpec, dates: readonly Day[], reference: Day): PaidFlow[] {
  const { exchange = "none", notional, schedule, paymentCalendar = schedule.calendar, discount } = spec;
  if (exchange === "none") return [];
  const notionalOf = (k: number): number => stepOf(notional, k);
  const last = dates.length - 2;
  const found = [{ date: dates[last + 1], amount: notionalOf(last) }];
  for (let k = 1; k <= last; k++) found.push({ date: dates[k], amount: notionalOf(k - 1) - notionalOf(k) });
  if (exchange === "ends" && found.some(({ amount }, k) => k > 0 && amount !== 0))
    throw new SpecError('exchange: the notional changes; write "all", so that its changes are paid');
  if (exchange !== "final") found.push({ date: dates[0], amount: -notionalOf(0) });
  return found
    .filter(({ amount }) => amount !== 0)
    .map(({ date, amount }) => fixedFlow(amount, paymentDate(date, 0, paymentCalendar), reference, discount))
    .filter(({ date }) => date > reference);
}

/**
 * Returns the amount to which one unit grows at the rates of an index over a period, and the length of the period as a
 * fraction of a year, by which the rate is annualised.
 */
export function floatingOf(
  index: RateIndex,
  overnight: OvernightRule | undefined,
  start: Day,
  end: Day,
  reference: Day,
): { readonly growth: Growth; readonly accrual: number } {
  if (overnight !== undefined) return overnightOf(index, overnight, start, end, reference);
  const { calendar, curve, dayCount, fixingLag = 0 } = index;
  const accrual = yearFraction(dayCount, start, end);
  const fixing = knownRate(index, calendar.addBusinessDays(start, -fixingLag), reference);
  const growth: Growth =
    fixing === undefined
      ? { curve, known: 1, periods: [timeOf(start, reference), timeOf(end, reference), 1], term: true }
      : { curve, known: 1 + fixing * accrual, periods: [] };
  return { growth, accrual };
}

/** Returns the rate of a day if it is known; undefined if it lies ahead. @throws SpecError if it is missing */
function knownRate({ name, fixings }: RateIndex, day: Day, reference: Day): number | undefined {
  const rate = fixings?.get(day);
  if (day > reference || (day === reference && rate === undefined)) return undefined;
  if (rate === undefined) throw new SpecError(`fixings: ${name} of ${isoOf(day)} is missing; add it to market.fixings`);
  return rate;
}

function overnightOf(
  index: RateIndex,
  { averaged = false, observation = "plain", days = 0 }: OvernightRule,
  start: Day,
  end: Day,
  reference: Day,
): { readonly growth: Growth; readonly accrual: number } {
  const { calendar, curve, dayCount } = index;
  const shifted = (day: Day): Day => (days === 0 ? day : calendar.addBusinessDays(day, -days));
  const [from, to] = observation === "shift" ? [shifted(start), shifted(end)] : [start, end];
  // Periods that are not adjusted may begin on a holiday, for which the rate of the business day before it holds.
  const business = (day: Day): Day => calendar.adjust(day, "preceding");
  const lock = observation === "lockout" ? calendar.addBusinessDays(end, -days - 1) : Infinity;
  const years = (a: Day, b: Day): number => yearFraction(dayCount, a, b);
  let known = 1;
  const periods: number[] = [];
  for (let day = from; day < to;) {
    const next = Math.min(calendar.addBusinessDays(day, 1), to);
    const observed = observation === "lookback" ? shifted(business(day)) : Math.min(business(day), lock);
    const rate = knownRate(index, observed, reference);
    if (rate !== undefined) known = averaged ? known + rate * years(day, next) : known * (1 + rate * years(day, next));
    else if (observation === "plain" && !averaged) {
      periods.push(timeOf(day, reference), timeOf(to, reference), 1); // the days that are left telescope
      break;
    } else {
      const after = calendar.addBusinessDays(observed, 1);
      const weight = years(day, next) / years(observed, after);
      periods.push(timeOf(observed, reference), timeOf(after, reference), weight);
    }
    day = next;
  }
  return { growth: { curve, known, periods, averaged }, accrual: years(from, to) };
}
