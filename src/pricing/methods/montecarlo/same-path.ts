/** Copies with moved spots whose paths are those of the trade itself. */
import type { Valuation } from "../../plan/differences.ts";
import type { Terms, TermsPayoff } from "../../terms.ts";
import { isEarly, type SimulationInstance } from "./acceptance.ts";

/**
 * Returns a trade on the paths of another one that is worth the same, up to a factor, as a copy with moved spots: where
 * the logarithms of spots move by steps that do not depend on them, each path is multiplied by 1 + eᵢ. Payoffs of the
 * first degree in all their amounts then have, for one spot,
 *
 *   V(S·(1 + e), K) = (1 + e)·V(S, K/(1 + e)),
 *
 * and baskets have the weights wᵢ·(1 + eᵢ). Undefined where paths are others.
 */
export function onSamePath(
  path: SimulationInstance,
  { terms, spots }: Valuation,
): { readonly path: SimulationInstance; readonly factor: number } | undefined {
  if (terms !== path.terms || !areMultiples(path)) return undefined;
  const scaled = scaledPayoff(
    terms.payoff,
    spots.map((spot, i) => spot / path.spots[i]),
  );
  return scaled && { path: { ...path, terms: { ...terms, payoff: scaled.payoff } }, factor: scaled.factor };
}

/** Tells whether paths are multiples of their spots, and end with them whatever the payoff is. */
const areMultiples = ({ terms, steps }: SimulationInstance): boolean =>
  steps === undefined &&
  terms.barriers.length === 0 &&
  !isEarly(terms) &&
  terms.assets.every(({ volatility: { kind } }) => MULTIPLES.includes(kind));

const MULTIPLES: readonly Terms["assets"][number]["volatility"]["kind"][] = [
  "deterministic",
  "heston",
  "gaussianFactors",
];

/** A payoff of spots that are not moved, and what it is multiplied by. */
function scaledPayoff(
  payoff: TermsPayoff,
  by: readonly number[],
): { readonly payoff: TermsPayoff; readonly factor: number } | undefined {
  const [first] = by;
  switch (payoff.kind) {
    case "vanilla":
      return { payoff: { ...payoff, strike: payoff.strike / first }, factor: first };
    case "digital":
      return { payoff: { ...payoff, strike: payoff.strike / first }, factor: 1 };
    case "average": {
      const { strike, past } = payoff;
      return {
        payoff: { ...payoff, strike: strike / first, past: { ...past, mean: past.mean / first } },
        factor: first,
      };
    }
    case "basket": {
      const { of, strike, weights } = payoff;
      if (of !== "product") return { payoff: { ...payoff, weights: weights.map((w, i) => w * by[i]) }, factor: 1 };
      const factor = weights.reduce((product, w, i) => product * by[i] ** w, 1);
      return { payoff: { ...payoff, strike: strike / factor }, factor };
    }
    default:
      return undefined;
  }
}
