/**
 * The fit of Heston's model to a surface of implied volatilities, by Levenberg and Marquardt's method with analytic
 * derivatives. It has several starting points, which are evaluated together.
 */
import type { Device } from "../device/index.ts";
import { atTheMoney, checkedQuotes, countWithWords, type SurfaceFit, type UnderlyingQuotes } from "./fit.ts";
import { HestonEngine, type HestonVolatilities, quoteArrays } from "./heston-engine.ts";
import { hostNormalCdf } from "../market/models/index.ts";
import { describeHeston } from "./heston-slices.ts";
import {
  PARAMETER_COUNT,
  QUOTE_OUTPUTS,
  hestonMomentKernel,
  hestonQuoteKernel,
  hestonRuleKernel,
  MAX_NODES,
  MOMENT_COUNT,
  RULE_REALS,
} from "./heston-kernels.ts";
import { type LeastSquaresFit, leastSquaresSearches, type Linearisation } from "./least-squares.ts";
import { runOnHost } from "../kernel/index.ts";

/**
 * Returns a function that computes the implied volatilities of one underlying's quotes for parameters v₀, κ, θ, σ, ρ,
 * in JavaScript on the calling thread.
 */
function hestonOnHost({ expiries: quoted }: UnderlyingQuotes): (point: Float64Array) => HestonVolatilities {
  const { expiry, quote, expiryOf } = quoteArrays(quoted);
  const expiries = quoted.length;
  const rule = new Float64Array(RULE_REALS * expiries);
  const moments = new Float64Array(2 * MOMENT_COUNT * MAX_NODES * expiries);
  return (point) => {
    const output = new Float64Array(QUOTE_OUTPUTS * quote.length);
    const shared = { expiries, expiry, rule };
    runOnHost(hestonRuleKernel, { ...shared, items: expiries, point }, expiries);
    const nodes = expiries * MAX_NODES;
    runOnHost(hestonMomentKernel, { ...shared, items: expiries, point, moments }, nodes);
    const quotes = quote.length;
    runOnHost(hestonQuoteKernel, { ...shared, items: quotes, quotes, quote, expiryOf, moments, output }, quotes);
    return output;
  };
}

/** The options of `fitHeston`. */
export interface HestonFitOptions {
  /** True to require the Feller condition 2κθ ≥ σ²; false by default. */
  readonly feller?: boolean;
  /**
   * The number of starting points of the search, 1 to 8; 2 by default. If the search converges from none of them, more
   * are tried.
   */
  readonly starts?: number;
}

const NAMES = ["v0", "kappa", "theta", "sigma", "rho"] as const;
const LOWER = [1e-6, 1e-2, 1e-6, 1e-2, -0.999] as const;
const UPPER = [4, 100, 4, 20, 0.999] as const;

/** κ, σ and ρ of the starts; v₀ and θ are the first and the last variance at the money. */
const STARTS = [
  [2, 0.6, -0.6],
  [8, 1.5, -0.5],
  [1, 0.3, 0],
  [15, 3, -0.5],
  [4, 1, 0.4],
  [0.5, 0.5, -0.8],
  [3, 0.3, -0.3],
  [25, 4, 0.2],
] as const;

/**
 * Fits Heston's model to implied volatilities on the calling thread. @throws SpecError for quotes that cannot be fitted
 */
export function fitHeston(quotes: UnderlyingQuotes, options: HestonFitOptions = {}): SurfaceFit {
  const search = hestonSearch(quotes, options);
  let step = search.next();
  if (step.done === true) return step.value;
  const volatilities = hestonOnHost(quotes);
  while (step.done !== true) step = search.next(step.value.map(volatilities));
  return step.value;
}

/**
 * Fits Heston's model to implied volatilities on a device, which evaluates the searches from all starting points in one
 * launch. @throws SpecError for quotes that cannot be fitted
 */
export async function fitHestonOn(
  device: Device,
  quotes: UnderlyingQuotes,
  options: HestonFitOptions = {},
): Promise<SurfaceFit> {
  const search = hestonSearch(quotes, options);
  let step = search.next();
  if (step.done === true) return step.value;
  using engine = await HestonEngine.create(device, quotes, STARTS.length);
  while (step.done !== true) step = search.next(await engine.volatilities(step.value));
  return step.value;
}

/** The search for Heston's parameters: the points that it yields are answered by their volatilities. */
function* hestonSearch(
  quotes: UnderlyingQuotes,
  { feller = false, starts = 2 }: HestonFitOptions,
): Generator<readonly Float64Array[], SurfaceFit, HestonVolatilities[]> {
  const { expiries } = checkedQuotes(quotes);
  const implied = expiries.flatMap((expiry) => Array.from(expiry.implied));
  const { weights, left } = usedWeights(quotes);
  // Under Feller's condition σ is a share of √(2κθ).
  const model = (x: Float64Array): Float64Array => (feller ? withShare(x) : x);
  const linearise = (volatilities: HestonVolatilities, point: Float64Array): Linearisation => {
    const residuals = new Float64Array(implied.length);
    const jacobian = new Float64Array(PARAMETER_COUNT * implied.length);
    for (let q = 0; q < implied.length; q++) {
      const at = QUOTE_OUTPUTS * q;
      residuals[q] = weights[q] * (volatilities[at] - implied[q]);
      for (let j = 0; j < PARAMETER_COUNT; j++)
        jacobian[PARAMETER_COUNT * q + j] = weights[q] * volatilities[at + 1 + j];
    }
    if (feller) byShare(jacobian, point);
    return { residuals, jacobian };
  };
  const upper = feller ? UPPER.map((most, i) => (i === 3 ? 1 : most)) : UPPER;
  const spec = { lower: LOWER, upper, tolerance: 1e-9, maxEvaluations: 120 };
  const from = STARTS.map(([kappa, sigma, rho]) => {
    const [v0, theta] = [expiries[0], expiries[expiries.length - 1]].map((expiry) => atTheMoney(expiry) ** 2);
    return [v0, kappa, theta, feller ? Math.min(sigma / Math.sqrt(2 * kappa * theta), 0.9) : sigma, rho];
  });
  function* fitsFrom(
    points: readonly number[][],
  ): Generator<readonly Float64Array[], LeastSquaresFit[], HestonVolatilities[]> {
    const searches = leastSquaresSearches(points, spec);
    let step = searches.next();
    while (step.done !== true) {
      const trials = step.value;
      const volatilities = yield trials.map(model);
      step = searches.next(volatilities.map((found, i) => linearise(found, trials[i])));
    }
    return step.value;
  }
  let fits = yield* fitsFrom(from.slice(0, starts));
  if (!fits.some(({ status }) => status === "converged") && starts < from.length)
    fits = [...fits, ...(yield* fitsFrom(from.slice(starts)))];
  const best = fits.reduce((a, b) => (b.sum < a.sum ? b : a));
  return describe(quotes, best, model(best.point), {
    feller,
    left,
    isFew: weights.filter((weight) => weight > 0).length < PARAMETER_COUNT,
  });
}

function withShare([v0, kappa, theta, share, rho]: Float64Array): Float64Array {
  return Float64Array.of(v0, kappa, theta, share * Math.sqrt(2 * kappa * theta), rho);
}

/**
 * Derivatives with respect to the ratio of σ to √(2κθ), which replaces σ, and with respect to κ and θ at a constant
 * ratio.
 */
function byShare(jacobian: Float64Array, [, kappa, theta, share]: Float64Array): void {
  const most = Math.sqrt(2 * kappa * theta);
  for (let at = 0; at < jacobian.length; at += PARAMETER_COUNT) {
    const bySigma = jacobian[at + 3];
    jacobian[at + 1] += (bySigma * share * most) / (2 * kappa);
    jacobian[at + 2] += (bySigma * share * most) / (2 * theta);
    jacobian[at + 3] = bySigma * most;
  }
}

/** Prices in units of √(FK) below this are too near to the quadrature's error for an implied volatility. */
const SMALLEST = 1e-9;

/** The roots of the weights, 0 for quotes that are worth less than `SMALLEST`, and how many these are. */
function usedWeights({ expiries }: UnderlyingQuotes): { readonly weights: readonly number[]; readonly left: number } {
  let left = 0;
  const weights = expiries.flatMap(({ time, logMoneyness, implied, weights }) =>
    Array.from(weights, (weight, i) => {
      const k = Math.abs(logMoneyness[i]);
      const deviation = implied[i] * Math.sqrt(time);
      const d1 = -k / deviation + 0.5 * deviation;
      const price = Math.exp(-0.5 * k) * hostNormalCdf(d1) - Math.exp(0.5 * k) * hostNormalCdf(d1 - deviation);
      if (price >= SMALLEST) return Math.sqrt(weight);
      left++;
      return 0;
    }),
  );
  return { weights, left };
}

function describe(
  quotes: UnderlyingQuotes,
  best: LeastSquaresFit,
  point: Float64Array,
  { feller, left, isFew }: { readonly feller: boolean; readonly left: number; readonly isFew: boolean },
): SurfaceFit {
  const values = (of: Float64Array): Record<(typeof NAMES)[number], number> => ({
    v0: of[0],
    kappa: of[1],
    theta: of[2],
    sigma: of[3],
    rho: of[4],
  });
  const parameters = values(point);
  const errors = best.standardErrors.slice();
  const atLimit = NAMES.filter((_, i) => Number.isNaN(errors[i]));
  const messages = [
    ...(isFew ? ["there are fewer quotes than parameters, which they do not determine"] : []),
    ...(atLimit.length > 0 ? [`at a limit, or not determined by the quotes: ${atLimit.join(", ")}`] : []),
    ...(left > 0
      ? [`${countWithWords(left, "quote is", "quotes are")} left out, worth less than ${SMALLEST} of the forward`]
      : []),
  ];
  if (feller) errors[3] *= Math.sqrt(2 * point[1] * point[2]);
  return {
    status: best.status === "converged" && !isFew ? "converged" : "not converged",
    ...(messages.length > 0 ? { message: messages.join("; ") } : {}),
    model: "heston",
    parameters,
    standardErrors: values(errors),
    ...describeHeston(point, quotes),
    volatility: { kind: "heston", heston: parameters },
  };
}
