/**
 * SSVI with the power law φ = η·θ^{−γ}, fitted to all quotes of an underlying together. The surface is free of static
 * arbitrage if 0 ≤ γ ≤ 1, the increments of θ are not negative, and η is at most what the conditions of Gatheral &
 * Jacquier (2014), Theorem 4.2, allow at the first and the last expiry, between which θφ and θφ² are monotone. These
 * are the bounds of the fit, in terms of ρ, γ, the ratio of η to its largest value, and the increments.
 */
import { atTheMoney, checkedQuotes, quoteCountOf, type SurfaceFit, type UnderlyingQuotes } from "./fit.ts";
import { leastSquares, type LeastSquaresFit, type Linearisation } from "./least-squares.ts";
import { ssviPhi, type SsviPhi } from "./ssvi.ts";
import { describeSlices, expiryRangeOf, limitedNodesMessage, sliceOf } from "./variance-surface.ts";

/** ρ, γ and the share of η at the starts. */
const STARTS = [
  [-0.5, 0.4, 0.5],
  [0.3, 0.3, 0.5],
] as const;

/** Parameters before the increments of θ: ρ, γ, and the share of η. */
const SHARED = 3;

/** The bounds of |ρ| and of the share of η. */
const [MOST_SKEW, LEAST_SHARE] = [0.999, 1e-4];

/** Total variances at the money below this are none. */
const TINY = 1e-10;

/**
 * Fits the arbitrage-free SSVI surface that is closest to the quotes in implied volatility. @throws SpecError for
 * quotes that cannot be fitted
 */
export function fitSsvi(quotes: UnderlyingQuotes): SurfaceFit {
  const { expiries } = checkedQuotes(quotes);
  const isFew = quoteCountOf(expiries) < SHARED + expiries.length;
  const at = expiries.map((expiry) => atTheMoney(expiry) ** 2 * expiry.time);
  const increments = at.map((theta, i) => Math.max(theta - Math.max(0, ...at.slice(0, i)), 1e-4 * theta));
  const spec = {
    lower: [-MOST_SKEW, 0, LEAST_SHARE, ...increments.map((_, i) => (i === 0 ? TINY : 0))],
    upper: [MOST_SKEW, 1, 1, ...increments.map(() => Number.POSITIVE_INFINITY)],
    tolerance: 1e-13,
    maxEvaluations: 200,
  };
  const evaluate = (point: Float64Array): Linearisation => evaluateAt(quotes, point);
  // The nearer start first: the other one is only tried where that has not led to a minimum inside of the bounds.
  const starts = STARTS.map((shared) => Float64Array.of(...shared, ...increments))
    .map((start) => ({ start, sum: sumOf(evaluate(start)) }))
    .sort((a, b) => a.sum - b.sum);
  let best: LeastSquaresFit | undefined;
  for (const { start } of starts) {
    const fit = leastSquares(start, spec, evaluate);
    if (best === undefined || fit.sum < best.sum) best = fit;
    if (fit.status === "converged" && isInside(fit.point)) break;
  }
  const { rho, form, thetas } = read(best!.point);
  const slices = expiries.map((expiry, i) =>
    sliceOf(expiryRangeOf(expiry), { kind: "ssvi", theta: thetas[i], phi: ssviPhi(form, thetas[i]).phi, rho }),
  );
  const { limited, ...described } = describeSlices(slices, quotes);
  const errors = best!.standardErrors;
  const isFree = Array.from(errors, (error) => !Number.isNaN(error));
  const held = ["rho", "gamma", "eta"].filter((_, j) => !isFree[j]);
  const messages = [
    ...(isFew ? ["there are fewer quotes than parameters, which they do not determine"] : []),
    ...(held.length > 0 ? [`at the limit of what is free of arbitrage, or not determined: ${held.join(", ")}`] : []),
    ...limitedNodesMessage(limited),
  ];
  return {
    status: best!.status === "converged" && !isFew ? "converged" : "not converged",
    ...(messages.length > 0 ? { message: messages.join("; ") } : {}),
    model: "ssvi",
    parameters: { rho, eta: form.eta, gamma: form.gamma, theta: thetas },
    standardErrors: { rho: errors[0], gamma: errors[1] },
    ...described,
  };
}

const sumOf = ({ residuals }: Linearisation): number => residuals.reduce((sum, one) => sum + one * one, 0);

/** Tells whether ρ, γ and the share of η are within their bounds, where other starts have not led elsewhere. */
const isInside = ([rho, gamma, share]: Float64Array): boolean =>
  Math.abs(rho) < MOST_SKEW && gamma > 0 && gamma < 1 && share > LEAST_SHARE && share < 1;

function read(point: Float64Array): {
  readonly rho: number;
  readonly form: SsviPhi & { readonly kind: "plain-power" };
  readonly thetas: readonly number[];
  readonly cap: Cap;
} {
  const [rho, gamma, share] = point;
  let theta = 0;
  const thetas = Array.from(point.subarray(SHARED), (increment) => (theta += increment));
  const cap = largestEta(rho, gamma, thetas);
  return { rho, form: { kind: "plain-power", eta: share * Math.exp(cap.log), gamma }, thetas, cap };
}

/** The logarithm of the largest η without butterfly arbitrage, the expiry that it is of, and its derivatives. */
interface Cap {
  readonly log: number;
  readonly expiry: number;
  readonly byRho: number;
  readonly byGamma: number;
  readonly byTheta: number;
}

/** η ≤ 4θ^{γ−1}/(1 + |ρ|) and η ≤ 2θ^{γ−½}/√(1 + |ρ|). */
function largestEta(rho: number, gamma: number, thetas: readonly number[]): Cap {
  const skew = 1 + Math.abs(rho);
  const caps = [0, thetas.length - 1].flatMap((expiry) =>
    [1, 0.5].map((power): Cap => {
      const log = Math.log(thetas[expiry]);
      return {
        log: power * Math.log(4 / skew) + (gamma - power) * log,
        expiry,
        byRho: (-power * Math.sign(rho)) / skew,
        byGamma: log,
        byTheta: (gamma - power) / thetas[expiry],
      };
    }),
  );
  return caps.reduce((a, b) => (b.log < a.log ? b : a));
}

/**
 * Errors of volatility, and their derivatives with respect to the parameters, by way of those with respect to θ and φ,
 * which are in closed form.
 */
function evaluateAt({ expiries }: UnderlyingQuotes, point: Float64Array): Linearisation {
  const n = point.length;
  const { rho, form, thetas, cap } = read(point);
  const count = expiries.reduce((sum, { logMoneyness }) => sum + logMoneyness.length, 0);
  const residuals = new Float64Array(count);
  const jacobian = new Float64Array(n * count);
  let row = 0;
  expiries.forEach(({ time, logMoneyness, implied, weights }, e) => {
    const theta = thetas[e];
    const { phi } = ssviPhi(form, theta);
    const phiByGamma = phi * (cap.byGamma - Math.log(theta));
    const phiByShare = phi / point[2];
    for (let i = 0; i < logMoneyness.length; i++, row++) {
      const k = logMoneyness[i];
      const x = phi * k + rho;
      const root = Math.sqrt(x * x + 1 - rho * rho);
      const shape = 0.5 * (1 + rho * phi * k + root);
      const weight = Math.sqrt(weights[i]);
      const volatility = Math.sqrt(Math.max(theta * shape, 1e-14) / time);
      const factor = (0.5 * weight) / (volatility * time);
      const byPhi = 0.5 * theta * k * (rho + x / root);
      const byRho = 0.5 * theta * phi * k * (1 + 1 / root);
      residuals[row] = weight * (volatility - implied[i]);
      jacobian[row * n] = factor * (byRho + byPhi * phi * cap.byRho);
      jacobian[row * n + 1] = factor * byPhi * phiByGamma;
      jacobian[row * n + 2] = factor * byPhi * phiByShare;
      const byTheta = factor * (shape - (byPhi * phi * form.gamma) / theta);
      const byCap = factor * byPhi * phi * cap.byTheta;
      for (let j = 0; j <= e; j++) jacobian[row * n + SHARED + j] = byTheta;
      for (let j = 0; j <= cap.expiry; j++) jacobian[row * n + SHARED + j] += byCap;
    }
  });
  return { residuals, jacobian };
}
