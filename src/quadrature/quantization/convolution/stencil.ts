/** Expectations of an interpolated function after a Gaussian step, as weights of its nodes. */
import { hostNormalCdf } from "../../../market/models/index.ts";

/** The number of subdivisions of a cell in a table of weights. */
export const FRACTIONS = 16;

/** Standard deviations that a stencil reaches to each side: beyond lie 2e-9. */
const REACH = 6;

/** Lagrange's cubics on the nodes −1, 0, 1, 2 of a cell, by powers of the place in it. */
const CUBICS = [
  [0, -1 / 3, 1 / 2, -1 / 6],
  [1, -1 / 2, -1, 1 / 2],
  [0, 1, 1 / 2, -1 / 2],
  [0, -1 / 6, 0, 1 / 6],
] as const;

/** The weights of a step. */
export interface Stencil {
  /** The number of nodes with a weight. */
  readonly taps: number;
  /** The number of nodes with a weight below the position's cell. */
  readonly before: number;
  /** The weights, [taps, FRACTIONS + 1], by the position's fraction of its cell. */
  readonly table: Float64Array;
}

/**
 * Returns the weights w with E[I(x + s·Z)] = Σ w·(nodal value), where I interpolates nodal values cubically on an
 * equidistant grid, Z is standard normal, and x and s are in units of the grid's step. The weights are made of moments
 * of the normal distribution over each cell, and tabulated by the fractional part of x.
 *
 * Cubic interpolation in the table keeps the moments of the weights up to the third exact, which are cubic in x.
 */
export function stencilOf(deviation: number): Stencil {
  const reach = Math.ceil(REACH * deviation);
  const taps = 2 * reach + 4;
  const table = new Float64Array(taps * (FRACTIONS + 1));
  for (let f = 0; f <= FRACTIONS; f++)
    for (let cell = -reach; cell <= reach; cell++) {
      const moments = momentsOf(f / FRACTIONS - cell, deviation);
      CUBICS.forEach((cubic, node) => {
        const weight = cubic.reduce((sum, c, power) => sum + c * moments[power], 0);
        table[(cell + reach + node) * (FRACTIONS + 1) + f] += weight;
      });
    }
  return { taps, before: reach + 1, table };
}

/** Below this many cells a step is none. */
const NO_STEP = 1e-9;

/** E[uʳ; 0 ≤ u < 1] for u = x + s·Z, r = 0 … 3. */
function momentsOf(x: number, s: number): readonly [number, number, number, number] {
  // Without a step a place at the end of a cell belongs to it: the neighbour's polynomial agrees there.
  if (s < NO_STEP) return x >= 0 && x <= 1 ? [1, x, x * x, x * x * x] : [0, 0, 0, 0];
  const [a, b] = [-x / s, (1 - x) / s];
  const [p, q] = [density(a), density(b)];
  const zero = hostNormalCdf(b) - hostNormalCdf(a);
  const one = p - q;
  const two = zero + a * p - b * q;
  const three = 2 * one + a * a * p - b * b * q;
  return [
    zero,
    x * zero + s * one,
    x * x * zero + 2 * x * s * one + s * s * two,
    x ** 3 * zero + 3 * x * x * s * one + 3 * x * s * s * two + s ** 3 * three,
  ];
}

const density = (z: number): number => Math.exp(-0.5 * z * z) / Math.sqrt(2 * Math.PI);
