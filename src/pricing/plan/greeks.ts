/** Greeks put together from measures, or the estimates of their errors. */
import type { SensitivityName } from "../../book/index.ts";
import type { SeveralSensitivities } from "../columns/result-columns.ts";
import type { Terms } from "../terms.ts";
import { CORRELATION, CROSS, DELTA, GAMMA, type Pair, pairsOf, RHO, THETA, VEGA } from "./differences.ts";

/** The sensitivities of a trade, in total and by underlying. */
export interface Greeks {
  /** The sensitivities to a common move of all underlyings. */
  readonly total: Readonly<Record<SensitivityName, number>>;
  /** The sensitivities to each underlying and to pairs of them. */
  readonly several: SeveralSensitivities;
}

/**
 * Returns the sensitivities of a trade, where `measure` returns the one with a name. A total that has no measure of its
 * own is the sum over the underlyings. This is exact for derivatives, and an upper bound for error estimates.
 */
export function greeksOf(
  { assets, correlations }: Terms,
  names: readonly string[],
  measure: (name: string) => number,
): Greeks {
  const each = assets.map((_, i) => ({ delta: measure(DELTA(i)), gamma: measure(GAMMA(i)), vega: measure(VEGA(i)) }));
  const total = (name: (asset: "all") => string, kind: "delta" | "gamma" | "vega"): number => {
    const together = each.length === 1 ? Number.NaN : measure(name("all"));
    return Number.isNaN(together) ? each.reduce((sum, one) => sum + one[kind], 0) : together;
  };
  const byPair = (count: number, name: (pair: Pair) => string) =>
    pairsOf(count).map((pair) => [names[pair[0]], names[pair[1]], measure(name(pair))] as const);
  return {
    total: {
      delta: total(DELTA, "delta"),
      gamma: total(GAMMA, "gamma"),
      theta: measure(THETA),
      vega: total(VEGA, "vega"),
      rho: measure(RHO),
    },
    several: {
      assets: each,
      crossGamma: byPair(assets.length, CROSS),
      correlation: byPair(correlations.length, CORRELATION),
    },
  };
}
