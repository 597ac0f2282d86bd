/** The grid of Dupire's equation and of the local volatility that is fitted by its adjoint. */
import type { ExpiryQuotes, UnderlyingQuotes } from "../fit.ts";
import { gridForQuotes, gridFromNodes } from "../forward-step.ts";
import { forwardAt } from "../variance-surface.ts";

/**
 * The grid of the adjoint fit: nodes in k = ln κ with κ = K/F, and times from 0 on. Arrays on both are [time][node].
 */
export interface AdjointGrid {
  /** The number of nodes. */
  readonly nodes: number;
  /** The number of time steps, one less than that of times. */
  readonly steps: number;
  /** The log-moneyness k of each node. */
  readonly k: Float64Array;
  /** The moneyness κ of each node. */
  readonly kappa: Float64Array;
  /** The times in years. */
  readonly times: Float64Array;
  /** The length of each step in years. */
  readonly elapsed: Float64Array;
  /** The θ of each step: 1 (implicit) at the beginning, then ½. */
  readonly theta: Float64Array;
  /** The weight of the lower neighbour of each node in the three-point formula of κ²·∂²/∂κ². */
  readonly lower: Float64Array;
  /** The weight of the upper neighbour of each node. */
  readonly upper: Float64Array;
  /** The values of κ²·∂²/∂κ² of the payoff by the three-point formula: zero except at κ = 1. */
  readonly source: Float64Array;
  /** The index in `times` of each expiry. */
  readonly rows: readonly number[];
  /** The logarithm of forward over spot at each time. */
  readonly drift: Float64Array;
}

/** The number of initial implicit steps, which damp the oscillations from the payoff's kink. */
export const DAMPING_STEPS = 4;

/**
 * Returns the grid on which Dupire's equation and its adjoint are solved for the fit of quotes, with the given numbers
 * of nodes and time steps.
 */
export function dupireGrid({ spot, expiries }: UnderlyingQuotes, nodes: number, steps: number): AdjointGrid {
  const { k: found } = gridForQuotes(expiries, nodes);
  const middle = (nodes - 1) >> 1;
  found[middle] = 0;
  const { k, kappa, lower, upper } = gridFromNodes(found);
  const source = new Float64Array(nodes);
  source[middle] = 2 / (kappa[middle + 1] - kappa[middle - 1]);
  const counts = stepsOf(expiries, steps);
  const times = [0];
  const rows = expiries.map(({ time }, e) => {
    const from = e > 0 ? expiries[e - 1].time : 0;
    // Before the first expiry steps grow with time, as prices change with its root.
    for (let i = 1; i <= counts[e]; i++) {
      const share = i / counts[e];
      times.push(from + (e > 0 ? share : share * share) * (time - from));
    }
    return times.length - 1;
  });
  return {
    nodes,
    steps,
    k,
    kappa,
    times: Float64Array.from(times),
    elapsed: Float64Array.from({ length: steps }, (_, n) => times[n + 1] - times[n]),
    theta: Float64Array.from({ length: steps }, (_, n) => (n < DAMPING_STEPS ? 1 : 0.5)),
    lower,
    upper,
    source,
    rows,
    drift: Float64Array.from(times, (t) => (t > 0 ? Math.log(forwardAt(ranges(expiries), spot, t) / spot) : 0)),
  };
}

const ranges = (expiries: readonly ExpiryQuotes[]): { time: number; forward: number; range: [number, number] }[] =>
  expiries.map(({ time, forward }) => ({ time, forward, range: [0, 0] }));

/** The steps to each expiry, by the growth of the root of time: at least one, and `DAMPING` more to the first. */
function stepsOf(expiries: readonly ExpiryQuotes[], steps: number): number[] {
  const roots = expiries.map(({ time }) => Math.sqrt(time));
  const counts = roots.map((_, e) => (e > 0 ? 1 : 1 + DAMPING_STEPS));
  const shares = roots.map((root, e) => (root - (e > 0 ? roots[e - 1] : 0)) / roots[roots.length - 1]);
  const rest = steps - counts.reduce((sum, count) => sum + count, 0);
  const wanted = shares.map((share) => share * rest);
  wanted.forEach((count, e) => (counts[e] += Math.floor(count)));
  const left = steps - counts.reduce((sum, count) => sum + count, 0);
  const byRemainder = wanted.map((count, e) => [count - Math.floor(count), e] as const).sort(([a], [b]) => b - a);
  for (const [, e] of byRemainder.slice(0, left)) counts[e]++;
  return counts;
}
