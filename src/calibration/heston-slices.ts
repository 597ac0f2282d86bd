/** Heston's model on the host, one expiry at a time, to describe the surface of a fit. */
import { cumulant } from "../market/models/index.ts";
import type { ArbitrageCheck, UnderlyingQuotes } from "./fit.ts";
import { hestonRule, impliedDeviation } from "./heston-kernels.ts";

/** One expiry of the model: implied volatilities, and the density of ln(S/F) relative to Black's, Gatheral's g. */
interface HestonSlice {
  readonly volatility: (k: number) => number;
  readonly densityRatio: (k: number) => number;
}

/** Returns the smile of Heston's model with the parameters v₀, κ, θ, σ, ρ, at time t in years, for |k| ≤ furthest. */
export function hestonSlice(
  [v0, kappa, theta, sigma, rho]: ArrayLike<number> & Iterable<number>,
  t: number,
  furthest: number,
): HestonSlice {
  const model = { v0, kappa, theta, sigma, rho, expiry: t };
  const { step, count, variance } = hestonRule({ model, furthest });
  const [re, im, black] = [new Float64Array(count), new Float64Array(count), new Float64Array(count)];
  for (let node = 0; node < count; node++) {
    const u = Math.max(step * node, 1e-20);
    const { log } = cumulant({ model, zeta: { re: 0.5, im: u } });
    const weight = ((node === 0 ? 0.5 : 1) * step) / Math.PI;
    const size = weight * Math.exp(log.re);
    re[node] = size * Math.cos(log.im);
    im[node] = size * Math.sin(log.im);
    black[node] = weight * Math.exp(-0.5 * variance * (u * u + 0.25));
  }
  const volatility = (k: number): number => {
    let value = 0;
    for (let node = 0; node < count; node++) {
      const u = step * node;
      value += (Math.cos(u * k) * (re[node] - black[node]) + Math.sin(u * k) * im[node]) / (u * u + 0.25);
    }
    return impliedDeviation({ k, variance, value }).implied / Math.sqrt(t);
  };
  const densityRatio = (k: number): number => {
    let density = 0;
    for (let node = 0; node < count; node++)
      density += Math.cos(step * node * k) * re[node] + Math.sin(step * node * k) * im[node];
    const deviation = volatility(k) * Math.sqrt(t);
    const d2 = -k / deviation - 0.5 * deviation;
    return (density * Math.exp(-0.5 * k) * deviation * Math.sqrt(2 * Math.PI)) / Math.exp(-0.5 * d2 * d2);
  };
  return { volatility, densityRatio };
}

/**
 * Returns the implied volatilities and the checks for arbitrage of a fitted Heston model. The smile of each time is
 * cached.
 */
export function describeHeston(
  point: Float64Array,
  { expiries }: UnderlyingQuotes,
): { impliedVolatility: (k: number, t: number) => number; butterfly: ArbitrageCheck; calendar: ArbitrageCheck } {
  const furthest = Math.max(...expiries.flatMap(({ logMoneyness }) => Array.from(logMoneyness, Math.abs)));
  const known = new Map<number, HestonSlice>();
  const sliceAt = (t: number): HestonSlice => {
    const slice = known.get(t) ?? hestonSlice(point, t, furthest);
    known.set(t, slice);
    return slice;
  };
  // The model is a martingale with a density, so that there is no arbitrage: what is below 0 is rounding.
  const butterfly = smallestOf(
    expiries.flatMap(({ time, logMoneyness }) =>
      Array.from(logMoneyness, (k) => ({ time, k, value: Math.max(sliceAt(time).densityRatio(k), 0) })),
    ),
  );
  const variance = (k: number, t: number): number => sliceAt(t).volatility(k) ** 2 * t;
  const calendar = smallestOf(
    expiries.slice(1).flatMap(({ time, logMoneyness }, i) =>
      Array.from(logMoneyness, (k) => {
        const value = Math.max(variance(k, time) - variance(k, expiries[i].time), 0);
        return { time, k, value };
      }),
    ),
  );
  return { impliedVolatility: (k, t) => sliceAt(t).volatility(k), butterfly, calendar };
}

function smallestOf(
  found: readonly { readonly time: number; readonly k: number; readonly value: number }[],
): ArbitrageCheck {
  if (found.length === 0) return { free: true, min: Number.POSITIVE_INFINITY, at: undefined };
  const { time, k, value } = found.reduce((a, b) => (b.value < a.value ? b : a));
  return { free: true, min: value, at: { time, logMoneyness: k } };
}
