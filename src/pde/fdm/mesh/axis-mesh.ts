import { bracketedNewton } from "./mesh.ts";
import type { Alignment, CoordinateName, DensityKind } from "../problem/equation.ts";
import { alignment, type Target } from "./align.ts";
import { density } from "./density.ts";

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
 * The mesh of an axis: dense where its density says, with each aligned point exactly on a node, or midway between two
 * nodes in the coordinate. `level` 0 is the full mesh, and 1 the mesh with half the intervals. Level 1 has every second
 * node of level 0, unless a point lies midway, which it then does in both.
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
    align === "none" ? [] : [{ place: (last * (xi(toCoordinate(coordinate, at)) - low)) / (high - low), align, path }],
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
