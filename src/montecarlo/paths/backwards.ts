/**
 * The way back of kept paths: adjoints of their states from step to step, and of the rows of the parameter table, which
 * are summed over the paths of a block in their order.
 */
import { fn, gradient, i32, kernel, read, real, write } from "../../kernel/index.ts";
import { memoize } from "../../base/memoize.ts";
import { keptKey, keptLayout, type KeptShape } from "./keep.ts";
import { moveFunction, Numbers, numbersFunction, Scratch, scratchFunction, Step } from "./advance.ts";
import { arrayLength, drawsOf, type PathShape, rowsOf } from "./shape.ts";

/**
 * Who goes back. "blocks": a work item takes all paths of a block, step by step. "paths": a work item takes a path, and
 * keeps the adjoints of its states; "steps": a work item takes a step of all paths of a block from there, for the rows.
 * The two together do what "blocks" does, with the same bits, for devices with more work items than there are blocks.
 */
export type BackwardPart = "blocks" | "paths" | "steps";

/** The numbers of the adjoints of the rows of a step: those of the table, and the parameters of the product. */
export const rowsOfStep = (shape: PathShape): number => {
  const { step, product } = rowsOf(shape);
  return step + product;
};

/**
 * The numbers for each block besides those of steps: the initial state, the product's parameters, the last discount.
 */
export const headsOf = (shape: PathShape): number => {
  const { state, product } = rowsOf(shape);
  return state + product + 1;
};

/** Returns the lengths in numbers of the buffers of a launch, for each block. */
export function backwardLengths(shape: KeptShape, steps: number, isByPath: boolean) {
  const { each, end, carried, paths } = keptLayout(shape);
  return {
    kept: (steps * each + end) * paths,
    pays: paths,
    adjoints: (end + (isByPath ? steps * carried : 0)) * paths,
    rows: steps * rowsOfStep(shape) + rowsOf(shape).head,
    heads: headsOf(shape),
    parameters: steps * arrayLength(rowsOf(shape).modelParameters),
  };
}

/** Returns the step of a path as a function of all that it reads, for gradients. */
function stepFunction(shape: PathShape) {
  return fn({
    name: "stepBack",
    params: {
      state: write(real),
      running: write(real),
      spots: write(real),
      c: read(real),
      p: read(real),
      q: read(real),
      table: read(real),
      first: i32,
      discount: real,
      step: Step,
      numbers: Numbers,
      scratch: Scratch,
    },
    env: { move: moveFunction(shape) },
    body({ state, running, spots, c, p, q, table, first, discount, step, numbers, scratch }, _gpu, { move }) {
      move({
        state,
        running,
        spots,
        controlRunning: running,
        c,
        p,
        q,
        controlP: p,
        table,
        first,
        stride: 1,
        discount,
        step,
        numbers,
        scratch,
      });
      return 0;
    },
  });
}

/**
 * Returns the kernel that takes the adjoints of kept paths from the last step to the first. Those of the path's end are
 * at the beginning of `adjoints`, in the layout of what is kept of it; behind them those before each step, where a work
 * item takes a path. Rows of block b and step n begin at head + (b·steps + n)·rowsOfStep in `rows`.
 *
 * Memory traffic: what is kept of each step once, twice with "paths" and "steps"; rows once for each block.
 */
export const backwardKernel = memoize(
  (shape: KeptShape, part: BackwardPart) => {
    const rows = rowsOf(shape);
    const draws = drawsOf(shape);
    const step = stepFunction(shape);
    const ofPath = ["state", "running", "spots"] as const;
    const byState = gradient(step, { of: ofPath });
    const byAll = gradient(step, { of: [...ofPath, "c", "p", "q", "table", "discount"] });
    return kernel({
      name: `backward${part}`,
      params: {
        steps: i32,
        blocks: i32,
        table: read(real),
        kept: read(real),
        adjoints: write(real),
        rows: write(real),
      },
      env: {
        ...keptLayout(shape),
        newNumbers: numbersFunction(shape),
        newScratch: scratchFunction(shape),
        byState: part === "paths" ? byState : undefined,
        byAll: part === "paths" ? undefined : byAll,
        PATHS: part === "paths",
        STEPS: part === "steps",
        SUBSTEPS: shape.substeps,
        HEAD: rows.head,
        STEP: rows.step,
        C: rows.coefficients,
        COPIED: rows.copied,
        PRODUCT: rows.product,
        DATED: rows.dated,
        DATED_AT: rows.datedAt,
        C_ROOM: arrayLength(rows.copied),
        Q_ROOM: arrayLength(rows.dated),
        P_ROOM: arrayLength(rows.product),
        RUNNING_ROOM: arrayLength(shape.product.running),
        NORMALS: draws.normals,
        UNIFORMS: draws.modelUniforms,
        OWN: draws.productUniforms,
      },
      body(args, gpu, env): undefined {
        const { steps, blocks, table, kept, adjoints } = args;
        const { PATHS, STEPS, HEAD, STEP, C, COPIED, PRODUCT, carried, each } = env;
        const item = gpu.globalId();
        const width = env.paths * blocks;
        const block = item % blocks;
        const state = gpu.privateReal(env.state);
        const running = gpu.privateReal(env.RUNNING_ROOM);
        const spots = gpu.privateReal(env.assets);
        const ofState = gpu.privateReal(env.state);
        const ofRunning = gpu.privateReal(env.RUNNING_ROOM);
        const ofSpots = gpu.privateReal(env.assets);
        const c = gpu.privateReal(env.C_ROOM);
        const ofC = gpu.privateReal(env.C_ROOM);
        const p = gpu.privateReal(env.P_ROOM);
        const ofP = gpu.privateReal(env.P_ROOM);
        const q = gpu.privateReal(env.Q_ROOM);
        const ofQ = gpu.privateReal(env.Q_ROOM);
        const numbers = env.newNumbers();
        const scratch = env.newScratch();
        const { normals, uniforms, own } = numbers;
        for (let j = 0; j < PRODUCT; j++) p[j] = table[env.state + j];
        running[0] = 0;
        ofRunning[0] = 0;
        const last = STEPS ? (item / blocks) | 0 : steps - 1;
        const count = STEPS ? 1 : steps;
        for (let k = 0; k < count; k++) {
          const n = last - k;
          const row = HEAD + n * STEP;
          const t = table[row];
          const dt = table[row + 1];
          const discount = table[row + 2];
          for (let j = 0; j < COPIED; j++) c[j] = table[row + 3 + j];
          for (let j = 0; j < env.DATED; j++) q[j] = table[row + env.DATED_AT + j];
          const rowsAt = HEAD + (block * steps + n) * (STEP + PRODUCT);
          let ofDiscount = gpu.real(0);
          if (!PATHS) {
            for (let j = 0; j < COPIED; j++) ofC[j] = 0;
            for (let j = 0; j < PRODUCT; j++) ofP[j] = 0;
            for (let j = 0; j < env.DATED; j++) ofQ[j] = 0;
            for (let j = COPIED; j < C; j++) args.rows[rowsAt + 3 + j] = 0;
          }
          for (let path = 0; path < (PATHS ? 1 : env.paths); path++) {
            const slot = PATHS ? item : path * blocks + block;
            const at = n * each * width + slot;
            for (let j = 0; j < env.state; j++) state[j] = kept[at + j * width];
            for (let j = 0; j < env.running; j++) running[j] = kept[at + (env.state + j) * width];
            for (let j = 0; j < env.assets; j++)
              spots[j] = j < env.spots ? kept[at + (env.state + env.running + j) * width] : 1;
            const drawn = at + carried * width;
            for (let j = 0; j < env.NORMALS; j++) normals[j] = kept[drawn + j * width];
            for (let j = 0; j < env.UNIFORMS; j++) uniforms[j] = kept[drawn + (env.NORMALS + j) * width];
            for (let j = 0; j < env.OWN; j++) own[j] = kept[drawn + (env.NORMALS + env.UNIFORMS + j) * width];
            const isEnd = n === steps - 1;
            const inPlace = !PATHS && !STEPS;
            const from = inPlace || isEnd ? slot : (env.end + (n + 1) * carried) * width + slot;
            for (let j = 0; j < env.state; j++) ofState[j] = adjoints[from + j * width];
            for (let j = 0; j < env.running; j++) ofRunning[j] = adjoints[from + (env.state + j) * width];
            for (let j = 0; j < env.assets; j++) ofSpots[j] = 0;
            if (isEnd || env.spots > 0)
              for (let j = 0; j < env.assets; j++) ofSpots[j] = adjoints[from + (env.state + env.running + j) * width];
            const isLast = (n + 1) % env.SUBSTEPS === 0;
            const first = row + 3 + COPIED;
            const now = { date: (n / env.SUBSTEPS) | 0, isLast, t, dt };
            if (env.byState !== undefined) {
              const of = { state: ofState, running: ofRunning, spots: ofSpots };
              env.byState({
                state,
                running,
                spots,
                c,
                p,
                q,
                table,
                first,
                discount,
                step: now,
                numbers,
                scratch,
                adjoints: of,
              });
            }
            if (env.byAll !== undefined) {
              const ofTable = gpu.part(args.rows, rowsAt - row);
              const of = { state: ofState, running: ofRunning, spots: ofSpots, c: ofC, p: ofP, q: ofQ, table: ofTable };
              const { d } = env.byAll({
                state,
                running,
                spots,
                c,
                p,
                q,
                table,
                first,
                discount,
                step: now,
                numbers,
                scratch,
                adjoints: of,
              });
              ofDiscount += d.discount;
            }
            const to = inPlace ? slot : (env.end + n * carried) * width + slot;
            if (!STEPS) {
              for (let j = 0; j < env.state; j++) adjoints[to + j * width] = ofState[j];
              for (let j = 0; j < env.running; j++) adjoints[to + (env.state + j) * width] = ofRunning[j];
              for (let j = 0; j < env.spots; j++) adjoints[to + (env.state + env.running + j) * width] = ofSpots[j];
            }
          }
          if (!PATHS) {
            args.rows[rowsAt + 2] = ofDiscount;
            for (let j = 0; j < COPIED; j++) args.rows[rowsAt + 3 + j] = ofC[j];
            for (let j = 0; j < PRODUCT; j++) args.rows[rowsAt + STEP + j] = ofP[j];
            for (let j = 0; j < env.DATED; j++) args.rows[rowsAt + env.DATED_AT + j] = ofQ[j];
          }
        }
      },
    });
  },
  64,
  (shape, part) => keptKey(shape, part),
);
