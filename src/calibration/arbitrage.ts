/**
 * Static arbitrage in surfaces of total variance w(k, t) = σ²(k, t)·t, k = ln(K/F).
 *
 * A slice is free of butterfly arbitrage if w > 0 and
 *
 *   g(k) = (1 − k·w′/(2w))² − (w′²/4)·(1/w + 1/4) + w″/2 ≥ 0,
 *
 * since the density of ln(S/F) is g·φ(d₂)/√w, and there is no calendar arbitrage if w does not decrease in t. Source:
 * Gatheral & Jacquier, *Arbitrage-free SVI volatility surfaces*, Quant. Finance 14 (2014), Lemmas 2.1 and 2.2.
 */
import { fn, real } from "../kernel/index.ts";
import type { Variance } from "../market/index.ts";
import type { ArbitrageCheck } from "./fit.ts";

/** The total variance of one expiry as a function of the log-moneyness k = ln(K/F). */
export interface VarianceSlice {
  /** The time to expiry in years. */
  readonly time: number;
  /** The forward price at the expiry. */
  readonly forward: number;
  /** Returns the total variance at a log-moneyness k. */
  readonly at: (k: number) => Variance;
  /** The smallest and the largest k of the quotes. */
  readonly range: readonly [number, number];
}

/**
 * Computes Gatheral's function g(k), which is proportional to the risk-neutral density. There is butterfly arbitrage if
 * it is negative.
 */
export const butterflyFunction = fn({
  name: "butterflyFunction",
  params: { k: real, variance: real, slope: real, curvature: real },
  body({ k, variance, slope, curvature }) {
    const moneyness = 1 - (0.5 * k * slope) / variance;
    return moneyness * moneyness - 0.25 * slope * slope * (1 / variance + 0.25) + 0.5 * curvature;
  },
});

/** Values that rounding leaves below 0 count as 0. */
const ROUNDING = 1e-12;

/**
 * Checks slices for butterfly arbitrage, which exists if g < 0 (`butterflyFunction`). Returns the smallest g of all
 * slices over the ranges of their quotes. A total variance that is not positive counts as arbitrage, too.
 */
export function butterflyCheck(slices: readonly VarianceSlice[]): ArbitrageCheck {
  return smallest(
    slices.map(({ time, at, range }) => ({
      time,
      ...minimum((k) => {
        const { variance, slope, curvature } = at(k);
        return variance > 0 ? butterflyFunction({ k, variance, slope, curvature }) : -1;
      }, range),
    })),
  );
}

/**
 * Checks slices for calendar arbitrage. Returns the smallest increase of total variance from one slice to the next,
 * over the range of the quotes of both; its `at` is a point of the later slice.
 */
export function calendarCheck(slices: readonly VarianceSlice[]): ArbitrageCheck {
  const pairs = slices.slice(1).flatMap((late, i) => {
    const early = slices[i];
    const from = Math.max(early.range[0], late.range[0]);
    const to = Math.min(early.range[1], late.range[1]);
    if (from > to) return [];
    return [{ time: late.time, ...minimum((k) => late.at(k).variance - early.at(k).variance, [from, to]) }];
  });
  return smallest(pairs);
}

interface Minimum {
  readonly logMoneyness: number;
  readonly value: number;
}

function smallest(found: readonly (Minimum & { readonly time: number })[]): ArbitrageCheck {
  if (found.length === 0) return { free: true, min: Number.POSITIVE_INFINITY, at: undefined };
  const { time, logMoneyness, value } = found.reduce((a, b) => (b.value < a.value ? b : a));
  return { free: value >= -ROUNDING, min: value, at: { time, logMoneyness } };
}

/** Points of the scan for a minimum: a dip narrower than a part in 400 of the quotes is not one of a model here. */
const SCAN = 400;

/** The smallest value of f on an interval, by a scan and golden sections about its smallest point. */
function minimum(f: (k: number) => number, [from, to]: readonly [number, number]): Minimum {
  let best = { logMoneyness: from, value: f(from) };
  const step = (to - from) / SCAN;
  const see = (k: number): number => {
    const value = f(k);
    if (value < best.value) best = { logMoneyness: k, value };
    return value;
  };
  if (step === 0) return best;
  for (let i = 1; i <= SCAN; i++) see(i === SCAN ? to : from + i * step);
  const golden = 0.5 * (Math.sqrt(5) - 1);
  let low = Math.max(best.logMoneyness - step, from);
  let high = Math.min(best.logMoneyness + step, to);
  let [left, right] = [high - golden * (high - low), low + golden * (high - low)];
  let [atLeft, atRight] = [see(left), see(right)];
  while (high - low > 1e-9 * (1 + Math.abs(low))) {
    if (atLeft < atRight) {
      [high, right, atRight] = [right, left, atLeft];
      left = high - golden * (high - low);
      atLeft = see(left);
    } else {
      [low, left, atLeft] = [left, right, atRight];
      right = low + golden * (high - low);
      atRight = see(right);
    }
  }
  return best;
}
