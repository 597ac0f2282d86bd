/** The reporting currency of a book: what a unit of each currency is worth in it, today and in scenarios. */
import { BookError } from "../base/errors.ts";
import { Curve } from "../market/linear/index.ts";
import type { ResolvedMarket } from "./market.ts";
import { didYouMean, quote } from "./names.ts";
import type { PathOf } from "./paths.ts";
import { EVERY } from "./scenario-table.ts";
import type { RateStep, Reporting, ReportingMarket } from "./types.ts";

/** Years over which the slopes of curves are taken, as linear trades take them. */
const STEP = 1e-5;

/** Returns the reporting currency of a market. @throws BookError for a currency that the market does not have */
export function reportingMarket(currency: string, market: ResolvedMarket, pathOf: PathOf): ReportingMarket {
  if (!market.rates.has(currency))
    throw new BookError(
      pathOf("reporting"),
      `market.rates has no ${quote(currency)}${didYouMean(currency, market.rates.keys())}`,
    );
  const { fx, curves } = market.linear.value;
  const discounts = curves.curves.map(({ times, zeros, rule, turns }) => new Curve(times, zeros, rule, turns));
  const steps = (from: string, to: string, at: string): readonly RateStep[] =>
    market.linear.value.conversion(from, to, at).map(({ pair, spot, power, base, quote: other, lag }) => {
      const until = (curve: number, time: number): number =>
        discounts[curve].logDiscount(time + lag) - discounts[curve].logDiscount(time);
      const carry = (time: number): number => Math.exp(until(base, time) - until(other, time));
      const growth = Math.log(carry(STEP) / carry(0)) / STEP;
      const [first, second] = [base, other].map((curve) => curves.owners[curve] ?? EVERY);
      return { pair, spot, power, carry: carry(0), growth, carryAt: carry, base: first, quote: second, lag };
    });
  const pairs: Record<string, Reporting["pairs"][string]> = {};
  for (const [name, { base, quote: second, spot }] of market.pairs.value)
    pairs[name] = {
      spot,
      steps: fx
        .steps(base, second, pathOf("reporting"))
        .map(({ pair, power }) => ({ pair: pair.name, spot: pair.spot, power })),
    };
  const known = new Map<string, Reporting>();
  return {
    currency,
    pairs: [...fx.spots.keys()],
    of(own, at) {
      let found = known.get(own);
      if (found === undefined) known.set(own, (found = { currency, steps: steps(own, currency, at), pairs }));
      return found;
    },
  };
}
