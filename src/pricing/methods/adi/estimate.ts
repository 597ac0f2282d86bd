/** Error estimates of lognormal trades, from two independent signs of an error. */
import type { Terms } from "../../terms.ts";

/** Two levels below, meshes and time steps are twice as coarse, at an eighth of the cost on two axes. */
export const LEVELS_BELOW = 2;

/** The share of the correction by extrapolation that counts: where solutions are smooth until expiry, and elsewhere. */
const CORRECTION = { smooth: 0.25, rough: 0.5 } as const;

/**
 * A correction alone passes through zero where errors of several sources cancel, about once in thirty trades, and is
 * mostly ten times the error. The distance to the extrapolated value two levels below passes through zero elsewhere. An
 * error of first order would be half of it, and halves with every two levels more. design/factors.md has the figures.
 */
export const lognormalEstimate = (terms: Terms, correction: number, distance: number, levels: number): number =>
  2 ** (-0.5 * levels) * distance + CORRECTION[isSmooth(terms) ? "smooth" : "rough"] * correction;

const isSmooth = ({ exercise, barriers }: Terms): boolean =>
  exercise.kind === "european" && barriers.every(({ monitoring }) => monitoring.kind !== "discrete");
