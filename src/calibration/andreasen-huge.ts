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
import { atTheMoney, checkedQuotes } from "./fit.ts";
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
import { type ClockTime, clockTime } from "../market/index.ts";
import { type Expiry, limitedMessage, localVolatility } from "./variance-surface.ts";

/** Bounds of the local volatilities of a step. */
const [LOWEST, HIGHEST] = [1e-3, 10];

/** Nodes of the grid in ln κ, denser about the forward. */
const NODES = 240;

interface FittedStep {
  readonly from: number;
  readonly to: number;
  /** Prices at `from`, on the grid. */
  readonly before: Prices;
  /** σᵢ on the grid. */
  readonly sigma: Float64Array;
  readonly quotes: ExpiryQuotes;
  readonly fit: LeastSquaresFit;
}

/**
 * Fits the volatility surface of Andreasen and Huge (2011) to quotes. It is free of arbitrage, and as close to the
 * quotes as that allows. @throws SpecError for quotes that cannot be fitted
 */
export function fitAndreasenHuge(quotes: UnderlyingQuotes): SurfaceFit {
  const { expiries, clock } = checkedQuotes(quotes);
  // One clock for all strikes: that at the money.
  const clockAt = (t: number): ClockTime => clockTime(clock, 0, t);
  const grid = gridFor(expiries, NODES);
  const steps: FittedStep[] = [];
  let before = payoffs(grid);
  expiries.forEach((expiry, i) => {
    const from = i > 0 ? expiries[i - 1].time : 0;
    const step = fitStep(grid, expiry, { from, elapsed: clockAt(expiry.time).time - clockAt(from).time }, before);
    steps.push(step);
    before = forwardStep(grid, {
      elapsed: clockAt(expiry.time).time - clockAt(from).time,
      sigma: step.sigma,
      before,
    }).prices;
  });
  const stepOf = (t: number): FittedStep => steps.find(({ to }) => to >= t) ?? steps[steps.length - 1];
  const known = new Map<number, Step>();
  const stepAt = (t: number): Step => {
    const found = known.get(t);
    if (found !== undefined) return found;
    const { from, sigma, before } = stepOf(t);
    const step = forwardStep(grid, { elapsed: clockAt(t).time - clockAt(from).time, sigma, before });
    known.set(t, step);
    return step;
  };
  const impliedVolatility = (k: number, t: number): number =>
    optionAt(grid, stepAt(t).prices, k).deviation / Math.sqrt(t);
  const ranges = expiries.map(({ time, forward, logMoneyness }): Expiry => {
    return { time, forward, range: [logMoneyness[0], logMoneyness[logMoneyness.length - 1]] };
  });
  const { limited, ...surface } = localVolatility(ranges, quotes, (t, k, row) => {
    const { from, sigma, before, quotes } = stepOf(t);
    const { time, rate } = clockAt(t);
    const squares = forwardStep(grid, { elapsed: time - clockAt(from).time, sigma, before }).localSquares();
    let [cell, near] = [1, 0];
    const { logMoneyness, implied } = quotes;
    for (let i = 0; i < k.length; i++) {
      while (cell < NODES - 3 && grid.k[cell + 1] <= k[i]) cell++;
      while (near < implied.length - 1 && k[i] > 0.5 * (logMoneyness[near] + logMoneyness[near + 1])) near++;
      const share = Math.min(Math.max((k[i] - grid.k[cell]) / (grid.k[cell + 1] - grid.k[cell]), 0), 1);
      row.squares[i] = rate * ((1 - share) * squares[cell] + share * squares[cell + 1]);
      row.implied[i] = implied[near];
    }
  });
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

function fitStep(
  grid: Grid,
  quotes: ExpiryQuotes,
  { from, elapsed }: { readonly from: number; readonly elapsed: number },
  before: Prices,
): FittedStep {
  const { time, logMoneyness, implied, weights } = quotes;
  const n = logMoneyness.length;
  // The parts of σ end at the middles between the quotes.
  const ends = Int32Array.from(logMoneyness, (k, i) => {
    const middle = i < n - 1 ? 0.5 * (k + logMoneyness[i + 1]) : Number.POSITIVE_INFINITY;
    const end = grid.k.findIndex((node) => node > middle);
    return end < 0 ? NODES : end;
  });
  // A local volatility is about as far from that at the money as twice the implied one.
  const centre = atTheMoney(quotes);
  const start = implied.map((sigma) => Math.max(2 * sigma - centre, 0.5 * sigma));
  const cells = Int32Array.from(logMoneyness, (k) => cellOf(grid, k));
  const root = Math.sqrt(time);
  const evaluate = (point: Float64Array): Linearisation => {
    const step = forwardStep(grid, { elapsed, sigma: onNodes(ends, point), before });
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
    step.derivatives(ends, [cells[0] - 1, cells[n - 1] + 2], (part, moved) => {
      for (let i = 0; i < n; i++) {
        let slope = 0;
        for (let a = 0; a < 4; a++) slope += slopes[4 * i + a] * moved[cells[i] - 1 + a];
        jacobian[i * n + part] = slope;
      }
    });
    return { residuals, jacobian };
  };
  const spec = {
    lower: new Float64Array(n).fill(LOWEST),
    upper: new Float64Array(n).fill(HIGHEST),
    tolerance: 1e-8,
    smallest: 1e-8,
    maxEvaluations: 60,
    damping: 1e-9,
  };
  const fit = leastSquares(start, spec, evaluate);
  return { from, to: time, before, quotes, fit, sigma: onNodes(ends, fit.point) };
}

function onNodes(ends: Int32Array, point: Float64Array): Float64Array {
  const sigma = new Float64Array(NODES);
  let part = 0;
  for (let j = 0; j < NODES; j++) {
    while (j >= ends[part]) part++;
    sigma[j] = point[part];
  }
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

/**
 * Returns the smallest value of a function over all expiries and the nodes within the range of their quotes. Values
 * that only rounding makes negative count as 0.
 */
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
