/** Adjoints at the ends of kept paths, and at their starts. */
import { fn, gradient, i32, kernel, read, real, write } from "../../kernel/index.ts";
import { memoize } from "../../base/memoize.ts";
import { headsOf } from "./backwards.ts";
import { endFunction, keptKey, keptLayout, type KeptShape } from "./keep.ts";
import { arrayLength, type PathShape, rowsOf } from "./shape.ts";

/**
 * Returns the kernel of the adjoints at the ends of paths, with a work item for each block: those of each path, and in
 * `heads` the block's of the product's parameters and of the discount factor.
 */
export const endKernel = memoize(
  (shape: KeptShape) => {
    const rows = rowsOf(shape);
    const pay = gradient(endFunction(shape), { of: ["state", "running", "spots", "p", "discount"] });
    return kernel({
      name: "endsBack",
      params: {
        steps: i32,
        blocks: i32,
        table: read(real),
        kept: read(real),
        adjoints: write(real),
        heads: write(real),
      },
      env: {
        ...keptLayout(shape),
        pay,
        HEAD: rows.head,
        STEP: rows.step,
        PRODUCT: rows.product,
        HEADS: headsOf(shape),
        P_ROOM: arrayLength(rows.product),
        RUNNING_ROOM: arrayLength(shape.product.running),
      },
      body({ steps, blocks, table, kept, adjoints, heads }, gpu, env): undefined {
        const { HEADS, PRODUCT } = env;
        const block = gpu.globalId();
        const width = env.paths * blocks;
        const state = gpu.privateReal(env.state);
        const running = gpu.privateReal(env.RUNNING_ROOM);
        const spots = gpu.privateReal(env.assets);
        const ofState = gpu.privateReal(env.state);
        const ofRunning = gpu.privateReal(env.RUNNING_ROOM);
        const ofSpots = gpu.privateReal(env.assets);
        const p = gpu.privateReal(env.P_ROOM);
        const ofP = gpu.privateReal(env.P_ROOM);
        for (let j = 0; j < PRODUCT; j++) p[j] = table[env.state + j];
        for (let j = 0; j < PRODUCT; j++) ofP[j] = 0;
        running[0] = 0;
        const row = env.HEAD + (steps - 1) * env.STEP;
        const t = table[row] + table[row + 1];
        const discount = table[row + 2];
        let ofDiscount = gpu.real(0);
        for (let path = 0; path < env.paths; path++) {
          const slot = path * blocks + block;
          const at = steps * env.each * width + slot;
          for (let j = 0; j < env.state; j++) state[j] = kept[at + j * width];
          for (let j = 0; j < env.running; j++) running[j] = kept[at + (env.state + j) * width];
          for (let j = 0; j < env.assets; j++) spots[j] = kept[at + (env.state + env.running + j) * width];
          const weight = kept[at + (env.end - 1) * width];
          for (let j = 0; j < env.state; j++) ofState[j] = 0;
          ofRunning[0] = 0;
          for (let j = 0; j < env.running; j++) ofRunning[j] = 0;
          for (let j = 0; j < env.assets; j++) ofSpots[j] = 0;
          const { d } = env.pay({
            state,
            running,
            spots,
            p,
            t,
            discount,
            weight,
            adjoints: { state: ofState, running: ofRunning, spots: ofSpots, p: ofP },
          });
          ofDiscount += d.discount;
          for (let j = 0; j < env.state; j++) adjoints[slot + j * width] = ofState[j];
          for (let j = 0; j < env.running; j++) adjoints[slot + (env.state + j) * width] = ofRunning[j];
          for (let j = 0; j < env.assets; j++) adjoints[slot + (env.state + env.running + j) * width] = ofSpots[j];
        }
        for (let j = 0; j < PRODUCT; j++) heads[block * HEADS + env.state + j] = ofP[j];
        heads[block * HEADS + HEADS - 1] = ofDiscount;
      },
    });
  },
  64,
  (shape) => keptKey(shape),
);

/** Returns the start of a path as a function of the state and of the product's parameters. */
function beginFunction({ model, product }: PathShape) {
  return fn({
    name: "beginBack",
    params: { state: read(real), running: write(real), spots: write(real), p: read(real) },
    env: { observe: model.observe, start: product.start, R: product.running },
    body({ state, running, spots, p }, _gpu, { observe, start, R }) {
      for (let j = 0; j < R; j++) running[j] = 0;
      observe({ state, spots });
      start?.({ running, spots, p });
      return 0;
    },
  });
}

/**
 * Returns the kernel of the adjoints of a block's initial state, with a work item for each block. Those of its paths
 * are summed first, because all of them begin in the same place. `from` is where the adjoints before the first step
 * are.
 */
export const startKernel = memoize(
  (shape: KeptShape) => {
    const rows = rowsOf(shape);
    const begin = gradient(beginFunction(shape), { of: ["state", "running", "spots", "p"] });
    return kernel({
      name: "startsBack",
      params: { blocks: i32, from: i32, table: read(real), adjoints: read(real), heads: write(real) },
      env: {
        ...keptLayout(shape),
        begin,
        PRODUCT: rows.product,
        HEADS: headsOf(shape),
        P_ROOM: arrayLength(rows.product),
        RUNNING_ROOM: arrayLength(shape.product.running),
      },
      body({ blocks, from, table, adjoints, heads }, gpu, env): undefined {
        const { HEADS, PRODUCT } = env;
        const block = gpu.globalId();
        const width = env.paths * blocks;
        const state = gpu.privateReal(env.state);
        const running = gpu.privateReal(env.RUNNING_ROOM);
        const spots = gpu.privateReal(env.assets);
        const ofState = gpu.privateReal(env.state);
        const ofRunning = gpu.privateReal(env.RUNNING_ROOM);
        const ofSpots = gpu.privateReal(env.assets);
        const p = gpu.privateReal(env.P_ROOM);
        const ofP = gpu.privateReal(env.P_ROOM);
        for (let j = 0; j < env.state; j++) {
          state[j] = table[j];
          ofState[j] = 0;
        }
        ofRunning[0] = 0;
        for (let j = 0; j < env.running; j++) ofRunning[j] = 0;
        for (let j = 0; j < env.assets; j++) ofSpots[j] = 0;
        for (let j = 0; j < PRODUCT; j++) p[j] = table[env.state + j];
        for (let j = 0; j < PRODUCT; j++) ofP[j] = heads[block * HEADS + env.state + j];
        for (let path = 0; path < env.paths; path++) {
          const at = from + path * blocks + block;
          for (let j = 0; j < env.state; j++) ofState[j] = ofState[j] + adjoints[at + j * width];
          for (let j = 0; j < env.running; j++) ofRunning[j] = ofRunning[j] + adjoints[at + (env.state + j) * width];
          for (let j = 0; j < env.spots; j++)
            ofSpots[j] = ofSpots[j] + adjoints[at + (env.state + env.running + j) * width];
        }
        const of = { state: ofState, running: ofRunning, spots: ofSpots, p: ofP };
        env.begin({ state, running, spots, p, adjoints: of });
        for (let j = 0; j < env.state; j++) heads[block * HEADS + j] = ofState[j];
        for (let j = 0; j < PRODUCT; j++) heads[block * HEADS + env.state + j] = ofP[j];
      },
    });
  },
  64,
  (shape) => keptKey(shape),
);
