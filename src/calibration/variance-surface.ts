/**
 * A surface of total variance from the slices of its expiries, and its local volatility.
 *
 * Between two expiries w is linear in t at constant k = ln(K/F), which keeps free of arbitrage what is free of it at
 * both; before the first w is proportional to t, and after the last it grows as the last slice has grown on average.
 * With cash dividends t is the clock of `dividendClock`.
 * Dupire's formula in total variance, at constant k, is
 *
 *   σ²(K, t) = (∂w/∂t)/g(k),   g of `butterflyFunction`.
 *
 * Source: Gatheral, *The Volatility Surface*, 2006, equation (1.10). Verified: test/calibration/local, by
 * published local volatilities at points between the quotes. Prices under the local volatility are not tested.
 */
import { type ClockTime, clockTime, type DividendClock } from "../market/index.ts";
import { butterflyCheck, butterflyFunction, calendarCheck, type Slice, type Variance } from "./arbitrage.ts";
import type { SurfaceFit, UnderlyingQuotes } from "./fit.ts";

/** An expiry: its time, its forward, and the range of its quotes in k = ln(K/F). */
export type Expiry = Omit<Slice, "at">;

/** The total variance w with its derivatives by k and t. */
export interface VarianceAt extends Variance {
  readonly byTime: number;
}

/** Returns the total variance w and its derivatives at k and t > 0, interpolated between slices. */
export function varianceAt(slices: readonly Slice[], k: number, t: number, clock?: DividendClock): VarianceAt {
  const last = slices[slices.length - 1];
  const [first] = slices;
  if (clock !== undefined) return varianceByClock(slices, k, t, clock);
  if (t <= first.time || t > last.time) {
    const { time, at } = t <= first.time ? first : last;
    const share = t / time;
    const { variance, slope, curvature } = at(k);
    return { variance: share * variance, slope: share * slope, curvature: share * curvature, byTime: variance / time };
  }
  let next = 1;
  while (slices[next].time < t) next++;
  const [early, late] = [slices[next - 1], slices[next]];
  const share = (t - early.time) / (late.time - early.time);
  const [a, b] = [early.at(k), late.at(k)];
  return {
    variance: a.variance + share * (b.variance - a.variance),
    slope: a.slope + share * (b.slope - a.slope),
    curvature: a.curvature + share * (b.curvature - a.curvature),
    byTime: (b.variance - a.variance) / (late.time - early.time),
  };
}

const NOTHING: Variance = { variance: 0, slope: 0, curvature: 0 };

/** The same by a clock: w = a + s·(b − a) with the share s(k, t) of the clock's time from one slice to the next. */
function varianceByClock(slices: readonly Slice[], k: number, t: number, clock: DividendClock): VarianceAt {
  const next = slices.findIndex(({ time }) => time >= t);
  const late = slices[next < 0 ? slices.length - 1 : next];
  const early = next > 0 ? slices[next - 1] : undefined;
  const [a, b] = [early === undefined ? NOTHING : early.at(k), late.at(k)];
  const from = clockTime(clock, k, early?.time ?? 0);
  const s = shareOf(clockTime(clock, k, t), from, clockTime(clock, k, late.time));
  const [rise, steepening, bending] = [b.variance - a.variance, b.slope - a.slope, b.curvature - a.curvature];
  return {
    variance: a.variance + s.time * rise,
    slope: a.slope + s.time * steepening + s.slope * rise,
    curvature: a.curvature + s.time * bending + 2 * s.slope * steepening + s.curvature * rise,
    byTime: s.rate * rise,
  };
}

/** (A − from)/(to − from) and its derivatives. */
function shareOf(at: ClockTime, from: ClockTime, to: ClockTime): ClockTime {
  const minus = (x: ClockTime, y: ClockTime): Omit<ClockTime, "rate"> => ({
    time: x.time - y.time,
    slope: x.slope - y.slope,
    curvature: x.curvature - y.curvature,
  });
  const [part, whole] = [minus(at, from), minus(to, from)];
  const time = part.time / whole.time;
  const slope = (part.slope - time * whole.slope) / whole.time;
  const curvature = (part.curvature - 2 * slope * whole.slope - time * whole.curvature) / whole.time;
  return { time, slope, curvature, rate: at.rate / whole.time };
}

/** Returns the forward price at time t in years; its drift is constant between expiries. */
export function forwardAt(slices: readonly Expiry[], spot: number, t: number): number {
  const next = slices.findIndex(({ time }) => time >= t);
  const late = slices[next < 0 ? slices.length - 1 : next];
  const before = next < 0 ? slices.length - 2 : next - 1;
  const early = before >= 0 ? slices[before] : { time: 0, forward: spot };
  const drift = Math.log(late.forward / early.forward) / (late.time - early.time);
  return early.forward * Math.exp(drift * (t - early.time));
}

/** The limits within which a node of the local volatility is kept, relative to the implied volatility at its place. */
const LIMITS = [0.2, 5] as const;

/**
 * Spots of a surface on either side of today's, denser about it by a hyperbolic sine, and times between two expiries:
 * errors of its interpolation are then below those of a quote.
 */
const [SIDE, BEND] = [24, 3];
const SPOTS = 2 * SIDE + 1;
/** The extent of the spots, in units of the range of the quotes: paths to the outermost strikes pass beyond them. */
const BEYOND = 1.4;
const TIMES = [1e-6, 0.25, 0.5, 0.75, 1 - 1e-6] as const;
/**
 * The times before the first expiry: the local volatility of Andreasen and Huge's first step grows like 1/√t to t = 0.
 */
const FIRST_TIMES = [1 / 1024, 1 / 256, 1 / 64, 1 / 16, 9 / 64, 0.25, 0.5, 0.75, 1 - 1e-6] as const;

/** Rows on either side of a dividend, years: the local volatility of X jumps there. */
const BESIDE = 1e-7;

/**
 * A local volatility on a grid, as [time][spot], and the number of its nodes at which the formula's value was out of
 * bounds (`limited`).
 */
export interface LocalVolatility {
  readonly times: readonly number[];
  readonly spots: readonly number[];
  readonly volatility: readonly (readonly number[])[];
  /** The number of nodes at which the formula's value was out of bounds. */
  readonly limited: number;
}

/**
 * Writes the squares of the local volatility at t and at increasing k, no number above 0 where there is arbitrage, and
 * the implied volatilities there; NaN where there is none.
 */
type LocalRow = (
  t: number,
  k: Float64Array,
  row: { readonly squares: Float64Array; readonly implied: Float64Array },
) => void;

/**
 * Applies Dupire's formula to the total variance w and its derivatives at k and t. It returns the square of the local
 * volatility, and the implied volatility.
 */
export function dupire(
  k: number,
  t: number,
  { byTime, variance, slope, curvature }: VarianceAt,
): { readonly square: number; readonly implied: number } {
  const g = butterflyFunction({ k, variance, slope, curvature });
  const square = byTime > 0 && g <= 0 ? Number.POSITIVE_INFINITY : byTime / g;
  return { square, implied: Math.sqrt(Math.max(variance, 1e-12) / t) };
}

/** Returns a function that applies Dupire's formula along k at one time, given w and its derivatives. */
export function dupireRow(at: (k: number, t: number) => VarianceAt): LocalRow {
  return (t, k, { squares, implied }) => {
    for (let i = 0; i < k.length; i++) {
      const found = dupire(k[i], t, at(k[i], t));
      squares[i] = found.square;
      implied[i] = found.implied;
    }
  };
}

/**
 * Returns the local volatility on a grid of times and spots. A node without a value, or with a value far from the
 * implied volatility, gets the nearest admissible value and is counted.
 */
export function localVolatility(
  expiries: readonly Expiry[],
  { spot, clock = [] }: Pick<UnderlyingQuotes, "spot" | "clock">,
  localRow: LocalRow,
): LocalVolatility {
  const lowest = Math.min(...expiries.map(({ forward, range }) => forward * Math.exp(range[0])));
  const highest = Math.max(...expiries.map(({ forward, range }) => forward * Math.exp(range[1])));
  const [from, to] = [Math.log(Math.min(lowest, 0.9 * spot)), Math.log(Math.max(highest, 1.1 * spot))];
  const centre = Math.log(spot);
  const logs = Float64Array.from({ length: SPOTS }, (_, i) => {
    const share = Math.sinh(BEND * (i / SIDE - 1)) / Math.sinh(BEND);
    return centre + BEYOND * share * (i < SIDE ? centre - from : to - centre);
  });
  const usual = expiries.flatMap(({ time }, i) => {
    const before = i > 0 ? expiries[i - 1].time : 0;
    return (i > 0 ? TIMES : FIRST_TIMES).map((share) => before + share * (time - before));
  });
  const horizon = expiries[expiries.length - 1].time;
  const jumps = clock.filter(({ until }) => until < horizon).flatMap(({ until }) => [until - BESIDE, until + BESIDE]);
  const times = [...new Set([...usual, ...jumps])].filter((time) => time > 0).sort((a, b) => a - b);
  let limited = 0;
  const [k, squares, implied] = [logs.slice(), logs.slice(), logs.slice()];
  const volatility = times.map((t) => {
    const forward = Math.log(forwardAt(expiries, spot, t));
    for (let i = 0; i < SPOTS; i++) k[i] = logs[i] - forward;
    localRow(t, k, { squares, implied });
    const row = new Array<number>(SPOTS);
    for (let i = 0; i < SPOTS; i++) {
      const [least, most] = [LIMITS[0] * implied[i], LIMITS[1] * implied[i]];
      const local = squares[i] > 0 ? Math.sqrt(squares[i]) : 0;
      const kept = Math.min(Math.max(local, least), most);
      if (kept !== local && !Number.isNaN(squares[i])) limited++;
      // So far from the forward that there is no price: the volatility of the nearest spot that has one.
      row[i] = Number.isNaN(squares[i]) ? Number.NaN : kept;
    }
    const above = k.findIndex((one) => one >= 0);
    const middle = above < 0 ? SPOTS - 1 : above;
    if (Number.isNaN(row[middle])) row[middle] = implied[middle];
    for (let i = middle + 1; i < SPOTS; i++) if (Number.isNaN(row[i])) row[i] = row[i - 1];
    for (let i = middle - 1; i >= 0; i--) if (Number.isNaN(row[i])) row[i] = row[i + 1];
    return row;
  });
  return { times, spots: Array.from(logs, Math.exp), volatility, limited };
}

/**
 * Returns a message about the nodes of a local volatility that got an admissible value; none if there are no such
 * nodes.
 */
export function limitedMessage(limited: number): string[] {
  return limited > 0
    ? [`${limited} nodes of the local volatility lie at a limit, a fifth or five times the implied volatility`]
    : [];
}

/** Returns the implied volatilities, the checks for arbitrage and the local volatility of a surface given by slices. */
export function describeSlices(
  slices: readonly Slice[],
  { spot, clock }: Pick<UnderlyingQuotes, "spot" | "clock">,
): Pick<SurfaceFit, "impliedVolatility" | "butterfly" | "calendar" | "volatility"> & { readonly limited: number } {
  const localRow = dupireRow((k, t) => varianceAt(slices, k, t, clock));
  const { limited, ...surface } = localVolatility(slices, { spot, clock }, localRow);
  return {
    impliedVolatility: (k, t) => Math.sqrt(Math.max(varianceAt(slices, k, t, clock).variance, 0) / t),
    butterfly: butterflyCheck(slices),
    calendar: calendarCheck(slices),
    volatility: { kind: "surface", surface },
    limited,
  };
}
