/** Changes of value by the sensitivities of one result, and by one part of the market at a time. */
import type { AnyTrade, PricedTrade } from "../../book/index.ts";
import type { Greeks } from "../options.ts";
import type { FirstOrder, SingleMoveCopies } from "../plan/kind.ts";
import type { ExplainTerms, SmileTerm } from "./types.ts";

/**
 * The way in which a change of value is explained: further trades to be priced, and the function that computes the
 * terms of the explanation from their prices.
 */
export interface Attribution {
  /** The further trades to be priced. */
  readonly views: readonly AnyTrade[];
  /** The sensitivities that the terms need of any of these trades; by default those of the method. */
  readonly greeks?: Greeks;
  /** Returns the terms of the explanation; `values` has the prices of `views`, in their order. */
  terms(before: PricedTrade, after: PricedTrade, values: readonly PricedTrade[]): ExplainTerms;
  /** Returns the effects of moves of fitted smiles by expiry, for a method that has them. */
  readonly smile?: (before: PricedTrade, values: readonly PricedTrade[]) => readonly SmileTerm[];
}

/**
 * Explains a change of value by full revaluation, with one market input changed at a time. The date comes first: then
 * the trade is `rolled`, undefined on the same day. From there the parts of the market are changed, each alone, so that
 * no term depends on the order of the others. Their joint effect beyond the sum of these is `cross`.
 *
 *   time = V(t₁, S₀ less dividends) + cash − V₀,   exDividend = V(t₁, S₀) − V(t₁, S₀ less dividends),
 *   spot = V(t₁, S₁) − V(t₁, S₀),  …
 *
 * Nothing is left unexplained. Cost: up to 6 prices besides the two; none for an input that has not changed.
 */
export function revaluation(
  rolled: AnyTrade | undefined,
  parts: SingleMoveCopies<AnyTrade>,
  cash: number,
): Attribution {
  const views: AnyTrade[] = [];
  const valueOf = (view: AnyTrade | undefined) => {
    if (view === undefined) return (_values: readonly PricedTrade[], otherwise: number): number => otherwise;
    const index = views.push(view) - 1;
    return (values: readonly PricedTrade[]): number => values[index].value;
  };
  const [start, ex] = [valueOf(rolled), valueOf(parts.exDividend)];
  const alone = { spot: undefined, volatility: undefined, rate: undefined, dividends: undefined, ...parts };
  const moved = Object.entries(alone)
    .filter(([name]) => name !== "exDividend")
    .map(([name, view]) => [name, valueOf(view)] as const);
  return {
    views,
    terms(base, end, values) {
      const from = start(values, base.value);
      const fallen = ex(values, from);
      const effects = moved.map(([name, read]) => [name, read(values, from) - from] as const);
      const sum = effects.reduce((total, [, effect]) => total + effect, 0);
      return {
        time: fallen + cash - base.value,
        exDividend: from - fallen,
        ...Object.fromEntries(effects),
        cross: end.value - from - sum,
      };
    },
  };
}

/** Explains a change of value by sensitivities times moves, of first order and gamma; rates move by key rates. */
export function firstOrder({ moves, credit, logDiscount }: FirstOrder): Attribution {
  const { years, spot, paid, volatility, rate } = moves;
  return {
    views: [],
    terms({ delta, gamma, theta, vega, rho, keyRates, creditSensitivity }) {
      const byKeys = keyRates?.reduce((sum, [time, value]) => sum - (value * logDiscount(time)) / time, 0);
      return {
        theta: (theta ?? 0) * years,
        delta: (delta ?? 0) * spot,
        gamma: 0.5 * (gamma ?? 0) * spot * spot,
        vega: (vega ?? 0) * volatility,
        rho: byKeys ?? (rho ?? 0) * rate,
        exDividend: paid * ((delta ?? 0) + (gamma ?? 0) * (spot + 0.5 * paid)),
        credit: (creditSensitivity ?? 0) * credit,
      };
    },
  };
}
