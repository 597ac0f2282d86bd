/** Error estimates of sampled values. */
import { integrate, integratedVariance } from "../../../market/index.ts";
import { intervalWidth } from "../../../montecarlo/index.ts";
import type { Payoff } from "../../../book/index.ts";
import { totalVariance } from "../../variance.ts";
import { basketLogarithm } from "../../equations/lognormal.ts";
import { deviationAt, lastObservationTime } from "../../plan/kinks.ts";
import type { Measured } from "../../plan/request.ts";
import { logGrowth, type Terms, type TermsPayoff } from "../../terms.ts";
import type { SimulationInstance } from "./acceptance.ts";
import { loadingsOf, type Shift, shiftForTail } from "./shift.ts";
import { mayJumpInSteps } from "./steps.ts";

type BasketPayoff = Extract<Payoff, { readonly kind: "basket" }>;

/** The statistics of an instance's samples, in its currency. */
export interface SampleStatistics {
  readonly value: number;
  readonly standardError: number;
  /** The number of degrees of freedom of the standard error. */
  readonly freedom: number;
  readonly paths: number;
  /** The effective number of samples (`MonteCarloResult`). */
  readonly effective: number;
  /** The ends of the steps of paths. */
  readonly ends: readonly number[];
  /** True where the underlyings are the control variate. */
  readonly isControlled: boolean;
}

/**
 * The probability that an error is within its estimate, for any one number of paths. It is above the 98 % that values
 * are asked for: paths are doubled until the error looks small enough, which picks those that look too small.
 */
const LEVEL = 0.995;

/** The normal quantile of LEVEL in both tails together. */
const QUANTILE = 2.8070337683438042;

/** The rule of three, for the level: what none of n samples shows has a probability below UNSEEN/n. */
export const UNSEEN = -Math.log(1 - LEVEL);

/**
 * The number of samples below which the mean of a payoff is skewed: the interval is then longer above, by SKEW times
 * the ratio of the third and the second moment over n, which is what one sample adds to the mean (N. Johnson, Journal
 * of the American Statistical Association 73 (1978)).
 */
const FEW = 200;
const SKEW = (1 + 2 * QUANTILE * QUANTILE) / 6;

/** The number of samples below which those that pay may all be of the smallest that do. */
const HARDLY_ANY = 10;

/** Returns the error estimate of a value: half the width of a confidence interval. */
export function errorOf(path: SimulationInstance, sample: SampleStatistics): number {
  const { value, standardError, freedom, effective } = sample;
  const skew = effective > 0 && effective < FEW ? (SKEW * Math.abs(value)) / effective : 0;
  const sampling = intervalWidth(freedom, QUANTILE) * standardError + skew;
  return Math.max(sampling, unseen(path, sample), tail(path, sample));
}

/** Returns the error estimate of a sensitivity, given that of 95 % of the path engine. */
export const errorAtLevel = (errorEstimate: number, freedom: number): number =>
  (intervalWidth(freedom, QUANTILE) / intervalWidth(freedom)) * errorEstimate;

/**
 * What has not been seen among n paths, by the rule of three. All scramblings may count as many paths beyond a jump,
 * few paths that pay may be none of those that pay much, and all paths may pay what the control does.
 */
function unseen(
  { terms, spots }: SimulationInstance,
  { value, paths, effective, isControlled }: SampleStatistics,
): number {
  const squares = effective > 0 ? value * value * (paths / effective - 1) : 0;
  const byControl = isControlled ? Math.sqrt(Math.max(squares, 0)) / paths : 0;
  if (!mayJump(terms) && effective >= FEW) return UNSEEN * byControl;
  const each = effective > 0 ? Math.abs(value) / effective : 0;
  const other = effective < HARDLY_ANY ? unitOf(terms, spots) / paths : 0;
  return UNSEEN * Math.max(each, other, byControl);
}

/** Returns the part of a value's error that comes from what no path has shown, where few paths pay. */
export const unseenByFew = (path: SimulationInstance, sample: SampleStatistics): number =>
  sample.effective < FEW ? unseen(path, sample) : 0;

/**
 * Returns the part of a sensitivity's error that comes from what no path has shown. `size` is that of the value, which
 * changes over a standard deviation of the logarithm of a spot.
 */
export function unseenSlope({ terms, spots }: SimulationInstance, measure: string, size: number): number {
  if (size === 0) return 0;
  const last = lastObservationTime(terms) || terms.expiry;
  const widths = terms.assets.map(({ volatility }, i) => deviationAt(volatility, spots[i], last));
  const [kind, i, j = i] = measure.split(" ");
  const widthOf = (asset: string): number => {
    const own = asset === "all" || asset === undefined ? [...widths.keys()] : [Number(asset)];
    return Math.min(...own.map((one) => widths[one]));
  };
  const spotOf = (asset: string): number => (asset === "all" ? Math.min(...spots) : spots[Number(asset)]);
  const width = Math.max(widthOf(i), LEAST_WIDTH);
  switch (kind) {
    case "delta":
      return size / (width * spotOf(i));
    case "gamma":
    case "cross":
      return size / (width * spotOf(i) * Math.max(widthOf(j), LEAST_WIDTH) * spotOf(j));
    case "vega":
      return (size * Math.sqrt(last)) / width;
    case "rho":
      return (size * last) / width;
    case "theta":
      return size / last;
    default:
      return size;
  }
}

/**
 * Returns the part of the error of a sensitivity that is zero on all paths: the largest or the smallest spot of a
 * basket may be another one on paths that are too rare to be seen.
 */
export function unseenOfNone(path: SimulationInstance, measure: string, paths: number): number {
  const { payoff } = path.terms;
  if (payoff.kind !== "basket" || (payoff.of !== "max" && payoff.of !== "min")) return 0;
  const assets = measure.split(" ").slice(1).map(Number);
  if (assets.some((asset) => payoff.weights[asset] === 0)) return 0;
  return unseenSlope(path, measure, (UNSEEN * unitOf(path.terms, path.spots)) / paths);
}

/** The smallest deviation over which a value is taken to change. */
const LEAST_WIDTH = 1e-3;

/** The error in volatility that particles and steps leave in a leverage (docs/calibration.md). */
const LEVERAGE_ERROR = 4e-3;
/** The largest derivative of an option by its volatility: of its unit times the root of time, and of a digital. */
const [LARGEST_VEGA, DIGITAL_VEGA] = [0.4, 5];

/**
 * Returns the error of a value under stochastic local volatility that comes from the leverage function, and that more
 * paths do not reduce.
 */
export function leverageError({ terms, spots }: SimulationInstance): number {
  const { payoff, assets, barriers, expiry } = terms;
  if (assets[0].volatility.kind !== "stochasticLocal") return 0;
  const vega = isDigital(payoff) ? DIGITAL_VEGA : LARGEST_VEGA * Math.sqrt(expiry);
  return (barriers.length > 0 ? 2 : 1) * LEVERAGE_ERROR * vega * unitOf(terms, spots);
}

/**
 * Returns the error of steps in Heston's model that are longer than the time 1/κ in which the variance reverts. Given
 * the variances at both ends, the scheme takes ln S to be normal, without the skewness that the variance has between
 * them: a share of 1 − 2γ/Δt, γ = tanh(κΔt/2)/κ, of the third cumulant 3ρσθ/κ a year. Edgeworth's expansion has what
 * a cumulant k₃ leaves of a call under the variance w: at most S·k₃/(6w)·max |φ(d)·(2√w − d)|, and of the probability
 * to be above a strike k₃/(6w√w)·max |φ(d)·(d² − 1)|.
 */
export function reversionError({ terms, spots }: SimulationInstance, ends: readonly number[]): number {
  const [{ volatility }] = terms.assets;
  if (volatility.kind !== "heston") return 0;
  const { kappa, theta, sigma, rho } = volatility;
  const w = totalVariance(volatility, spots[0], terms.expiry);
  if (!(kappa > 0 && w > 0)) return 0;
  const unseen = ends.reduce((sum, end, k) => {
    const dt = end - (k === 0 ? 0 : ends[k - 1]);
    return sum + Math.max(dt - (2 * Math.tanh(0.5 * kappa * dt)) / kappa, 0);
  }, 0);
  const cumulant = (3 * Math.abs(rho) * sigma * theta * unseen) / kappa;
  const most = isDigital(terms.payoff) ? 0.4 / Math.sqrt(w) : 0.8 * Math.sqrt(w) + 0.25;
  return (unitOf(terms, spots) * cumulant * most) / (6 * w);
}

/** The order of magnitude of a discounted payoff. */
function unitOf({ payoff, rates, expiry }: Terms, spots: readonly number[]): number {
  const discount = Math.exp(-integrate(rates, expiry));
  if (payoff.kind === "digital") return discount * payoff.cash;
  if (payoff.kind === "script") return payoff.unit;
  const spot = Math.max(...spots);
  return payoff.kind === "expression" ? spot : Math.max(spot, discount * payoff.strike);
}

/** The variance of a logarithm from which on samples may not show the second moment of a spot. */
const HEAVY = 1;

/**
 * Two standard errors by the exact second moment of a payoff that grows like the spots, where samples do not show it.
 * With the loadings a of ln S(t) on the normal numbers, and these shifted by s, the samples of a spot have the second
 * moment F(t)²·exp(|a − s|²) with its forward F: the mean of S² times the ratio of the densities. Without a shift
 * |a|² is the variance of the logarithm.
 */
function tail(path: SimulationInstance, { paths, ends }: SampleStatistics): number {
  const { payoff, rates, expiry } = path.terms;
  const isProduct = payoff.kind === "basket" && payoff.of === "product";
  const moments = isProduct ? productMoments(path, payoff) : spotMoments(path, ends);
  if (moments.every(({ exponent }) => exponent <= HEAVY)) return 0;
  const roots = moments.map(({ size, exponent }) => size * Math.exp(0.5 * exponent));
  const of = payoff.kind === "basket" ? payoff.of : "sum";
  const root =
    of === "max" ? Math.hypot(...roots) : of === "min" ? Math.min(...roots) : roots.reduce((sum, one) => sum + one, 0);
  return (2 * Math.exp(-integrate(rates, expiry)) * root) / Math.sqrt(paths);
}

/** A second moment size²·exp(exponent). */
interface Moment {
  readonly size: number;
  readonly exponent: number;
}

/** The second moments of the spots of which a payoff that is not bounded consists, on each date of an average. */
function spotMoments(path: SimulationInstance, ends: readonly number[]): readonly Moment[] {
  const { terms, spots, dates } = path;
  const { assets, payoff } = terms;
  const weights = assets.map(({ volatility }, i) =>
    volatility.kind === "deterministic" ? slopeAtInfinity(payoff, i) * unitsOf(payoff, spots[i]) : 0,
  );
  if (weights.every((weight) => weight === 0)) return [];
  const times = payoff.kind !== "average" ? [lastObservationTime(terms)] : payoff.times === "continuous" ? ends : dates;
  const shift = shiftForTail(path, ends);
  const shifted = shift && { shift, loadings: loadingsOf(terms, ends) };
  return assets.flatMap(({ volatility }, i) => {
    if (weights[i] === 0 || volatility.kind !== "deterministic") return [];
    const { sigma } = volatility;
    const exponents =
      shifted === undefined
        ? times.map((t) => integratedVariance(sigma, t))
        : shiftedExponents(
            shifted.loadings[i],
            shifted.shift,
            times.map((t) => ends.findLastIndex((end) => end <= t + SAME)),
          );
    return times.map((t, n): Moment => {
      const forward = spots[i] * Math.exp(logGrowth(terms, assets[i], t));
      return { size: (weights[i] * forward) / times.length, exponent: exponents[n] };
    });
  });
}

/** |a − s|² of a spot at the ends of some steps, up to which alone it has loadings. */
function shiftedExponents(
  loadings: readonly (readonly number[])[],
  shift: Shift,
  steps: readonly number[],
): readonly number[] {
  const squares = (row: readonly number[]): number => row.reduce((sum, x) => sum + x * x, 0);
  let exponent = shift.reduce((sum, row) => sum + squares(row), 0);
  const all = loadings.map((row, k) => {
    exponent += squares(row.map((a, j) => a - shift[k][j])) - squares(shift[k]);
    return exponent;
  });
  return steps.map((k) => all[k]);
}

/** Years within which two times are one. */
const SAME = 1e-9;

/** The second moment of a call on Π Sᵢ^wᵢ. */
function productMoments({ terms, spots }: SimulationInstance, { right, weights }: BasketPayoff): readonly Moment[] {
  if (right === "put" || terms.assets.some(({ volatility }) => volatility.kind !== "deterministic")) return [];
  const { mean, variance } = basketLogarithm(terms, spots, weights);
  return [{ size: Math.exp(mean + 0.5 * variance), exponent: variance }];
}

/** The number of spots that a payoff may be: of a script, that of its unit. */
const unitsOf = (payoff: TermsPayoff, spot: number): number => (payoff.kind === "script" ? payoff.unit / spot : 1);

/** Returns the slope of a payoff in the spot of asset i as the spot goes to infinity; 0 if the payoff is bounded. */
export function slopeAtInfinity(payoff: TermsPayoff, i: number): number {
  switch (payoff.kind) {
    case "digital":
    case "swing":
      return 0;
    case "expression":
    case "script":
      return 1;
    case "basket":
      return Math.max(payoff.right === "call" ? payoff.weights[i] : -payoff.weights[i], 0);
    case "lookback":
      return payoff.right === "call" || payoff.isFloating ? 1 : 0;
    default:
      return payoff.right === "call" ? 1 : 0;
  }
}

/** Tells whether a payoff jumps by amounts of the size of its unit. */
const isDigital = (payoff: TermsPayoff): boolean =>
  payoff.kind === "digital" || (payoff.kind === "script" && payoff.program.jumps.length > 0);

/** Tells whether a payoff may be a discontinuous function of the path. */
export const mayJump = ({ payoff, barriers }: Terms): boolean =>
  isDigital(payoff) || payoff.kind === "expression" || barriers.length > 0;

/**
 * The factor on the error of steps where a volatility jumps in the spot. The order is ½ there, so that the error is
 * 1/(√2 − 1) = 2.4 times the difference to twice the step; and differences may cancel.
 */
const IRREGULAR = 4;

/**
 * Returns the error of a value due to the length of the steps. `double` is the difference to the value with steps twice
 * as long, and `fourfold` the difference between the values with steps twice and four times as long. For a scheme of
 * order 1 the error is the first difference, for one of order 2 a third of it. The estimate is at least half of what
 * the coarser pair of values suggests.
 */
export function stepBias(terms: Terms, double: Measured, fourfold: Measured): number {
  const size = ({ value, error }: Measured): number => Math.abs(value) + error;
  return Math.max(size(double), 0.5 * size(fourfold)) * (mayJumpInSteps(terms) ? IRREGULAR : 1);
}
