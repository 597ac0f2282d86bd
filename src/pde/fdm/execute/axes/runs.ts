/**
 * The systems along the axes on a GPU. Each line is cut into runs, and an item holds a run of one line in registers:
 * `LANES` lines side by side, a run of each of them for every subgroup. A value is so read once and written once in a
 * sweep, and all reads of an item are on their way at once.
 *
 * A run is solved as if nothing came from the run after it (or, on the way back, before it). What does come is known
 * when the runs have told each other their ends, and is added then: y = y₀ + w·e, with w the product of the factors
 * between (Wang 1981; `numerics/linalg/tridiagonal` cuts systems in the same way).
 */
import { fn, i32, real, type ValueOf, write } from "../../../../kernel/index.ts";
import { type AxesVariant, slotsOf } from "../../operator/axes-variant.ts";
import { rowAt } from "./explicit.ts";
import { Part, Piece, pieceOf } from "./piece.ts";
import { AxesPlace, type Fault, inPhase, LANES, Launch } from "./records.ts";
import type { RightHandSide } from "./right-hand-side.ts";
import { inRun, storeRun, takeRun } from "./run-tile.ts";

/**
 * Returns the function that solves the linear systems of a sweep with several work items for each line (`Runs`), those
 * of `LANES` lines in round r. Along the first axis it also computes the values of u after the step.
 */
export function solveRuns(variant: AxesVariant, axis: number, corrects: boolean, side: RightHandSide) {
  const isFirst = axis === 0;
  return fn({
    name: "solveRuns",
    params: { ...inPhase, r: i32, part: Part },
    env: {
      most: variant.runs!.length,
      pieceOf: pieceOf(variant, axis, true),
      take: isFirst ? takeRun(variant, corrects) : sideOfRun(variant, corrects, side),
      solveRun: solveRun(variant, axis),
      store: isFirst ? storeRun(variant, corrects) : storeColumn(variant, corrects),
    },
    *body({ launch, place, step, r, part, found }, gpu, env) {
      const at = env.pieceOf({ launch, place, r, part });
      const z = gpu.privateReal(env.most);
      const now = yield* env.take({ launch, place, step, r, found, at, z });
      yield* env.solveRun({ launch, place, at, z });
      yield* env.store({ launch, place, step, r, found: now, at, z });
      return now;
    },
  });
}

/** Returns the function for a run's right-hand side, along another axis than the first. */
function sideOfRun(variant: AxesVariant, corrects: boolean, { begin, next }: RightHandSide) {
  const slots = slotsOf(variant);
  return fn({
    name: "sideOfRun",
    params: inRun,
    env: { begin, next, most: variant.runs!.length, into: corrects ? slots.second : slots.z },
    *body({ launch, place, step, found, at, z }, _gpu, env) {
      const { start, length } = at.part;
      const into = env.into * launch.size + place.base + at.first + at.lane;
      let now: ValueOf<typeof Fault> = found;
      if (at.inside && length > 0) {
        let carried = env.begin({ launch, place, at, found });
        for (let j = env.most - 1; j >= 0; j--)
          if (j < length) {
            const i = start + j;
            const k = i * at.step;
            const got = env.next({ launch, place, at, step, i, k, rows: k, stored: into + k, d: 0, carried });
            z[j] = got.right;
            carried = got.carried;
          }
        now = carried.found;
      }
      return now;
    },
  });
}

/** Returns the function that stores a run along another axis than the first. */
function storeColumn(variant: AxesVariant, corrects: boolean) {
  const slots = slotsOf(variant);
  return fn({
    name: "storeColumn",
    params: inRun,
    env: { into: corrects ? slots.second : slots.z, most: variant.runs!.length },
    *body({ launch: { work, size }, place: { base }, at, z }, _gpu, env) {
      const { inside, first, lane, step } = at;
      const { start, length } = at.part;
      const into = env.into * size + base + first + lane;
      if (inside) for (let j = 0; j < env.most; j++) if (j < length) work[into + (start + j) * step] = z[j];
    },
  });
}

/**
 * Returns the function that solves the systems of a tile, (I − hL)·y = z, in place from the factors of `factorLine`.
 * Every item of the workgroup must call it. Cost: 8 flops a node.
 */
function solveRun(variant: AxesVariant, axis: number) {
  const { count, length: most } = variant.runs!;
  return fn({
    name: "solveRun",
    params: { launch: Launch, place: AxesPlace, at: Piece, z: write(real) },
    env: { count, most, LANES, rowAt: rowAt(variant, axis) },
    *body({ launch: { work }, place: { tile }, at, z }, _gpu, env) {
      const { count, most, LANES } = env;
      const { rowStep: step, pitch } = at;
      const { lane, run, start } = at.part;
      const length = at.inside ? at.part.length : 0;
      const { inverse, lower, upper } = env.rowAt({
        own: at.own + start * step,
        first: at.common + start * step,
        pitch,
      });
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
