import type { PricedTrade, Trade } from "../../book/index.ts";
import type { Underlying } from "../../market/index.ts";
import type { Attribution, Pair } from "./attribution.ts";
import { paidDividends, withoutDividends } from "./moves.ts";
import { same } from "./same.ts";

/**
 * Explains a change of value by full revaluation, with one market input changed at a time. The date comes first. From
 * there spot, volatility, rates and dividends are changed, each alone, so that no term depends on the order of the
 * others. Their joint effect beyond the sum of these is `cross`.
 *
 *   time = V(t₁, S₀ less dividends) − V₀,   exDividend = V(t₁, S₀) − that,   spot = V(t₁, S₁) − V(t₁, S₀),  …
 *
 * Nothing is left unexplained. Cost: up to 6 prices besides the two; none for an input that has not changed.
 */
export function revaluation({ before, rolled, after, moves }: Pair): Attribution {
  const views: Trade[] = [];
  const add = (view: Trade): number => views.push(view) - 1;
  const { years } = moves;
  const market = (change: Partial<Underlying>): Trade => ({
    ...rolled,
    underlying: { ...rolled.underlying, ...change },
  });
  const paid = paidDividends(before, years);
  const ex = paid.length === 0 ? undefined : add(market({ spot: withoutDividends(before.underlying.spot, paid) }));
  const later = years === 0 ? undefined : add(rolled);
  const from = rolled.underlying;
  const to = after.underlying;
  const spot = from.spot === to.spot ? undefined : add(market({ spot: to.spot }));
  const volatility = same(rolled.volatility, after.volatility)
    ? undefined
    : add({ ...rolled, volatility: after.volatility });
  const rate = same(from.rates, to.rates) ? undefined : add(market({ rates: to.rates }));
  const dividends = same(from.dividends, to.dividends) ? undefined : add(market({ dividends: to.dividends }));
  return {
    views,
    terms(base, end, values) {
      const of = (view: number | undefined, otherwise: PricedTrade): number =>
        (view === undefined ? otherwise : values[view]).value;
      const start = later === undefined ? base : values[later];
      const fallen = of(ex, start);
      const alone = {
        time: fallen - base.value,
        exDividend: start.value - fallen,
        spot: of(spot, start) - start.value,
        volatility: of(volatility, start) - start.value,
        rate: of(rate, start) - start.value,
        dividends: of(dividends, start) - start.value,
      };
      const moved = alone.spot + alone.volatility + alone.rate + alone.dividends;
      return { ...alone, cross: end.value - start.value - moved };
    },
  };
}
