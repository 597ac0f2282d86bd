/** A Gaussian chain's steps between standardised states, as operations along one axis after the other. */
import { stepNumbers } from "../tree/chain.ts";

/** Nodes y = start + spacing·index, the same on each axis and at each time. */
export interface Nodes {
  readonly start: number;
  readonly spacing: number;
  readonly count: number;
}

/** One operation: expectations along an axis of the source, for targets on a grid. */
export interface Pass {
  readonly axis: 0 | 1;
  /** The position of target (i, j) on the axis, in cells: p₁·i + p₂·j + p₀. */
  readonly place: readonly [number, number, number];
  /** The standard deviation in cells. */
  readonly deviation: number;
  /** The number of targets on each axis. */
  readonly targets: readonly [number, number];
}

/** A standardised chain: the matrices Ã and T̃ of each step. */
export interface Standardised {
  readonly dimension: number;
  readonly parameters: Float64Array;
}

/** The smallest scale of the intermediate grid. */
const MIN_SCALE = 1e-12;

/**
 * Returns the passes of E[V(Y′) | Y = y] for a step Y′ = Ã·Y + T̃·Z of a standardised chain, both triangular:
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
): readonly Pass[] {
  const numbers = parameters.subarray(step * stepNumbers(dimension));
  const isFirst = step === 0;
  const at = isFirst ? 1 : count;
  const [y, dy] = isFirst ? [0, 0] : [start, spacing];
  const cells = (value: number): number => (value - start) / spacing;
  if (dimension === 1) {
    const [a, t] = numbers;
    const place = [cells(a * y), 0, (a * dy) / spacing] as const;
    return [{ axis: 1, place, deviation: Math.abs(t) / spacing, targets: [1, at] }];
  }
  const [a11, , a21, a22, t11, , t21, t22] = numbers;
  const s = t11 === 0 ? 0 : t21 / t11;
  const drift = a21 - s * a11;
  const scale = Math.max(Math.hypot(drift, a22), MIN_SCALE);
  const w = isFirst ? 0 : scale;
  return [
    {
      axis: 1,
      place: [cells(w * y + s * start), s, (w * dy) / spacing],
      deviation: Math.abs(t22) / spacing,
      targets: [count, at],
    },
    {
      axis: 0,
      place: [cells(a11 * y), (a11 * dy) / spacing, 0],
      deviation: Math.abs(t11) / spacing,
      targets: [at, at],
    },
    ...(isFirst
      ? []
      : [
          {
            axis: 1 as const,
            place: [cells((drift * y + a22 * y) / scale), drift / scale, a22 / scale] as const,
            deviation: 0,
            targets: [at, at] as const,
          },
        ]),
  ];
}
