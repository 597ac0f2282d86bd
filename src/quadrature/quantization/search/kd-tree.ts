/** Nearest neighbours by a k-d tree (J. L. Bentley, Communications of the ACM 18 (1975) 509–517). */
import { fn, read, real } from "../../../kernel/index.ts";
import { type NearestFunction, SearchTables, type SearchPlan } from "./brute-force.ts";

/** A balanced tree of 2³¹ points is not deeper. */
const DEPTH = 32;

/**
 * Returns the kernel function that searches the tree of `kdTreePlan`: down to the query, then back to the branches that
 * may hold a nearer point. Exact, with the ties of `nearestByBruteForce`. Work items take different ways through the
 * tree.
 *
 * @param dimension of the points: a constant of the kernel.
 * @example
 * import { nearestByTree, kdTreePlan } from "feynkac/quantization";
 *
 * const points = Float64Array.of(-1, 0, 1);
 * const { table, geometry } = kdTreePlan(points, 1);
 * const search = { points, size: 3, first: 0, table, tableAt: 0, geometry, geometryAt: 0 };
 * console.log(nearestByTree(1)({ search, query: Float64Array.of(-0.6) })); // 0
 * @experimental
 */
export function nearestByTree(dimension: number): NearestFunction {
  return fn({
    name: "nearestByTree",
    params: { search: SearchTables, query: read(real) },
    env: { DIMENSION: dimension, DEPTH },
    body({ search, query }, gpu, { DIMENSION, DEPTH }) {
      const { points, size, first, table, tableAt } = search;
      const lows = gpu.privateI32(DEPTH);
      const highs = gpu.privateI32(DEPTH);
      const gaps = gpu.privateReal(DEPTH);
      let depth = 0;
      let low = 0;
      let high = size;
      let best = 0;
      let least = gpu.real(Infinity);
      let isSearching = true;
      while (isSearching) {
        if (low < high) {
          const middle = (low + high) >> 1;
          const j = table[tableAt + 2 * middle];
          let squared = gpu.real(0);
          for (let a = 0; a < DIMENSION; a++) {
            const apart = query[a] - points[(first + j) * DIMENSION + a];
            squared += apart * apart;
          }
          if (squared < least || (squared === least && j < best)) {
            least = squared;
            best = j;
          }
          const axis = table[tableAt + 2 * middle + 1];
          const gap = query[axis] - points[(first + j) * DIMENSION + axis];
          const isBelow = gap < 0;
          lows[depth] = isBelow ? middle + 1 : low;
          highs[depth] = isBelow ? high : middle;
          gaps[depth] = gap * gap;
          depth++;
          low = isBelow ? low : middle + 1;
          high = isBelow ? middle : high;
        } else {
          // The next branch that is not farther than the nearest point so far.
          let isFound = false;
          while (depth > 0 && !isFound) {
            depth--;
            if (gaps[depth] <= least) {
              low = lows[depth];
              high = highs[depth];
              isFound = true;
            }
          }
          isSearching = isFound;
        }
      }
      return best;
    },
  });
}

/**
 * Returns the tree of `nearestByTree` for points, [size, dimension], as a table of (point, axis): the middle entry of a
 * range [low, high) is its root, split along the axis of the largest extent at the median.
 *
 * @param points row by row, finite.
 * @param dimension of the points.
 * @example
 * import { kdTreePlan } from "feynkac/quantization";
 *
 * console.log(kdTreePlan(Float64Array.of(1, -1, 0), 1).table.join(" ")); // 1 0 2 0 0 0
 * @experimental
 */
export function kdTreePlan(points: Float64Array, dimension: number): SearchPlan {
  const size = points.length / dimension;
  const order = Array.from({ length: size }, (_, i) => i);
  const table = new Int32Array(2 * size);
  const split = (low: number, high: number): void => {
    if (low >= high) return;
    const part = order.slice(low, high);
    let [axis, widest] = [0, -1];
    for (let a = 0; a < dimension; a++) {
      const along = part.map((i) => points[i * dimension + a]);
      const extent = along.reduce((p, q) => Math.max(p, q)) - along.reduce((p, q) => Math.min(p, q));
      if (extent > widest) [axis, widest] = [a, extent];
    }
    part.sort((i, j) => points[i * dimension + axis] - points[j * dimension + axis] || i - j);
    part.forEach((i, k) => (order[low + k] = i));
    const middle = (low + high) >> 1;
    table.set([order[middle], axis], 2 * middle);
    split(low, middle);
    split(middle + 1, high);
  };
  split(0, size);
  return { table, geometry: new Float64Array(1) };
}
