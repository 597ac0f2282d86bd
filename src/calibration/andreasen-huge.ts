/**
 * Volatility interpolation by Andreasen & Huge, *Volatility interpolation*, Risk 2011. Call prices c(κ) in units of the
 * forward, κ = K/F, step from one expiry to the next by one implicit step of Dupire's equation,
 *
 *   (1 − ½Δt·σᵢ(κ)²·κ²·∂²/∂κ²)·cᵢ₊₁ = cᵢ,   c₀ = (1 − κ)⁺,
 *
 * with σᵢ piecewise constant between the middles of the quoted strikes, found by least squares in implied volatility,
 * expiry by expiry. Between two expiries the same step with the elapsed part of Δt gives the prices. The matrix is an
 * M-matrix whose rows sum to 1, so that prices are convex and increase with time, whatever σᵢ is: no arbitrage.
 */
import type { ArbitrageCheck, ExpiryQuotes, SurfaceFit, UnderlyingQuotes } from "./fit.ts";
import { checkedQuotes } from "./fit.ts";
import { leastSquares, type LeastSquaresFit, type Linearisation } from "./least-squares.ts";
import {
  byLogPrice,
  cellOf,
  forwardStep,
  type Grid,
  gridFor,
  impliedAt,
  type ImpliedOption,
  type Prices,
  type Step,
} from "./forward-step.ts";
import { type Expiry, limitedMessage, localVolatility } from "./variance-surface.ts";

/** Bounds of the local volatilities of a step. */
const [LOWEST, HIGHEST] = [1e-3, 10];

/** Nodes of the grid in ln κ, denser about the forward. */
const NODES = 400;

interface FittedStep {
  readonly from: number;
  readonly to: number;
  /** Prices at `from`, on the grid. */
  readonly before: Prices;
  /** σᵢ on the grid. */
  readonly sigma: Float64Array;
  readonly fit: LeastSquaresFit;
}

/**
 * The surface of Andreasen and Huge for the quotes: free of arbitrage, and as near to them as that allows.
 * @throws SpecError for quotes that nothing can be fitted to
 */
export function fitAndreasenHuge(quotes: UnderlyingQuotes): SurfaceFit {
  const { spot, expiries } = checkedQuotes(quotes);
  const grid = gridFor(expiries, NODES);
  const steps: FittedStep[] = [];
  let before = payoffs(grid);
  expiries.forEach((expiry, i) => {
    const from = i > 0 ? expiries[i - 1].time : 0;
    const step = fitStep(grid, expiry, from, before);
    steps.push(step);
    before = forwardStep(grid, { elapsed: expiry.time - from, sigma: step.sigma, before }).prices;
  });
  const known = new Map<number, Step>();
  const stepAt = (t: number): Step => {
    const found = known.get(t);
    if (found !== undefined) return found;
    const { from, sigma, before } = steps.find(({ to }) => to >= t) ?? steps[steps.length - 1];
    const step = forwardStep(grid, { elapsed: t - from, sigma, before });
    known.set(t, step);
    return step;
  };
  const impliedVolatility = (k: number, t: number): number =>
    optionAt(grid, stepAt(t).prices, k).deviation / Math.sqrt(t);
  const ranges = expiries.map(({ time, forward, logMoneyness }): Expiry => {
    return { time, forward, range: [logMoneyness[0], logMoneyness[logMoneyness.length - 1]] };
  });
  const { limited, ...surface } = localVolatility(ranges, spot, (k, t) => ({
    square: localSquare(grid, stepAt(t), k),
    implied: impliedVolatility(k, t),
  }));
  const unused = steps.filter(({ fit }) => fit.point.some((sigma) => sigma <= LOWEST || sigma >= HIGHEST)).length;
  const messages = [
    ...(unused > 0 ? [`${unused} expiries have local volatilities at a limit: their quotes have arbitrage`] : []),
    ...limitedMessage(limited),
  ];
  return {
    status: steps.every(({ fit }) => fit.status === "converged") ? "converged" : "not converged",
    ...(messages.length > 0 ? { message: messages.join("; ") } : {}),
    model: "andreasen-huge",
    parameters: Object.fromEntries(steps.map(({ to, fit }) => [`localVolatility@${to}`, Array.from(fit.point)])),
    impliedVolatility,
    butterfly: convexity(grid, ranges, stepAt),
    calendar: increase(grid, ranges, stepAt),
    volatility: { kind: "surface", surface },
  };
}

function fitStep(grid: Grid, quotes: ExpiryQuotes, from: number, before: Prices): FittedStep {
  const { time, logMoneyness, implied, weights } = quotes;
  const n = logMoneyness.length;
  const region = Int32Array.from(grid.k, (k) => {
    let nearest = 0;
    while (nearest + 1 < n && k > 0.5 * (logMoneyness[nearest] + logMoneyness[nearest + 1])) nearest++;
    return nearest;
  });
  const elapsed = time - from;
  const cells = Int32Array.from(logMoneyness, (k) => cellOf(grid, k));
  const root = Math.sqrt(time);
  const evaluate = (point: Float64Array): Linearisation => {
    const sigma = onNodes(region, point);
    const step = forwardStep(grid, { elapsed, sigma, before });
    const residuals = new Float64Array(n);
    const jacobian = new Float64Array(n * n);
    const slopes = new Float64Array(4 * n);
    logMoneyness.forEach((k, i) => {
      const option = optionAt(grid, step.prices, k);
      const weight = Math.sqrt(weights[i]);
      residuals[i] = weight * (option.deviation / root - implied[i]);
      const slope = weight * byLogPrice(option, k, time);
      for (let a = 0; a < 4; a++) slopes[4 * i + a] = slope * option.weights[a];
    });
    for (let j = 0; j < n; j++) {
      const moved = step.derivative(region, j);
      for (let i = 0; i < n; i++)
        for (let a = 0; a < 4; a++) jacobian[i * n + j] += slopes[4 * i + a] * moved[cells[i] - 1 + a];
    }
    return { residuals, jacobian };
  };
  const spec = {
    lower: new Float64Array(n).fill(LOWEST),
    upper: new Float64Array(n).fill(HIGHEST),
    tolerance: 1e-8,
    smallest: 1e-9,
    maxEvaluations: 60,
  };
  const fit = leastSquares(implied, spec, evaluate);
  return { from, to: time, before, fit, sigma: onNodes(region, fit.point) };
}

function onNodes(region: Int32Array, point: Float64Array): Float64Array {
  const sigma = new Float64Array(region.length);
  for (let j = 0; j < region.length; j++) sigma[j] = point[region[j]];
  return sigma;
}

function payoffs({ kappa }: Grid): Prices {
  return { calls: kappa.map((x) => Math.max(1 - x, 0)), puts: kappa.map((x) => Math.max(x - 1, 0)) };
}

/** The option out of the money at k, as `impliedAt` has it. */
function optionAt(grid: Grid, { calls, puts }: Prices, k: number): ImpliedOption {
  const values = k >= 0 ? calls : puts;
  return impliedAt(grid, k, (j) => values[j]);
}

/** Dupire's local variance 2·(∂c/∂t)/(κ²·∂²c/∂κ²) at k, between the nodes linear. */
function localSquare(grid: Grid, step: Step, k: number): number {
  const cell = cellOf(grid, k);
  const share = (k - grid.k[cell]) / (grid.k[cell + 1] - grid.k[cell]);
  const inside = Math.min(Math.max(share, 0), 1);
  return (1 - inside) * step.localSquare(cell) + inside * step.localSquare(cell + 1);
}

function convexity(grid: Grid, expiries: readonly Expiry[], stepAt: (t: number) => Step): ArbitrageCheck {
  return smallestOver(grid, expiries, ({ time }, j) => stepAt(time).density(j));
}

function increase(grid: Grid, expiries: readonly Expiry[], stepAt: (t: number) => Step): ArbitrageCheck {
  const start = payoffs(grid);
  const priceOf = ({ calls, puts }: Prices, j: number): number => (grid.k[j] >= 0 ? calls[j] : puts[j]);
  return smallestOver(grid, expiries, ({ time }, j, i) => {
    const before = i > 0 ? stepAt(expiries[i - 1].time).prices : start;
    return priceOf(stepAt(time).prices, j) - priceOf(before, j);
  });
}

/** The smallest of a number over the nodes within the quotes; what is below 0 by rounding only counts as 0. */
export function smallestOver(
  grid: Pick<Grid, "k">,
  expiries: readonly Expiry[],
  value: (expiry: Expiry, node: number, i: number) => number,
): ArbitrageCheck {
  let best: { readonly min: number; readonly at: ArbitrageCheck["at"] } = { min: Infinity, at: undefined };
  expiries.forEach((expiry, i) => {
    const [from, to] = [cellOf(grid, expiry.range[0]), cellOf(grid, expiry.range[1]) + 1];
    for (let j = from; j <= to; j++) {
      const min = value(expiry, j, i);
      if (min < best.min) best = { min, at: { time: expiry.time, logMoneyness: grid.k[j] } };
    }
  });
  return { free: best.min >= -1e-12, ...best };
}
