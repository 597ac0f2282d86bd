/** Values of averages and lookbacks on one Black–Scholes asset: by quadrature between fixings, and closed forms. */
import type { Lognormal } from "../closed-forms.ts";
import { cdf } from "../normal.ts";

/** A call on the forward of a log-normal spot, not discounted. */
function black(forward: number, strike: number, deviation: number): number {
  if (strike <= 0) return forward - strike;
  const d = Math.log(forward / strike) / deviation + 0.5 * deviation;
  return forward * cdf(d) - strike * cdf(d - deviation);
}

/** Nodes of the trapezoidal rule, and the standard deviations to both sides that they reach. */
const [NODES, REACH] = [320, 8.5];

/**
 * The value of an option on the mean of the fixings S(tₖ), k = 1 … n. With Xₖ the increments of ln S,
 *
 *   Σ S(tₖ) = S₀·exp(X₁)·(1 + exp Z₂),   Zₖ = Xₖ + ln(1 + exp Zₖ₊₁),   Zₙ = Xₙ,
 *
 * so that densities follow one after the other by convolutions with normal ones, which the trapezoidal rule does to all
 * digits; over X₁ the mean is Black's formula (A. Carverhill and L. Clewlow, Risk 3 (1990)).
 */
export function averageValue(
  { spot, rate, yield: q, volatility, expiry }: Lognormal,
  right: "call" | "put",
  strike: number,
  dates: readonly number[],
): number {
  const n = dates.length;
  const increments = dates.map((t, k) => {
    const dt = t - (k === 0 ? 0 : dates[k - 1]);
    return { mean: (rate - q - 0.5 * volatility ** 2) * dt, deviation: volatility * Math.sqrt(dt) };
  });
  // The mean and the deviation of Zₖ, about.
  const spread = (k: number): number =>
    Math.sqrt(increments.slice(k).reduce((sum, { deviation }) => sum + deviation ** 2, 0));
  let nodes: readonly number[] = [];
  let weights: readonly number[] = [];
  for (let k = n - 1; k > 0; k--) {
    const { mean, deviation } = increments[k];
    const centre = mean + Math.log(n - k);
    const reach = REACH * spread(k);
    const count = Math.max(NODES, Math.ceil((4 * reach) / deviation));
    const step = (2 * reach) / count;
    const [before, mass] = [nodes, weights];
    const means = before.map((z) => mean + Math.log1p(Math.exp(z)));
    nodes = Array.from({ length: count + 1 }, (_, i) => centre - reach + i * step);
    weights = nodes.map((z) => {
      if (before.length === 0) return (step * normal((z - mean) / deviation)) / deviation;
      let sum = 0;
      for (let j = 0; j < means.length; j++) {
        const x = (z - means[j]) / deviation;
        if (x > -REACH && x < REACH) sum += mass[j] * normal(x);
      }
      return (step * sum) / deviation;
    });
  }
  const [{ mean, deviation }] = increments;
  const forward = (spot * Math.exp(mean + 0.5 * deviation ** 2)) / n;
  const sum =
    n === 1
      ? black(forward, strike, deviation)
      : nodes.reduce((total, z, i) => total + weights[i] * black(forward * (1 + Math.exp(z)), strike, deviation), 0);
  const average =
    n === 1 ? forward : nodes.reduce((total, z, i) => total + weights[i] * forward * (1 + Math.exp(z)), 0);
  return Math.exp(-rate * expiry) * (right === "call" ? sum : sum - average + strike);
}

const normal = (x: number): number => Math.exp(-0.5 * x * x) / Math.sqrt(2 * Math.PI);

/** A lookback that is monitored continuously. */
export interface Lookback {
  readonly right: "call" | "put";
  /** The strike; undefined for a floating one. */
  readonly strike: number | undefined;
  /** The extremum so far. */
  readonly extremum: number;
}

/** The value of a lookback by Goldman, Sosin and Gatto (1979) and Conze and Viswanathan (1991). */
export function lookbackValue(model: Lognormal, { right, strike, extremum }: Lookback): number {
  const { spot, rate, yield: q, expiry } = model;
  const discount = Math.exp(-rate * expiry);
  const last = spot * Math.exp(-q * expiry);
  if (strike === undefined)
    return right === "put" ? extremeMean(model, extremum, 1) - last : last - extremeMean(model, extremum, -1);
  return right === "call"
    ? extremeMean(model, Math.max(strike, extremum), 1) +
        discount * (Math.max(extremum - strike, 0) - Math.max(strike, extremum))
    : discount * (Math.max(strike - extremum, 0) + Math.min(strike, extremum)) -
        extremeMean(model, Math.min(strike, extremum), -1);
}

/** The discounted mean of the larger of a level and the maximum (sign 1), or of the smaller and the minimum (−1). */
function extremeMean({ spot, rate, yield: q, volatility, expiry }: Lognormal, level: number, sign: 1 | -1): number {
  const b = rate - q;
  const root = volatility * Math.sqrt(expiry);
  const a = (Math.log(spot / level) + (b + 0.5 * volatility ** 2) * expiry) / root;
  const discount = Math.exp(-rate * expiry);
  const reflected =
    (spot / level) ** ((-2 * b) / volatility ** 2) * cdf(sign * (a - (2 * b * Math.sqrt(expiry)) / volatility));
  const grown = Math.exp(b * expiry) * cdf(sign * a);
  const part = (spot * discount * volatility ** 2 * (grown - reflected)) / (2 * b);
  return level * discount * cdf(sign * (root - a)) + spot * Math.exp(-q * expiry) * cdf(sign * a) + part;
}
