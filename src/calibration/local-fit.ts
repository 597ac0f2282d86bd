/**
 * Local volatility from quotes by Dupire's formula, on the bicubic spline of total variance through all of them: in k
 * by expiry, and in t at constant k, from 0 at t = 0. Quotes that are not free of arbitrage have no such local
 * volatility: theirs is that of the surface of Andreasen and Huge, which is free of it and near to them.
 */
import { fitAndreasenHuge } from "./andreasen-huge.ts";
import { butterflyCheck, calendarCheck, type Slice, type Variance } from "./arbitrage.ts";
import { checkedQuotes, type ExpiryQuotes, type SurfaceFit, type UnderlyingQuotes } from "./fit.ts";
import { type ClockTime, clockTime, type DividendClock } from "../market/index.ts";
import { splineAt, splineThrough } from "./spline.ts";
import { dupireRow, limitedMessage, localVolatility, type VarianceAt } from "./variance-surface.ts";

/**
 * Fits a local volatility surface to quotes: splines through the implied total variances, then Dupire's formula.
 * @throws SpecError for quotes that cannot be fitted
 */
export function fitLocal(quotes: UnderlyingQuotes): SurfaceFit {
  const { expiries, clock } = checkedQuotes(quotes);
  const slices = splinesOf(expiries);
  const [butterfly, calendar] = [butterflyCheck(slices), calendarCheck(slices)];
  if (!butterfly.free || !calendar.free) {
    const message =
      "the quotes are not free of arbitrage: the local volatility is that of Andreasen and Huge's surface";
    const fit = fitAndreasenHuge(quotes);
    return { ...fit, model: "local", message: fit.message === undefined ? message : `${message}; ${fit.message}` };
  }
  const at = inTime(slices, clock);
  const { limited, ...surface } = localVolatility(slices, quotes, dupireRow(at));
  const messages = limitedMessage(limited);
  return {
    status: "converged",
    ...(messages.length > 0 ? { message: messages.join("; ") } : {}),
    model: "local",
    parameters: {},
    impliedVolatility: (k, t) => Math.sqrt(Math.max(at(k, t).variance, 0) / t),
    butterfly,
    calendar,
    volatility: { kind: "surface", surface },
  };
}

/** Returns, for each expiry, a spline in k = ln(K/F) through the total variances of its quotes. */
export function splinesOf(expiries: readonly ExpiryQuotes[]): readonly Slice[] {
  return expiries.map(({ time, forward, logMoneyness, implied }): Slice => {
    const spline = splineThrough(
      logMoneyness,
      implied.map((sigma) => sigma * sigma * time),
    );
    return {
      time,
      forward,
      range: [logMoneyness[0], logMoneyness[logMoneyness.length - 1]],
      at: (k) => {
        const [variance, slope, curvature] = splineAt(spline, k);
        return { variance, slope, curvature };
      },
    };
  });
}

/**
 * Returns the total variance w and its derivatives at any k and t, by cubic splines in t through the slices and w = 0
 * at t = 0. The result is linear in the values of the slices. With a clock A(k, t) the splines are through w·t/A.
 */
export function inTime(slices: readonly Slice[], clock?: DividendClock): (k: number, t: number) => VarianceAt {
  const times = [0, ...slices.map(({ time }) => time)];
  const cardinal = slices.map((_, i) =>
    splineThrough(
      times,
      Float64Array.from(times, (_, j) => (j === i + 1 ? 1 : 0)),
    ),
  );
  return (k, t) => {
    const found = { variance: 0, slope: 0, curvature: 0, byTime: 0 };
    slices.forEach((slice, i) => {
      const [share, growth] = splineAt(cardinal[i], t);
      if (clock !== undefined) {
        addByClock(found, { at: slice.at(k), share, growth }, meanSpeed(clock, k, t), meanSpeed(clock, k, slice.time));
        return;
      }
      const { variance, slope, curvature } = slice.at(k);
      found.variance += share * variance;
      found.slope += share * slope;
      found.curvature += share * curvature;
      found.byTime += growth * variance;
    });
    return found;
  };
}

/** The mean speed A/t of a clock up to t, with its derivatives. */
function meanSpeed(clock: DividendClock, k: number, t: number): ClockTime {
  const { time, slope, curvature, rate } = clockTime(clock, k, t);
  return { time: time / t, slope: slope / t, curvature: curvature / t, rate: (rate - time / t) / t };
}

/** Adds s(t)·w(k) times the ratio of the mean speeds at t and at the expiry of w. */
function addByClock(
  sum: { variance: number; slope: number; curvature: number; byTime: number },
  { at: w, share: s, growth }: { readonly at: Variance; readonly share: number; readonly growth: number },
  now: ClockTime,
  then: ClockTime,
): void {
  const ratio = now.time / then.time;
  const slope = (now.slope - ratio * then.slope) / then.time;
  const curvature = (now.curvature - 2 * slope * then.slope - ratio * then.curvature) / then.time;
  sum.variance += s * ratio * w.variance;
  sum.slope += s * (ratio * w.slope + slope * w.variance);
  sum.curvature += s * (ratio * w.curvature + 2 * slope * w.slope + curvature * w.variance);
  sum.byTime += (growth * ratio + (s * now.rate) / then.time) * w.variance;
}
