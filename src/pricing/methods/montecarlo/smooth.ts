/** The first derivatives that are taken along paths. */
import { switchesLaw } from "../../../montecarlo/index.ts";
import { isInside } from "../../plan/correlation-moves.ts";
import { deviationAt } from "../../plan/kinks.ts";
import type { Terms } from "../../terms.ts";
import { isEarly } from "./acceptance.ts";
import { usesLocalDiffusions } from "./steps.ts";
import { exactEstimate } from "./without-paths.ts";

/** Tells whether a payoff may jump from path to path. Between dates the probability of a breach is a path's weight. */
export const jumps = ({ payoff, barriers }: Terms): boolean =>
  payoff.kind === "digital" ||
  payoff.kind === "expression" ||
  (payoff.kind === "script" && payoff.program.jumps.length > 0) ||
  barriers.some(({ monitoring }) => monitoring.kind === "discrete");

/** The most underlyings of derivatives along paths, each of which is a direction, and of those by correlations. */
const MOST = { assets: 6, correlated: 4 } as const;

/** The deviation of a logarithm above which few paths show derivatives. */
const HEAVY = 2;

const hasHeavyTails = ({ assets, expiry }: Terms, spots: readonly number[]): boolean =>
  assets.some(({ volatility }, i) => deviationAt(volatility, spots[i], expiry) > HEAVY);

/** Tells whether a spot with barriers may stand still for a time, at whose end the probability of a breach jumps. */
const hasRest = ({ assets, barriers }: Terms): boolean =>
  barriers.length > 0 &&
  assets.some(({ volatility }) => volatility.kind === "deterministic" && volatility.sigma.values.includes(0));

/** The derivatives with which Heston's steps jump where the law of the variance may change. */
const OF_VARIANCE: readonly string[] = ["vega", "theta"];

/**
 * Returns the function that tells whether a first derivative of a value is taken along paths: neither the payoff nor
 * the steps of the model jump with its input. The others are differences of values.
 */
export function smoothAlongPaths(terms: Terms, spots: readonly number[]): (measure: string) => boolean {
  const { assets } = terms;
  const [{ volatility }] = assets;
  if (
    jumps(terms) ||
    isEarly(terms) ||
    usesLocalDiffusions(terms) ||
    hasHeavyTails(terms, spots) ||
    hasRest(terms) ||
    volatility.kind === "stochasticLocal" ||
    assets.length > MOST.assets ||
    exactEstimate(terms, spots) !== undefined
  )
    return () => false;
  return (measure) => {
    const [kind, i, j] = measure.split(" ");
    if (kind === "gamma" || kind === "cross") return false;
    if (kind === "correlation") return assets.length <= MOST.correlated && isInside(terms, [Number(i), Number(j)]);
    return volatility.kind !== "heston" || !OF_VARIANCE.includes(kind) || !switchesLaw(volatility);
  };
}
