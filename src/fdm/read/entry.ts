/** The reading of a solution at a point of one or more axes. */
import type { SpecError } from "../../errors.ts";
import { richardsonCorrection } from "../time/schemes/richardson.ts";
import { stencilOf } from "./fornberg.ts";
import type { Moved } from "./sensitivities.ts";
import type { Theta } from "./theta.ts";

/** A value and its derivatives at a point of several axes. */
export interface AxesDerivatives<A extends string = string> {
  readonly value: number;
  /** The derivatives ∂V/∂x by the name of the axis. */
  readonly first: Readonly<Record<A, number>>;
  /** The second derivatives by two names of axes, the mixed ones in either order: SS, Sv, vS, vv. */
  readonly second: Readonly<Record<`${A}${A}`, number>>;
}

/** The values V on a grid of ascending nodes: node (i₀, i₁, i₂) is at index (i₂·n₁ + i₁)·n₀ + i₀. */
export interface GridValues {
  readonly nodes: readonly Float64Array[];
  readonly values: Float64Array;
}

/**
 * A coarser solution, the order at which the two converge, and whether the difference is added as a correction or only
 * estimates the error.
 */
interface Companion extends GridValues {
  readonly order: number;
  readonly corrects: boolean;
}

/** One entry of a batch, solved or failed; E is the type of the same entry with bumped parameters. */
export interface EntryContents<E = never> {
  /** The names of the axes. */
  readonly names: readonly string[];
  readonly parameters: Readonly<Record<string, number>>;
  readonly warnings: readonly string[];
  readonly error: SpecError | undefined;
  readonly fine: GridValues;
  readonly companions: readonly Companion[];
  readonly theta: Theta;
  readonly moved?: readonly Moved<E>[];
  /** Returns the rounding error of V, which joins the error estimate: a part of V, and the same everywhere. */
  readonly rounding: () => { readonly relative: number; readonly absolute: number };
}

/**
 * The factor by which an estimated error that is not corrected is raised: by a quarter, as in Roache's (1994) grid
 * convergence index where the order is known.
 */
const SAFETY = 1.25;

/** The value, derivatives, corrections and error estimate at a point, computed by products of Fornberg's weights. */
export interface PointReading<A extends string> extends AxesDerivatives<A> {
  readonly theta: number;
  /** The amount that each companion has added, or would add. */
  readonly corrections: readonly AxesDerivatives<A>[];
  readonly errorEstimate: number | undefined;
}

/** Reads the value, derivatives and error estimate at a point. */
export function readPoint<A extends string>(
  { names, fine, companions, theta, rounding }: Omit<EntryContents, "moved">,
  x: readonly number[],
  order: 2 | 4,
): PointReading<A> {
  const wanted = derivativesOf(names.length);
  const read = wanted.map(derivativesAt(fine, x, order));
  const found = [...read];
  let estimate = 0;
  if (companions.length > 0) estimate = rounding().relative * Math.abs(read[0]) + rounding().absolute;
  const corrections = companions.map((companion) => {
    const coarse = derivativesAt(companion, x, order);
    const moves = wanted.map((orders, k) => richardsonCorrection(read[k], coarse(orders), companion.order));
    estimate += (companion.corrects ? 1 : SAFETY) * Math.abs(moves[0]);
    if (companion.corrects) moves.forEach((move, k) => (found[k] += move));
    return named<A>(names, wanted, moves);
  });
  const derivatives = named<A>(names, wanted, found);
  return {
    ...derivatives,
    theta: theta(x, { V: derivatives.value, ...derivatives.first, ...derivatives.second, source: 1 }),
    corrections,
    errorEstimate: companions.length === 0 ? undefined : estimate,
  };
}

/** The value, the first and the second derivatives: how often each axis is differentiated by. */
function derivativesOf(axes: number): readonly (readonly number[])[] {
  const all: number[][] = [Array<number>(axes).fill(0)];
  for (let i = 0; i < axes; i++) all.push(Array.from({ length: axes }, (_, k) => Number(k === i)));
  for (let i = 0; i < axes; i++)
    for (let j = i; j < axes; j++) all.push(Array.from({ length: axes }, (_, k) => Number(k === i) + Number(k === j)));
  return all;
}

/** Derivatives by the names of the axes. */
function named<A extends string>(
  axes: readonly string[],
  wanted: readonly (readonly number[])[],
  values: readonly number[],
): AxesDerivatives<A> {
  const first: Record<string, number> = {};
  const second: Record<string, number> = {};
  wanted.forEach((orders, k) => {
    const names = orders.flatMap((count, axis) => Array.from({ length: count }, () => axes[axis]));
    if (names.length === 1) first[names[0]] = values[k];
    if (names.length === 2) second[names.join("")] = second[names.toReversed().join("")] = values[k];
  });
  return {
    value: values[0],
    first: first as AxesDerivatives<A>["first"],
    second: second as AxesDerivatives<A>["second"],
  };
}

/** Returns the derivatives at a point, given by the order of differentiation along each axis. */
export function derivativesAt(
  { nodes, values }: GridValues,
  x: readonly number[],
  order: 2 | 4,
): (orders: readonly number[]) => number {
  const steps = nodes.map((_, axis) => nodes.slice(0, axis).reduce((product, { length }) => product * length, 1));
  // Of each axis, for the value, the first and the second derivative.
  const stencils = nodes.map((axis, k) => [0, 1, 2].map((of) => stencilOf(axis, x[k], of, order)));
  return (orders) => {
    const along = (axis: number, offset: number): number => {
      if (axis < 0) return values[offset];
      const { start, weights } = stencils[axis][orders[axis]];
      return weights.reduce(
        (sum, weight, j) => (weight === 0 ? sum : sum + weight * along(axis - 1, offset + (start + j) * steps[axis])),
        0,
      );
    };
    return along(nodes.length - 1, 0);
  };
}

/** The values at all nodes of the fine mesh, with the corrections of extrapolations that `readPoint` adds. */
export function extrapolatedValues({ fine, companions }: Pick<EntryContents, "fine" | "companions">): Float64Array {
  const correcting = companions.filter(({ corrects }) => corrects);
  if (correcting.length === 0) return fine.values;
  const values = fine.values.slice();
  for (const companion of correcting) {
    const coarse = fine.nodes.reduce(interpolatedAlong, companion).values;
    fine.values.forEach((value, i) => (values[i] += richardsonCorrection(value, coarse[i], companion.order)));
  }
  return values;
}

/** Interpolates along one axis to other nodes, by Fornberg's weights on the four nearest ones. */
function interpolatedAlong({ nodes, values }: GridValues, to: Float64Array, axis: number): GridValues {
  const from = nodes[axis];
  const stride = nodes.slice(0, axis).reduce((product, { length }) => product * length, 1);
  const found = new Float64Array((values.length / from.length) * to.length);
  const stencils = Array.from(to, (x) => stencilOf(from, x, 0, 4));
  for (let i = 0; i < found.length; i++) {
    const { start, weights } = stencils[Math.floor(i / stride) % to.length];
    const first = Math.floor(i / (stride * to.length)) * stride * from.length + start * stride + (i % stride);
    for (let j = 0; j < weights.length; j++) found[i] += weights[j] * values[first + j * stride];
  }
  return { nodes: nodes.with(axis, to), values: found };
}
