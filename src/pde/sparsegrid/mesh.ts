/** The nodes of an axis on its levels, each of which has every second node of the next one. */

/** An axis of a sparse grid, in which formulas of the user have been evaluated to numbers. */
export interface GradedAxis {
  readonly coordinate: "linear" | "log";
  /** The lower end, as a value of the axis. */
  readonly from: number;
  /** The upper end, as a value of the axis. */
  readonly to: number;
  /**
   * The value of the axis that is the middle node of every level from 1 on; by default the middle in the coordinate.
   */
  readonly centre: number | undefined;
  /** The width of the dense region around the centre, in units of the coordinate; undefined for equidistant nodes. */
  readonly width: number | undefined;
}

/** The nodes of an axis: their values, and their coordinates (the values or their logarithms). */
export interface GradedMesh {
  readonly values: Float64Array;
  readonly coordinates: Float64Array;
}

/**
 * Returns the mesh of 2^level + 1 nodes. With ξ = i/2^(level−1) − 1 for node i, from −1 to 1, its coordinates are
 *
 *   x = centre + width·sinh(z(ξ)),   z(ξ) = a·ξ/(1 + b·ξ),
 *
 * where a and b are chosen to reproduce the ends; z is monotone for every centre. Without a width, x = centre + z(ξ).
 */
export function gradedMesh({ coordinate, from, to, centre, width }: GradedAxis, level: number): GradedMesh {
  const isLog = coordinate === "log";
  const [low, high] = isLog ? [Math.log(from), Math.log(to)] : [from, to];
  const middle = centre === undefined ? 0.5 * (low + high) : isLog ? Math.log(centre) : centre;
  const stretched = (x: number): number => (width === undefined ? x - middle : Math.asinh((x - middle) / width));
  const [down, up] = [-stretched(low), stretched(high)];
  const b = (down - up) / (down + up);
  const a = up * (1 + b);
  const last = 2 ** level;
  const coordinates = Float64Array.from({ length: last + 1 }, (_, i) => {
    if (i === 0) return low;
    if (i === last) return high;
    const xi = (2 * i) / last - 1;
    const z = (a * xi) / (1 + b * xi);
    return middle + (width === undefined ? z : width * Math.sinh(z));
  });
  const values = isLog ? coordinates.map((x) => Math.exp(x)) : coordinates.slice();
  [values[0], values[last]] = [from, to];
  if (centre !== undefined && level > 0) values[last / 2] = centre;
  return { values, coordinates };
}
