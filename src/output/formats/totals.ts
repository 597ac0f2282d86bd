import type { CurrencyTotals } from "../../book/index.ts";

const NAMES = { cashDelta: "cash delta", theta: "theta", rho: "rho", delta: "delta", gamma: "gamma", vega: "vega" };

/**
 * Returns a note for each sum of totals that leaves out trades: `gamma of ACME leaves out 3 of 10 trades, which have
 * none`.
 */
export function incompleteSumNotes(totals: readonly CurrencyTotals[]): string[] {
  return totals.flatMap(({ currency, trades, missing, underlyings }) => [
    ...sentences(currency, trades, missing),
    ...underlyings.flatMap((one) => sentences(one.underlying, one.trades, one.missing)),
  ]);
}

function sentences(of: string, trades: number, missing: Partial<Record<keyof typeof NAMES, number>> = {}): string[] {
  return (Object.keys(missing) as (keyof typeof NAMES)[]).map((name) => {
    const count = `${whole(missing[name] ?? 0)} of ${whole(trades)} trades`;
    return `${NAMES[name]} of ${of} leaves out ${count}, which have none`;
  });
}

const whole = (value: number): string => value.toLocaleString("en-US");

/**
 * Returns the totals with at most `max` underlyings in all currencies together, those with the largest cash deltas.
 * `hidden` is the number of underlyings that are left out.
 */
export function largestUnderlyings(
  totals: readonly CurrencyTotals[],
  max: number,
): { readonly shown: readonly CurrencyTotals[]; readonly hidden: number } {
  const all = totals.flatMap(({ underlyings }) => underlyings);
  if (all.length <= max) return { shown: totals, hidden: 0 };
  const sizeOf = ({ cashDelta }: (typeof all)[number]): number => Math.abs(cashDelta ?? 0);
  const largest = new Set(all.toSorted((a, b) => sizeOf(b) - sizeOf(a)).slice(0, max));
  const shown = totals.map((total) => ({ ...total, underlyings: total.underlyings.filter((one) => largest.has(one)) }));
  return { shown, hidden: all.length - max };
}
