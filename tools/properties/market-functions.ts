/** What a market's numbers mean, for closed forms: written from docs/book.md, not from the library. */
import type { Contract, DividendJson, RateJson, VolatilityJson } from "./contract.ts";
import type { Lognormal } from "./closed-forms.ts";

/** ∫ of the forward rate up to t. */
export function rateIntegral(rate: RateJson, t: number): number {
  if (typeof rate === "number") return rate * t;
  return linear(
    rate.map(({ date, zero }) => [date, zero * date] as const),
    t,
  );
}

export const discount = (rate: RateJson, t: number): number => Math.exp(-rateIntegral(rate, t));

/** Total variance up to t of a volatility that is deterministic. */
export function totalVariance(volatility: VolatilityJson, t: number): number {
  if (typeof volatility === "number") return volatility ** 2 * t;
  if ("termStructure" in volatility)
    return linear(
      volatility.termStructure.map(({ date, volatility: v }) => [date, v * v * date] as const),
      t,
    );
  throw new Error("not deterministic");
}

/** Through (0, 0) and the nodes, linear, and on beyond the last. */
function linear(nodes: readonly (readonly [number, number])[], t: number): number {
  const all = [[0, 0] as const, ...nodes];
  const i = Math.min(
    Math.max(
      all.findIndex(([x]) => x >= t),
      1,
    ),
    all.length - 1,
  );
  const to = t > all[all.length - 1][0] ? all.length - 1 : i;
  const [[x0, y0], [x1, y1]] = [all[to - 1], all[to]];
  return y0 + ((y1 - y0) * (t - x0)) / (x1 - x0);
}

/**
 * The lognormal law of the spot at `expiry` of a contract with deterministic volatility and proportional dividends
 * only.
 */
export function lognormalOf({ spot, rate, yield: q = 0, discrete = [], volatility, expiry }: Contract): Lognormal {
  const kept = product(discrete.filter(({ date }) => date <= expiry));
  return {
    spot: spot * kept,
    rate: rateIntegral(rate, expiry) / expiry,
    yield: q,
    volatility: Math.sqrt(totalVariance(volatility, expiry) / expiry),
    expiry,
  };
}

/** What proportional dividends leave; those of one date add up. */
function product(discrete: readonly DividendJson[]): number {
  const byDate = new Map<number, number>();
  for (const { date, proportional = 0 } of discrete) byDate.set(date, (byDate.get(date) ?? 0) + proportional);
  return [...byDate.values()].reduce((left, part) => left * Math.max(1 - part, 0), 1);
}

/** The spot after the dividends of one date. */
export function afterDividends(spot: number, ofDate: readonly DividendJson[]): number {
  const { cash, proportional } = together(ofDate);
  return Math.max(spot * (1 - proportional) - cash, 0);
}

/** The spot before the dividends of one date. */
export function beforeDividends(spot: number, ofDate: readonly DividendJson[]): number {
  const { cash, proportional } = together(ofDate);
  return (spot + cash) / (1 - proportional);
}

function together(ofDate: readonly DividendJson[]): { cash: number; proportional: number } {
  const cash = ofDate.reduce((sum, dividend) => sum + (dividend.cash ?? 0), 0);
  const proportional = Math.min(
    ofDate.reduce((sum, dividend) => sum + (dividend.proportional ?? 0), 0),
    1,
  );
  return { cash, proportional };
}
