/**
 * Volatility interpolation by Andreasen & Huge, *Volatility interpolation*, Risk 2011. Call prices c(κ) in units of the
 * forward, κ = K/F, step from one expiry to the next by one implicit step of Dupire's equation,
 *
 *   (1 − ½Δt·σᵢ(κ)²·κ²·∂²/∂κ²)·cᵢ₊₁ = cᵢ,   c₀ = (1 − κ)⁺,
 *
 * where σᵢ has one factor for each quoted strike, constant between the midpoints of neighbouring strikes. The factors
 * are found by least squares in implied volatility, expiry by expiry. The matrix is an M-matrix whose rows sum to 1, so
 * that prices are convex and increase with time, whatever σᵢ is: no arbitrage. In the paper σᵢ is piecewise constant.
 * Here the factors multiply a given shape (`stepShape`), because constants would leave kinks in the smile between the
 * strikes. Between two expiries total variance is linear in time, as in the other fits; steps with a part of Δt would
 * give kinks in time at the expiries.
 */
import type { ArbitrageCheck, ExpiryQuotes, SurfaceFit, UnderlyingQuotes } from "./fit.ts";
import { checkedQuotes, countWithWords } from "./fit.ts";
import { leastSquares, type LeastSquaresFit, type Linearisation } from "./least-squares.ts";
import {
  volatilityByLogPrice,
  intervalOf,
  forwardStep,
  type MoneynessGrid,
  gridForQuotes,
  impliedAt,
  type ImpliedOption,
  type NodePrices,
  type ForwardStep,
} from "./forward-step.ts";
import { stepShape } from "./step-shape.ts";
import { type ChangedTime, changedTime, type SmileCurve, splineAt, splineThrough } from "../market/index.ts";
import { describeSlices, type ExpiryRange, expiryRangeOf, limitedNodesMessage, sliceOf } from "./variance-surface.ts";

/** Bounds of the local volatilities of a step. */
const [LOWEST, HIGHEST] = [1e-3, 10];

/** Prices below this, in units of the forward, say nothing that a neighbour's volatility does not. */
const LEAST_PRICE = 1e-12;

/** Nodes of the grid in ln κ, denser about the forward. */
const NODES = 240;

interface FittedStep {
  readonly from: number;
  readonly to: number;
  /** Prices at `from`, on the grid. */
  readonly before: NodePrices;
  /** σᵢ on the grid. */
  readonly sigma: Float64Array;
  readonly quotes: ExpiryQuotes;
  readonly fit: LeastSquaresFit;
}

/**
 * Fits the volatility surface of Andreasen and Huge (2011) to quotes. It is free of arbitrage, and as close to the
 * quotes as this condition allows. @throws SpecError for quotes that cannot be fitted
 */
export function fitAndreasenHuge(quotes: UnderlyingQuotes): SurfaceFit {
  const { expiries, clock } = checkedQuotes(quotes);
  // One clock for all strikes: that at the money.
  const clockAt = (t: number): ChangedTime => changedTime(clock, 0, t);
  const grid = gridForQuotes(expiries, NODES);
  const steps: FittedStep[] = [];
  const ends: ForwardStep[] = [];
  expiries.forEach((expiry, i) => {
    const from = i > 0 ? expiries[i - 1].time : 0;
    const before = i > 0 ? ends[i - 1].prices : payoffs(grid);
    const elapsed = clockAt(expiry.time).time - clockAt(from).time;
    const step = fitStep(grid, expiry, { from, elapsed }, before);
    steps.push(step);
    ends.push(forwardStep(grid, { elapsed, sigma: step.sigma, before }));
  });
  const slices = expiries.map((expiry, i) => sliceOf(expiryRangeOf(expiry), curveOf(grid, ends[i].prices, expiry)));
  const { limited, ...described } = describeSlices(slices, quotes);
  const unused = steps.filter(({ fit }) => fit.point.some((sigma) => sigma <= LOWEST || sigma >= HIGHEST)).length;
  const messages = [
    ...(unused > 0
      ? [
          `${countWithWords(unused, "expiry has", "expiries have")} local volatilities at a limit: the quotes have arbitrage`,
        ]
      : []),
    ...limitedNodesMessage(limited),
  ];
  return {
    status: steps.every(({ fit }) => fit.status === "converged") ? "converged" : "not converged",
    ...(messages.length > 0 ? { message: messages.join("; ") } : {}),
    model: "andreasen-huge",
    parameters: Object.fromEntries(steps.map(({ to, fit }) => [`localVolatility@${to}`, Array.from(fit.point)])),
    ...described,
    butterfly: checkNonNegative(grid, slices, (_, j, i) => ends[i].density(j)),
    calendar: increase(grid, slices, ends),
  };
}

function fitStep(
  grid: MoneynessGrid,
  quotes: ExpiryQuotes,
  { from, elapsed }: { readonly from: number; readonly elapsed: number },
  before: NodePrices,
): FittedStep {
  const { time, logMoneyness, implied, weights } = quotes;
  const n = logMoneyness.length;
  // The parts of σ end at the middles between the quotes.
  const ends = Int32Array.from(logMoneyness, (k, i) => {
    const middle = i < n - 1 ? 0.5 * (k + logMoneyness[i + 1]) : Number.POSITIVE_INFINITY;
    const end = grid.k.findIndex((node) => node > middle);
    return end < 0 ? NODES : end;
  });
  const { start, shape } = stepShape(grid, quotes, { elapsed, before, ends });
  const cells = Int32Array.from(logMoneyness, (k) => intervalOf(grid, k));
  const root = Math.sqrt(time);
  const evaluate = (point: Float64Array): Linearisation => {
    const step = forwardStep(grid, { elapsed, sigma: onNodes(ends, point, shape), before });
    const residuals = new Float64Array(n);
    const jacobian = new Float64Array(n * n);
    const slopes = new Float64Array(4 * n);
    logMoneyness.forEach((k, i) => {
      const option = optionAt(grid, step.prices, k);
      const weight = Math.sqrt(weights[i]);
      residuals[i] = weight * (option.deviation / root - implied[i]);
      const slope = weight * volatilityByLogPrice(option, k, time);
      for (let a = 0; a < 4; a++) slopes[4 * i + a] = slope * option.weights[a];
    });
    step.derivatives({ ends, shape }, [cells[0] - 1, cells[n - 1] + 2], (part, moved) => {
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
  return { from, to: time, before, quotes, fit, sigma: onNodes(ends, fit.point, shape) };
}

function onNodes(ends: Int32Array, point: Float64Array, shape: Float64Array): Float64Array {
  const sigma = new Float64Array(NODES);
  let part = 0;
  for (let j = 0; j < NODES; j++) {
    while (j >= ends[part]) part++;
    sigma[j] = point[part] * shape[j];
  }
  return sigma;
}

function payoffs({ kappa }: MoneynessGrid): NodePrices {
  return { calls: kappa.map((x) => Math.max(1 - x, 0)), puts: kappa.map((x) => Math.max(x - 1, 0)) };
}

/** The option out of the money at k, as `impliedAt` has it. */
function optionAt(grid: MoneynessGrid, { calls, puts }: NodePrices, k: number): ImpliedOption {
  const values = k >= 0 ? calls : puts;
  return impliedAt(grid, k, (j) => values[j]);
}

/**
 * The total variance of the prices on the grid, a spline through all nodes that have a price. Between nodes it is not
 * quite what the fit interpolates at the quotes; so little is taken off along a spline through the quotes.
 */
function curveOf(grid: MoneynessGrid, prices: NodePrices, { logMoneyness }: ExpiryQuotes): SmileCurve {
  const priced = grid.k.filter((k) => optionAt(grid, prices, k).price > LEAST_PRICE);
  const varianceAt = (k: number): number => optionAt(grid, prices, k).deviation ** 2;
  const variances = priced.map(varianceAt);
  const first = splineThrough(priced, variances);
  const off = splineThrough(
    logMoneyness,
    logMoneyness.map((k) => varianceAt(k) - splineAt(first, k)[0]),
  );
  const [from, to] = [logMoneyness[0], logMoneyness[logMoneyness.length - 1]];
  const y = variances.map((variance, j) => variance + splineAt(off, Math.min(Math.max(priced[j], from), to))[0]);
  return { kind: "spline", spline: splineThrough(priced, y) };
}

function increase(grid: MoneynessGrid, expiries: readonly ExpiryRange[], ends: readonly ForwardStep[]): ArbitrageCheck {
  const start = payoffs(grid);
  const priceOf = ({ calls, puts }: NodePrices, j: number): number => (grid.k[j] >= 0 ? calls[j] : puts[j]);
  return checkNonNegative(grid, expiries, (_, j, i) => {
    return priceOf(ends[i].prices, j) - priceOf(i > 0 ? ends[i - 1].prices : start, j);
  });
}

/**
 * Checks that a function is not negative at any node within the quoted range of any expiry, and returns its smallest
 * value and where it is. The check passes (`free`) down to −1e-12, which is rounding.
 */
export function checkNonNegative(
  grid: Pick<MoneynessGrid, "k">,
  expiries: readonly ExpiryRange[],
  value: (expiry: ExpiryRange, node: number, i: number) => number,
): ArbitrageCheck {
  let best: { readonly min: number; readonly at: ArbitrageCheck["at"] } = { min: Infinity, at: undefined };
  expiries.forEach((expiry, i) => {
    const [from, to] = [intervalOf(grid, expiry.range[0]), intervalOf(grid, expiry.range[1]) + 1];
    for (let j = from; j <= to; j++) {
      const min = value(expiry, j, i);
      if (min < best.min) best = { min, at: { time: expiry.time, logMoneyness: grid.k[j] } };
    }
  });
  return { free: best.min >= -1e-12, ...best };
}
