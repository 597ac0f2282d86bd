/**
 * Local volatility from quotes by Dupire's formula, on splines of total variance through all of them: in k for each
 * expiry, and in ln t at constant k if the expiries are dense enough. Quotes that admit arbitrage have no such local
 * volatility; they get that of the arbitrage-free surface of Andreasen and Huge that is fitted to them.
 */
import { fitAndreasenHuge } from "./andreasen-huge.ts";
import { butterflyCheck, calendarCheck, type VarianceSlice } from "./arbitrage.ts";
import { checkedQuotes, type SurfaceFit, type UnderlyingQuotes } from "./fit.ts";
import { type Spline, splineAt, splineThrough } from "../market/index.ts";
import { describeSlices, limitedNodesMessage, splinesOf } from "./variance-surface.ts";

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
  const messages = limitedNodesMessage(limited);
  return {
    status: "converged",
    ...(messages.length > 0 ? { message: messages.join("; ") } : {}),
    model: "local",
    parameters: {},
    ...described,
  };
}

/** The fewest expiries that say how the surface curves in time. */
const FEWEST = 4;
/** The bounds of the growth of total variance in time, in units of its mean growth from one expiry to the next. */
const GROWTH = [0.4, 2.5] as const;
/** The largest difference in implied volatility that the rule between expiries may make. */
const DIFFERENCE = 1.5e-3;
/** The looks within an interval of expiries, and along the quotes. */
const [LOOKS_IN_TIME, LOOKS] = [8, 16] as const;

/**
 * Returns the cubic splines in time of a surface that is smooth in time (`SmileSurface.cubics`); undefined where
 * expiries are few, or so far apart that the splines overshoot, or leave what is linear in total variance: the quotes
 * then say too little about the time between them, and total variance should be linear.
 */
function cubicsThrough(slices: readonly VarianceSlice[]): readonly Spline[] | undefined {
  if (slices.length < FEWEST) return undefined;
  const times = slices.map(({ time }) => time);
  const logs = times.map(Math.log);
  const cubics = slices.map((_, i) =>
    splineThrough(
      logs,
      Float64Array.from(logs, (_, j) => (j === i ? 1 : 0)),
    ),
  );
  const isSmooth = slices.slice(1).every((late, i) => {
    const early = slices[i];
    const [from, to] = [Math.min(early.range[0], late.range[0]), Math.max(early.range[1], late.range[1])];
    return Array.from({ length: LOOKS + 1 }, (_, l) => from + ((to - from) * l) / LOOKS).every((k) => {
      const squares = slices.map(({ at, time }) => at(k).variance / time);
      const mean = (squares[i + 1] * late.time - squares[i] * early.time) / (late.time - early.time);
      return Array.from({ length: LOOKS_IN_TIME + 1 }, (_, m) => {
        return Math.log(early.time + ((late.time - early.time) * m) / LOOKS_IN_TIME);
      }).every((x) => {
        let [square, slope] = [0, 0];
        squares.forEach((own, j) => {
          const [share, rate] = splineAt(cubics[j], x);
          square += share * own;
          slope += rate * own;
        });
        const growth = square + slope;
        const t = Math.exp(x);
        const linear = squares[i + 1] * late.time - mean * (late.time - t);
        const isNear = Math.abs(Math.sqrt(Math.max(square, 0)) - Math.sqrt(linear / t)) <= DIFFERENCE;
        return isNear && growth >= GROWTH[0] * mean && growth <= GROWTH[1] * mean;
      });
    });
  });
  return isSmooth ? cubics : undefined;
}
