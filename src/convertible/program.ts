import { integrate, type PiecewiseConstant } from "../market/index.ts";
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
import { NEVER } from "./kernel/terms.ts";

/** A time step, from `end` back to `start`; `isFirst`: after an event, so that nothing before it counts. */
export interface TimeStep {
  readonly start: number;
  readonly end: number;
  readonly isFirst: boolean;
  /** True where something happens at `start`. */
  readonly hasEvent: boolean;
  /** The interval between events that it lies in. */
  readonly from: number;
  readonly to: number;
}

/** The first steps after an event, in parts of the others: its kinks are smoothed in the shortest. */
const FIRST_STEPS = [0.25, 0.25, 0.5];

/** The dates on which something happens or begins, from maturity to now, both included. */
export function eventTimes({ maturity, coupons, conversions, calls, puts }: Convertible, market: ConvertibleMarket) {
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

/** The time steps, from maturity to now: `perLife` or more, each halved `level` times. */
export function timeSteps(contract: Convertible, market: ConvertibleMarket, perLife: number, level: number) {
  const times = eventTimes(contract, market);
  const steps: TimeStep[] = [];
  for (let i = 1; i < times.length; i++) {
    const [to, from] = [times[i - 1], times[i]];
    const count = Math.max(1, Math.round((perLife * (to - from)) / contract.maturity));
    const length = (to - from) / count;
    const parts = [...FIRST_STEPS, ...new Array<number>(count - 1).fill(1)];
    const halves = 2 ** level;
    let end = to;
    for (const [k, part] of parts.entries())
      for (let half = 0; half < halves; half++) {
        const isLast = k === parts.length - 1 && half === halves - 1;
        const start = isLast ? from : end - (part * length) / halves;
        steps.push({ start, end, isFirst: k === 0 && half === 0, hasEvent: isLast, from, to });
        end = start;
      }
  }
  return steps;
}

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
    call === undefined ? NEVER : (call.price + accrued) / notional,
    (call?.trigger ?? 0) / notional,
    put === undefined ? -NEVER : (put.price + accrued) / notional,
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
    call === undefined ? NEVER : (call.price + accrued) / notional,
    (call?.trigger ?? 0) / notional,
    put === undefined ? -NEVER : (put.price + accrued) / notional,
    // Who is called on a date may convert where conversion is continuous, too.
    contract.conversions.find((period) => covers(period, t, t))?.ratio ?? 0,
  ];
}

const NO_RIGHTS = [NEVER, 0, -NEVER, 0];

/** The words of the event at a time, and of the interval before it. */
function eventWords(contract: Convertible, market: ConvertibleMarket, t: number, before: number): readonly number[] {
  const { notional, maturity, coupons } = contract;
  const same = ({ time }: { readonly time: number }): boolean => Math.abs(time - t) <= SAME_TIME;
  const coupon = coupons.find(same)?.amount ?? 0;
  const dividend = market.dividends.discrete.find(same);
  const keep = 1 - (dividend?.proportional ?? 0);
  const cash = (dividend?.cash ?? 0) / notional;
  const earlier = t <= SAME_TIME ? NO_RIGHTS : continuousTerms(contract, before, t, t);
  if (t < maturity - SAME_TIME) return [keep, cash, coupon / notional, ...datedTerms(contract, t), ...earlier];
  const [call, trigger, put] = earlier;
  return [1, 0, 1 + coupon / notional, ...NO_RIGHTS, call, trigger, put, ratioAtMaturity(contract)];
}

/** The program of `rollbackKernel`, and of each step when it begins and ends. */
export function programOf(contract: Convertible, market: ConvertibleMarket, steps: readonly TimeStep[]): number[] {
  const { credit, rates, dividends, volatility } = market;
  const isHazard = credit.kind === "hazard";
  // Default leaves the better of recovery and conversion to holders who may convert.
  const ratioAtDefault = isHazard ? Math.max(0, ...contract.conversions.map(({ ratio }) => ratio)) : 0;
  const words = [
    steps.length,
    contract.calledCash,
    isHazard ? credit.jump : 0,
    isHazard ? credit.recovery : 0,
    ratioAtDefault * (isHazard ? 1 - credit.jump : 0),
    0,
  ];
  const isLocal = typeof volatility === "function";
  words.push(...eventWords(contract, market, steps[0].end, steps[0].from));
  let before = 0;
  for (const [k, { start, end, isFirst, hasEvent, from, to }] of steps.entries()) {
    const dt = end - start;
    const rate = mean(rates, start, end);
    const creditRate = mean(isHazard ? credit.hazard : credit.spread, start, end);
    words.push(dt, isFirst ? 0 : dt / before, isLocal ? 1 : mean(volatility, start, end, square));
    words.push(rate - dividends.yield, rate, creditRate);
    words.push(...continuousTerms(contract, from, to, start), hasEvent ? 1 : 0);
    if (hasEvent) words.push(...eventWords(contract, market, start, steps[k + 1]?.from ?? 0));
    before = dt;
  }
  return words;
}
