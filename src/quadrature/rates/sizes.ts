/** The numbers of nodes that trades take, by the same formulas as the kernel in the host's own arithmetic. */
import { type GaussianMarket, MIN_VOLATILITY, MOST_GROWTH, type ShortRateTrade } from "./terms.ts";

/** (1 − e^{−at})/a. */
const decayed = (a: number, t: number): number => (Math.abs(a * t) < 1e-9 ? t : -Math.expm1(-a * t) / a);

/** ∫ₜˢ σ(u)²·e^{−2a(s−u)} du. */
function varianceOver({ meanReversion: a, volatility }: GaussianMarket, t: number, s: number): number {
  const { times, values } = volatility;
  let from = t;
  let sum = 0;
  for (let i = 0; i < values.length && from < s; i++) {
    const end = i < times.length ? Math.min(times[i], s) : s;
    if (end <= from) continue;
    const sigma = Math.max(values[i], MIN_VOLATILITY);
    sum += sigma * sigma * Math.exp(-2 * a * (s - end)) * decayed(2 * a, end - from);
    from = end;
  }
  return sum;
}

/** Returns the maximum number of nodes at any date of a trade. */
export function nodesNeeded(
  { dates, flows }: ShortRateTrade,
  market: GaussianMarket,
  { density, reach }: { readonly density: number; readonly reach: number },
): number {
  const a = market.meanReversion;
  const terminal = flows[flows.length - 1][0];
  let most = 3;
  let [before, variance, step] = [0, 0, 0];
  /** Counts the nodes at the last date, given the deviation and the decay of the step after it. */
  const count = (after: number): void => {
    if (before <= 0) return;
    const weight = Math.abs(decayed(a, terminal - before));
    const half = reach * Math.sqrt(variance) + weight * variance;
    const width = Math.min(step, after, MOST_GROWTH / Math.max(weight, 1e-30));
    most = Math.max(most, 2 * Math.ceil((half * density) / Math.max(width, 1e-30)) + 1);
  };
  for (const { time } of dates) {
    const decay = Math.exp(-a * (time - before));
    const own = varianceOver(market, before, time);
    count(Math.sqrt(own) / decay);
    variance = decay * decay * variance + own;
    step = Math.sqrt(own);
    before = time;
  }
  count(Number.POSITIVE_INFINITY);
  return most;
}
