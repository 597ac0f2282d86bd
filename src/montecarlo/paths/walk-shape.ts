/** The constants that the kernel of samples is compiled for, what it estimates, and the moments of that. */
import { bool, fn, i32, read, real, write } from "../../kernel/index.ts";
import type { BasisShape } from "../stopping/basis.ts";
import { BLOCK, type PathShape } from "./shape.ts";

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

/**
 * Returns the function that adds a sample to the sums of `measures` measures: of differences from the first sample, so
 * that squares do not cancel.
 */
export const addSampleFunction = (shape: Pick<PathShape, "control">, measures: number) =>
  fn({
    name: "addSample",
    params: { isFirst: bool, y: read(real), x: read(real), y0: write(real), x0: write(real), sums: write(real) },
    env: { CONTROL: shape.control !== undefined, Q: momentsOf(shape), ALL: measures },
    body({ isFirst, y, x, y0, x0, sums }, _gpu, { CONTROL, Q, ALL }): undefined {
      for (let m = 0; m < ALL; m++) {
        if (isFirst) {
          y0[m] = y[m];
          x0[m] = x[m];
        }
        const dy = y[m] - y0[m];
        sums[m * Q] += dy;
        sums[m * Q + 1] += dy * dy;
        if (CONTROL) {
          const dx = x[m] - x0[m];
          sums[m * Q + 2] += dx;
          sums[m * Q + 3] += dx * dx;
          sums[m * Q + 4] += dx * dy;
        }
      }
    },
  });

/** Returns the function that stores the moments of a block from its sums, [measures · moments, itemCount]. */
export const storeMomentsFunction = (shape: Pick<PathShape, "control">, measures: number) =>
  fn({
    name: "storeMoments",
    params: { y0: read(real), x0: read(real), sums: read(real), moments: write(real), item: i32, itemCount: i32 },
    env: { BLOCK, CONTROL: shape.control !== undefined, Q: momentsOf(shape), ALL: measures },
    body({ y0, x0, sums, moments, item, itemCount }, _gpu, { BLOCK, CONTROL, Q, ALL }): undefined {
      for (let m = 0; m < ALL; m++) {
        const at = m * Q * itemCount + item;
        const meanY = sums[m * Q] / BLOCK;
        moments[at] = y0[m] + meanY;
        moments[at + itemCount] = Math.max(sums[m * Q + 1] - sums[m * Q] * meanY, 0);
        if (CONTROL) {
          const meanX = sums[m * Q + 2] / BLOCK;
          moments[at + 2 * itemCount] = x0[m] + meanX;
          moments[at + 3 * itemCount] = Math.max(sums[m * Q + 3] - sums[m * Q + 2] * meanX, 0);
          moments[at + 4 * itemCount] = sums[m * Q + 4] - sums[m * Q] * meanX;
        }
      }
    },
  });
