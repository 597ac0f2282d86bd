/** Error estimates of sampled values. */
import { integrate, integratedVariance } from "../../../market/index.ts";
import { intervalWidth } from "../../../montecarlo/index.ts";
import { lastReading } from "../../plan/bends.ts";
import type { Terms } from "../../terms.ts";
import type { Path } from "./acceptance.ts";

/** The statistics of an instance's samples, in its currency. */
export interface Sample {
  readonly value: number;
  readonly standardError: number;
  /** The number of degrees of freedom of the standard error. */
  readonly freedom: number;
  readonly paths: number;
  /** The effective number of samples (`MonteCarloResult`). */
  readonly effective: number;
  /** True with importance sampling, which shifts the drift of paths. */
  readonly isShifted: boolean;
  /** True where the underlyings are the control variate. */
  readonly isControlled: boolean;
}

/**
 * The normal quantile of 98 %, so that 95 % is what remains: paths are doubled until the error looks small enough,
 * which picks those that look too small, and payoffs are skewed.
 */
const QUANTILE = 2.3263478740408408;

/**
 * The number of samples below which the mean of a payoff is skewed: the rule of three bounds what has not been seen.
 */
const FEW = 200;

/** The number of samples below which those that pay may all be of the smallest that do. */
const HARDLY_ANY = 10;

/** Returns the error estimate of a value: half the width of a confidence interval of at least 95 %. */
export function errorOf(path: Path, sample: Sample): number {
  const { standardError, freedom } = sample;
  return Math.max(intervalWidth(freedom, QUANTILE) * standardError, unseen(path, sample), tail(path, sample));
}

/** Returns the error estimate of a sensitivity: half the width of its confidence interval. */
export const sensitivityError = (standardError: number, freedom: number): number =>
  intervalWidth(freedom, QUANTILE) * standardError;

/**
 * The rule of three: what has not been seen among n paths has a probability below 3/n, with 95 %. All scramblings may
 * count as many paths beyond a jump, few paths that pay may be none of those that pay much, and all paths may pay what
 * the control does.
 */
function unseen({ terms, spots }: Path, { value, paths, effective, isControlled }: Sample): number {
  const squares = effective > 0 ? value * value * (paths / effective - 1) : 0;
  const byControl = isControlled ? (3 * Math.sqrt(Math.max(squares, 0))) / paths : 0;
  if (!mayJump(terms) && effective >= FEW) return byControl;
  const each = effective > 0 ? Math.abs(value) / effective : 0;
  const other = effective < HARDLY_ANY ? unitOf(terms, spots) / paths : 0;
  return Math.max(3 * each, 3 * other, byControl);
}

/** The error in volatility that particles and steps leave in a leverage (docs/calibration.md). */
const LEVERAGE_ERROR = 4e-3;
/** The largest derivative of an option by its volatility: of its unit times the root of time, and of a digital. */
const [LARGEST_VEGA, DIGITAL_VEGA] = [0.4, 5];

/**
 * Returns the error of a value under stochastic local volatility that comes from the leverage function, and that more
 * paths do not reduce.
 */
export function leverageError({ terms, spots }: Path): number {
  const { payoff, assets, barriers, expiry } = terms;
  if (assets[0].volatility.kind !== "stochasticLocal") return 0;
  const vega = payoff.kind === "digital" ? DIGITAL_VEGA : LARGEST_VEGA * Math.sqrt(expiry);
  return (barriers.length > 0 ? 2 : 1) * LEVERAGE_ERROR * vega * unitOf(terms, spots);
}

/** The order of magnitude of a discounted payoff. */
function unitOf({ payoff, rates, expiry }: Terms, spots: readonly number[]): number {
  const discount = Math.exp(-integrate(rates, expiry));
  if (payoff.kind === "digital") return discount * payoff.cash;
  const spot = Math.max(...spots);
  return payoff.kind === "expression" ? spot : Math.max(spot, discount * payoff.strike);
}

/**
 * Two standard errors by the exact second moment of a call on the largest of some log-normal spots, where samples do
 * not show it: E[max(wᵢSᵢ)²] ≤ Σ wᵢ²·Fᵢ²·exp(vᵢ) with the variance v of the logarithm.
 */
function tail({ terms, spots }: Path, { paths, isShifted }: Sample): number {
  const { payoff, assets, rates, expiry } = terms;
  if (isShifted || payoff.kind === "digital" || payoff.kind === "swing") return 0;
  if (payoff.kind !== "expression" && payoff.right === "put") return 0;
  const last = lastReading(terms);
  let [moment, largest] = [0, 0];
  assets.forEach(({ volatility, underlying }, i) => {
    if (volatility.kind !== "deterministic") return;
    const v = integratedVariance(volatility.sigma, last);
    const weight = payoff.kind === "basket" ? payoff.weights[i] : 1;
    const forward = weight * spots[i] * Math.exp(integrate(rates, last) - underlying.dividends.yield * last);
    moment += forward * forward * Math.exp(v);
    largest = Math.max(largest, v);
  });
  return largest > 1 ? 2 * Math.exp(-integrate(rates, expiry)) * Math.sqrt(moment / paths) : 0;
}

/** Tells whether a payoff may be a discontinuous function of the path. */
export const mayJump = ({ payoff, barriers }: Terms): boolean =>
  payoff.kind === "digital" || payoff.kind === "expression" || barriers.length > 0;
