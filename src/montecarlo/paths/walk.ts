/** Paths and the moments of what they pay: the kernel that all estimates come from, and the one that sums it up. */
import { fn, i32, kernel, read, real, u32, write } from "../../kernel/index.ts";
import { memoize } from "../../base/memoize.ts";
import { pathFunction } from "./advance.ts";
import { END, Paid, payAgainFunction, payFunction, payFunctionWithSlopes } from "./sample.ts";
import { basisParts } from "../stopping/rule.ts";
import { BLOCK, arrayLength, shapeKey } from "./shape.ts";
import { addSampleFunction, measuresOf, momentsOf, storeMomentsFunction, type WalkShape } from "./walk-shape.ts";

/**
 * Returns the kernel that simulates samples. A work item simulates one block of `BLOCK` samples of an instance and
 * writes their moments, `moments[q · items + item]`, where item = (block · instances + instance) · scramblings +
 * scrambling. A sample is a path or, if antithetic, the mean of a path and its reflection. With an exercise rule a path
 * ends at the first date at which the payoff is positive and not below the continuation value. Its bumped copies end at
 * the same date, because a small change of the optimal rule does not change the value to first order. Copies of
 * products that jump are bumped by more, and each follows the rule on its own path.
 *
 * Memory traffic: a column of the table for each path, from the cache; moments once for each block.
 */
export const walkKernel = memoize(makeWalk, 64, (s) =>
  shapeKey(
    s,
    [s.antithetic, s.variants, s.sharing, s.measures, s.slopes, s.scores, s.scramblings, s.single].join(" "),
    basisParts(s.basis),
  ),
);

/**
 * Returns the function that adds what a path of variant `v` pays to the sample, with its weight in each measure: `y` of
 * the product, `x` of the control. Derivatives are those of the first variant.
 */
function earnFunction(shape: WalkShape) {
  return fn({
    name: "earnOnPath",
    params: {
      v: i32,
      paid: Paid,
      scores: read(real),
      weights: read(real),
      first: i32,
      stride: i32,
      y: write(real),
      x: write(real),
    },
    env: {
      BOUNDED: shape.product.halfWidth !== undefined,
      V: shape.variants,
      M: shape.measures,
      SLOPES: shape.slopes,
      SCORES: shape.scores,
      SIDES: shape.antithetic ? 2 : 1,
    },
    body({ v, paid: { product, control, halfWidth }, scores, weights, first, stride, y, x }, _gpu, env) {
      const { BOUNDED, V, M, SLOPES, SCORES, SIDES } = env;
      const widths = M + SLOPES + SCORES;
      if (V === 1 && SCORES === 0) {
        y[0] += product[0] / SIDES;
        x[0] += control[0] / SIDES;
        if (BOUNDED) y[widths] += halfWidth[0] / SIDES;
      } else {
        for (let m = 0; m < M; m++) {
          const weight = weights[first + m * stride] / SIDES;
          y[m] += weight * product[0];
          x[m] += weight * control[0];
          if (BOUNDED) y[widths + m] += weight * halfWidth[0];
        }
        for (let s = 0; s < SCORES; s++) {
          y[M + SLOPES + s] += (scores[s] * product[0]) / SIDES;
          x[M + SLOPES + s] += control[0] / SIDES;
        }
      }
      if (SLOPES > 0 && v === 0)
        for (let k = 0; k < SLOPES; k++) {
          y[M + k] += product[k + 1] / SIDES;
          x[M + k] += control[k + 1] / SIDES;
          if (BOUNDED) y[widths + M + k] += halfWidth[k + 1] / SIDES;
        }
    },
  });
}

function makeWalk(shape: WalkShape) {
  return kernel({
    name: "walkPaths",
    params: {
      seedLow: u32,
      seedHigh: u32,
      firstBlock: i32,
      firstPoint: i32,
      dates: i32,
      instances: i32,
      table: read(real),
      tableStride: i32,
      streams: read(u32),
      slots: read(i32),
      slotCount: i32,
      betas: read(real),
      scales: read(real),
      weights: read(real),
      points: read(real),
      pointStride: i32,
      variants: i32,
      moments: write(real),
      itemCount: i32,
    },
    env: {
      newPath: pathFunction(shape),
      pay: payFunction(shape),
      payWithSlopes: shape.slopes === 0 ? undefined : payFunctionWithSlopes(shape),
      payAgain: shape.sharing === 0 ? undefined : payAgainFunction(shape),
      earn: earnFunction(shape),
      END,
      WALKED: shape.variants - shape.sharing,
      BLOCK,
      R: shape.scramblings,
      V: shape.variants,
      PAID: shape.slopes + 1,
      ALL: measuresOf(shape),
      SIDES: shape.antithetic ? 2 : 1,
      SINGLE: shape.single,
      addSample: addSampleFunction(shape, measuresOf(shape)),
      storeMoments: storeMomentsFunction(shape, measuresOf(shape)),
      Q: momentsOf(shape),
      A: shape.model.assets,
      ALL_DECIDE: shape.product.right !== undefined && shape.product.isDiscontinuous === true,
      SCORE_ROOM: arrayLength(shape.scores),
    },
    body(args, gpu, env): undefined {
      const { BLOCK, R, V, ALL, Q } = env;
      const { table, betas, scales, instances, itemCount, weights, dates } = args;
      const item = gpu.globalId();
      const scrambling = item % R;
      const rest = (item / R) | 0;
      const instance = env.SINGLE ? 0 : rest % instances;
      const block = args.firstBlock + (env.SINGLE ? rest : (rest / instances) | 0);
      const stream = args.streams[instance];
      const slot = args.slots[instance];

      const path = env.newPath();
      const scores = gpu.privateReal(env.SCORE_ROOM);
      const initial = gpu.privateReal(env.A);
      const product = gpu.privateReal(env.PAID);
      const control = gpu.privateReal(env.PAID);
      const halfWidth = gpu.privateReal(env.PAID);
      const end = gpu.privateReal(env.END);
      const y = gpu.privateReal(ALL);
      const x = gpu.privateReal(ALL);
      const y0 = gpu.privateReal(ALL);
      const x0 = gpu.privateReal(ALL);
      const sums = gpu.privateReal(Q * ALL);
      for (let q = 0; q < Q * ALL; q++) sums[q] = 0;
      const rule = { betas, scales, instances, instance, date: 0 };

      for (let sample = 0; sample < BLOCK; sample++) {
        const number = block * BLOCK + sample;
        for (let m = 0; m < ALL; m++) {
          y[m] = 0;
          x[m] = 0;
        }
        for (let side = 0; side < env.SIDES; side++) {
          let last = dates - 1;
          // Several are counted at run time, so that the front end does not copy a path's code for each.
          for (let v = 0; v < (env.WALKED === 1 ? 1 : args.variants); v++) {
            const columns = V * instances;
            const column = env.SINGLE && V === 1 ? 0 : v * instances + instance;
            const draws = {
              seedLow: args.seedLow,
              seedHigh: args.seedHigh,
              stream,
              purpose: gpu.u32(0),
              path: gpu.u32(number),
              isReflected: side === 1,
              points: args.points,
              pointAt: ((number - args.firstPoint) * args.slotCount + slot) * R + scrambling,
              pointStride: args.pointStride,
            };
            const decides = env.ALL_DECIDE || v === 0;
            const stride = args.tableStride;
            const paid = { product, control, halfWidth };
            const walk = {
              table,
              columns,
              column,
              draws,
              path,
              scores,
              initial,
              rule,
              dates,
              last: decides ? dates - 1 : last,
              decides,
              stride,
              paid,
              end,
            };
            if (env.payWithSlopes !== undefined && v === 0) last = env.payWithSlopes(walk);
            else last = env.pay(walk);
            const first = v * instances + instance;
            env.earn({ v, paid, scores, weights, first, stride: V * instances, y, x });
            if (env.payAgain !== undefined && v === 0)
              for (let copy = args.variants; copy < V; copy++) {
                const other = copy * instances + instance;
                env.payAgain({ batch: { table, columns, column: other }, path, end, paid });
                env.earn({ v: copy, paid, scores, weights, first: other, stride: V * instances, y, x });
              }
          }
        }
        env.addSample({ isFirst: sample === 0, y, x, y0, x0, sums });
      }
      env.storeMoments({ y0, x0, sums, moments: args.moments, item, itemCount });
    },
  });
}

/** The number of blocks whose moments one work item merges. */
export const BLOCKS_MERGED = 64;

/**
 * Returns the number of blocks whose moments one work item of a shape merges. It is smaller with scramblings, because
 * the Sobol' points of as many blocks must be stored.
 */
export const blocksMerged = ({ scramblings }: Pick<WalkShape, "scramblings">): number =>
  Math.max(1, Math.floor(BLOCKS_MERGED / scramblings));

/**
 * Returns the kernel that merges the moments of up to `together` blocks of equal size, in order, by the formulas of T.
 * F. Chan, G. H. Golub and R. J. LeVeque (1979). There is one work item for each group of blocks, series and measure,
 * with series fastest after groups; a series is one scrambling of one instance.
 */
export const mergeKernel = memoize((moments: number, measures: number, together: number) =>
  kernel({
    name: "mergeMoments",
    params: { series: i32, blocks: i32, itemCount: i32, mergedCount: i32, from: read(real), merged: write(real) },
    env: { BLOCK, TOGETHER: together, Q: moments, ALL: measures },
    body({ series, blocks, itemCount, mergedCount, from, merged }, gpu, { BLOCK, TOGETHER, Q, ALL }): undefined {
      const id = gpu.globalId();
      const group = (id / series) | 0;
      const one = id % series;
      const first = group * TOGETHER;
      const count = Math.min(TOGETHER, blocks - first);
      const sum = gpu.privateReal(Q);
      for (let m = 0; m < ALL; m++) {
        const at = m * Q * itemCount + first * series + one;
        for (let q = 0; q < Q; q++) sum[q] = from[at + q * itemCount];
        for (let k = 1; k < count; k++) {
          const here = at + k * series;
          const share = 1 / gpu.real(k + 1);
          const weight = gpu.real(BLOCK * k) * share;
          const dy = from[here] - sum[0];
          sum[0] += dy * share;
          sum[1] += from[here + itemCount] + dy * dy * weight;
          if (Q === 5) {
            const dx = from[here + 2 * itemCount] - sum[2];
            sum[2] += dx * share;
            sum[3] += from[here + 3 * itemCount] + dx * dx * weight;
            sum[4] += from[here + 4 * itemCount] + dx * dy * weight;
          }
        }
        for (let q = 0; q < Q; q++) merged[(m * Q + q) * mergedCount + id] = sum[q];
      }
    },
  }),
);
