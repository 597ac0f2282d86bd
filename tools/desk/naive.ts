/**
 * Schedules and swaps once more, in the plainest way: dates are texts, a business day is found by trying days one after
 * the other, and a compounded rate is a product over all days. Nothing here is imported from `src`, so that an error of
 * one of the two shows as a difference.
 */

/** A date as YYYY-MM-DD. */
type Iso = string;
type Adjust = "unadjusted" | "following" | "modified-following" | "preceding" | "modified-preceding";

const DAY = 86_400_000;
/** Returns a function of dates that computes each result once, for the same days come again and again. */
function once<T>(f: (date: Iso) => T): (date: Iso) => T {
  const made = new Map<Iso, T>();
  return (date) => {
    let value = made.get(date);
    if (value === undefined) made.set(date, (value = f(date)));
    return value;
  };
}

const ms = once((date) => Date.parse(`${date}T00:00:00Z`));
const dayAfter = once((date) => iso(ms(date) + DAY));
const iso = (instant: number): Iso => new Date(instant).toISOString().slice(0, 10);
export const plusDays = (date: Iso, days: number): Iso => (days === 1 ? dayAfter(date) : iso(ms(date) + days * DAY));
const daysBetween = (from: Iso, to: Iso): number => Math.round((ms(to) - ms(from)) / DAY);
const fields = (date: Iso): readonly [year: number, month: number, day: number] =>
  date.split("-").map(Number) as [number, number, number];
const lastDayOf = (year: number, month: number): number => new Date(Date.UTC(year, month, 0)).getUTCDate();
const isMonthEnd = (date: Iso): boolean => plusDays(date, 1).endsWith("-01");
const two = (number: number): string => String(number).padStart(2, "0");

/** A date some months later, on a day of the month, or the last one of a shorter month. */
function plusMonths(date: Iso, months: number, dayOfMonth = fields(date)[2]): Iso {
  let [year, month] = fields(date);
  for (let k = 0; k < Math.abs(months); k++) {
    month += Math.sign(months);
    if (month === 13) [year, month] = [year + 1, 1];
    if (month === 0) [year, month] = [year - 1, 12];
  }
  return `${year}-${two(month)}-${two(Math.min(dayOfMonth, lastDayOf(year, month)))}`;
}

/** The day of Easter by the tables of the computus: golden number, century corrections, epact, the Sunday after. */
function easter(year: number): Iso {
  const golden = (year % 19) + 1;
  const century = Math.floor(year / 100) + 1;
  const dropped = Math.floor((3 * century) / 4) - 12;
  const moon = Math.floor((8 * century + 5) / 25) - 5;
  let epact = (11 * golden + 20 + moon - dropped) % 30;
  if (epact < 0) epact += 30;
  if ((epact === 25 && golden > 11) || epact === 24) epact++;
  let full = 44 - epact;
  if (full < 21) full += 30;
  let sunday = plusDays(`${year}-03-01`, full);
  while (new Date(ms(sunday)).getUTCDay() !== 0) sunday = plusDays(sunday, 1);
  return sunday;
}

const easters = new Map<number, Iso>();

const isOpenOn = {
  TARGET: once((date) => isOpen("TARGET", date)),
  weekends: once((date) => isOpen("weekends", date)),
  EURUSD: once((date) => isOpen("EURUSD", date)),
} as const;

/** Tells whether TARGET is open, whether a day is no weekend, or whether both markets of EURUSD are open. */
function isOpen(calendar: "TARGET" | "weekends" | "EURUSD", date: Iso): boolean {
  if (calendar === "EURUSD") return isOpen("TARGET", date) && !isFederalHoliday(date);
  const weekday = new Date(ms(date)).getUTCDay();
  if (weekday === 0 || weekday === 6) return false;
  if (calendar === "weekends") return true;
  const year = Number(date.slice(0, 4));
  // In its first year the system was open but for these days.
  if (year === 1999) return !["01-01", "12-25", "12-31"].includes(date.slice(5));
  if (!easters.has(year)) easters.set(year, easter(year));
  const sunday = easters.get(year)!;
  if (date === plusDays(sunday, -2) || date === plusDays(sunday, 1)) return false;
  // The last day of the old currencies.
  if (date === "2001-12-31") return false;
  return !["01-01", "05-01", "12-25", "12-26"].includes(date.slice(5));
}

export type CalendarName = "TARGET" | "weekends";
type AnyCalendar = Parameters<typeof isOpen>[0];

/** Tells whether the Federal Reserve Banks are closed on a weekday, in the years of random swaps. */
function isFederalHoliday(date: Iso): boolean {
  const [, month, day] = fields(date);
  const weekday = new Date(ms(date)).getUTCDay();
  const isFixed = (one: Iso): boolean => ["01-01", "06-19", "07-04", "11-11", "12-25"].includes(one.slice(5));
  if (isFixed(date) || (weekday === 1 && isFixed(plusDays(date, -1)))) return true;
  if (weekday === 4) return month === 11 && day >= 22 && day <= 28;
  const week = Math.ceil(day / 7);
  if (weekday !== 1) return false;
  return (
    ([1, 2].includes(month) && week === 3) ||
    (month === 5 && day > 24) ||
    (month === 9 && week === 1) ||
    (month === 10 && week === 2)
  );
}

function adjusted(calendar: AnyCalendar, date: Iso, how: Adjust): Iso {
  if (how === "unadjusted") return date;
  const step = how.endsWith("following") ? 1 : -1;
  const search = (by: number): Iso => {
    let day = date;
    while (!isOpenOn[calendar](day)) day = plusDays(day, by);
    return day;
  };
  const found = search(step);
  return how.startsWith("modified") && found.slice(0, 7) !== date.slice(0, 7) ? search(-step) : found;
}

/** The business day some business days after a date, or before it; for 0 the date itself or the next business day. */
function plusBusinessDays(calendar: AnyCalendar, date: Iso, days: number): Iso {
  if (days === 0) return adjusted(calendar, date, "following");
  let [day, left] = [date, Math.abs(days)];
  while (left > 0) {
    day = plusDays(day, Math.sign(days));
    if (isOpenOn[calendar](day)) left--;
  }
  return day;
}

/** A schedule as books write it, every field given. */
export interface NaiveSchedule {
  readonly from: Iso;
  readonly to: Iso;
  /** A number with D, W, M or Y. */
  readonly every: string;
  readonly calendar: CalendarName;
  readonly adjust: Adjust;
  readonly roll: "backward" | "forward";
  readonly stub: "short" | "long";
  readonly endOfMonth: boolean;
  readonly rollDay?: number;
  readonly first?: Iso;
  readonly penultimate?: Iso;
}

/** The adjusted dates of a schedule. */
export function naiveDates(spec: NaiveSchedule): Iso[] {
  const { from, to, every, calendar, adjust, roll, stub, endOfMonth, rollDay, first, penultimate } = spec;
  const count = Number(every.slice(0, -1));
  const unit = every.slice(-1);
  const isBack = roll === "backward";
  const [begin, end] = [first ?? from, penultimate ?? to];
  const seed = isBack ? end : begin;
  const regular = (k: number): Iso => {
    if (unit === "D") return plusDays(seed, k * count);
    if (unit === "W") return plusDays(seed, 7 * k * count);
    const months = k * count * (unit === "Y" ? 12 : 1);
    if (endOfMonth && isMonthEnd(seed)) return plusMonths(seed, months, 31);
    return plusMonths(seed, months, rollDay ?? fields(seed)[2]);
  };
  const inner: Iso[] = [];
  for (let k = isBack ? -1 : 1; ; k += isBack ? -1 : 1) {
    const date = regular(k);
    const isPast = isBack ? date <= begin : date >= end;
    if (!isPast) {
      inner.push(date);
      continue;
    }
    // The period beside the last regular date is odd if the next one misses the end.
    const isOdd = date !== (isBack ? begin : end);
    const mayMerge = (isBack ? first : penultimate) === undefined;
    if (isOdd && stub === "long" && mayMerge && inner.length > 0) inner.pop();
    break;
  }
  const all = [from, first, ...inner, penultimate, to].filter((date): date is Iso => date !== undefined);
  const dates = [...new Set(all)].toSorted();
  const moved = dates.map((date) => adjusted(calendar, date, adjust));
  return moved.filter((date, i) => moved.findIndex((one) => one >= date) === i);
}

export type NaiveDayCount = "Act/360" | "Act/365F" | "30/360" | "30E/360" | "Act/Act ISDA";

function fraction(count: NaiveDayCount, from: Iso, to: Iso): number {
  const [[y, m, d], [v, n, e]] = [fields(from), fields(to)];
  switch (count) {
    case "Act/360":
      return daysBetween(from, to) / 360;
    case "Act/365F":
      return daysBetween(from, to) / 365;
    case "30E/360":
      return (360 * (v - y) + 30 * (n - m) + Math.min(e, 30) - Math.min(d, 30)) / 360;
    case "30/360": {
      const start = d === 31 ? 30 : d;
      return (360 * (v - y) + 30 * (n - m) + (e === 31 && start === 30 ? 30 : e) - start) / 360;
    }
    default: {
      let sum = 0;
      for (let day = from; day < to; day = plusDays(day, 1)) {
        const year = Number(day.slice(0, 4));
        sum += 1 / (lastDayOf(year, 2) === 29 ? 366 : 365);
      }
      return sum;
    }
  }
}

/** Zero rates by date, between which the logarithm of the discount factor or the rate itself is linear. */
export interface NaiveCurve {
  readonly zeros: readonly { readonly date: Iso; readonly zero: number }[];
  readonly interpolation: "log-discount" | "zero-rate";
}

function discountFactor({ zeros, interpolation }: NaiveCurve, asOf: Iso, date: Iso): number {
  const t = daysBetween(asOf, date) / 365;
  const nodes = zeros.map(({ date: at, zero }) => ({ t: daysBetween(asOf, at) / 365, zero }));
  const last = nodes[nodes.length - 1];
  if (t <= nodes[0].t) return Math.exp(-nodes[0].zero * t);
  if (t > last.t) {
    if (interpolation === "zero-rate") return Math.exp(-last.zero * t);
    const before = nodes[nodes.length - 2];
    const forward = (last.zero * last.t - before.zero * before.t) / (last.t - before.t);
    return Math.exp(-last.zero * last.t - forward * (t - last.t));
  }
  const right = nodes.findIndex((node) => node.t >= t);
  const [a, b] = [nodes[right - 1], nodes[right]];
  const share = (t - a.t) / (b.t - a.t);
  if (interpolation === "zero-rate") return Math.exp(-(a.zero + share * (b.zero - a.zero)) * t);
  return Math.exp(-a.zero * a.t - share * (b.zero * b.t - a.zero * a.t));
}

/** A leg as books write it, every field given but those that leave it without a term. */
export interface NaiveLeg extends Omit<NaiveSchedule, "from" | "to"> {
  readonly rate?: number | readonly number[];
  readonly index?: "ESTR" | "EURIBOR-3M" | "EURIBOR-6M";
  readonly spread?: number | readonly number[];
  readonly notional: number | readonly number[];
  readonly currency: "EUR" | "USD";
  readonly dayCount: NaiveDayCount;
  readonly paymentLag: number;
  readonly exchange: "none" | "final" | "ends" | "all";
  readonly compounding?: "compounded" | "averaged";
  readonly lookback?: number;
  readonly shift?: number;
  readonly lockout?: number;
  readonly resets?: boolean;
}

/** The market of a swap: curves by what they are for, fixings by index, and the exchange rate for today. */
export interface NaiveMarket {
  readonly asOf: Iso;
  readonly discount: Readonly<Record<"EUR" | "USD", NaiveCurve>>;
  readonly projection: Readonly<Record<"ESTR" | "EURIBOR-3M" | "EURIBOR-6M", NaiveCurve>>;
  readonly fixings: Readonly<Record<string, Readonly<Record<Iso, number>>>>;
  readonly eurusd: number;
}

const stepOf = (values: number | readonly number[], k: number): number =>
  typeof values === "number" ? values : (values[k] ?? values[values.length - 1]);

/** The value of a leg to its receiver, in its currency. */
export function naiveLeg(leg: NaiveLeg, start: Iso, end: Iso, market: NaiveMarket): number {
  const { asOf } = market;
  const dates = naiveDates({ ...leg, from: start, to: end });
  const P = (date: Iso): number => discountFactor(market.discount[leg.currency], asOf, date);
  let value = 0;
  const pay = (amount: number, date: Iso): void => {
    if (date > asOf) value += amount * P(date);
  };
  const count = dates.length - 1;
  for (let k = 0; k < count; k++) {
    const [from, to] = [dates[k], dates[k + 1]];
    const paid = plusBusinessDays(leg.calendar, to, leg.paymentLag);
    const unit = leg.resets === true ? exchangeRate(from, market) : 1;
    const notional = stepOf(leg.notional, k) * unit;
    const accrual = fraction(leg.dayCount, from, to);
    const spread = stepOf(leg.rate ?? leg.spread ?? 0, k);
    if (paid > asOf) pay(notional * accrual * (spread + rateOf(leg, from, to, market)), paid);
    if (leg.resets === true) {
      pay(-notional, plusBusinessDays(leg.calendar, from, 0));
      pay(notional, plusBusinessDays(leg.calendar, to, 0));
    }
  }
  if (leg.exchange === "none") return value;
  const exchanged = (date: Iso): Iso => plusBusinessDays(leg.calendar, date, 0);
  if (leg.exchange !== "final") pay(-stepOf(leg.notional, 0), exchanged(dates[0]));
  for (let k = 1; k < count; k++) pay(stepOf(leg.notional, k - 1) - stepOf(leg.notional, k), exchanged(dates[k]));
  pay(stepOf(leg.notional, count - 1), exchanged(dates[count]));
  return value;
}

/** The dollars of one euro on a day: published two business days before, or the forward rate. */
function exchangeRate(date: Iso, { asOf, fixings, eurusd, discount }: NaiveMarket): number {
  const published = plusBusinessDays("EURUSD", date, -2);
  if (published <= asOf && fixings["EURUSD"][published] !== undefined) return fixings["EURUSD"][published];
  return (eurusd * discountFactor(discount.EUR, asOf, date)) / discountFactor(discount.USD, asOf, date);
}

/** The rate of a period, per year by the day count of its index; 0 of a fixed leg. */
function rateOf(leg: NaiveLeg, from: Iso, to: Iso, market: NaiveMarket): number {
  const { index } = leg;
  if (index === undefined) return 0;
  const { asOf, fixings } = market;
  const known = (day: Iso): number | undefined => (day <= asOf ? fixings[index][day] : undefined);
  const P = (date: Iso): number => discountFactor(market.projection[index], asOf, date);
  const simple = (a: Iso, b: Iso): number => ((P(a) / P(b) - 1) * 360) / daysBetween(a, b);
  if (index !== "ESTR") return known(plusBusinessDays("TARGET", from, -2)) ?? simple(from, to);
  const back = (day: Iso, days: number): Iso => plusBusinessDays("TARGET", day, -days);
  const [begin, finish] = leg.shift === undefined ? [from, to] : [back(from, leg.shift), back(to, leg.shift)];
  const locked = leg.lockout === undefined ? finish : back(to, leg.lockout + 1);
  let [product, sum] = [1, 0];
  let day = begin;
  while (day < finish) {
    let next = plusDays(day, 1);
    while (next < finish && !isOpenOn.TARGET(next)) next = plusDays(next, 1);
    const seen = leg.lookback === undefined ? (day < locked ? day : locked) : back(day, leg.lookback);
    const part = ((known(seen) ?? simple(seen, plusBusinessDays("TARGET", seen, 1))) * daysBetween(day, next)) / 360;
    product *= 1 + part;
    sum += part;
    day = next;
  }
  return ((leg.compounding === "averaged" ? sum : product - 1) * 360) / daysBetween(begin, finish);
}
