/** The constants that the kernel of samples is compiled for, and what it estimates. */
import type { BasisShape } from "../stopping/basis.ts";
import type { PathShape } from "./shape.ts";

/** The properties of a simulation that the code of the kernel of samples depends on. */
export interface WalkShape extends PathShape {
  /** True where each sample is the mean of a path and its reflection. */
  readonly antithetic: boolean;
  /**
   * The number of copies of each instance, the base and bumped ones, that use the same random numbers; 1 without bumps.
   */
  readonly variants: number;
  /** The number of copies, the last ones, that differ in what the payoff reads alone: they share the base's path. */
  readonly sharing: number;
  /**
   * The number of linear combinations of the variants' payoffs that are estimated; the first is the value, the others
   * are Greeks.
   */
  readonly measures: number;
  /** The number of directions in which derivatives along the path are further measures. */
  readonly slopes: number;
  /**
   * The number of scores of the model, derivatives of the path's log-density. The payoff times each of them is a
   * further measure (likelihood-ratio method).
   */
  readonly scores: number;
  /** The number of independent randomisations of Sobol' points; 1 with Philox. */
  readonly scramblings: number;
  /** True where all work items simulate the same instance, so that they share its parameters. */
  readonly single: boolean;
  /** The basis functions of the exercise rule, if there is one. */
  readonly basis?: BasisShape | undefined;
}

/**
 * Returns the number of moments that are kept for each measure: its mean and its centred sum of squares. With a control
 * variate there are also those of the control, and the centred sum of products.
 */
export const momentsOf = ({ control }: Pick<PathShape, "control">): number => (control === undefined ? 2 : 5);
/**
 * Returns the number of quantities that a shape estimates: combinations of payoffs, their derivatives along paths,
 * products with scores, and the combinations and derivatives of the half widths of payoffs that have one.
 */
export const measuresOf = ({ measures, slopes, scores, product }: WalkShape): number =>
  measures + slopes + scores + (product.halfWidth === undefined ? 0 : measures + slopes);
