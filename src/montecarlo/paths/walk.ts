/** Paths and the moments of what they pay: the kernel that all estimates come from, and the one that sums it up. */
import { bool, fn, i32, kernel, read, real, u32, write } from "../../kernel/index.ts";
import { memoize } from "../../base/memoize.ts";
import { advanceFunction, Batch, beginFunction, Draws, Path, pathFunction, payoffOfPath } from "./advance.ts";
import type { BasisShape } from "../stopping/basis.ts";
import { basisParts, continuationFunction, Rule } from "../stopping/rule.ts";
import { BLOCK, type PathShape, room, shapeKey } from "./shape.ts";

/** The properties of a simulation that the code of the kernel of samples depends on. */
export interface WalkShape extends PathShape {
  /** True where each sample is the mean of a path and its reflection. */
  readonly antithetic: boolean;
  /**
   * The number of copies of each instance, the base and bumped ones, that use the same random numbers; 1 without bumps.
   */
  readonly variants: number;
  /**
   * The number of linear combinations of the variants' payoffs that are estimated; the first is the value, the others
   * are Greeks.
   */
  readonly measures: number;
  /**
   * The number of scores of the model, derivatives of the path's log-density. The payoff times each of them is a
   * further measure (likelihood-ratio method).
   */
  readonly scores: number;
  /** The number of independent randomisations of Sobol' points; 1 with Philox. */
  readonly scramblings: number;
  /** True where all work items simulate the same instance, so that they share its parameters. */
  readonly single: boolean;
  /** The basis functions of the exercise rule, if there is one. */
  readonly basis?: BasisShape | undefined;
}

/**
 * Returns the number of moments that are kept for each measure: its mean and its centred sum of squares. With a control
 * variate there are also those of the control, and the centred sum of products.
 */
export const momentsOf = ({ control }: Pick<PathShape, "control">): number => (control === undefined ? 2 : 5);
/**
 * Returns the number of quantities that a shape estimates: combinations of payoffs, products with scores, and the same
 * combinations of the half widths of payoffs that have one.
 */
export const measuresOf = ({ measures, scores, product }: WalkShape): number =>
  measures + scores + (product.halfWidth === undefined ? 0 : measures);

/**
 * The kernel of samples. A work item simulates one block of `BLOCK` samples of an instance and writes their moments,
 * `moments[q · items + item]`, where item = (block · instances + instance) · scramblings + scrambling. A sample is a
 * path or, if antithetic, the mean of a path and its reflection. With an exercise rule a path ends at the first date at
 * which the payoff is positive and not below the continuation value. Its bumped copies end there too, because the value
 * under the optimal rule does not change to first order with the rule.
 *
 * Memory traffic: a column of the table for each path, from the cache; moments once for each block.
 */
export const walkKernel = memoize(makeWalk, 64, (s) =>
  shapeKey(s, [s.antithetic, s.variants, s.measures, s.scores, s.scramblings, s.single].join(" "), basisParts(s.basis)),
);

/**
 * Returns the function that follows a path from its start to date number `last`, or to an earlier date if it `decides`
 * and the exercise rule ends it there. It returns the date's number, its time, and the discount factor to it.
 */
function followFunction(shape: WalkShape) {
  return fn({
    name: "followPath",
    params: {
      batch: Batch,
      draws: Draws,
      path: Path,
      scores: write(real),
      initial: write(real),
      rule: Rule,
      dates: i32,
      last: i32,
      decides: bool,
    },
    env: {
      begin: beginFunction(shape),
      advance: advanceFunction(shape, shape.scores > 0),
      payoff: payoffOfPath(shape.product.payoff),
      continuation: shape.basis === undefined ? undefined : continuationFunction(shape.basis),
      SCORES: shape.scores,
      A: shape.model.assets,
    },
    body({ batch, draws, path, scores, initial, rule, dates, last, decides }, gpu, env) {
      const { betas, scales, instances, instance } = rule;
      env.begin({ batch, path });
      for (let s = 0; s < env.SCORES; s++) scores[s] = 0;
      if (env.SCORES > 0) for (let a = 0; a < env.A; a++) initial[a] = path.spots[a];
      let end = last;
      let time = gpu.real(0);
      let discount = gpu.real(1);
      for (let date = 0; date < dates; date++)
        if (date <= end) {
          const reached = env.advance({ batch, draws, path, date, isFirst: date === 0, scores, initial });
          time = reached.time;
          discount = reached.discount;
          if (env.continuation !== undefined && decides && date < dates - 1) {
            const now = discount * env.payoff({ path, end: { time, discount } });
            const at = { betas, scales, instances, instance, date };
            if (now > 0) if (now >= env.continuation({ rule: at, path, payoff: now })) end = date;
          }
        }
      return { last: end, time, discount };
    },
  });
}
/**
 * Returns the function that adds what a path of variant `v` pays, with its weight in each measure, to the sample: `y`
 * of the product, `x` of the control.
 */
function earnFunction(shape: WalkShape) {
  const { product, control } = shape;
  return fn({
    name: "earnOnPath",
    params: {
      path: Path,
      time: real,
      discount: real,
      scores: read(real),
      weights: read(real),
      first: i32,
      stride: i32,
      y: write(real),
      x: write(real),
    },
    env: {
      payoff: payoffOfPath(product.payoff),
      halfWidth: product.halfWidth && payoffOfPath(product.halfWidth),
      controlPayoff: control?.payoff,
      SHIFTED: shape.isShifted === true,
      V: shape.variants,
      M: shape.measures,
      SCORES: shape.scores,
      SIDES: shape.antithetic ? 2 : 1,
    },
    body({ path, time, discount, scores, weights, first, stride, y, x }, _gpu, env) {
      const end = { time, discount };
      const factor = env.SHIFTED ? discount * Math.exp(path.weight[0]) : discount;
      const paid = factor * env.payoff({ path, end });
      const { controlRunning: running, spots, controlP: p } = path;
      const other =
        env.controlPayoff === undefined ? 0 : factor * env.controlPayoff({ running, spots, p, t: time, discount });
      if (env.V === 1 && env.SCORES === 0) {
        y[0] += paid / env.SIDES;
        x[0] += other / env.SIDES;
      } else {
        for (let m = 0; m < env.M; m++) {
          const weight = weights[first + m * stride] / env.SIDES;
          y[m] += weight * paid;
          x[m] += weight * other;
        }
        for (let s = 0; s < env.SCORES; s++) {
          y[env.M + s] += (scores[s] * paid) / env.SIDES;
          x[env.M + s] += other / env.SIDES;
        }
      }
      if (env.halfWidth !== undefined) {
        const width = factor * env.halfWidth({ path, end });
        for (let m = 0; m < env.M; m++) y[env.M + env.SCORES + m] += (weights[first + m * stride] / env.SIDES) * width;
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
      follow: followFunction(shape),
      earn: earnFunction(shape),
      BLOCK,
      R: shape.scramblings,
      V: shape.variants,
      ALL: measuresOf(shape),
      SIDES: shape.antithetic ? 2 : 1,
      SINGLE: shape.single,
      CONTROL: shape.control !== undefined,
      Q: momentsOf(shape),
      A: shape.model.assets,
      SCORE_ROOM: room(shape.scores),
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
      const y = gpu.privateReal(ALL);
      const x = gpu.privateReal(ALL);
      // Sums of differences from the first sample, so that squares do not cancel.
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
          for (let v = 0; v < (V === 1 ? 1 : args.variants); v++) {
            const batch = {
              table,
              columns: V * instances,
              column: env.SINGLE && V === 1 ? 0 : v * instances + instance,
            };
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
            const decides = v === 0;
            const end = env.follow({ batch, draws, path, scores, initial, rule, dates, last, decides });
            last = end.last;
            const { time, discount } = end;
            const first = v * instances + instance;
            env.earn({ path, time, discount, scores, weights, first, stride: V * instances, y, x });
          }
        }
        for (let m = 0; m < ALL; m++) {
          if (sample === 0) {
            y0[m] = y[m];
            x0[m] = x[m];
          }
          const dy = y[m] - y0[m];
          sums[m * Q] += dy;
          sums[m * Q + 1] += dy * dy;
          if (env.CONTROL) {
            const dx = x[m] - x0[m];
            sums[m * Q + 2] += dx;
            sums[m * Q + 3] += dx * dx;
            sums[m * Q + 4] += dx * dy;
          }
        }
      }
      for (let m = 0; m < ALL; m++) {
        const at = m * Q * itemCount + item;
        const meanY = sums[m * Q] / BLOCK;
        args.moments[at] = y0[m] + meanY;
        args.moments[at + itemCount] = Math.max(sums[m * Q + 1] - sums[m * Q] * meanY, 0);
        if (env.CONTROL) {
          const meanX = sums[m * Q + 2] / BLOCK;
          args.moments[at + 2 * itemCount] = x0[m] + meanX;
          args.moments[at + 3 * itemCount] = Math.max(sums[m * Q + 3] - sums[m * Q + 2] * meanX, 0);
          args.moments[at + 4 * itemCount] = sums[m * Q + 4] - sums[m * Q] * meanX;
        }
      }
    },
  });
}

/** The number of blocks whose moments one work item merges. */
export const MERGED = 64;

/**
 * Returns the number of blocks whose moments one work item of a shape merges. It is smaller with scramblings, because
 * the Sobol' points of as many blocks must be stored.
 */
export const mergedOf = ({ scramblings }: Pick<WalkShape, "scramblings">): number =>
  Math.max(1, Math.floor(MERGED / scramblings));

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
