/**
 * A fitted smile as plain data: the total variance w(k, t) = σ²(k, t)·t of an underlying, k = ln(K/F), by the curves of
 * its expiries and one rule between them. It prices European options, and its derivatives give the local volatility
 * that prices everything else.
 *
 * Before the first expiry σ is constant in t at constant k, and so it is after the last one. Between two expiries w is
 * linear in t at constant k, which keeps free of calendar arbitrage what is free of it at both; the σ² of a surface
 * that is smooth in time may have cubic splines in ln t instead (`cubics`), which keep a constant σ constant.
 *
 * Verified: test/calibration/smile, by differences and by prices on quotes and between them.
 */
import { type ChangedTime, changedTime, type DividendTimeChange } from "./dividend-time-change.ts";
import { haganVolatility } from "./hagan.ts";
import { type Spline, splineAt } from "./spline.ts";
import { ssviVariance } from "./ssvi.ts";
import { type SviParameters, sviVariance } from "./svi.ts";

/** The total variance w = σ²t at a log-moneyness k, with ∂w/∂k (`slope`) and ∂²w/∂k² (`curvature`). */
export interface Variance {
  readonly variance: number;
  readonly slope: number;
  readonly curvature: number;
}

/** The total variance w with its derivatives by k and t. */
export interface VarianceAt extends Variance {
  readonly byTime: number;
}

/** The total variance of one expiry as a function of k. */
export type SmileCurve =
  | { readonly kind: "svi"; readonly parameters: SviParameters }
  | { readonly kind: "ssvi"; readonly theta: number; readonly phi: number; readonly rho: number }
  | { readonly kind: "spline"; readonly spline: Spline }
  | {
      readonly kind: "sabr";
      readonly model: Readonly<Record<"alpha" | "beta" | "rho" | "nu", number>>;
      readonly forward: number;
      readonly time: number;
    };

/** The curve of one expiry. */
export interface SmileSlice {
  /** The time to expiry in years. */
  readonly time: number;
  readonly curve: SmileCurve;
}

/** The curves of all expiries, and the rule between them. */
export interface SmileSurface {
  /** The slices in increasing order of time, at least one. */
  readonly slices: readonly SmileSlice[];
  /**
   * Splines in ln t, one for each slice, which are 1 at its time and 0 at the others: the share of its σ² in σ².
   * Without them w is linear between slices.
   */
  readonly cubics?: readonly Spline[] | undefined;
  /** Splines through the quotes of each expiry, where the slices are a fit that may miss them. */
  readonly quoted?: readonly SmileSlice[] | undefined;
  /** The clock of a smile with cash dividends, by which w is linear in the place of t. */
  readonly clock?: DividendTimeChange | undefined;
}

/**
 * A fitted smile of an underlying with the market that it was fitted in: it prices options in no other. With cash
 * dividends it is the smile of the martingale X of `affineSpot`, whose horizon is the last of `forwards`.
 */
export interface Smile extends SmileSurface {
  readonly spot: number;
  /** The forward price of the underlying at each quoted expiry, in increasing order of time. */
  readonly forwards: readonly { readonly time: number; readonly forward: number }[];
}

/** The step of SABR's differences in k. */
const STEP = 1e-4;

/** Returns the total variance of one expiry at k, with its derivatives. */
export function curveVariance(curve: SmileCurve, k: number): Variance {
  switch (curve.kind) {
    case "svi":
      return sviVariance({ parameters: curve.parameters, k });
    case "ssvi":
      return ssviVariance({ theta: curve.theta, phi: curve.phi, rho: curve.rho, k });
    case "spline":
      return splineVariance(curve.spline, k);
    case "sabr": {
      const { model, forward, time } = curve;
      const at = (x: number): number =>
        haganVolatility({ model, forward, strike: forward * Math.exp(x), time }) ** 2 * time;
      const [left, variance, right] = [at(k - STEP), at(k), at(k + STEP)];
      const curvature = (left - 2 * variance + right) / (STEP * STEP);
      return { variance, slope: (right - left) / (2 * STEP), curvature };
    }
    default:
      return curve satisfies never;
  }
}

/**
 * The variance of a spline. Beyond its nodes it goes on along its tangent, if that rises; one that falls becomes flat
 * before half of the variance at the last node is lost.
 */
function splineVariance(spline: Spline, k: number): Variance {
  const { x } = spline;
  const end = Math.min(Math.max(k, x[0]), x[x.length - 1]);
  const [variance, slope, curvature] = splineAt(spline, k);
  const away = k - end;
  if (!(slope * away < 0)) return { variance, slope, curvature };
  const [last] = splineAt(spline, end);
  const length = (0.5 * last) / Math.abs(slope);
  const left = Math.exp(-Math.abs(away) / length);
  return { variance: 0.5 * last * (1 + left), slope: slope * left, curvature: (Math.abs(slope) * left) / length };
}

/** Returns the total variance w and its derivatives at k and t > 0. */
export function smileVariance({ slices, cubics, clock }: SmileSurface, k: number, t: number): VarianceAt {
  if (clock !== undefined) return varianceByClock(slices, k, t, clock);
  const [first, last] = [slices[0], slices[slices.length - 1]];
  if (t <= first.time || t > last.time) {
    const { time, curve } = t <= first.time ? first : last;
    const share = t / time;
    const { variance, slope, curvature } = curveVariance(curve, k);
    return { variance: share * variance, slope: share * slope, curvature: share * curvature, byTime: variance / time };
  }
  if (cubics !== undefined) return cubicVariance(slices, cubics, k, t);
  let next = 1;
  while (slices[next].time < t) next++;
  const [early, late] = [slices[next - 1], slices[next]];
  const share = (t - early.time) / (late.time - early.time);
  const [a, b] = [curveVariance(early.curve, k), curveVariance(late.curve, k)];
  return {
    variance: a.variance + share * (b.variance - a.variance),
    slope: a.slope + share * (b.slope - a.slope),
    curvature: a.curvature + share * (b.curvature - a.curvature),
    byTime: (b.variance - a.variance) / (late.time - early.time),
  };
}

/**
 * Returns the total variance at k and t > 0, corrected so that it meets the quotes: that of the fit minus its misfit to
 * the splines through the quotes. A misfit is linear in time, and beyond the quotes of an expiry that of the last one.
 * Curvature and growth are those of the fit.
 */
export function quotedVariance(surface: SmileSurface, k: number, t: number): VarianceAt {
  const { quoted } = surface;
  const own = smileVariance(surface, k, t);
  if (quoted === undefined) return own;
  const next = quoted.findIndex(({ time }) => time >= t);
  const late = quoted[next < 0 ? quoted.length - 1 : next];
  const early = next > 0 ? quoted[next - 1] : undefined;
  const share = early === undefined ? t / late.time : (t - early.time) / (late.time - early.time);
  let { variance, slope } = own;
  const add = ({ time, curve }: SmileSlice, weight: number): void => {
    if (!(weight > 0) || curve.kind !== "spline") return;
    const { x } = curve.spline;
    const at = Math.max(Math.min(k, x[x.length - 1]), x[0]);
    const [quotes, fit] = [curveVariance(curve, at), smileVariance(surface, at, time)];
    variance += weight * (quotes.variance - fit.variance);
    slope += weight * (quotes.slope - fit.slope);
  };
  add(late, share);
  if (early !== undefined) add(early, 1 - share);
  return { ...own, variance, slope };
}

function cubicVariance(slices: readonly SmileSlice[], cubics: readonly Spline[], k: number, t: number): VarianceAt {
  const found = { variance: 0, slope: 0, curvature: 0, byTime: 0 };
  slices.forEach(({ curve, time }, i) => {
    const [own, slope] = splineAt(cubics[i], Math.log(t));
    const [share, growth] = [(own * t) / time, (own + slope) / time];
    const at = curveVariance(curve, k);
    found.variance += share * at.variance;
    found.slope += share * at.slope;
    found.curvature += share * at.curvature;
    found.byTime += growth * at.variance;
  });
  return found;
}

const NOTHING: Variance = { variance: 0, slope: 0, curvature: 0 };

/** The same by a clock: w = a + s·(b − a) with the share s(k, t) of the clock's time from one slice to the next. */
function varianceByClock(slices: readonly SmileSlice[], k: number, t: number, clock: DividendTimeChange): VarianceAt {
  const next = slices.findIndex(({ time }) => time >= t);
  const late = slices[next < 0 ? slices.length - 1 : next];
  const early = next > 0 ? slices[next - 1] : undefined;
  const [a, b] = [early === undefined ? NOTHING : curveVariance(early.curve, k), curveVariance(late.curve, k)];
  const from = changedTime(clock, k, early?.time ?? 0);
  const s = shareOf(changedTime(clock, k, t), from, changedTime(clock, k, late.time));
  const [rise, steepening, bending] = [b.variance - a.variance, b.slope - a.slope, b.curvature - a.curvature];
  return {
    variance: a.variance + s.time * rise,
    slope: a.slope + s.time * steepening + s.slope * rise,
    curvature: a.curvature + s.time * bending + 2 * s.slope * steepening + s.curvature * rise,
    byTime: s.rate * rise,
  };
}

/** (A − from)/(to − from) and its derivatives. */
function shareOf(at: ChangedTime, from: ChangedTime, to: ChangedTime): ChangedTime {
  const minus = (x: ChangedTime, y: ChangedTime): Omit<ChangedTime, "rate"> => ({
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

/** Returns the implied volatility at k and t > 0; 0 where the total variance is not positive. */
export function smileVolatility(surface: SmileSurface, k: number, t: number): number {
  return Math.sqrt(Math.max(smileVariance(surface, k, t).variance, 0) / t);
}
