/**
 * The local volatility of a fitted smile on a grid. Dupire's formula in total variance w, at constant k = ln(K/F), is
 *
 *   σ²(K, t) = (∂w/∂t)/g(k),   g of `butterflyFunction`.
 *
 * Source: Gatheral, *The Volatility Surface*, 2006, equation (1.10). Verified: test/calibration/local, by
 * published local volatilities at points between the quotes; test/calibration/repricing, by prices under it.
 */
import {
  curveVariance,
  type SmileCurve,
  type SmileSurface,
  smileVariance,
  smileVolatility,
  splineThrough,
  withSurface,
} from "../market/index.ts";
import { butterflyCheck, butterflyFunction, calendarCheck, type VarianceSlice } from "./arbitrage.ts";
import { countWithWords, type ExpiryQuotes, type NearbyFit, type SurfaceFit, type UnderlyingQuotes } from "./fit.ts";

/** An expiry with its time, its forward, and the range of its quotes in k = ln(K/F). */
export type ExpiryRange = Omit<VarianceSlice, "at">;

/** A slice with its curve as plain data. */
export interface FittedSlice extends VarianceSlice {
  readonly curve: SmileCurve;
}

/** Returns the time, the forward and the range of the quotes of an expiry. */
export function expiryRangeOf({ time, forward, logMoneyness }: ExpiryQuotes): ExpiryRange {
  return { time, forward, range: [logMoneyness[0], logMoneyness[logMoneyness.length - 1]] };
}

/** Returns the slice of an expiry whose total variance is a curve. */
export function sliceOf(expiry: ExpiryRange, curve: SmileCurve): FittedSlice {
  return { ...expiry, curve, at: (k) => curveVariance(curve, k) };
}

/** Returns, for each expiry, a spline in k = ln(K/F) through the total variances of its quotes. */
export function splinesOf(expiries: readonly ExpiryQuotes[]): readonly FittedSlice[] {
  return expiries.map((expiry) => {
    const { time, logMoneyness, implied } = expiry;
    const variances = implied.map((sigma) => sigma * sigma * time);
    return sliceOf(expiryRangeOf(expiry), { kind: "spline", spline: splineThrough(logMoneyness, variances) });
  });
}

/** Returns the forward price at time t in years; its drift is constant between expiries. */
export function forwardAt(slices: readonly ExpiryRange[], spot: number, t: number): number {
  const next = slices.findIndex(({ time }) => time >= t);
  const late = slices[next < 0 ? slices.length - 1 : next];
  const before = next < 0 ? slices.length - 2 : next - 1;
  const early = before >= 0 ? slices[before] : { time: 0, forward: spot };
  const drift = Math.log(late.forward / early.forward) / (late.time - early.time);
  return early.forward * Math.exp(drift * (t - early.time));
}

/**
 * The limits within which a node of the local volatility is kept, relative to the implied volatility at the same point.
 */
const LIMITS = [0.2, 5] as const;
/** Beyond the quotes: along a wing whose variance is a line in k, σ is at least twice the implied volatility. */
const FAR_LIMITS = [0.2, 2.5] as const;

/** The reach of the spots on either side of a forward, in standard deviations and in units of the quotes' range. */
const [REACH, BEYOND] = [5, 1.4] as const;
/**
 * The number of spots on either side of today's for each unit of the parameter of the hyperbolic sine by which they are
 * spaced, and the number to whose multiples it is rounded.
 */
const [DENSITY, ROUND] = [10, 8] as const;
/**
 * Times on either side of a date at which the local volatility jumps: parts of the time between two expiries, and years
 * beside a dividend.
 */
const BESIDE = 1e-6;
/** Times before the first expiry, parts of it, and from one expiry to the next for each doubling of time. */
const [BEFORE, A_DOUBLING, FEWEST] = [4, 3, 2] as const;

/** A local volatility on a grid, as [time][spot]. */
interface LocalVolatility {
  readonly times: readonly number[];
  readonly spots: readonly number[];
  readonly volatility: readonly (readonly number[])[];
  /** The number of nodes near the quotes at which the formula's value was out of bounds. */
  readonly limited: number;
}

/** The log-moneyness k from which and up to which an expiry has a local volatility of its own. */
function reachOf({ time, range }: ExpiryRange, smile: SmileSurface): readonly [number, number] {
  const deviation = deviationOf({ time, range }, smile);
  return [Math.min(-REACH * deviation, BEYOND * range[0]), Math.max(REACH * deviation, BEYOND * range[1])];
}

/** The largest standard deviation of the quotes of an expiry. */
function deviationOf({ time, range: [from, to] }: Pick<ExpiryRange, "time" | "range">, smile: SmileSurface): number {
  const at = [from, Math.min(Math.max(0, from), to), to];
  return Math.sqrt(time) * Math.max(...at.map((k) => smileVolatility(smile, k, time)));
}

/**
 * Returns the spots of a grid: about today's they lie a part of the smallest standard deviation of an expiry apart, and
 * further out a part of their distance from it.
 */
function spotsOf(expiries: readonly ExpiryRange[], spot: number, smile: SmileSurface): number[] {
  const reaches = expiries.map((expiry) => reachOf(expiry, smile));
  const drifts = expiries.map(({ forward }) => Math.log(forward / spot));
  const below = Math.max(...reaches.map(([from], i) => -from - drifts[i]));
  const above = Math.max(...reaches.map(([, to], i) => to + drifts[i]));
  const narrowest = Math.min(...expiries.map((expiry) => deviationOf(expiry, smile)));
  const bend = Math.asinh(Math.max(below, above) / narrowest);
  const side = ROUND * Math.ceil((DENSITY * bend) / ROUND);
  return Array.from({ length: 2 * side + 1 }, (_, i) => {
    const share = Math.sinh(bend * (i / side - 1)) / Math.sinh(bend);
    return spot * Math.exp(share * (i < side ? below : above));
  });
}

/** Returns the times of a grid, two at each expiry but the last. */
function timesOf(expiries: readonly ExpiryRange[], { clock = [] }: SmileSurface): number[] {
  const horizon = expiries[expiries.length - 1].time;
  const jumps = clock.filter(({ until }) => until < horizon).flatMap(({ until }) => [until - BESIDE, until + BESIDE]);
  const usual = expiries.flatMap(({ time }, i) => {
    if (i === 0) return Array.from({ length: BEFORE + 1 }, (_, j) => (time * (j === BEFORE ? j - BESIDE : j)) / BEFORE);
    const before = expiries[i - 1].time;
    const parts = Math.max(Math.ceil(A_DOUBLING * Math.log2(time / before)), FEWEST);
    return Array.from({ length: parts + 1 }, (_, j) => {
      const share = (before * ((time / before) ** (j / parts) - 1)) / (time - before);
      return before + Math.min(Math.max(share, BESIDE), 1 - BESIDE) * (time - before);
    });
  });
  if (jumps.length === 0) return usual;
  return [...new Set([...usual, ...jumps])].filter((time) => time >= 0).sort((a, b) => a - b);
}

/**
 * Returns the local volatility of a smile on a grid of times and spots. A node may have none, or one that is far from
 * the implied volatility. Within the range of the quotes, such a node gets the nearest admissible value, and is
 * counted; outside, it gets the value of the neighbouring spot.
 */
export function localVolatility(
  expiries: readonly ExpiryRange[],
  spot: number,
  smile: SmileSurface,
  { times, spots }: Pick<LocalVolatility, "times" | "spots"> = {
    times: timesOf(expiries, smile),
    spots: spotsOf(expiries, spot, smile),
  },
): LocalVolatility {
  let limited = 0;
  const volatility = times.map((time) => {
    const next = expiries.find((expiry) => expiry.time >= time) ?? expiries[expiries.length - 1];
    const { range } = next;
    const [from, to] = reachOf(next, smile);
    // σ(k, t) has a limit as t vanishes.
    const t = Math.max(time, 1e-6 * expiries[0].time);
    const forward = forwardAt(expiries, spot, time);
    const isFar: boolean[] = [];
    const row = spots.map((one, i) => {
      const k = Math.min(Math.max(Math.log(one / forward), from), to);
      const { square, implied } = dupireVolatility(smile, k, t);
      const local = square > 0 ? Math.sqrt(square) : 0;
      const isQuoted = k >= BEYOND * range[0] && k <= BEYOND * range[1];
      const [least, most] = isQuoted ? LIMITS : FAR_LIMITS;
      const kept = Math.min(Math.max(local, least * implied), most * implied);
      if (kept !== local && isQuoted) limited++;
      isFar[i] = kept !== local && !isQuoted;
      return kept;
    });
    // Beyond the quotes a smile may have arbitrage: the volatility of the nearest spot without.
    const middle = (spots.length - 1) / 2;
    for (let i = middle + 1; i < spots.length; i++) if (isFar[i]) row[i] = row[i - 1];
    for (let i = middle - 1; i >= 0; i--) if (isFar[i]) row[i] = row[i + 1];
    return row;
  });
  return { times, spots, volatility, limited };
}

/**
 * Applies Dupire's formula to a smile at k and t. Returns the square of the local volatility, and the implied
 * volatility.
 */
export function dupireVolatility(
  smile: SmileSurface,
  k: number,
  t: number,
): { readonly square: number; readonly implied: number } {
  const { byTime, variance, slope, curvature } = smileVariance(smile, k, t);
  const g = butterflyFunction({ k, variance, slope, curvature });
  const square = byTime > 0 && g <= 0 ? Number.POSITIVE_INFINITY : byTime / g;
  return { square, implied: Math.sqrt(Math.max(variance, 1e-12) / t) };
}

/**
 * Returns a message about the nodes of a local volatility whose value was replaced by an admissible one; none if there
 * are no such nodes.
 */
export function limitedNodesMessage(limited: number): string[] {
  return limited > 0
    ? [
        `${countWithWords(limited, "node", "nodes")} of the local volatility at a limit, a fifth or five times the implied ` +
          "volatility",
      ]
    : [];
}

/**
 * Returns the surfaces near one that is given by slices: `moved` makes the slices of expiries whose quotes have moved.
 * The grid of the local volatility stays the same.
 */
export function nearbySlices(
  slices: readonly FittedSlice[],
  { spot, clock }: Pick<UnderlyingQuotes, "spot" | "clock">,
  grid: Pick<LocalVolatility, "times" | "spots">,
  moved: (expiry: number, moves: Float64Array) => FittedSlice,
): NearbyFit {
  return (moves) => {
    const all = slices.map((slice, i) => {
      const own = moves.get(i);
      return own === undefined ? slice : moved(i, own);
    });
    const smile: SmileSurface = {
      slices: all.map(({ time, curve }) => ({ time, curve })),
      ...(clock === undefined ? {} : { clock }),
    };
    return withSurface({ kind: "surface" as const, smile }, () => localVolatility(all, spot, smile, grid));
  };
}

/** Returns the implied volatilities, the checks for arbitrage and the local volatility of a surface given by slices. */
export function describeSlices(
  slices: readonly FittedSlice[],
  { spot, clock }: Pick<UnderlyingQuotes, "spot" | "clock">,
  cubics?: SmileSurface["cubics"],
): Pick<SurfaceFit, "impliedVolatility" | "butterfly" | "calendar" | "volatility"> & { readonly limited: number } {
  const smile = { slices: slices.map(({ time, curve }) => ({ time, curve })), cubics, clock };
  const { limited, ...surface } = localVolatility(slices, spot, smile);
  return {
    impliedVolatility: (k, t) => smileVolatility(smile, k, t),
    butterfly: butterflyCheck(slices),
    calendar: calendarCheck(slices),
    volatility: { kind: "surface", surface, smile },
    limited,
  };
}
