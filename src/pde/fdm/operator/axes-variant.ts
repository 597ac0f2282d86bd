import { memoizeBy } from "../../../base/memoize.ts";
import type { Correction } from "../time/schemes.ts";
import { type AxisEnds, type EquationCode, EquationState, type StateNumber } from "./state.ts";
import { bool, fn, real, record } from "../../../kernel/index.ts";
import { endRow, coefficientsInCoordinate, interiorRow, slopeSource } from "./matrix.ts";

/** The properties of one axis that the code of a kernel depends on. */
export interface AxisCode extends AxisEnds {
  /** True where the terminal values depend on this axis, so that they are averaged along it at kinks. */
  readonly averaged: boolean;
  /** True where the matrix rows along this axis, not the first, are the same for all values of the first axis. */
  readonly isUniform: boolean;
}

/** The properties of a problem on two or three axes that the code of its kernel depends on. */
export interface AxesVariant extends Omit<EquationCode, "axes" | "payoff"> {
  readonly axes: readonly AxisCode[];
  /** The presence of the mixed derivatives with respect to axes 0 and 1, 0 and 2, 1 and 2. */
  readonly mixed: readonly [boolean, boolean, boolean];
  /** The second sweep of the scheme; undefined for a scheme of one sweep. */
  readonly correction: Correction | undefined;
  /** The payoff of exercise at all times, which is imposed by operator splitting. */
  readonly obstacle: StateNumber | undefined;
  /** True where the matrix rows along the first axis are the same for all values of the other axes. */
  readonly isFirstUniform: boolean;
  /**
   * For each of the mixed derivatives a01, a02 and a12, true where its coefficient does not depend on the third of
   * three axes.
   */
  readonly isMixedUniform: readonly [boolean, boolean, boolean];
  /** The number of work items that solve one instance. */
  readonly groupSize: number;
  /** The division of lines of nodes among work items of a GPU; undefined where one item works on whole lines. */
  readonly segments: LineDivision | undefined;
}

/**
 * The division of every line of nodes along an axis into `count` segments of at most `length` nodes, a multiple of
 * `SEGMENT_MULTIPLE`, one for each of several work items.
 */
export interface LineDivision {
  readonly count: number;
  readonly length: number;
}

/**
 * Tells whether the values of some nodes are prescribed, by a Dirichlet condition or a continuously monitored
 * knock-out.
 */
export const hasPinnedNodes = ({ axes, region }: AxesVariant): boolean =>
  region !== undefined || axes.some(({ first, last }) => first.kind === "dirichlet" || last.kind === "dirichlet");

/**
 * The indices of the node arrays of an instance, each with one real a node; −1 for an array that a variant does not
 * use.
 */
interface Slots {
  /** The array of the solution. */
  readonly u: number;
  /** The array of a sweep's right-hand side and result. */
  readonly z: number;
  /**
   * The array of the first sweep's right-hand side D₀ of a corrected scheme, and then of the second sweep's increment
   * E.
   */
  readonly start: number;
  readonly second: number;
  /** The array of the exercise payoff. */
  readonly obstacle: number;
  /** The array of the multiplier of operator splitting. */
  readonly lambda: number;
  /**
   * The number of arrays of the solution and its right-hand sides. Arrays of coefficients are counted from 0 again
   * (`coefficientsAt`).
   */
  readonly states: number;
  /** The arrays of the matrix rows along each axis and of their factors; factors of `common` rows are stored there. */
  readonly rows: readonly RowSlots[];
  /** The arrays of the coefficients of mixed derivatives. */
  readonly mixed: readonly number[];
  /** The array of the source. */
  readonly source: number;
  /** The array of flags of pinned nodes (1). */
  readonly pinned: number;
  /**
   * The arrays, for each axis whose matrix rows are the same at all nodes of a line along the first axis, that hold the
   * numbers of `SHARED_INDEX` at the start of the line.
   */
  readonly common: readonly number[];
  /** The number of arrays of coefficients. */
  readonly coefficients: number;
}

/**
 * The arrays of a row along an axis, off its diagonal and in sum, and of its factors 1/pivot, a/pivot and c/pivot.
 * `decay` is hc of the equation, without sign: 1 + decay/d is what is left of the diagonal.
 */
type RowSlots = Readonly<Record<keyof typeof SHARED_INDEX, number>>;

/** The indices of a matrix row's entries and factors where all nodes of a line along the first axis share them. */
export const SHARED_INDEX = { a: 0, c: 1, decay: 2, inverse: 3, lower: 4, upper: 5 } as const;

/** Returns the indices of the node arrays of a variant. */
export const slotsOf = memoizeBy((variant: AxesVariant): Slots => {
  let count = 0;
  const slot = (used = true): number => (used ? count++ : -1);
  const each = (): readonly number[] => variant.axes.map(() => slot());
  const ownFactors = (): readonly number[] => variant.axes.map(({ isUniform }) => slot(!isUniform));
  const corrected = variant.correction !== undefined;
  const early = variant.obstacle !== undefined;
  const states = {
    u: slot(),
    z: slot(),
    start: slot(corrected),
    second: slot(corrected),
    obstacle: slot(early),
    lambda: slot(early),
    states: count,
  };
  count = 0;
  const decay = slot();
  const [a, c] = [each(), each()];
  const [inverse, lower, upper] = [ownFactors(), ownFactors(), ownFactors()];
  return {
    ...states,
    rows: variant.axes.map((_, k) => ({
      a: a[k],
      c: c[k],
      decay,
      inverse: inverse[k],
      lower: lower[k],
      upper: upper[k],
    })),
    mixed: variant.mixed.map((used) => slot(used)),
    source: slot(variant.hasSource),
    pinned: slot(hasPinnedNodes(variant)),
    common: variant.axes.map(({ isUniform }) => slot(isUniform)),
    // An odd number: then neighbouring lines of a grid are in different sets of a cache.
    coefficients: count + ((count + 1) % 2),
  };
});

/**
 * The position of a node on one axis: whether it is the first or last, its value, and the distances to its neighbours
 * in the coordinate and in the axis' values.
 */
const AxisPosition = record({
  isFirst: bool,
  isLast: bool,
  x: real,
  hDown: real,
  hUp: real,
  down: real,
  up: real,
});

/**
 * Returns the function that computes the off-diagonal entries of hLⱼ along one axis at a node: h·a for the node before
 * and h·c for the node after, by the differences of `interiorRow` and `endRow`. It also returns the term that a Neumann
 * end adds to the source.
 */
export function axisRow({ log, first, last }: AxisCode, fitted: boolean) {
  return fn({
    name: "axisRow",
    params: { at: AxisPosition, h: real, a: real, b: real, state: EquationState },
    env: {
      coefficientsInCoordinate: coefficientsInCoordinate(log),
      interiorRow: interiorRow(fitted),
      endRow: endRow({ first, last }),
      slopeSource: slopeSource(log),
      firstSlope: first.kind === "neumann" ? first.number : undefined,
      lastSlope: last.kind === "neumann" ? last.number : undefined,
    },
    body({ at, h, a, b, state }, _gpu, env) {
      const { diffusion, drift } = env.coefficientsInCoordinate(Math.max(a, 0.0), b, at.x);
      let below = 0.0;
      let above = 0.0;
      let slope = 0.0;
      if (at.isFirst) {
        above = env.endRow(true, h, b, diffusion, drift, at.hUp, at.up).flow;
        if (env.firstSlope !== undefined)
          slope = env.slopeSource(true, diffusion, drift, at.hUp, at.x, env.firstSlope(state));
      } else if (at.isLast) {
        below = env.endRow(false, h, b, diffusion, drift, at.hDown, at.down).flow;
        if (env.lastSlope !== undefined)
          slope = env.slopeSource(false, diffusion, drift, at.hDown, at.x, env.lastSlope(state));
      } else {
        const row = env.interiorRow(h, diffusion, drift, at.hDown, at.hUp);
        below = row.a;
        above = row.c;
      }
      return { below, above, slope };
    },
  });
}
