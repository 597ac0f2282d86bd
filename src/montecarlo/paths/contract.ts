/** Adjoints of the rows of a parameter table, taken back to the parameters and along directions. */
import { fn, gradient, i32, kernel, read, real, write } from "../../kernel/index.ts";
import { memoize } from "../../base/memoize.ts";
import { LAYOUT_NUMBERS } from "../parameters.ts";
import { headsOf, rowsOfStep } from "./backwards.ts";
import { keptKey, keptLayout, type KeptShape } from "./keep.ts";
import { valueAt } from "./prepare.ts";
import { arrayLength, type PathShape, rowsOf } from "./shape.ts";

/** Returns the coefficients of a step as a function of the parameters, for gradients. */
const coefficientsOf = ({ model }: PathShape) =>
  fn({
    name: "coefficientsBack",
    params: { p: read(real), t: real, dt: real, c: write(real) },
    env: { coefficients: model.coefficients?.function, P: Object.keys(model.parameters).length },
    body({ p, t, dt, c }, _gpu, { coefficients, P }) {
      if (coefficients !== undefined) coefficients({ p, t, dt, c });
      else for (let j = 0; j < P; j++) c[j] = p[j];
      return 0;
    },
  });

/** Returns the initial state as a function of the parameters, for gradients. */
const startOf = ({ model }: PathShape) =>
  fn({
    name: "startBack",
    params: { p: read(real), state: write(real) },
    env: { start: model.start },
    body({ p, state }, _gpu, { start }) {
      start({ p, state });
      return 0;
    },
  });

/**
 * Returns the kernel of the adjoints of the model's parameters, with a work item for each step of each block: parameter
 * j at step n of block b is at (n·P + j)·blocks + b. That of the rate lacks its part in discount factors.
 */
export const parameterKernel = memoize(
  (shape: KeptShape) => {
    const rows = rowsOf(shape);
    const start = gradient(startOf(shape), { of: ["p", "state"] });
    const coefficients = gradient(coefficientsOf(shape), { of: ["p", "c"] });
    return kernel({
      name: "parametersBack",
      params: {
        steps: i32,
        blocks: i32,
        values: read(real),
        layout: read(i32),
        table: read(real),
        rows: read(real),
        heads: read(real),
        parameters: write(real),
      },
      env: {
        valueAt,
        start,
        coefficients,
        L: LAYOUT_NUMBERS,
        HEAD: rows.head,
        STEP: rows.step,
        EACH: rowsOfStep(shape),
        HEADS: headsOf(shape),
        S: rows.state,
        P: rows.modelParameters,
        C: rows.coefficients,
        P_ROOM: arrayLength(rows.modelParameters),
        C_ROOM: arrayLength(rows.coefficients),
      },
      body({ steps, blocks, values, layout, table, rows, heads, parameters }, gpu, env): undefined {
        const { P, C, S } = env;
        const item = gpu.globalId();
        const block = item % blocks;
        const n = (item / blocks) | 0;
        const p = gpu.privateReal(env.P_ROOM);
        const ofP = gpu.privateReal(env.P_ROOM);
        const c = gpu.privateReal(env.C_ROOM);
        const ofC = gpu.privateReal(env.C_ROOM);
        const state = gpu.privateReal(S);
        const ofState = gpu.privateReal(S);
        for (let j = 0; j < P; j++) {
          p[j] = env.valueAt({ values, layout, at: env.L * j, n, column: 0 });
          ofP[j] = 0;
        }
        const at = env.HEAD + (block * steps + n) * env.EACH;
        for (let j = 0; j < C; j++) ofC[j] = rows[at + 3 + j];
        const row = env.HEAD + n * env.STEP;
        env.coefficients({ p, t: table[row], dt: table[row + 1], c, adjoints: { p: ofP, c: ofC } });
        if (n === 0) {
          for (let j = 0; j < S; j++) ofState[j] = heads[block * env.HEADS + j];
          env.start({ p, state, adjoints: { p: ofP, state: ofState } });
        }
        for (let j = 0; j < P; j++) parameters[(n * P + j) * blocks + block] = ofP[j];
      },
    });
  },
  64,
  (shape) => keptKey(shape),
);

/**
 * Returns the kernel of the adjoints of the numbers from which the table was made, with a work item for each parameter
 * of model and product and each block. They are in the layout of the numbers, `productAt` further for the product;
 * number k of block b is at k·blocks + b. Discount factors D depend on the rates of all steps before, so that the
 * adjoint of the rate of step n is −Δtₙ·Σ Dₘ·(adjoint of Dₘ), m ≥ n.
 */
export const gatherKernel = memoize(
  (shape: KeptShape) => {
    const rows = rowsOf(shape);
    return kernel({
      name: "gatherBack",
      params: {
        steps: i32,
        blocks: i32,
        productAt: i32,
        layout: read(i32),
        productLayout: read(i32),
        table: read(real),
        rows: read(real),
        heads: read(real),
        parameters: read(real),
        adjoints: write(real),
      },
      env: {
        L: LAYOUT_NUMBERS,
        HEAD: rows.head,
        STEP: rows.step,
        EACH: rowsOfStep(shape),
        HEADS: headsOf(shape),
        S: rows.state,
        P: rows.modelParameters,
        PRODUCT: rows.product,
        DATED_AT: rows.datedAt,
        RATE: Object.keys(shape.model.parameters).indexOf("rate"),
      },
      body(args, gpu, env): undefined {
        const { steps, blocks, layout, table, rows, heads, adjoints } = args;
        const { L, P, HEAD, EACH, HEADS } = env;
        const item = gpu.globalId();
        const block = item % blocks;
        const j = (item / blocks) | 0;
        let sum = gpu.real(0);
        if (j < P) {
          const first = layout[L * j];
          const stride = layout[L * j + 1];
          let discounts = gpu.real(0);
          for (let k = 0; k < steps; k++) {
            const n = steps - 1 - k;
            let one = args.parameters[(n * P + j) * blocks + block];
            if (j === env.RATE) {
              const row = HEAD + n * env.STEP;
              let ofDiscount = rows[HEAD + (block * steps + n) * EACH + 2];
              if (k === 0) ofDiscount += heads[block * HEADS + HEADS - 1];
              discounts += table[row + 2] * ofDiscount;
              one -= discounts * table[row + 1];
            }
            if (stride > 0) adjoints[(first + n * stride) * blocks + block] = one;
            else sum += one;
          }
          if (stride === 0) adjoints[first * blocks + block] = sum;
        } else {
          const k = j - P;
          const first = args.productAt + args.productLayout[L * k];
          const stride = args.productLayout[L * k + 1];
          const isDated = k >= env.PRODUCT;
          if (!isDated) sum = heads[block * HEADS + env.S + k];
          const at = isDated ? env.DATED_AT + k - env.PRODUCT : env.STEP + k;
          for (let n = 0; n < steps; n++) {
            const one = rows[HEAD + (block * steps + n) * EACH + at];
            if (isDated && stride > 0) adjoints[(first + n * stride) * blocks + block] = one;
            else sum += one;
          }
          if (!isDated || stride === 0) adjoints[first * blocks + block] = sum;
        }
      },
    });
  },
  64,
  (shape) => keptKey(shape),
);

/**
 * Returns the kernel of a block's mean derivatives, with a work item for each direction and each block. Direction d
 * moves the numbers `places[k]` by `weights[k]`, starts[d] ≤ k < starts[d + 1]. Each is a mean with no squares about
 * it: [directions · 2, itemCount].
 */
export const slopeKernel = memoize(
  (shape: KeptShape) =>
    kernel({
      name: "slopesBack",
      params: {
        blocks: i32,
        firstItem: i32,
        itemCount: i32,
        adjoints: read(real),
        starts: read(i32),
        places: read(i32),
        weights: read(real),
        slopes: write(real),
      },
      env: { PATHS: keptLayout(shape).paths },
      body({ blocks, firstItem, itemCount, adjoints, starts, places, weights, slopes }, gpu, { PATHS }): undefined {
        const item = gpu.globalId();
        const block = item % blocks;
        const d = (item / blocks) | 0;
        let sum = gpu.real(0);
        for (let k = starts[d]; k < starts[d + 1]; k++) sum += weights[k] * adjoints[places[k] * blocks + block];
        const at = 2 * d * itemCount + firstItem + block;
        slopes[at] = sum / PATHS;
        slopes[at + itemCount] = 0;
      },
    }),
  8,
  (shape) => String(keptLayout(shape).paths),
);
