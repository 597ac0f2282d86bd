/**
 * A Gaussian chain's steps between standardised states, as operations along one axis after the other, and the
 * expectation of an interpolated function after a step, as weights of its nodes.
 */
import { stepReals } from "../tree/chain.ts";
import { hostNormalCdf } from "../../../market/models/index.ts";

/** The number of subdivisions of a cell in a table of weights. */
export const FRACTIONS = 16;

/** Standard deviations that a stencil reaches to each side: beyond lie 2e-9. */
const REACH = 6;

/** Lagrange's cubics on the nodes −1, 0, 1, 2 of a cell, by powers of the position in it. */
const CUBICS = [
  [0, -1 / 3, 1 / 2, -1 / 6],
  [1, -1 / 2, -1, 1 / 2],
  [0, 1, 1 / 2, -1 / 2],
  [0, -1 / 6, 0, 1 / 6],
] as const;

/** The interpolation weights with which a step computes expectations. */
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
  // Without a step a position at the end of a cell belongs to it: the neighbour's polynomial agrees there.
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

/** The nodes y = start + spacing·index, which are the same on each axis and at each time. */
export interface Nodes {
  readonly start: number;
  readonly spacing: number;
  readonly count: number;
}

/** One pass of a step: expectations along one axis of the source, for the targets on a grid. */
export interface ExpectationPass {
  readonly axis: 0 | 1;
  /** The position of target (i, j) on the axis, in cells: p₁·i + p₂·j + p₀. */
  readonly position: readonly [number, number, number];
  /** The standard deviation in cells. */
  readonly deviation: number;
  /** The number of targets on each axis. */
  readonly targets: readonly [number, number];
}

/** A standardised chain: the matrices Ã and T̃ of each step. */
interface Standardised {
  readonly dimension: number;
  readonly parameters: Float64Array;
}

/** The smallest scale of the intermediate grid. */
const MIN_SCALE = 1e-12;

/**
 * Returns the passes that compute E[V(Y′) | Y = y] for a step Y′ = Ã·Y + T̃·Z of a standardised chain, both triangular:
 *
 *   W(u, w) = E V(u, w + s·u + t₂₂·Z₂),   s = t₂₁/t₁₁
 *   G(y₁, w) = E W(a₁₁·y₁ + t₁₁·Z₁, w)
 *   E[V(Y′) | y] = G(y₁, a₂₂·y₂ + (a₂₁ − s·a₁₁)·y₁)
 *
 * w takes the nodes times the standard deviation of its argument. In one dimension only W is needed. The first step
 * starts at one point.
 */
export function passesOf(
  { dimension, parameters }: Standardised,
  { start, spacing, count }: Nodes,
  step: number,
): readonly ExpectationPass[] {
  const numbers = parameters.subarray(step * stepReals(dimension));
  const isFirst = step === 0;
  const at = isFirst ? 1 : count;
  const [y, dy] = isFirst ? [0, 0] : [start, spacing];
  const cells = (value: number): number => (value - start) / spacing;
  if (dimension === 1) {
    const [a, t] = numbers;
    const position = [cells(a * y), 0, (a * dy) / spacing] as const;
    return [{ axis: 1, position, deviation: Math.abs(t) / spacing, targets: [1, at] }];
  }
  const [a11, , a21, a22, t11, , t21, t22] = numbers;
  const s = t11 === 0 ? 0 : t21 / t11;
  const drift = a21 - s * a11;
  const scale = Math.max(Math.hypot(drift, a22), MIN_SCALE);
  const w = isFirst ? 0 : scale;
  return [
    {
      axis: 1,
      position: [cells(w * y + s * start), s, (w * dy) / spacing],
      deviation: Math.abs(t22) / spacing,
      targets: [count, at],
    },
    {
      axis: 0,
      position: [cells(a11 * y), (a11 * dy) / spacing, 0],
      deviation: Math.abs(t11) / spacing,
      targets: [at, at],
    },
    ...(isFirst
      ? []
      : [
          {
            axis: 1 as const,
            position: [cells((drift * y + a22 * y) / scale), drift / scale, a22 / scale] as const,
            deviation: 0,
            targets: [at, at] as const,
          },
        ]),
  ];
}
