/**
 * The systems along the axes on a GPU. Each line is cut into runs, and an item holds a run of one line in registers:
 * `LANES` lines side by side, a run of each of them for every subgroup. A value is so read once and written once in a
 * sweep, and all reads of an item are on their way at once.
 *
 * A run is solved as if nothing came from the run after it (or, on the way back, before it). What does come is known
 * when the runs have told each other their ends, and is added then: y = y₀ + w·e, with w the product of the factors
 * between (Wang 1981; `linalg/tridiagonal` cuts systems in the same way).
 */
import { bool, fn, i32, read, real, record, write } from "../../../kernel/index.ts";
import type { AxesVariant } from "../../operator/axes-variant.ts";
import { LANES, RUN_STEP } from "./records.ts";

/** An item's place: its line of the tile, its run, and the nodes of that, `length` from `start` on. */
const Run = record({ lane: i32, run: i32, start: i32, length: i32 });

/** Returns the function for the part of a line with n nodes that an item processes. */
export function runOf({ runs }: AxesVariant) {
  return fn({
    name: "runOf",
    params: { item: i32, n: i32 },
    env: { count: runs!.count, LANES, RUN_STEP },
    body({ item, n }, _gpu, { count, LANES, RUN_STEP }) {
      const run = (item / LANES) | 0;
      const each = (((n + count * RUN_STEP - 1) / (count * RUN_STEP)) | 0) * RUN_STEP;
      const start = run * each;
      return { lane: item - run * LANES, run, start, length: Math.max(0, Math.min(each, n - start)) };
    },
  });
}

/** The place of the factors of a run's first node, and the distance to those of the next node. */
const RunRows = record({ inverse: i32, lower: i32, upper: i32, step: i32 });

/**
 * Returns the function that solves the systems of a tile, (I − hL)·y = z, in place from the factors of `factorLine`.
 * Every item of the workgroup must call it. Cost: 8 flops a node.
 */
export function solveRun({ runs }: AxesVariant) {
  const { count, length: most } = runs!;
  return fn({
    name: "solveRun",
    params: { work: read(real), z: write(real), tile: write(real), rows: RunRows, at: Run, inside: bool },
    env: { count, most, LANES },
    *body({ work, z, tile, rows, at, inside }, _gpu, { count, most, LANES }) {
      const { inverse, lower, upper, step } = rows;
      const { lane, run } = at;
      const length = inside ? at.length : 0;
      const own = run * LANES + lane;
      const products = count * LANES;
      // From the last node up.
      let y = 0.0;
      let w = 1.0;
      for (let j = most - 1; j >= 0; j--)
        if (j < length) {
          const factor = work[upper + j * step];
          y = z[j] * work[inverse + j * step] + factor * y;
          w *= factor;
          z[j] = y;
        }
      tile[own] = y;
      tile[products + own] = w;
      yield;
      let e = 0.0;
      for (let k = count - 1; k > run; k--) e = tile[k * LANES + lane] + tile[products + k * LANES + lane] * e;
      for (let j = most - 1; j >= 0; j--)
        if (j < length) {
          e *= work[upper + j * step];
          z[j] += e;
        }
      // And back down.
      y = 0.0;
      w = 1.0;
      for (let j = 0; j < most; j++)
        if (j < length) {
          const factor = work[lower + j * step];
          y = z[j] + factor * y;
          w *= factor;
          z[j] = y;
        }
      yield;
      tile[own] = y;
      tile[products + own] = w;
      yield;
      e = 0.0;
      for (let k = 0; k < run; k++) e = tile[k * LANES + lane] + tile[products + k * LANES + lane] * e;
      for (let j = 0; j < most; j++)
        if (j < length) {
          e *= work[lower + j * step];
          z[j] += e;
        }
      yield;
    },
  });
}
