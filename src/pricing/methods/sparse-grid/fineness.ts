/** The numbers of grids and steps that a problem takes. */
import type { Condition } from "../../../pde/fdm/index.ts";
import { combinationGrids } from "../../../pde/sparsegrid/index.ts";
import type { Terms } from "../../terms.ts";
import { restartsOf } from "../../equations/parts.ts";

/** The resolution at which a problem is solved on sparse grids. */
export interface Fineness {
  /** The number of refinements above the coarsest levels, summed over the axes. */
  readonly level: number;
  /** The coarsest level of each axis. */
  readonly initial: readonly number[];
  readonly steps: number;
}

/** Refinements at level 0, by axes; with more axes every refinement costs more. */
const FIRST = [0, 4, 3, 3, 3, 2, 2] as const;
const FIRST_OF_MANY = 1;
/** Time steps of two refinements, and the factor of each more, so that both errors fall as fast. */
const STEPS = 20;
const STEPS_PER_REFINEMENT = 1.6;

/** The level of an axis of mean importance; a fraction, so that equal axes have one level. */
const MEAN_LEVEL = 1.4;

/**
 * Returns the coarsest level of each principal component. It is finer where the deviation is larger, so that the
 * spacing of nodes is about equal.
 */
export function levelsOfComponents(deviations: readonly number[]): readonly number[] {
  const logs = deviations.map((one) => Math.log2(Math.max(one, 1e-6)));
  const mean = logs.reduce((sum, one) => sum + one, 0) / logs.length;
  return logs.map((one) => Math.min(Math.max(Math.round(MEAN_LEVEL + one - mean), 1), 4));
}

/**
 * Returns the coarsest level of each axis of spots. It is the same for all, and lower for seven axes or more, whose
 * grids would otherwise be too large.
 */
export const levelsOfSpots = (axes: number): readonly number[] => new Array<number>(axes).fill(axes > 6 ? 1 : 2);

/** Returns the resolution at a level of refinement, with given coarsest levels. */
export function finenessOf(initial: readonly number[], level: number): Fineness {
  const refinements = Math.max((FIRST[initial.length] ?? FIRST_OF_MANY) + level, 1);
  return {
    level: refinements,
    initial,
    steps: 2 * Math.round(0.5 * STEPS * STEPS_PER_REFINEMENT ** (refinements - 2)),
  };
}

/** Returns the number of nodes of all grids of a combination together. */
export const nodesOf = ({ level, initial }: Fineness): number =>
  combinationGrids({ level, initialLevel: initial }).reduce(
    (sum, { levels }) => sum + levels.reduce((product, one) => product * (2 ** one + 1), 1),
    0,
  );

/**
 * Returns conditions for `solveOnSparseGrid` that change nothing but make the time grid restart on the dates where
 * rates or volatilities jump.
 */
export function restarts(terms: Terms, axis: string): readonly Condition<string>[] {
  const at = restartsOf(terms);
  return at.length === 0 ? [] : [{ kind: "knock-out", axis, above: NOWHERE, value: 0, at }];
}

const NOWHERE = 1e30;

/**
 * The factors on an error estimate for trades with exercise or knock-outs on dates. These leave a kink or a jump
 * between two nodes that cell averages miss, so that errors fall irregularly. Compared with quadrature on two and three
 * underlyings, differences of levels underestimated the error by up to 1.7 times with exercise and 3.7 times with
 * knock-outs.
 */
export const OF_DATES = { none: 1, exercise: 2, knockOut: 4 } as const;

/**
 * The factor on an error estimate for a barrier that is monitored for the whole life. Compared with alternating
 * directions on converged grids (two underlyings, scenarios), differences of levels underestimated the error by up to
 * 2.4 times.
 */
export const OF_BARRIER = 2.5;
