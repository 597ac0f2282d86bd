/**
 * The shape of the local volatility in a step of Andreasen and Huge's method. One implicit step with a constant
 * volatility has exponential tails and a kink at the forward: volatilities that are constant between strikes give a
 * smile that is curved between them even if the quotes are flat. The shape is therefore the volatility with which the
 * step gives the prices of a smooth smile through the quotes,
 *
 *   σ² = (c − c₀)/(½Δt·κ²·∂²c/∂κ²),   c₀ the prices before the step,
 *
 * and constant wherever that smile has arbitrage.
 */
import { atTheMoney, type ExpiryQuotes } from "./fit.ts";
import { intervalOf, type MoneynessGrid, type NodePrices } from "./forward-step.ts";
import { logNormalOption } from "../market/models/index.ts";
import { splinesOf } from "./variance-surface.ts";

/** A volatility on the nodes, by intervals of nodes: start[p]·shape[node] in the interval p. */
interface StepShape {
  /** The volatility at each quote. */
  readonly start: Float64Array;
  /** The volatility at the nodes, relative to that at the quote of their interval. */
  readonly shape: Float64Array;
}

/** The limits of the shape, relative to the implied volatility at the same point. */
const LIMITS = [0.05, 5] as const;

/** Returns the shape of the local volatility in a step. The interval of each quote ends before the node `ends[p]`. */
export function stepShape(
  grid: MoneynessGrid,
  quotes: ExpiryQuotes,
  { elapsed, before, ends }: { readonly elapsed: number; readonly before: NodePrices; readonly ends: Int32Array },
): StepShape {
  const { logMoneyness, implied } = quotes;
  const last = logMoneyness.length - 1;
  const smooth = smoothVolatility(grid, quotes, elapsed, before);
  continueOutward(smooth, intervalOf(grid, logMoneyness[0]), intervalOf(grid, logMoneyness[last]) + 1);
  // A local volatility is about as far from that at the money as twice the implied one.
  const centre = atTheMoney(quotes);
  const start = implied.map((sigma) => Math.max(2 * sigma - centre, 0.5 * sigma));
  const shape = new Float64Array(smooth.length).fill(1);
  logMoneyness.forEach((k, part) => {
    const [from, to] = [part > 0 ? ends[part - 1] : 0, ends[part]];
    const at = smooth[intervalOf(grid, k)];
    const own = smooth.subarray(from, to);
    if (!(at > 0) || own.some((sigma) => !(sigma > 0))) return;
    start[part] = at;
    own.forEach((sigma, j) => (shape[from + j] = sigma / at));
  });
  return { start, shape };
}

/** The volatility that leads to the spline through the quotes, at each node; NaN if it has arbitrage. */
function smoothVolatility(
  { k, kappa, lower, upper }: MoneynessGrid,
  quotes: ExpiryQuotes,
  elapsed: number,
  before: NodePrices,
): Float64Array {
  const [{ at, time }] = splinesOf([quotes]);
  const variances = k.map((one) => Math.max(at(one).variance, 0));
  const priced = (right: "call" | "put"): Float64Array =>
    kappa.map((strike, j) => logNormalOption(right, strike, -0.5 * variances[j], variances[j]));
  const [calls, puts] = [priced("call"), priced("put")];
  const found = new Float64Array(k.length).fill(Number.NaN);
  for (let j = 1; j < k.length - 1; j++) {
    const [after, early] = k[j] >= 0 ? [calls, before.calls] : [puts, before.puts];
    const bend = lower[j] * (after[j - 1] - after[j]) + upper[j] * (after[j + 1] - after[j]);
    const growth = after[j] - early[j];
    const relative = Math.sqrt((2 * growth * time) / (elapsed * bend * variances[j]));
    if (growth > 0 && bend > 0 && relative >= LIMITS[0] && relative <= LIMITS[1])
      found[j] = relative * Math.sqrt(variances[j] / time);
  }
  return found;
}

/** Gives the nodes beyond the quotes that have no volatility that of the next node inward. */
function continueOutward(sigma: Float64Array, first: number, last: number): void {
  for (let j = first; j >= 0; j--) if (!(sigma[j] > 0)) sigma[j] = sigma[j + 1];
  for (let j = last; j < sigma.length; j++) if (!(sigma[j] > 0)) sigma[j] = sigma[j - 1];
}
