/** Nearest neighbours by comparing with every point. */
import { fn, i32, read, real, record, type KernelFunction } from "../../../kernel/index.ts";

/** The tables of a search, computed on the host. @experimental */
export interface SearchPlan {
  /** The integers for the kernel function of the method. */
  readonly table: Int32Array;
  /** The reals for the kernel function of the method. */
  readonly geometry: Float64Array;
}

/**
 * The tables of a search in a kernel. Several may be consecutive in the same buffers: `first` is the first point,
 * `table` and `geometry` begin at `tableAt` and `geometryAt`.
 * @experimental
 */
export const SearchTables = record({
  points: read(real),
  size: i32,
  first: i32,
  table: read(i32),
  tableAt: i32,
  geometry: read(real),
  geometryAt: i32,
});

const params = { search: SearchTables, query: read(real) } as const;

/**
 * A search as a kernel function: the number of the nearest point, from 0, and of equally near ones the first.
 * @experimental
 */
export type NearestFunction = KernelFunction<typeof params, number>;

/**
 * Returns the kernel function that finds the number of the nearest point by comparing with all points: `size` squared
 * distances.
 *
 * @param dimension of the points: a constant of the kernel.
 * @example
 * import { nearestByBruteForce } from "feynkac/quantization";
 *
 * const nearest = nearestByBruteForce(1);
 * const search = {
 *   points: Float64Array.of(-1, 0, 1),
 *   size: 3,
 *   first: 0,
 *   table: new Int32Array(),
 *   tableAt: 0,
 *   geometry: new Float64Array(),
 *   geometryAt: 0,
 * };
 * console.log(nearest({ search, query: Float64Array.of(0.4) })); // 1
 * @experimental
 */
export function nearestByBruteForce(dimension: number): NearestFunction {
  return fn({
    name: "nearestByBruteForce",
    params,
    env: { DIMENSION: dimension },
    body({ search: { points, size, first }, query }, gpu, { DIMENSION }) {
      let best = 0;
      let least = gpu.real(Infinity);
      for (let j = 0; j < size; j++) {
        let squared = gpu.real(0);
        for (let a = 0; a < DIMENSION; a++) {
          const apart = query[a] - points[(first + j) * DIMENSION + a];
          squared += apart * apart;
        }
        if (squared < least) {
          least = squared;
          best = j;
        }
      }
      return best;
    },
  });
}
