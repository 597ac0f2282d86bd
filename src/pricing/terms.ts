/** A trade's terms as one case of the scenarios, and one bump, has them. */
import type { Barrier, Exercise, Payoff, Trade } from "../book/index.ts";
import type { Shift } from "../pde/fdm/index.ts";
import {
  type HullWhite,
  isStochastic,
  type PiecewiseConstant,
  shifted,
  shiftedVolatility,
  type Underlying,
  type Volatility,
} from "../market/index.ts";
import { rollForward } from "./roll-forward.ts";

/** An underlying of a trade with its volatility. */
export interface Asset {
  readonly underlying: Underlying;
  readonly volatility: Volatility;
}

/** The terms and the market of a trade, as methods for several factors use them. */
export interface Terms {
  readonly assets: readonly Asset[];
  /** The instantaneous forward rates per year. */
  readonly rates: PiecewiseConstant;
  /** The model of the short rate; undefined where rates are deterministic. */
  readonly shortRate: HullWhite | undefined;
  /** The correlation matrix of the assets, in their order, followed by the short rate. */
  readonly correlations: readonly (readonly number[])[];
  /** The time to expiry in years, ≥ 0. */
  readonly expiry: number;
  readonly exercise: Exercise;
  readonly barriers: readonly Barrier[];
  readonly payoff: Payoff;
}

/** The change of one input for a sensitivity by differences. */
export type Bump =
  | { readonly kind: "volatility"; readonly asset: number | "all"; readonly by: number }
  | { readonly kind: "rate"; readonly by: number }
  | { readonly kind: "correlation"; readonly pair: readonly [number, number]; readonly by: number };

/** Returns the underlyings of a trade with their volatilities. */
export const assetsOf = ({ assets, underlying, volatility }: Trade): readonly Asset[] =>
  assets ?? [{ underlying, volatility }];

/**
 * Returns the number of factors, the axes of the equation: underlyings, their stochastic volatilities, the short rate.
 */
export const factorsOf = ({ assets, shortRate }: Pick<Terms, "assets" | "shortRate">): number =>
  assets.reduce((sum, { volatility }) => sum + (isStochastic(volatility) ? 2 : 1), shortRate === undefined ? 0 : 1);

/** Tells whether an option may be exercised today. It is false for swings, for which today is one of their dates. */
export const isExercisable = ({ payoff, exercise }: Terms): boolean =>
  payoff.kind !== "swing" &&
  (exercise.kind === "american" || (exercise.kind === "bermudan" && exercise.times.some((time) => time <= 0)));

/** The correlations of one asset. */
const ALONE = [[1]];

/**
 * Returns the terms of a trade some years from today in a shifted market; undefined where the trade is settled by then.
 */
export function termsOf(trade: Trade, years: number, { volatility, rate }: Shift): Terms | undefined {
  const then = rollForward(trade, years);
  if (then === undefined) return undefined;
  const { underlying, expiry, exercise, barriers, payoff, correlations } = then;
  const assets = assetsOf(then);
  const move = ({ underlying: of, volatility: own }: Asset): Asset => ({
    underlying: of,
    volatility: shiftedVolatility(own, volatility),
  });
  return {
    assets: volatility === 0 ? assets : assets.map(move),
    rates: rate === 0 ? underlying.rates : shifted(underlying.rates, rate),
    shortRate: underlying.shortRate,
    correlations: correlations?.matrix ?? ALONE,
    expiry,
    exercise,
    barriers,
    payoff,
  };
}

/** Returns the terms with one input changed. */
export function bumped(terms: Terms, bump: Bump): Terms {
  switch (bump.kind) {
    case "volatility":
      return {
        ...terms,
        assets: terms.assets.map((asset, i) =>
          bump.asset === "all" || i === bump.asset
            ? { ...asset, volatility: shiftedVolatility(asset.volatility, bump.by) }
            : asset,
        ),
      };
    case "rate":
      return { ...terms, rates: shifted(terms.rates, bump.by) };
    case "correlation": {
      const [a, b] = bump.pair;
      return {
        ...terms,
        correlations: terms.correlations.map((row, i) =>
          row.map((value, j) => ((i === a && j === b) || (i === b && j === a) ? value + bump.by : value)),
        ),
      };
    }
    default:
      return bump satisfies never;
  }
}
