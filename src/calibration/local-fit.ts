/**
 * Local volatility from quotes by Dupire's formula, on the bicubic spline of total variance through all of them: in k
 * by expiry, and in t at constant k, from 0 at t = 0. Quotes that are not free of arbitrage have no such local
 * volatility: theirs is that of the surface of Andreasen and Huge, which is free of it and near to them.
 */
import { fitAndreasenHuge } from "./andreasen-huge.ts";
import { butterflyCheck, calendarCheck, type Slice } from "./arbitrage.ts";
import { checkedQuotes, type ExpiryQuotes, type SurfaceFit, type UnderlyingQuotes } from "./fit.ts";
import { splineAt, splineThrough } from "./spline.ts";
import { dupireRow, limitedMessage, localVolatility, type VarianceAt } from "./variance-surface.ts";

/**
 * Fits a local volatility surface to quotes: splines through the implied total variances, then Dupire's formula.
 * @throws SpecError for quotes that cannot be fitted
 */
export function fitLocal(quotes: UnderlyingQuotes): SurfaceFit {
  const { spot, expiries } = checkedQuotes(quotes);
  const slices = splinesOf(expiries);
  const [butterfly, calendar] = [butterflyCheck(slices), calendarCheck(slices)];
  if (!butterfly.free || !calendar.free) {
    const message =
      "the quotes are not free of arbitrage: the local volatility is that of Andreasen and Huge's surface";
    const fit = fitAndreasenHuge(quotes);
    return { ...fit, model: "local", message: fit.message === undefined ? message : `${message}; ${fit.message}` };
  }
  const at = inTime(slices);
  const { limited, ...surface } = localVolatility(slices, spot, dupireRow(at));
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
 * at t = 0. The result is linear in the values of the slices.
 */
export function inTime(slices: readonly Slice[]): (k: number, t: number) => VarianceAt {
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
      const { variance, slope, curvature } = slice.at(k);
      found.variance += share * variance;
      found.slope += share * slope;
      found.curvature += share * curvature;
      found.byTime += growth * variance;
    });
    return found;
  };
}
