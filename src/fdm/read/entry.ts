/** The reading of a solution at a point of one or more axes. */
import type { SpecError } from "../../errors.ts";
import { rememberedBy } from "../../remembered.ts";
import { richardsonCorrection } from "../time/schemes/richardson.ts";
import { type Stencil, stencilOf } from "./fornberg.ts";
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
  /** True where only nodes about the problem's `at` were read. */
  readonly isPart: boolean;
  readonly theta: Theta;
  readonly moved?: readonly Moved<E>[];
  /** Returns the rounding error of V, which joins the error estimate: a part of V, and the same everywhere. */
  readonly rounding: () => { readonly relative: number; readonly absolute: number };
}

/** What is said of a point that the nodes of an axis do not reach. */
export const outsideOf = (nodes: Float64Array, { isPart }: Pick<EntryContents, "isPart">): string =>
  `outside the ${isPart ? "nodes about the problem's at" : "axis"}, ${nodes[0]} to ${nodes[nodes.length - 1]}` +
  (isPart ? "; leave at out of the problem to read the solution elsewhere" : "");

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
  const derivatives = derivativesOf(names);
  const read = derivatives.map(derivativesAt(fine, x, order));
  const found = [...read];
  let estimate = 0;
  if (companions.length > 0) estimate = rounding().relative * Math.abs(read[0]) + rounding().absolute;
  const corrections = companions.map((companion) => {
    const coarse = derivatives.map(derivativesAt(companion, x, order));
    const moves = read.map((value, k) => richardsonCorrection(value, coarse[k], companion.order));
    estimate += (companion.corrects ? 1 : SAFETY) * Math.abs(moves[0]);
    if (companion.corrects) moves.forEach((move, k) => (found[k] += move));
    return named<A>(derivatives, moves);
  });
  const all = named<A>(derivatives, found);
  return {
    ...all,
    theta: theta(x, { V: all.value, ...all.first, ...all.second, source: 1 }),
    corrections,
    errorEstimate: companions.length === 0 ? undefined : estimate,
  };
}

/** A derivative: the order of differentiation along each axis, and the axes by which it is named, in either order. */
interface Derivative {
  readonly orders: readonly number[];
  readonly labels: readonly string[];
}

/** The value, the first and the second derivatives by the names of the axes. */
const derivativesOf = rememberedBy((names: readonly string[]): readonly Derivative[] => {
  const along = (axes: readonly number[]): Derivative => {
    const own = axes.map((k) => names[k]);
    return {
      orders: names.map((_, k) => axes.filter((axis) => axis === k).length),
      labels: own.length === 2 ? [own.join(""), own.toReversed().join("")] : own,
    };
  };
  const axes = [...names.keys()];
  return [along([]), ...axes.map((i) => along([i])), ...axes.flatMap((i) => axes.slice(i).map((j) => along([i, j])))];
});

/** Collects derivatives by the names of the axes. */
function named<A extends string>(derivatives: readonly Derivative[], values: readonly number[]): AxesDerivatives<A> {
  const first: Record<string, number> = {};
  const second: Record<string, number> = {};
  derivatives.forEach(({ labels }, k) => {
    const into = labels.length === 2 ? second : first;
    for (const label of labels) into[label] = values[k];
  });
  return {
    value: values[0],
    first: first as AxesDerivatives<A>["first"],
    second: second as AxesDerivatives<A>["second"],
  };
}

/** The stencils of an axis for the value, the first and the second derivative at a point. */
interface AxisStencils {
  readonly x: number;
  readonly order: 2 | 4;
  readonly stencils: readonly Stencil[];
}

/** The last stencils of an axis: thousands of entries on one mesh are read at one point. */
const lastStencils = new WeakMap<Float64Array, AxisStencils>();

function stencilsOf(nodes: Float64Array, x: number, order: 2 | 4): readonly Stencil[] {
  const last = lastStencils.get(nodes);
  if (last?.x === x && last.order === order) return last.stencils;
  const stencils = [0, 1, 2].map((of) => stencilOf(nodes, x, of, order));
  lastStencils.set(nodes, { x, order, stencils });
  return stencils;
}

/** Returns the function for the derivatives at a point. */
export function derivativesAt(
  { nodes, values }: GridValues,
  x: readonly number[],
  order: 2 | 4,
): (of: Pick<Derivative, "orders">) => number {
  const stencils = nodes.map((axis, k) => stencilsOf(axis, x[k], order));
  const along = (orders: readonly number[], axis: number, offset: number): number => {
    const { start, weights } = stencils[axis][orders[axis]];
    // The nodes of the axes before this one.
    let step = 1;
    for (let k = 0; k < axis; k++) step *= nodes[k].length;
    let sum = 0;
    for (let j = 0; j < weights.length; j++) {
      if (weights[j] === 0) continue;
      const at = offset + (start + j) * step;
      sum += weights[j] * (axis === 0 ? values[at] : along(orders, axis - 1, at));
    }
    return sum;
  };
  return ({ orders }) => along(orders, nodes.length - 1, 0);
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
