import { integrate, type PiecewiseConstant } from "../../market/index.ts";
import {
  accruedInterest,
  type Convertible,
  type ConvertibleMarket,
  covers,
  isDate,
  type Period,
  ratioAtMaturity,
  SAME_TIME,
} from "./contract.ts";
import { NO_CALL_PRICE } from "./kernel/terms.ts";

/** A series of equal time steps on level 0 between two events, backward from time `end`. */
export interface StepSeries {
  /** The time at which the steps start in backward time, in years. */
  readonly end: number;
  /** The number of steps. */
  readonly count: number;
  /** The length of each step in years. */
  readonly length: number;
  /** The ratio of the step length to that of the step before; 0 at a restart. */
  readonly growth: number;
  /** True where an event occurs after the last of these steps, at their earliest time. */
  readonly hasEvent: boolean;
  /** The start of the interval between two events in which the steps lie, in years. */
  readonly from: number;
  /** The end of this interval, in years. */
  readonly to: number;
}

/** The first steps after an event, which smooth its kinks, are half as long as the others. */
const FIRST_STEPS = [{ part: 0.5, count: 2 }];

/** The growth of a time step beyond which BDF2 would not be stable (1 + √2), with a margin: it begins again there. */
const MAX_GROWTH = 2.1;

/** Returns the times of all events and of the starts and ends of rights, from maturity back to now, both included. */
function eventTimes({ maturity, coupons, conversions, calls, puts }: Convertible, market: ConvertibleMarket) {
  const rights: readonly Period[] = [...conversions, ...calls, ...puts];
  const all = [
    0,
    maturity,
    ...coupons.map(({ time }) => time),
    ...market.dividends.discrete.map(({ time }) => time),
    ...rights.flatMap(({ from, to }) => [from, to]),
  ];
  const inside = all.filter((time) => time >= 0 && time <= maturity + SAME_TIME).toSorted((a, b) => b - a);
  return inside.filter((time, i) => i === 0 || inside[i - 1] - time > SAME_TIME);
}

/** The dates at which the coefficients of the equation jump. */
function knotsOf({ rates, volatility, credit }: ConvertibleMarket): readonly number[] {
  const ofVolatility = typeof volatility === "function" ? [] : volatility.times;
  return [...rates.times, ...ofVolatility, ...(credit.kind === "spread" ? credit.spread : credit.hazard).times];
}

/**
 * Returns the time steps of level 0 from maturity back to now, at least `perLife` of them, as series of equal steps in
 * which the coefficients are constant.
 */
export function stepSeriesOf(contract: Convertible, market: ConvertibleMarket, perLife: number): StepSeries[] {
  const times = eventTimes(contract, market);
  const knots = knotsOf(market).toSorted((a, b) => b - a);
  const runs: StepSeries[] = [];
  for (let i = 1; i < times.length; i++) {
    const [to, from] = [times[i - 1], times[i]];
    const inside = knots.filter((time, k) => time < to - MIN_PIECE && time > from + MIN_PIECE && time !== knots[k - 1]);
    let end = to;
    let before = Number.NaN;
    for (const start of [...inside, from]) {
      const count = Math.max(1, Math.round((perLife * (end - start)) / contract.maturity));
      const length = (end - start) / count;
      const first = end === to ? FIRST_STEPS : [];
      const parts = [...first, { part: 1, count: first.length > 0 ? count - 1 : count }].filter((one) => one.count > 0);
      for (const [k, { part, count: equal }] of parts.entries()) {
        const growth = (part * length) / before;
        const hasEvent = start === from && k === parts.length - 1;
        runs.push({
          end,
          count: equal,
          length: part * length,
          growth: growth <= MAX_GROWTH ? growth : 0,
          hasEvent,
          from,
          to,
        });
        before = part * length;
        end -= equal * before;
      }
      end = start;
    }
  }
  return runs;
}

/** The least distance of a knot from an event for time steps of its own, in years. */
const MIN_PIECE = 1e-6;

const square = (value: number): number => value * value;

const mean = (f: PiecewiseConstant, start: number, end: number, of?: (value: number) => number): number =>
  f.times.length === 0
    ? (of?.(f.values[0]) ?? f.values[0])
    : (integrate(f, end, of) - integrate(f, start, of)) / (end - start);

/** Call, trigger, put and ratio at a time of an interval in which rights are continuous, in units of the notional. */
function continuousTerms(contract: Convertible, from: number, to: number, t: number): readonly number[] {
  const { notional, coupons } = contract;
  const isOpen = (period: Period): boolean => !isDate(period) && covers(period, from, to);
  // An interval lies between two coupons: at its end the next one has accrued as a whole.
  const accrued = accruedInterest(coupons, t, t < to - SAME_TIME);
  const call = contract.calls.find(isOpen);
  const put = contract.puts.find(isOpen);
  return [
    call === undefined ? NO_CALL_PRICE : (call.price + accrued) / notional,
    (call?.trigger ?? 0) / notional,
    put === undefined ? -NO_CALL_PRICE : (put.price + accrued) / notional,
    contract.conversions.find(isOpen)?.ratio ?? 0,
  ];
}

/** Call, trigger, put and ratio on a date, ex coupon, in units of the notional. */
function datedTerms(contract: Convertible, t: number): readonly number[] {
  const { notional, coupons } = contract;
  const isNow = (period: Period): boolean => isDate(period) && Math.abs(period.from - t) <= SAME_TIME;
  const accrued = accruedInterest(coupons, t, true);
  const call = contract.calls.find(isNow);
  const put = contract.puts.find(isNow);
  return [
    call === undefined ? NO_CALL_PRICE : (call.price + accrued) / notional,
    (call?.trigger ?? 0) / notional,
    put === undefined ? -NO_CALL_PRICE : (put.price + accrued) / notional,
    // Who is called on a date may convert where conversion is continuous, too.
    contract.conversions.find((period) => covers(period, t, t))?.ratio ?? 0,
  ];
}

const NO_RIGHTS = [NO_CALL_PRICE, 0, -NO_CALL_PRICE, 0];

/** The words of the event at a time, and of the interval before it. */
function eventReals(contract: Convertible, market: ConvertibleMarket, t: number, before: number): readonly number[] {
  const { notional, maturity, coupons } = contract;
  const same = ({ time }: { readonly time: number }): boolean => Math.abs(time - t) <= SAME_TIME;
  const coupon = coupons.find(same)?.amount ?? 0;
  const dividend = market.dividends.discrete.find(same);
  const keep = 1 - (dividend?.proportional ?? 0);
  const cash = (dividend?.cash ?? 0) / notional;
  const earlier = t <= SAME_TIME ? NO_RIGHTS : continuousTerms(contract, before, t, t);
  if (t < maturity - SAME_TIME) return [keep, cash, coupon / notional, ...datedTerms(contract, t), ...earlier];
  // Maturity is a put at what is paid then, beside conversion; what may be done just before it follows.
  return [1, 0, 0, NO_CALL_PRICE, 0, 1 + coupon / notional, ratioAtMaturity(contract), ...earlier];
}

/** Returns the program of a bond that `rollbackKernel` executes. */
export function programOf(contract: Convertible, market: ConvertibleMarket, runs: readonly StepSeries[]): Float64Array {
  const { notional, coupons } = contract;
  const { credit, rates, dividends, volatility } = market;
  const isHazard = credit.kind === "hazard";
  // Default leaves the better of recovery and conversion to holders who may convert.
  const ratioAtDefault = isHazard ? Math.max(0, ...contract.conversions.map(({ ratio }) => ratio)) : 0;
  const words = [
    runs.reduce((sum, { count }) => sum + count, 0),
    contract.calledCash,
    isHazard ? credit.jump : 0,
    isHazard ? credit.recovery : 0,
    ratioAtDefault * (isHazard ? 1 - credit.jump : 0),
  ];
  const isLocal = typeof volatility === "function";
  words.push(...eventReals(contract, market, runs[0].end, runs[0].from));
  for (const [k, { end, count, length, growth, hasEvent, from, to }] of runs.entries()) {
    const start = hasEvent ? from : end - count * length;
    const rate = mean(rates, start, end);
    const creditRate = mean(isHazard ? credit.hazard : credit.spread, start, end);
    words.push(count, length, growth, isLocal ? 1 : mean(volatility, start, end, square));
    words.push(rate - dividends.yield, rate, creditRate, ...continuousTerms(contract, from, to, end));
    const coupon = coupons.find(({ time }) => time >= to - SAME_TIME);
    words.push(coupon === undefined ? 0 : coupon.amount / (coupon.time - coupon.accruesFrom) / notional);
    words.push(hasEvent ? 1 : 0);
    if (hasEvent) words.push(...eventReals(contract, market, from, runs[k + 1]?.from ?? 0));
  }
  return Float64Array.from(words);
}
