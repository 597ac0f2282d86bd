/** Paths that are kept for their way back: the states before each step, the random numbers of each, and the end. */
import { fn, i32, kernel, read, real, u32, write } from "../../kernel/index.ts";
import { memoize } from "../../base/memoize.ts";
import {
  beginFunction,
  drawFunction,
  moveFunction,
  numbersFunction,
  pathFunction,
  scratchFunction,
  shiftFunction,
} from "./advance.ts";
import { arrayLength, BLOCK, drawsOf, type PathShape, rowsOf, shapeKey } from "./shape.ts";
import { addSampleFunction, momentsOf, storeMomentsFunction, type WalkShape } from "./walk-shape.ts";

/** The shape of paths that are kept. They have no control. */
export type KeptShape = Pick<WalkShape, "antithetic"> & PathShape;

/**
 * What is kept of a path, in numbers. Number j of step n of path q of block b of a launch of B blocks, in which a block
 * has `paths` paths, is at ((n·each + j)·paths + q)·B + b, so that neighbouring work items have neighbouring numbers.
 */
export interface KeptLayout {
  /** The number of reals of the state, and of the product's running state. */
  readonly state: number;
  readonly running: number;
  /** The number of assets. */
  readonly assets: number;
  /** The number of spots kept for each step: those that the product saw last, if it is updated. */
  readonly spots: number;
  /** The numbers that have adjoints from step to step: state, running state and spots. */
  readonly carried: number;
  /** The numbers of a step: those that are carried, then its random numbers. */
  readonly each: number;
  /** The numbers of the end of a path: state, running state, all spots, and the logarithm of its weight. */
  readonly end: number;
  /** The number of paths of a block, with reflections. */
  readonly paths: number;
}

/** Returns what is kept of the paths of a shape. */
export function keptLayout(shape: KeptShape): KeptLayout {
  const { model, product, antithetic } = shape;
  const spots = product.update === undefined ? 0 : model.assets;
  const carried = model.state + product.running + spots;
  return {
    state: model.state,
    running: product.running,
    assets: model.assets,
    spots,
    carried,
    each: carried + drawsOf(shape).numbers,
    end: model.state + product.running + model.assets + 1,
    paths: BLOCK * (antithetic ? 2 : 1),
  };
}

/** Returns the key of the kernels of paths that are kept. */
export const keptKey = (shape: KeptShape, ...further: readonly unknown[]): string =>
  shapeKey(shape, shape.antithetic, ...further);

const payParams = {
  state: write(real),
  running: write(real),
  spots: write(real),
  p: read(real),
  t: real,
  discount: real,
  weight: real,
} as const;

/** Returns the function of what a path pays at its end, discounted to time 0. `discount` is the table's factor. */
export function endFunction(shape: PathShape) {
  const { model, product } = shape;
  return fn({
    name: "payAtEnd",
    params: payParams,
    env: { payoff: product.payoff, discountOf: model.discount, SHIFTED: shape.isShifted === true },
    body({ state, running, spots, p, t, discount, weight }, _gpu, { payoff, discountOf, SHIFTED }) {
      let factor = discount;
      if (discountOf !== undefined) factor *= discountOf({ state });
      const pathDiscount = factor;
      if (SHIFTED) factor *= Math.exp(weight);
      return factor * payoff({ running, spots, p, t, discount: pathDiscount });
    },
  });
}

/**
 * Returns the kernel that simulates paths of one instance and keeps them, with a work item for each path. What they pay
 * is at [paths, blocks] of `pays`. Random numbers are those of `walkKernel`.
 */
export const keepKernel = memoize(
  (shape: KeptShape) => {
    const rows = rowsOf(shape);
    const draws = drawsOf(shape);
    return kernel({
      name: "keepPaths",
      params: {
        seedLow: u32,
        seedHigh: u32,
        stream: u32,
        firstBlock: i32,
        blocks: i32,
        steps: i32,
        table: read(real),
        kept: write(real),
        pays: write(real),
      },
      env: {
        ...keptLayout(shape),
        newPath: pathFunction(shape),
        newNumbers: numbersFunction(shape),
        newScratch: scratchFunction(shape),
        begin: beginFunction(shape),
        drawStep: drawFunction(shape),
        shift: shiftFunction(shape),
        move: moveFunction(shape),
        pay: endFunction(shape),
        BLOCK,
        SIDES: shape.antithetic ? 2 : 1,
        SUBSTEPS: shape.substeps,
        HEAD: rows.head,
        STEP: rows.step,
        COPIED: rows.copied,
        DATED: rows.dated,
        DATED_AT: rows.datedAt,
        Q_ROOM: arrayLength(rows.dated),
        C_ROOM: arrayLength(rows.copied),
        NORMALS: draws.normals,
        UNIFORMS: draws.modelUniforms,
        OWN: draws.productUniforms,
      },
      body(args, gpu, env): undefined {
        const { table, kept, pays, blocks, steps } = args;
        const slot = gpu.globalId();
        const width = env.paths * blocks;
        const block = slot % blocks;
        const one = (slot / blocks) | 0;
        const path = env.newPath();
        const numbers = env.newNumbers();
        const scratch = env.newScratch();
        const c = gpu.privateReal(env.C_ROOM);
        const q = gpu.privateReal(env.Q_ROOM);
        const batch = { table, columns: 1, column: 0 };
        const draws = {
          seedLow: args.seedLow,
          seedHigh: args.seedHigh,
          stream: args.stream,
          purpose: gpu.u32(0),
          path: gpu.u32((args.firstBlock + block) * env.BLOCK + ((one / env.SIDES) | 0)),
          isReflected: one % env.SIDES === 1,
          points: table,
          pointAt: 0,
          pointStride: 0,
        };
        env.begin({ batch, path });
        const { state, running, spots, controlRunning, p, controlP, words, weight } = path;
        let time = gpu.real(0);
        let discount = gpu.real(1);
        for (let n = 0; n < steps; n++) {
          const row = env.HEAD + n * env.STEP;
          const t = table[row];
          const dt = table[row + 1];
          for (let j = 0; j < env.COPIED; j++) c[j] = table[row + 3 + j];
          for (let j = 0; j < env.DATED; j++) q[j] = table[row + env.DATED_AT + j];
          env.drawStep({ draws, n, isFirst: n === 0, words, numbers });
          env.shift({ table, columns: 1, column: 0, row, normals: numbers.normals, weight });
          const at = n * env.each * width + slot;
          for (let j = 0; j < env.state; j++) kept[at + j * width] = state[j];
          for (let j = 0; j < env.running; j++) kept[at + (env.state + j) * width] = running[j];
          for (let j = 0; j < env.spots; j++) kept[at + (env.state + env.running + j) * width] = spots[j];
          const drawn = at + env.carried * width;
          for (let j = 0; j < env.NORMALS; j++) kept[drawn + j * width] = numbers.normals[j];
          for (let j = 0; j < env.UNIFORMS; j++) kept[drawn + (env.NORMALS + j) * width] = numbers.uniforms[j];
          for (let j = 0; j < env.OWN; j++) kept[drawn + (env.NORMALS + env.UNIFORMS + j) * width] = numbers.own[j];
          discount = table[row + 2];
          env.move({
            state,
            running,
            spots,
            controlRunning,
            c,
            p,
            q,
            controlP,
            table,
            first: row + 3 + env.COPIED,
            stride: 1,
            discount,
            step: { date: (n / env.SUBSTEPS) | 0, isLast: (n + 1) % env.SUBSTEPS === 0, t, dt },
            numbers,
            scratch,
          });
          time = t + dt;
        }
        const at = steps * env.each * width + slot;
        for (let j = 0; j < env.state; j++) kept[at + j * width] = state[j];
        for (let j = 0; j < env.running; j++) kept[at + (env.state + j) * width] = running[j];
        for (let j = 0; j < env.assets; j++) kept[at + (env.state + env.running + j) * width] = spots[j];
        kept[at + (env.end - 1) * width] = weight[0];
        pays[slot] = env.pay({ state, running, spots, p, t: time, discount, weight: weight[0] });
      },
    });
  },
  64,
  (shape) => keptKey(shape),
);

/**
 * Returns the kernel that computes the moments of what kept paths pay, with a work item for each block; they have the
 * bits of those of `walkKernel`.
 */
export const momentKernel = memoize(
  (shape: KeptShape) =>
    kernel({
      name: "momentsOfPays",
      params: { blocks: i32, firstItem: i32, itemCount: i32, pays: read(real), moments: write(real) },
      env: {
        addSample: addSampleFunction(shape, 1),
        storeMoments: storeMomentsFunction(shape, 1),
        BLOCK,
        SIDES: shape.antithetic ? 2 : 1,
        Q: momentsOf(shape),
      },
      body({ blocks, firstItem, itemCount, pays, moments }, gpu, env): undefined {
        const { BLOCK, SIDES, Q } = env;
        const block = gpu.globalId();
        const y = gpu.privateReal(1);
        const x = gpu.privateReal(1);
        const y0 = gpu.privateReal(1);
        const x0 = gpu.privateReal(1);
        const sums = gpu.privateReal(Q);
        for (let q = 0; q < Q; q++) sums[q] = 0;
        x[0] = 0;
        for (let sample = 0; sample < BLOCK; sample++) {
          y[0] = 0;
          for (let side = 0; side < SIDES; side++) y[0] += pays[(sample * SIDES + side) * blocks + block] / SIDES;
          env.addSample({ isFirst: sample === 0, y, x, y0, x0, sums });
        }
        env.storeMoments({ y0, x0, sums, moments, item: firstItem + block, itemCount });
      },
    }),
  64,
  (shape) => keptKey(shape),
);
