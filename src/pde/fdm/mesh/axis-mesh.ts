import type { Alignment, CoordinateName, DensityKind } from "../problem/equation.ts";
import { SpecError } from "../../../base/errors.ts";

/** A point of an axis, such as a strike, about which its mesh is dense or with which it is aligned. */
export interface MeshPoint {
  /** A value of the axis, between its ends. */
  readonly at: number;
  /** The position of the point relative to the mesh. */
  readonly align: Alignment | "none";
  /** True where nodes are dense about the point. */
  readonly concentrate: boolean;
  /** The path of the point for error messages: "axes.S.points[2]". */
  readonly path: string;
}

/** The description of an axis' mesh, in which formulas of the user have been evaluated to numbers. */
export interface MeshDescription {
  readonly coordinate: CoordinateName;
  /** The lower end, as a value of the axis. */
  readonly from: number;
  /** The upper end, as a value of the axis. */
  readonly to: number;
  /** The number of nodes. */
  readonly nodes: number;
  readonly density: DensityKind;
  /** The width of the dense region about each point, in units of the coordinate. */
  readonly width: number;
  readonly points: readonly MeshPoint[];
}

/**
 * A mesh in ascending order: the values of the axis at the nodes, and the coordinates in which derivatives are
 * discretised (the values or their logarithms).
 */
export interface AxisMesh {
  readonly values: Float64Array;
  readonly coordinates: Float64Array;
}

/** Converts a value of an axis to its coordinate. */
export const toCoordinate = (name: CoordinateName, value: number): number => (name === "log" ? Math.log(value) : value);
const fromCoordinate = (name: CoordinateName, x: number): number => (name === "log" ? Math.exp(x) : x);

/**
 * Returns the mesh of an axis: dense where its density requires, with each aligned point exactly on a node, or midway
 * between two nodes in the coordinate. `level` 0 is the full mesh, and 1 the mesh with half the intervals. Level 1 has
 * every second node of level 0, unless a point lies midway, which it then does in both.
 * @throws SpecError points that cannot be aligned on so few nodes
 */
export function axisMesh(description: MeshDescription, level: 0 | 1): AxisMesh {
  const { coordinate, points } = description;
  const [from, to] = [description.from, description.to].map((value) => toCoordinate(coordinate, value));
  const last = (description.nodes - 1) / (1 + level);
  const dense = points.filter(({ concentrate }) => concentrate).map(({ at }) => toCoordinate(coordinate, at));
  const { xi, slope, inverse } = density(description.density, dense, description.width, from, to);
  const [low, high] = [xi(from), xi(to)];
  const targets = points.flatMap(({ at, align, path }): Target[] =>
    align === "none" ? [] : [{ index: (last * (xi(toCoordinate(coordinate, at)) - low)) / (high - low), align, path }],
  );
  const placeOf = alignment(targets, last, level === 0 && description.nodes % 2 === 1 ? 2 : 1);
  const coordinates = new Float64Array(last + 1);
  for (let i = 0; i <= last; i++) {
    const target = low + ((high - low) * placeOf(i)) / last;
    // Newton's method takes the rounding out of the formula's.
    coordinates[i] = bracketedNewton(xi, slope, target, i === 0 ? from : coordinates[i - 1], to, inverse?.(target));
  }
  [coordinates[0], coordinates[last]] = [from, to];
  const values = coordinates.map((x) => fromCoordinate(coordinate, x));
  [values[0], values[last]] = [description.from, description.to];
  settle(description, { values, coordinates });
  return { values, coordinates };
}

/**
 * Solves f(x) = target for an increasing f on [low, high] by Newton's method. Steps that would leave the bracket are
 * replaced by bisection. `slope` is f′.
 */
function bracketedNewton(
  f: (x: number) => number,
  slope: (x: number) => number,
  target: number,
  low: number,
  high: number,
  start = low,
): number {
  let x = Math.min(Math.max(start, low), high);
  for (let iteration = 0; iteration < 60; iteration++) {
    const residual = f(x) - target;
    if (residual > 0) high = x;
    else low = x;
    let next = x - residual / slope(x);
    if (!(next >= low && next <= high)) next = 0.5 * (low + high);
    if (Math.abs(next - x) <= 1e-14 * (Math.abs(x) + 1)) return next;
    x = next;
  }
  return x;
}

/** Takes the rounding out of nodes that are to be points, and puts points that are to lie midway exactly there. */
function settle({ coordinate, points }: MeshDescription, { values, coordinates }: AxisMesh): void {
  for (const { at, align } of points) {
    if (align === "none") continue;
    const x = toCoordinate(coordinate, at);
    const above = coordinates.findIndex(
      (node) => node > x - 1e-9 * (coordinates[coordinates.length - 1] - coordinates[0]),
    );
    if (align === "node") [values[above], coordinates[above]] = [at, x];
    else if (above >= 2) {
      const half = 0.5 * (coordinates[above] - coordinates[above - 1]);
      for (const [node, y] of [
        [above - 1, x - half],
        [above, x + half],
      ]) {
        [values[node], coordinates[node]] = [fromCoordinate(coordinate, y), y];
      }
    }
  }
}

/**
 * The density of nodes on an axis. A mesh is the image of equidistant ξ under the inverse of an increasing function
 * ξ(x), and dξ/dx is its density.
 *
 *   uniform   ξ = x
 *   sinh      ξ = Σₖ asinh((x − xₖ)/b): the spacing dx/dξ is b at a lone point and grows like |x − xₖ|
 *             (Tavella & Randall 2000, ch. 5.3)
 *   tanh      ξ = (x − x₀)/(x₁ − x₀) + ½Σₖ tanh((x − xₖ)/b): uniform, with as many nodes again within about 2b of
 *             each point
 *
 * x is the coordinate, xₖ the points, b the width in units of x, and x₀ and x₁ the ends of the axis.
 */
interface Density {
  /** Returns ξ at a coordinate x. */
  readonly xi: (x: number) => number;
  /** Returns the density dξ/dx at a coordinate x. */
  readonly slope: (x: number) => number;
  /** The inverse of ξ, where it has a formula. */
  readonly inverse?: (xi: number) => number;
}

/**
 * Returns the node density of the given kind, concentrated about given points. `width` and the ends of the axis are in
 * units of the coordinate.
 */
export function density(
  kind: DensityKind,
  points: readonly number[],
  width: number,
  from: number,
  to: number,
): Density {
  const sum = (f: (distance: number) => number, x: number): number =>
    points.reduce((total, point) => total + f((x - point) / width), 0);
  if (kind === "uniform" || points.length === 0) return { xi: (x) => x, slope: () => 1, inverse: (xi) => xi };
  if (kind === "sinh") {
    const [point] = points;
    return {
      xi: (x) => sum(Math.asinh, x),
      slope: (x) => sum((y) => 1 / Math.sqrt(y * y + 1), x) / width,
      ...(points.length === 1 ? { inverse: (xi: number) => point + width * Math.sinh(xi) } : {}),
    };
  }
  const uniform = 1 / (to - from);
  return {
    xi: (x) => (x - from) * uniform + 0.5 * sum(Math.tanh, x),
    slope: (x) => uniform + (0.5 * sum((y) => 1 / Math.cosh(y) ** 2, x)) / width,
  };
}

/** A point to be aligned with a mesh. */
interface Target {
  /** The position of the point in the mesh without alignment, as a fractional node index. */
  readonly index: number;
  readonly align: Alignment;
  /** The path of the point for error messages: "axes.S.points[2]". */
  readonly path: string;
}

/**
 * Returns the increasing, piecewise linear map of node indices that moves the nearest node, or midpoint, of each target
 * to the position of the target. Between two targets the spacing changes by a fraction 1/(number of intervals between
 * them), so that neighbouring intervals still differ by O(h²) and three-point differences keep their second order. The
 * indices of aligned nodes are multiples of `stride`, so that a mesh of every stride-th node is aligned too. `last` is
 * the index of the last node.
 * @throws SpecError two targets too close for the mesh
 */
export function alignment(targets: readonly Target[], last: number, stride: number): (node: number) => number {
  const sorted = targets.toSorted((a, b) => a.index - b.index);
  const numbers = [0];
  const places = [0];
  for (const target of sorted) {
    const number = alignedNumber(target, last, stride);
    if (target.index <= 0 || target.index >= last) continue;
    if (number - numbers[numbers.length - 1] < 1 || last - number < 1)
      throw new SpecError(
        `${target.path}: closer to the point or the end beside it than the mesh's spacing there, so both cannot be aligned; ` +
          'more nodes, or align: "none"',
      );
    numbers.push(number);
    places.push(target.index);
  }
  numbers.push(last);
  places.push(last);
  return (node) => {
    let piece = 1;
    while (piece < numbers.length - 1 && node > numbers[piece]) piece++;
    const share = (node - numbers[piece - 1]) / (numbers[piece] - numbers[piece - 1]);
    return places[piece - 1] + share * (places[piece] - places[piece - 1]);
  };
}

function alignedNumber({ index: place, align }: Target, last: number, stride: number): number {
  if (align === "midway") return Math.min(Math.max(Math.floor(place), 1), last - 2) + 0.5;
  return Math.min(Math.max(stride * Math.round(place / stride), stride), last - stride);
}
