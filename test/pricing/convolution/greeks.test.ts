/** Greeks of one right on two dates, against differences of integrals over what the factor is on the first date. */
import { afterAll, expect, test } from "vitest";
import { type PricedTrade, readBook, SENSITIVITIES } from "../../../src/book/index.ts";
import { createCpuDevice } from "../../../src/device/cpu/index.ts";
import { priceBook } from "../../../src/pricing/index.ts";

const device = createCpuDevice({ threads: 1 });
afterAll(() => device[Symbol.dispose]());

/** A call that must be taken on one of two dates, under one factor that reverts at speed α. */
interface Swing {
  readonly spot: number;
  readonly strike: number;
  readonly rate: number;
  readonly yield: number;
  readonly alpha: number;
  readonly sigma: number;
  readonly dates: readonly [number, number];
}

async function priced({ spot, strike, rate, yield: q, alpha, sigma, dates }: Swing): Promise<PricedTrade> {
  const volatility = alpha === 0 ? sigma : { gaussianFactors: { alpha: [alpha], sigma: [sigma], rho: 0 } };
  const underlying = { spot, currency: "EUR", volatility, dividends: { yield: q } };
  const trade = { id: "1", underlying: "A", payoff: "call" as const, strike, expiry: dates[1] };
  const book = readBook({
    asOf: "2026-01-01",
    market: { rates: { EUR: rate }, underlyings: { A: underlying } },
    trades: [{ ...trade, swing: { dates, min: 1, max: 1 } }],
  });
  const { results } = await priceBook(book, { device, sensitivityErrorEstimates: true });
  return results[0] as PricedTrade;
}

const POINTS = 20_000;

/** E[max(h₁, E[h₂ | X₁])], where both are exponentials of a normal X₁, by the trapezoidal rule between their kinks. */
function exact({ spot, strike, rate, yield: q, alpha, sigma, dates: [t1, t2] }: Swing): number {
  const variance = alpha === 0 ? sigma ** 2 * t1 : (sigma ** 2 * -Math.expm1(-2 * alpha * t1)) / (2 * alpha);
  const decay = Math.exp(-alpha * (t2 - t1));
  const gain = (t: number, loading: number) => {
    const deviation = loading * Math.sqrt(variance);
    return (z: number): number =>
      spot * Math.exp(-q * t + deviation * z - 0.5 * deviation ** 2) - strike * Math.exp(-rate * t);
  };
  const [now, later] = [gain(t1, 1), gain(t2, decay)];
  const better = (z: number): number => now(z) - later(z);
  let [low, high] = [-9, 9];
  // One of the two is better on one side of a point.
  const hasKink = better(low) * better(high) < 0;
  for (let k = 0; k < 80; k++) {
    const middle = 0.5 * (low + high);
    if (better(middle) * better(high) > 0) high = middle;
    else low = middle;
  }
  const between = (from: number, to: number): number => {
    const step = (to - from) / POINTS;
    const at = (k: number): number => {
      const z = from + k * step;
      return Math.exp(-0.5 * z * z) * Math.max(now(z), later(z));
    };
    let [odd, even] = [0, 0];
    for (let k = 1; k < POINTS; k++)
      if (k % 2 === 0) even += at(k);
      else odd += at(k);
    return ((step / 3) * (at(0) + 4 * odd + 2 * even + at(POINTS))) / Math.sqrt(2 * Math.PI);
  };
  return hasKink ? between(-9, low) + between(low, 9) : between(-9, 9);
}

/** The fourth-order difference of a swing's value by one of its inputs. */
const slope = (moved: (by: number) => Swing, h: number): number => {
  const at = (k: number): number => exact(moved(k * h));
  return (8 * (at(1) - at(-1)) - (at(2) - at(-2))) / (12 * h);
};

const base = { spot: 100, strike: 101, rate: 0.02, yield: 0.01 };
const cases: Readonly<Record<string, Swing>> = {
  "within days": { ...base, alpha: 4, sigma: 0.1, dates: [2 / 365, 10 / 365] },
  "nearly no volatility": { ...base, alpha: 2, sigma: 0.01, dates: [0.2, 0.5] },
  "a rate below zero": { ...base, rate: -0.01, alpha: 0, sigma: 0.3, dates: [0.5, 1] },
  "much volatility": { ...base, strike: 60, alpha: 1, sigma: 1, dates: [0.5, 1.5] },
};

test.each(Object.entries(cases))("%s", async (_, one) => {
  const { value, sensitivityErrorEstimates: estimates, ...got } = await priced(one);
  const [t1, t2] = one.dates;
  const deviation = one.sigma * Math.sqrt(t1);
  const ofSpot = 0.02 * deviation * one.spot;
  const bySpot = (by: number): Swing => ({ ...one, spot: one.spot + by });
  const atSpot = (k: number): number => exact(bySpot(k * ofSpot));
  const expected = {
    delta: slope(bySpot, ofSpot),
    gamma: (16 * (atSpot(1) + atSpot(-1)) - (atSpot(2) + atSpot(-2)) - 30 * atSpot(0)) / (12 * ofSpot ** 2),
    theta: slope((by) => ({ ...one, dates: [t1 - by, t2 - by] }), 0.01 * t1),
    vega: slope((by) => ({ ...one, sigma: one.sigma + by }), 1e-3 * one.sigma),
    rho: slope((by) => ({ ...one, rate: one.rate + by }), 1e-4 * deviation),
  };
  expect(Math.abs(value - exact(one))).toBeLessThan(1e-3 * one.spot);
  for (const name of SENSITIVITIES) {
    const estimate = estimates![name]!;
    // One in a thousand, or of what a unit of the underlying would have.
    const unit = {
      delta: 1,
      gamma: 1 / (one.spot * deviation),
      theta: one.spot / t1,
      vega: one.spot,
      rho: one.spot * t2,
    };
    expect({ name, value: got[name], expected: expected[name], estimate }).toSatisfy(
      () => Math.abs(got[name]! - expected[name]) <= estimate && estimate < 2e-2 * unit[name],
    );
  }
});
