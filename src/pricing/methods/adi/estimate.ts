/** Error estimates in several factors, from two independent signs of an error. */
import type { Terms } from "../../terms.ts";
import { isLognormal } from "./lognormal.ts";

/**
 * The number of levels below for error estimates: two levels below, meshes and time steps are twice as coarse, at an
 * eighth of the cost on two axes.
 */
export const LEVELS_BELOW = 2;

/**
 * The weights, in an error estimate, of the correction by extrapolation and of half the distance to the value two
 * levels below.
 */
interface Weights {
  readonly correction: number;
  readonly distance: number;
}

/** The weights by what is known of the errors; solutions of European trades without dates are smooth until expiry. */
const WEIGHTS = {
  lognormal: { smooth: { correction: 0.25, distance: 1 }, rough: { correction: 0.5, distance: 1 } },
  heston: { smooth: { correction: 0.6, distance: 0.9 }, rough: { correction: 1, distance: 0.25 } },
  others: { smooth: { correction: 1, distance: 0.25 }, rough: { correction: 1, distance: 0.25 } },
} as const satisfies Record<string, { readonly smooth: Weights; readonly rough: Weights }>;

/**
 * A correction alone passes through zero where errors of several sources cancel, about once in thirty trades, and is
 * mostly ten times the error. The distance to the extrapolated value two levels below passes through zero elsewhere. An
 * error of first order would be half of it, and halves with every two levels more. design/factors.md has the figures.
 */
export function estimateOf(terms: Terms, correction: number, distance: number, levels: number): number {
  const weights = WEIGHTS[familyOf(terms)][isSmooth(terms) ? "smooth" : "rough"];
  return weights.distance * 2 ** (-0.5 * levels) * distance + weights.correction * correction;
}

function familyOf(terms: Terms): keyof typeof WEIGHTS {
  if (isLognormal(terms)) return "lognormal";
  const { assets, shortRate } = terms;
  return shortRate === undefined && assets.length === 1 && assets[0].volatility.kind === "heston" ? "heston" : "others";
}

const isSmooth = ({ exercise, barriers }: Terms): boolean =>
  exercise.kind === "european" && barriers.every(({ monitoring }) => monitoring.kind !== "discrete");
