/**
 * SVI by the quasi-explicit method of De Marco & Martini, *Quasi-explicit calibration of Gatheral's SVI model*, Zeliade
 * Systems 2009. For given m and σ the variance is linear in three numbers,
 *
 *   w = a + d·y + c·√(y² + 1),   y = (k − m)/σ,   c = bσ,   d = ρbσ,
 *
 * so that their best values with |d| ≤ c and c + |d| ≤ 2σ (Lee's bound on the wings) are found directly, and only m and
 * σ are searched for, on a grid. The method of Levenberg and Marquardt then refines the best points in all five
 * parameters, with errors measured in volatility.
 */
import type { LeastSquaresFit, Linearisation } from "./least-squares.ts";
import { leastSquares, standardErrorsOf } from "./least-squares.ts";
import { responseOf } from "./response.ts";
import type { ExpiryQuotes } from "./fit.ts";
import type { SviParameters } from "../market/index.ts";

/** The result of `fitSviSlice`. */
interface SviFit {
  readonly status: "converged" | "not converged" | "failed";
  readonly parameters: SviParameters;
  readonly standardErrors: SviParameters;
  /** The weighted norm of the errors of implied volatilities, √(Σ weight·error²). */
  readonly residual: number;
}

/** Points of the grid in m and in σ, and how many of the best are refined. */
const GRID = { m: 9, sigma: 8, refined: 3 };

/** The largest slope of a wing: Lee, *The moment formula for implied volatility at extreme strikes*, 2004. */
const STEEPEST = 2;

/** The smallest σ, in units of the range of the quotes. */
const SHARPEST = 1e-3;

/** Fits raw SVI to the implied volatilities of one expiry. */
export function fitSviSlice(quotes: ExpiryQuotes): SviFit {
  const { weights } = quotes;
  const { width, centre } = rangeOf(quotes);
  const starts: (SviParameters & { readonly cost: number })[] = [];
  for (let i = 0; i < GRID.m; i++) {
    for (let j = 0; j < GRID.sigma; j++) {
      const m = centre + (i / (GRID.m - 1) - 0.5) * 1.2 * width;
      const sigma = width * 0.01 * 100 ** (j / (GRID.sigma - 1));
      starts.push(linearFit(quotes, m, sigma));
    }
  }
  starts.sort((a, b) => a.cost - b.cost);
  const spec = { ...boundsOf(quotes), tolerance: 1e-9, maxEvaluations: 200 };
  const evaluate = (point: Float64Array): Linearisation => evaluateWings(quotes, point);
  let best: LeastSquaresFit | undefined;
  for (const start of starts.slice(0, GRID.refined)) {
    const fit = leastSquares(wingsOf(start), spec, evaluate);
    if (best === undefined || fit.sum < best.sum) best = fit;
    if (best.sum < 1e-24 * weights.length) break;
  }
  const parameters = rawFromWings(best!.point);
  const isFree = Array.from(best!.standardErrors, (error) => error >= 0);
  const [a, b, rho, m, sigma] = standardErrorsOf(evaluateRaw(quotes, parameters), isFree);
  return {
    status: best!.status,
    parameters,
    standardErrors: { a, b, rho, m, sigma },
    residual: Math.sqrt(best!.sum),
  };
}

/** The range of the quotes in k: its width, at least a small one, and its centre. */
function rangeOf({ logMoneyness: k, time }: ExpiryQuotes): { readonly width: number; readonly centre: number } {
  const [first, last] = [k[0], k[k.length - 1]];
  return { width: Math.max(last - first, 0.05 * Math.sqrt(time)), centre: 0.5 * (first + last) };
}

/** The bounds of the parameters of `wingsOf`. */
function boundsOf(quotes: ExpiryQuotes): { readonly lower: readonly number[]; readonly upper: readonly number[] } {
  const { width, centre } = rangeOf(quotes);
  const wing = Math.sqrt(STEEPEST);
  return {
    lower: [0, 0, 0, centre - 2 * width, SHARPEST * width],
    upper: [Number.POSITIVE_INFINITY, wing, wing, centre + 2 * width, 10 * width],
  };
}

/**
 * Returns the function from small moves of the quotes of an expiry to the parameters of their fit, to first order. At a
 * fit the gradient g = Jᵀr of half of the sum of squares is zero in the parameters p that are not at a bound, so that
 * by the implicit function theorem dp = −(∂g/∂p)⁻¹·(∂g/∂q)·dq.
 */
export function sviResponse(quotes: ExpiryQuotes, parameters: SviParameters): (moves: Float64Array) => SviParameters {
  const point = wingsOf(parameters);
  const { jacobian } = evaluateWings(quotes, point);
  const bumped = responseOf(point, boundsOf(quotes), (at) => evaluateWings(quotes, at));
  return (moves) => {
    // A quote's residual is √weight·(fit − quote).
    const gradient = point.map((_, j) => {
      let sum = 0;
      for (let i = 0; i < moves.length; i++) sum -= jacobian[5 * i + j] * Math.sqrt(quotes.weights[i]) * moves[i];
      return sum;
    });
    return rawFromWings(bumped(gradient));
  };
}

/** The smallest variance, the roots of the slopes of both wings, m and σ: what bounds hold for. */
function wingsOf({ a, b, rho, m, sigma }: SviParameters): Float64Array {
  const [right, left] = [Math.sqrt(b * (1 + rho)), Math.sqrt(b * (1 - rho))];
  return Float64Array.of(a + right * left * sigma, right, left, m, sigma);
}

function rawFromWings([smallest, right, left, m, sigma]: Float64Array): SviParameters {
  const [up, down] = [right * right, left * left];
  const b = 0.5 * (up + down);
  return { a: smallest - right * left * sigma, b, rho: b > 0 ? (up - down) / (up + down) : 0, m, sigma };
}

/** The smallest variance of which a root is taken, for trials whose variance is nearly zero. */
const TINY = 1e-14;

function evaluateWings(
  { time, logMoneyness, implied, weights }: ExpiryQuotes,
  [smallest, right, left, m, sigma]: Float64Array,
): Linearisation {
  const count = logMoneyness.length;
  const residuals = new Float64Array(count);
  const jacobian = new Float64Array(5 * count);
  for (let i = 0; i < count; i++) {
    const x = logMoneyness[i] - m;
    const root = Math.sqrt(x * x + sigma * sigma);
    const [above, below] = [0.5 * (root + x), 0.5 * (root - x)];
    const variance = Math.max(smallest + right * right * above + left * left * below - right * left * sigma, TINY);
    const volatility = Math.sqrt(variance / time);
    const weight = Math.sqrt(weights[i]);
    const factor = (0.5 * weight) / (volatility * time);
    residuals[i] = weight * (volatility - implied[i]);
    const b = 0.5 * (right * right + left * left);
    const tilt = 0.5 * (right * right - left * left);
    jacobian.set(
      [
        factor,
        factor * (2 * right * above - left * sigma),
        factor * (2 * left * below - right * sigma),
        factor * (-tilt - (b * x) / root),
        factor * ((b * sigma) / root - right * left),
      ],
      5 * i,
    );
  }
  return { residuals, jacobian };
}

/** The same residuals, with their derivatives with respect to a, b, ρ, m and σ. */
function evaluateRaw(quotes: ExpiryQuotes, parameters: SviParameters): Linearisation {
  const { b, rho, m, sigma } = parameters;
  const { time, logMoneyness, implied, weights } = quotes;
  const { residuals } = evaluateWings(quotes, wingsOf(parameters));
  const jacobian = new Float64Array(5 * logMoneyness.length);
  logMoneyness.forEach((k, i) => {
    const x = k - m;
    const root = Math.sqrt(x * x + sigma * sigma);
    const factor = weights[i] > 0 ? 0.5 * weights[i] : 0;
    const volatility = weights[i] > 0 ? implied[i] + residuals[i] / Math.sqrt(weights[i]) : 1;
    const scale = factor / (Math.sqrt(weights[i] || 1) * volatility * time);
    const slopes = [1, rho * x + root, b * x, -b * (rho + x / root), (b * sigma) / root];
    jacobian.set(
      slopes.map((slope) => scale * slope),
      5 * i,
    );
  });
  return { residuals, jacobian };
}

/** The sums of the normal equations in a, d and c, their right side, and its sum of squares. */
interface Moments {
  readonly normal: Float64Array;
  readonly right: Float64Array;
  readonly square: number;
}

/** The best a, b and ρ for m and σ, in variance with weights that make its errors those of volatility. */
function linearFit(
  { time, logMoneyness, implied, weights }: ExpiryQuotes,
  m: number,
  sigma: number,
): SviParameters & { readonly cost: number } {
  const [normal, right] = [new Float64Array(9), new Float64Array(3)];
  let square = 0;
  for (let i = 0; i < logMoneyness.length; i++) {
    const y = (logMoneyness[i] - m) / sigma;
    const root = Math.sqrt(y * y + 1);
    const variance = implied[i] * implied[i] * time;
    const scale = weights[i] / (4 * variance * time);
    normal[0] += scale;
    normal[1] += scale * y;
    normal[2] += scale * root;
    normal[4] += scale * y * y;
    normal[5] += scale * y * root;
    normal[8] += scale * root * root;
    right[0] += scale * variance;
    right[1] += scale * variance * y;
    right[2] += scale * variance * root;
    square += scale * variance * variance;
  }
  [normal[3], normal[6], normal[7]] = [normal[1], normal[2], normal[5]];
  const most = STEEPEST * sigma;
  const slack = 1e-12 * most;
  let best: Best | undefined;
  const isInside = ([, d, c]: readonly number[]): boolean =>
    c >= -slack && Math.abs(d) <= c + slack && c + Math.abs(d) <= most + slack;
  const interior = bestInside({ normal, right, square });
  // Where the best point of all is inside, none is better.
  if (interior !== undefined && isInside(interior.at)) best = interior;
  else
    for (const { origin, directions } of FACES) {
      const found = bestOn({ normal, right, square }, most * origin[1], most * origin[2], directions);
      if (isInside(found.at) && (best === undefined || found.cost < best.cost)) best = found;
    }
  const [a, d, c] = best!.at;
  const rho = c > 0 ? Math.min(Math.max(d / c, -1), 1) : 0;
  // A minimum below 0 is lifted: the refinement begins from a variance.
  const smallest = Math.max(a + Math.sqrt(Math.max(c * c - d * d, 0)), TINY);
  return {
    a: smallest - Math.sqrt(Math.max(c * c - d * d, 0)),
    b: Math.max(c, 0) / sigma,
    rho,
    m,
    sigma,
    cost: best!.cost,
  };
}

/** The edges and corners of |d| ≤ c, c + |d| ≤ 1 as (a, d, c) = origin + Σ directions. */
const FACES: readonly { readonly origin: readonly number[]; readonly directions: readonly (readonly number[])[] }[] =
  (() => {
    const a = [1, 0, 0];
    const edges = [
      { origin: [0, 0, 0], directions: [a, [0, 1, 1]] },
      { origin: [0, 0, 0], directions: [a, [0, -1, 1]] },
      { origin: [0, 0, 1], directions: [a, [0, 1, -1]] },
      { origin: [0, 0, 1], directions: [a, [0, -1, -1]] },
    ];
    const corners = [
      [0, 0, 0],
      [0, 0.5, 0.5],
      [0, -0.5, 0.5],
      [0, 0, 1],
    ].map((origin) => ({ origin, directions: [a] }));
    return [...edges, ...corners];
  })();

/** A pivot that is smaller, as a part of its diagonal: the quotes say nothing of that direction. */
const SMALLEST_PIVOT = 1e-14;

/** A point (a, d, c) and its sum of squares. */
interface Best {
  readonly at: readonly number[];
  readonly cost: number;
}

/** The least squares in all three numbers; undefined if the quotes do not determine them. */
function bestInside({ normal, right, square }: Moments): Best | undefined {
  const first = normal[1] / normal[0];
  const second = normal[2] / normal[0];
  const pivot = normal[4] - first * normal[1];
  const mixed = normal[5] - first * normal[2];
  const last = normal[8] - second * normal[2] - (mixed / pivot) * mixed;
  if (!(pivot > SMALLEST_PIVOT * normal[4] && last > SMALLEST_PIVOT * normal[8])) return undefined;
  const rest = right[1] - first * right[0];
  const c = (right[2] - second * right[0] - (mixed / pivot) * rest) / last;
  const d = (rest - mixed * c) / pivot;
  const a = (right[0] - normal[1] * d - normal[2] * c) / normal[0];
  return { at: [a, d, c], cost: square - (a * right[0] + d * right[1] + c * right[2]) };
}

/** The least squares on a face from (0, d, c) on, by Gauss's elimination of its normal equations. */
function bestOn(
  { normal, right, square }: Moments,
  d: number,
  c: number,
  directions: readonly (readonly number[])[],
): Best {
  const by = (u: readonly number[], v: readonly number[]): number => {
    let sum = 0;
    for (let p = 0; p < 3; p++)
      sum += u[p] * (normal[3 * p] * v[0] + normal[3 * p + 1] * v[1] + normal[3 * p + 2] * v[2]);
    return sum;
  };
  const dot = (u: readonly number[]): number => u[0] * right[0] + u[1] * right[1] + u[2] * right[2];
  const at = [0, d, c];
  const size = directions.length;
  const rows = directions.map((u) => {
    const row = new Array<number>(size + 1);
    for (let q = 0; q < size; q++) row[q] = by(u, directions[q]);
    row[size] = dot(u) - by(u, at);
    return row;
  });
  for (let r = 0; r < size; r++) {
    // A quote that says nothing of a direction leaves it at 0.
    const pivot =
      rows[r][r] > SMALLEST_PIVOT * by(directions[r], directions[r]) ? rows[r][r] : Number.POSITIVE_INFINITY;
    for (let other = 0; other < size; other++) {
      if (other === r) continue;
      const factor = rows[other][r] / pivot;
      for (let q = r; q <= size; q++) rows[other][q] -= factor * rows[r][q];
    }
    rows[r][r] = pivot;
  }
  for (let r = 0; r < size; r++) {
    const share = rows[r][size] / rows[r][r];
    for (let p = 0; p < 3; p++) at[p] += share * directions[r][p];
  }
  return { at, cost: square - 2 * dot(at) + by(at, at) };
}
