/**
 * Local volatility by direct calibration: ln σ on the nodes of a grid of times and spots, that of
 *
 *   min ½·Σ wᵢ·(σ_model,ᵢ − σ_quote,ᵢ)²/ε² + ½·|z|²/s²,   ln σ = ln σ_reference + B·z,
 *
 * implied volatilities of Dupire's equation against the quotes, with Tikhonov's regularisation in a norm of smooth
 * functions (`smoothness.ts`). σ_reference is the implied volatility at the money by time, ε the error of a quote that
 * is acceptable for smoothness, s the expected distance of ln σ from the reference. The gradient with respect to all
 * nodes takes one equation forward and its adjoint backward in time.
 *
 * Source: Lagnado & Osher (1997); Achdou & Pironneau (2005); Egger & Engl, *Tikhonov regularization applied to the
 * inverse problem of option pricing*, Inverse Problems 21 (2005).
 * Verified: test/calibration/adjoint, by the gradient's differences, and by prices under the fitted surface.
 */
import { SpecError } from "../base/errors.ts";
import { dupireGrid, type AdjointGrid, DAMPING_STEPS } from "./adjoint/grid.ts";
import { minimise } from "./adjoint/minimise.ts";
import { type CovarianceRoot, covarianceRootAlong } from "./adjoint/smoothness.ts";
import { dupireAdjoint, dupireForward } from "./adjoint/sweeps.ts";
import { checkNonNegative } from "./andreasen-huge.ts";
import { type SmileSlice, smileVolatility, splineThrough } from "../market/index.ts";
import { checkedQuotes, countWithWords, type SurfaceFit, type UnderlyingQuotes } from "./fit.ts";
import { volatilityByLogPrice, impliedAt, type ImpliedOption } from "./forward-step.ts";
import { dupireVolatility, expiryRangeOf, splinesOf } from "./variance-surface.ts";

/** The options of `fitAdjoint`. */
export interface AdjointOptions {
  /** The number of spots of the grid, 200 by default. */
  readonly spots?: number | undefined;
  /** The number of time steps of the grid, 50 by default. */
  readonly times?: number | undefined;
  /**
   * The error ε of implied volatilities that is acceptable for a smoother surface; 3e-4 by default. The search ends
   * when the root mean square error is below it.
   */
  readonly tolerance?: number | undefined;
}

/** The largest number of evaluations of the gradient. */
const EVALUATIONS = 400;

/** s: how far ln σ is expected from the reference. */
const SPREAD = 0.5;
/** The farthest that ln σ may be from the reference: quotes that ask for more have arbitrage. */
const FARTHEST = Math.log(5);
/** ℓ along ln S in units of σ√t, along √t in units of that of the last expiry, and the least of them in ln S. */
const [ALONG_SPOT, ALONG_TIME, LEAST] = [0.7, 0.3, 0.02] as const;

/**
 * Fits a smooth local volatility on a grid to implied volatilities. If the quotes admit arbitrage, the fit is smooth
 * and does not match them exactly. The discretisation error is about 1e-4 of volatility. Cost: about 1 ms per gradient
 * on 200 × 50 nodes; quotes without arbitrage need 10 to 20 gradients. @throws SpecError for quotes that cannot be
 * fitted, or a grid that is too small
 */
export function fitAdjoint(quotes: UnderlyingQuotes, options: AdjointOptions = {}): SurfaceFit {
  const { spot, expiries } = checkedQuotes(quotes);
  const { spots = 200, times = 50, tolerance = 3e-4 } = options;
  const fewest = expiries.length + DAMPING_STEPS;
  if (!(Number.isInteger(spots) && spots >= 20 && Number.isInteger(times) && times >= fewest))
    throw new SpecError(`spots and times: got ${spots} × ${times}, expected at least 20 spots and ${fewest} times`);
  const problem = new AdjointProblem(quotes, { spots, times, tolerance });
  const start = new Float64Array(spots * (times + 1));
  const found = minimise(start, (z, gradient) => problem.evaluate(z, gradient), {
    gain: 0.02,
    maxEvaluations: EVALUATIONS,
    isEnough: () => problem.rmse <= tolerance,
  });
  const y = problem.logVolatility(found.point);
  problem.solve(y);
  const { grid } = problem;
  const ranges = expiries.map(expiryRangeOf);
  const limited = problem.limited(y);
  const message = `${countWithWords(limited, "node", "nodes")} of the local volatility at a limit, five times a smooth one`;
  const smile = { slices: Array.from({ length: times }, (_, n) => problem.sliceAt(n + 1)) };
  return {
    status: found.hasConverged ? "converged" : "not converged",
    ...(limited > 0 ? { message } : {}),
    model: "local",
    parameters: {},
    impliedVolatility: (k, t) => smileVolatility(smile, k, t),
    butterfly: checkNonNegative(grid, ranges, (_, j, e) => problem.density(grid.rows[e], j)),
    calendar: checkNonNegative(grid, ranges, (_, j, e) =>
      problem.growth(e > 0 ? grid.rows[e - 1] : 0, grid.rows[e], j),
    ),
    volatility: {
      kind: "surface",
      surface: {
        times: Array.from(grid.times),
        spots: Array.from(grid.k, (k) => spot * Math.exp(k)),
        volatility: Array.from(grid.times, (_, n) => Array.from(y.subarray(n * spots, (n + 1) * spots), Math.exp)),
      },
      smile,
    },
  };
}

/** The objective function of `fitAdjoint` on a grid, and its gradient. */
export class AdjointProblem {
  readonly grid: AdjointGrid;
  /** ln σ of the reference, [time][node]. */
  readonly #reference: Float64Array;
  readonly #quotes: UnderlyingQuotes;
  readonly #total: number;
  readonly #scale: number;
  readonly #bySpot: readonly CovarianceRoot[];
  readonly #byTime: CovarianceRoot;
  readonly #a: Float64Array;
  readonly #curvature: Float64Array;
  readonly #inverse: Float64Array;
  readonly #factor: Float64Array;
  readonly #lambda: Float64Array;
  /** The options out of the money in units of the forward, [time][node]. */
  readonly #u: Float64Array;
  /** The weighted root mean square error of implied volatilities at the last evaluation. */
  rmse = Number.POSITIVE_INFINITY;

  constructor(
    quotes: UnderlyingQuotes,
    { spots: nodes, times: steps, tolerance }: Readonly<Record<keyof AdjointOptions, number>>,
  ) {
    const { expiries } = quotes;
    this.grid = dupireGrid(quotes, nodes, steps);
    this.#quotes = quotes;
    this.#total = expiries.reduce((sum, { weights }) => sum + weights.reduce((a, b) => a + b, 0), 0);
    const count = expiries.reduce((sum, { weights }) => sum + weights.length, 0);
    this.#scale = count / (this.#total * tolerance * tolerance);
    const { times, k } = this.grid;
    this.#reference = referenceOf(quotes, this.grid);
    const middle = (nodes - 1) >> 1;
    const last = times[steps];
    this.#bySpot = Array.from(times, (t, n) =>
      covarianceRootAlong(
        k,
        Math.max(ALONG_SPOT * Math.exp(this.#reference[n * nodes + middle]) * Math.sqrt(t), LEAST),
      ),
    );
    this.#byTime = covarianceRootAlong(
      times.map((t) => Math.sqrt(t / last)),
      ALONG_TIME,
    );
    const array = (): Float64Array => new Float64Array(nodes * (steps + 1));
    [this.#a, this.#curvature, this.#inverse] = [array(), array(), array()];
    [this.#factor, this.#lambda, this.#u] = [array(), array(), array()];
  }

  /** Returns ln σ on the nodes [time][node], which is the reference plus B·z. */
  logVolatility(z: Float64Array): Float64Array {
    const { nodes, steps } = this.grid;
    const y = z.slice();
    for (let n = 0; n <= steps; n++) this.#bySpot[n].apply(y, n * nodes, 1);
    for (let j = 0; j < nodes; j++) this.#byTime.apply(y, j, nodes);
    for (let i = 0; i < y.length; i++) y[i] = Math.max(Math.min(y[i], FARTHEST), -FARTHEST) + this.#reference[i];
    return y;
  }

  /** Returns the number of nodes that lie at the limit of their distance from the reference. */
  limited(y: Float64Array): number {
    return y.reduce((count, one, i) => count + (this.#isLimited(one, i) ? 1 : 0), 0);
  }

  #isLimited(y: number, i: number): boolean {
    return Math.abs(y - this.#reference[i]) >= FARTHEST * (1 - 1e-12);
  }

  /** Returns the objective at z, and writes its gradient. */
  evaluate(z: Float64Array, gradient: Float64Array): number {
    const { nodes, steps, lower, upper, elapsed, theta } = this.grid;
    const y = this.logVolatility(z);
    this.solve(y);
    const shape = { nodes, steps };
    let value = this.#misfit();
    const [a, curvature, inverse, factor, lambda] = [
      this.#a,
      this.#curvature,
      this.#inverse,
      this.#factor,
      this.#lambda,
    ];
    dupireAdjoint({ shape, lower, upper, elapsed, theta, a, curvature, inverse, factor, lambda, gradient });
    // From the nodes of κ back to those of the spot; ∂a/∂ln σ = 2a.
    lambda.fill(0);
    this.#eachNode((at, first, share) => {
      const slope = 2 * a[at] * gradient[at];
      lambda[first] += (1 - share) * slope;
      if (share > 0) lambda[first + 1] += share * slope;
    });
    gradient.set(lambda);
    for (let i = 0; i < y.length; i++) if (this.#isLimited(y[i], i)) gradient[i] = 0;
    for (let j = 0; j < nodes; j++) this.#byTime.transposed(gradient, j, nodes);
    for (let n = 0; n <= steps; n++) this.#bySpot[n].transposed(gradient, n * nodes, 1);
    for (let i = 0; i < z.length; i++) {
      value += (0.5 * z[i] * z[i]) / (SPREAD * SPREAD);
      gradient[i] += z[i] / (SPREAD * SPREAD);
    }
    return value;
  }

  /** Solves Dupire's equation for y = ln σ on the nodes. */
  solve(y: Float64Array): void {
    const { nodes, steps, lower, upper, source, elapsed, theta } = this.grid;
    const [a, u, curvature, inverse, factor] = [this.#a, this.#u, this.#curvature, this.#inverse, this.#factor];
    this.#eachNode((at, first, share) => {
      a[at] = 0.5 * Math.exp(2 * (share > 0 ? (1 - share) * y[first] + share * y[first + 1] : y[first]));
    });
    const shape = { nodes, steps };
    dupireForward({ shape, lower, upper, source, elapsed, theta, a, u, curvature, inverse, factor });
  }

  /** The nodes of κ with those of the spot between which they lie, and the share of the second. */
  #eachNode(visit: (at: number, first: number, share: number) => void): void {
    const { nodes, steps, k, drift } = this.grid;
    for (let n = 0; n <= steps; n++) {
      let cell = 0;
      for (let j = 0; j < nodes; j++) {
        const x = k[j] + drift[n];
        while (cell < nodes - 2 && x >= k[cell + 1]) cell++;
        const share = (x - k[cell]) / (k[cell + 1] - k[cell]);
        visit(n * nodes + j, n * nodes + cell, Math.min(Math.max(share, 0), 1));
      }
    }
  }

  /** Returns the out-of-the-money option at k = ln(K/F) and the time with index `row`. */
  optionAt(row: number, k: number): ImpliedOption {
    const { nodes, kappa } = this.grid;
    const at = row * nodes;
    // Beyond the forward a node has the other option, whose price parity gives.
    return impliedAt(this.grid, k, (j) => {
      const parity = k >= 0 ? 1 - kappa[j] : kappa[j] - 1;
      return this.#u[at + j] + Math.max(parity, 0);
    });
  }

  /** Returns the total variance at the time with index `row`, a spline through the nodes that have a price. */
  sliceAt(row: number): SmileSlice {
    const { k, times } = this.grid;
    const priced = k.filter((one) => this.optionAt(row, one).price > LEAST_PRICE);
    const variances = priced.map((one) => this.optionAt(row, one).deviation ** 2);
    return { time: times[row], curve: { kind: "spline", spline: splineThrough(priced, variances) } };
  }

  /** Returns κ²·∂²c/∂κ² at a node and the time with index `row`. */
  density(row: number, node: number): number {
    return this.#curvature[row * this.grid.nodes + node];
  }

  /** Returns the increase of an out-of-the-money option's price at a node between two times, given by index. */
  growth(from: number, to: number, node: number): number {
    const { nodes } = this.grid;
    return this.#u[to * nodes + node] - this.#u[from * nodes + node];
  }

  /** Returns half the sum of squares of the quotes' errors, and writes its derivatives with respect to u into λ. */
  #misfit(): number {
    const { nodes, rows } = this.grid;
    const lambda = this.#lambda.fill(0);
    let sum = 0;
    this.#quotes.expiries.forEach(({ time, logMoneyness, implied, weights }, e) => {
      logMoneyness.forEach((k, i) => {
        const option = this.optionAt(rows[e], k);
        const error = option.deviation / Math.sqrt(time) - implied[i];
        const weight = this.#scale * weights[i];
        sum += 0.5 * weight * error * error;
        const slope = weight * error * volatilityByLogPrice(option, k, time);
        for (let b = 0; b < 4; b++) lambda[rows[e] * nodes + option.first + b] += slope * option.weights[b];
      });
    });
    this.rmse = Math.sqrt((2 * sum) / (this.#scale * this.#total));
    return sum;
  }
}

/** Prices below this, in units of the forward, are less exact than the volatility of a neighbour. */
const LEAST_PRICE = 1e-9;

/** The limits of the reference relative to the implied volatility at the same point. */
const LIMITS = [0.5, 2] as const;

/** ln σ of Dupire's formula on the splines through the quotes, constant beyond them, and limited where it has none. */
function referenceOf({ expiries }: UnderlyingQuotes, { nodes, steps, k, times, drift }: AdjointGrid): Float64Array {
  const slices = splinesOf(expiries);
  const found = new Float64Array(nodes * (steps + 1));
  for (let n = 0; n <= steps; n++) {
    const t = Math.max(times[n], 0.25 * times[1]);
    const { range } = slices.find(({ time }) => time >= t) ?? slices[slices.length - 1];
    for (let j = 0; j < nodes; j++) {
      const inside = Math.min(Math.max(k[j] - drift[n], range[0]), range[1]);
      const { square, implied } = dupireVolatility({ slices }, inside, t);
      const local = square > 0 ? Math.sqrt(square) : 0;
      found[n * nodes + j] = Math.log(Math.min(Math.max(local, LIMITS[0] * implied), LIMITS[1] * implied));
    }
  }
  return found;
}
