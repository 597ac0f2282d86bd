/**
 * Local volatility from quotes by Dupire's formula, on splines of total variance through all of them: in k by expiry,
 * and in t at constant k where the expiries are dense enough for that. Quotes that are not free of arbitrage have no
 * such local volatility: theirs is that of the surface of Andreasen and Huge, which is free of it and near to them.
 */
import { fitAndreasenHuge } from "./andreasen-huge.ts";
import { butterflyCheck, calendarCheck, type Slice } from "./arbitrage.ts";
import { checkedQuotes, type ExpiryQuotes, type SurfaceFit, type UnderlyingQuotes } from "./fit.ts";
import { type Spline, splineAt, splineThrough } from "../market/index.ts";
import { describeSlices, expiryOf, type FittedSlice, limitedMessage, sliceOf } from "./variance-surface.ts";

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
  const cubics = clock === undefined ? cubicsThrough(slices) : undefined;
  const { limited, ...described } = describeSlices(slices, quotes, cubics);
  const messages = limitedMessage(limited);
  return {
    status: "converged",
    ...(messages.length > 0 ? { message: messages.join("; ") } : {}),
    model: "local",
    parameters: {},
    ...described,
  };
}

/** Returns, for each expiry, a spline in k = ln(K/F) through the total variances of its quotes. */
export function splinesOf(expiries: readonly ExpiryQuotes[]): readonly FittedSlice[] {
  return expiries.map((expiry) => {
    const { time, logMoneyness, implied } = expiry;
    const variances = implied.map((sigma) => sigma * sigma * time);
    return sliceOf(expiryOf(expiry), { kind: "spline", spline: splineThrough(logMoneyness, variances) });
  });
}

/** The fewest expiries that say how the surface curves in time. */
const FEWEST = 4;
/** The bounds of the growth of total variance in time, in units of its mean growth from one expiry to the next. */
const GROWTH = [0.4, 2.5] as const;
/** The looks at that growth within an interval of expiries, and along the quotes. */
const [LOOKS_IN_TIME, LOOKS] = [8, 16] as const;

/**
 * Returns the cubic splines in time of a surface that is smooth in time; undefined where expiries are few, or so far
 * apart that the splines overshoot, and total variance should be linear between them.
 */
function cubicsThrough(slices: readonly Slice[]): readonly Spline[] | undefined {
  if (slices.length < FEWEST) return undefined;
  const times = slices.map(({ time }) => time);
  const cubics = slices.map((_, i) =>
    splineThrough(
      times,
      Float64Array.from(times, (_, j) => (j === i ? 1 : 0)),
    ),
  );
  const isSmooth = slices.slice(1).every((late, i) => {
    const early = slices[i];
    const [from, to] = [Math.min(early.range[0], late.range[0]), Math.max(early.range[1], late.range[1])];
    return Array.from({ length: LOOKS + 1 }, (_, l) => from + ((to - from) * l) / LOOKS).every((k) => {
      const variances = slices.map(({ at }) => at(k).variance);
      const mean = (variances[i + 1] - variances[i]) / (late.time - early.time);
      return Array.from({ length: LOOKS_IN_TIME + 1 }, (_, m) => {
        const t = early.time + ((late.time - early.time) * m) / LOOKS_IN_TIME;
        return variances.reduce((sum, variance, j) => sum + splineAt(cubics[j], t)[1] * variance, 0);
      }).every((growth) => growth >= GROWTH[0] * mean && growth <= GROWTH[1] * mean);
    });
  });
  return isSmooth ? cubics : undefined;
}
