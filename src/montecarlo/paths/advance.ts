/** A path and its steps, as kernel functions that all kernels of paths share. */
import { bool, fn, i32, read, real, record, u32, write } from "../../kernel/index.ts";
import type { PayoffFunction } from "../product.ts";
import { normal32, philox4x32, uniform24, uniform32 } from "../../numerics/random/index.ts";
import { drawsOf, type PathShape, arrayLength, rowsOf } from "./shape.ts";

/** The parameter table of a batch in a kernel, and the column of the table that a path reads (`Rows`). */
export const Batch = record({ table: read(real), columns: i32, column: i32 });

/**
 * The position of a path's random numbers. With Philox these are the fields of the counter; with Sobol' points, the
 * index of the point in a buffer of shape [steps · numbers, stride].
 */
export const Draws = record({
  seedLow: u32,
  seedHigh: u32,
  stream: u32,
  purpose: u32,
  path: u32,
  isReflected: bool,
  points: read(real),
  pointAt: i32,
  pointStride: i32,
});

const DrawnNumbers = record({ normals: write(real), uniforms: write(real), own: write(real) });

/** The private arrays of a path, which change from date to date. */
export const Path = record({
  state: write(real),
  running: write(real),
  controlRunning: write(real),
  spots: write(real),
  p: write(real),
  controlP: write(real),
  words: write(u32),
  /** The logarithm of its weight, where normal numbers are shifted. */
  weight: write(real),
});

/** A date that a path has reached: its time, and the discount factor of the path. */
const End = record({ time: real, discount: real });

/** Returns the function that declares the private arrays of a path. */
export function pathFunction(shape: PathShape) {
  const { model, product, control, sampling } = shape;
  const rows = rowsOf(shape);
  return fn({
    name: "newPath",
    params: [],
    env: {
      STATE: arrayLength(rows.state),
      RUNNING: arrayLength(product.running),
      CONTROL_RUNNING: arrayLength(control?.running ?? 0),
      A: model.assets,
      P: arrayLength(rows.product),
      CONTROL_P: arrayLength(rows.control),
      WORDS: sampling === "philox" ? 4 * drawsOf(shape).blocks : 1,
    },
    body(_none, gpu, env) {
      return {
        state: gpu.privateReal(env.STATE),
        running: gpu.privateReal(env.RUNNING),
        controlRunning: gpu.privateReal(env.CONTROL_RUNNING),
        spots: gpu.privateReal(env.A),
        p: gpu.privateReal(env.P),
        controlP: gpu.privateReal(env.CONTROL_P),
        words: gpu.privateU32(env.WORDS),
        weight: gpu.privateReal(1),
      };
    },
  });
}

/** Returns the kernel function that evaluates a payoff, or half the width of its bounds, at the end of a path. */
export const payoffAtPathEnd = (payoff: PayoffFunction) =>
  fn({
    name: "payoffOfPath",
    params: { path: Path, end: End },
    env: { payoff },
    body({ path, end }, _gpu, { payoff }) {
      return payoff({ running: path.running, spots: path.spots, p: path.p, t: end.time, discount: end.discount });
    },
  });

/** Returns the uniform number in (0, 1) that a random 32-bit word stands for, as precise as reals are. */
export const uniformOf = fn({
  name: "uniformOf",
  params: [u32],
  env: { uniform24, uniform32 },
  body([word], gpu, { uniform24, uniform32 }) {
    return gpu.precision === "f32" ? uniform24(word) : uniform32(word);
  },
});

/** Returns the function that draws the random numbers of a step. */
export function drawFunction(shape: PathShape) {
  const { normals, modelUniforms, productUniforms, numbers, blocks, group } = drawsOf(shape);
  return fn({
    name: "drawStep",
    params: { draws: Draws, n: i32, isFirst: bool, words: write(u32), numbers: DrawnNumbers },
    env: {
      philox4x32,
      normal32,
      uniformOf,
      SOBOL: shape.sampling === "sobol",
      F: normals,
      U: modelUniforms,
      V: productUniforms,
      D: numbers,
      BLOCKS: blocks,
      GROUP: group,
    },
    body({ draws, n, isFirst, words, numbers: { normals, uniforms, own } }, gpu, env) {
      const slot = n % env.GROUP;
      if (!env.SOBOL && (slot === 0 || isFirst))
        for (let b = 0; b < env.BLOCKS; b++) {
          const block = gpu.u32(((n / env.GROUP) | 0) * env.BLOCKS + b);
          const counter = { x: block, y: draws.path, z: draws.stream, w: draws.purpose };
          const four = env.philox4x32({ counter, key: { x: draws.seedLow, y: draws.seedHigh } });
          words[4 * b] = four.x;
          words[4 * b + 1] = four.y;
          words[4 * b + 2] = four.z;
          words[4 * b + 3] = four.w;
        }
      const at = env.SOBOL ? n * env.D * draws.pointStride + draws.pointAt : slot * env.D;
      for (let j = 0; j < env.F; j++) {
        const z = env.SOBOL ? draws.points[at + j * draws.pointStride] : env.normal32(words[at + j]);
        normals[j] = draws.isReflected ? -z : z;
      }
      for (let j = 0; j < env.U; j++) {
        const k = env.F + j;
        const u = env.SOBOL ? draws.points[at + k * draws.pointStride] : env.uniformOf(words[at + k]);
        uniforms[j] = draws.isReflected ? 1 - u : u;
      }
      for (let j = 0; j < env.V; j++) {
        const k = env.F + env.U + j;
        const u = env.SOBOL ? draws.points[at + k * draws.pointStride] : env.uniformOf(words[at + k]);
        own[j] = draws.isReflected ? 1 - u : u;
      }
    },
  });
}

/** Returns the function that copies the parameters of product and control from a column of the table to the path. */
export function loadFunction(shape: PathShape) {
  const rows = rowsOf(shape);
  return fn({
    name: "loadParameters",
    params: { batch: Batch, path: Path },
    env: { S: rows.state, PRODUCT: rows.product, CONTROL: rows.control },
    body({ batch: { table, columns, column }, path }, _gpu, { S, PRODUCT, CONTROL }): undefined {
      for (let j = 0; j < PRODUCT; j++) path.p[j] = table[(S + j) * columns + column];
      for (let j = 0; j < CONTROL; j++) path.controlP[j] = table[(S + PRODUCT + j) * columns + column];
    },
  });
}

/**
 * Returns the function that shifts the normal numbers of a step, where paths are shifted, and adds to the logarithm of
 * the path's weight.
 */
export function shiftFunction(shape: PathShape) {
  const rows = rowsOf(shape);
  return fn({
    name: "shiftStep",
    params: { table: read(real), columns: i32, column: i32, row: i32, normals: write(real), weight: write(real) },
    env: { FIRST: 3 + rows.coefficients, SHIFTS: shape.isShifted === true ? shape.model.normals : 0 },
    body({ table, columns, column, row, normals, weight }, _gpu, { FIRST, SHIFTS }): undefined {
      // A density ratio of exp(−μ·z − μ²/2) for each z that becomes z + μ.
      for (let j = 0; j < SHIFTS; j++) {
        const shift = table[(row + FIRST + j) * columns + column];
        weight[0] = weight[0] - shift * (normals[j] + 0.5 * shift);
        normals[j] = normals[j] + shift;
      }
    },
  });
}

/**
 * Returns the function that begins a path: it sets the model's state, the spots at time 0, and the running states of
 * product and control.
 */
export function beginFunction(shape: PathShape) {
  const { model, product, control } = shape;
  const rows = rowsOf(shape);
  return fn({
    name: "beginPath",
    params: { batch: Batch, path: Path },
    env: {
      observe: model.observe,
      start: product.start,
      controlStart: control?.start,
      load: loadFunction(shape),
      S: rows.state,
      R: product.running,
      CONTROL_R: control?.running ?? 0,
    },
    body({ batch, path }, _gpu, env) {
      const { table, columns, column } = batch;
      for (let j = 0; j < env.S; j++) path.state[j] = table[j * columns + column];
      env.load({ batch, path });
      for (let j = 0; j < env.R; j++) path.running[j] = 0;
      for (let j = 0; j < env.CONTROL_R; j++) path.controlRunning[j] = 0;
      path.weight[0] = 0;
      env.observe({ state: path.state, spots: path.spots });
      env.start?.({ running: path.running, spots: path.spots, p: path.p });
      env.controlStart?.({ running: path.controlRunning, spots: path.spots, p: path.controlP });
    },
  });
}

/** The random numbers of a step. */
export const Numbers = record({ normals: read(real), uniforms: read(real), own: read(real) });

const scratchFields = { before: write(real), variances: write(real), logs: write(real) } as const;

/** Private arrays that a step needs for itself. */
export const Scratch = record(scratchFields);

/** The step: its number among those of a date's, when it begins, its length, and the discount factor to its end. */
export const Step = record({ date: i32, isLast: bool, t: real, dt: real });

/** Returns the function that declares the private arrays which a step needs for itself. */
export const scratchFunction = ({ model }: PathShape) =>
  fn({
    name: "newScratch",
    params: [],
    env: { A: model.assets },
    body(_none, gpu, { A }) {
      const before = gpu.privateReal(A);
      const variances = gpu.privateReal(A);
      const logs = gpu.privateReal(A);
      for (let a = 0; a < A; a++) variances[a] = 0;
      return { before, variances, logs };
    },
  });

/** Returns the function that declares the private arrays of a step's random numbers. */
export const numbersFunction = ({ model, product }: PathShape) =>
  fn({
    name: "newNumbers",
    params: [],
    env: {
      NORMALS: arrayLength(model.normals),
      UNIFORMS: arrayLength(model.uniforms),
      OWN: arrayLength(product.uniforms ?? 0),
    },
    body(_none, gpu, { NORMALS, UNIFORMS, OWN }) {
      return {
        normals: gpu.privateReal(NORMALS),
        uniforms: gpu.privateReal(UNIFORMS),
        own: gpu.privateReal(OWN),
      };
    },
  });

const moveParams = {
  state: write(real),
  running: write(real),
  spots: write(real),
  controlRunning: write(real),
  c: read(real),
  p: read(real),
  /** The product's parameters of the step. */
  q: read(real),
  controlP: read(real),
  /** The table with the coefficients that are not copied into `c`, from `first` on. */
  table: read(real),
  first: i32,
  stride: i32,
  discount: real,
  step: Step,
  numbers: Numbers,
  scratch: Scratch,
} as const;

/**
 * The logarithm of a spot that is zero: the exponential of any mean with it is 0, and products with times are finite.
 */
const LOG_OF_ZERO = -1e30;

/**
 * Returns the function that moves a path by a step, and updates product and control where they are monitored. It
 * returns the discount factor of the path, which is that of the table where products are not monitored.
 */
export function moveFunction({ model, product, control }: PathShape) {
  const monitored = (some: PathShape["control"]): boolean => some?.monitoring !== undefined;
  return fn({
    name: "movePath",
    params: moveParams,
    env: {
      modelStep: model.step,
      observe: model.observe,
      LOG_OF_ZERO,
      LOGS: product.usesLogs === true || control?.usesLogs === true,
      logsOf: model.logs,
      variancesOf: product.monitoring === "bridge" ? model.variances : undefined,
      AFTER: model.variancesAfterStep === true,
      discountOf: model.discount,
      update: product.update,
      controlUpdate: control?.update,
      A: model.assets,
      EACH: monitored(product),
      CONTROL_EACH: monitored(control),
    },
    body(args, _gpu, env) {
      const { state, running, spots, controlRunning, c, p, q, controlP, table, first, stride } = args;
      const { A, AFTER, EACH, CONTROL_EACH, variancesOf, logsOf, discountOf } = env;
      const { before, variances, logs } = args.scratch;
      const { date, isLast, t, dt } = args.step;
      const { normals, uniforms, own } = args.numbers;
      const tables = { values: table, first, stride };
      let discount = args.discount;
      for (let a = 0; a < A; a++) before[a] = spots[a];
      if (!AFTER) variancesOf?.({ state, c, dt, variances, tables });
      env.modelStep({ state, normals, uniforms, c, t, dt, tables });
      if (AFTER) variancesOf?.({ state, c, dt, variances, tables });
      if (EACH || CONTROL_EACH || isLast) {
        env.observe({ state, spots });
        if (env.LOGS) {
          if (logsOf !== undefined) logsOf({ state, logs });
          else for (let a = 0; a < A; a++) logs[a] = spots[a] > 0 ? Math.log(spots[a]) : env.LOG_OF_ZERO;
        }
        const time = t + dt;
        if (discountOf !== undefined) discount *= discountOf({ state });
        if (EACH || isLast)
          env.update?.({ running, p, q, spots, logs, before, variances, uniforms: own, t: time, dt, date, discount });
        if (CONTROL_EACH || isLast)
          env.controlUpdate?.({
            running: controlRunning,
            p: controlP,
            q,
            spots,
            logs,
            before,
            variances,
            uniforms: own,
            t: time,
            dt,
            date,
            discount,
          });
      }
      return discount;
    },
  });
}
