/** A path from date to date, as kernel functions that all kernels of paths share. */
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

/** Random numbers of a step, to private arrays. */
function drawFunction(shape: PathShape) {
  const { normals, modelUniforms, productUniforms, numbers, blocks, group } = drawsOf(shape);
  return fn({
    name: "drawStep",
    params: {
      draws: Draws,
      n: i32,
      isFirst: bool,
      words: write(u32),
      normals: write(real),
      uniforms: write(real),
      own: write(real),
    },
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
    body({ draws, n, isFirst, words, normals, uniforms, own }, gpu, env) {
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

/**
 * The logarithm of a spot that is zero: the exponential of any mean with it is 0, and products with times are finite.
 */
const LOG_OF_ZERO = -1e30;

/**
 * Returns the function that advances a path to the next date: the steps of the model, then the update of the product.
 * It returns the time, and the discount factor of the path. With `isFirst` the path begins here, so that no random
 * numbers are left over from the previous step.
 */
export function advanceFunction(shape: PathShape, hasScores = false) {
  const { model, product, control, substeps } = shape;
  const rows = rowsOf(shape);
  const draw = drawsOf(shape);
  const monitored = (some: PathShape["control"]): boolean => some?.monitoring !== undefined;
  return fn({
    name: "advancePath",
    params: {
      batch: Batch,
      draws: Draws,
      path: Path,
      date: i32,
      isFirst: bool,
      scores: write(real),
      initial: read(real),
    },
    env: {
      drawStep: drawFunction(shape),
      modelStep: model.step,
      observe: model.observe,
      LOG_OF_ZERO,
      LOGS: product.usesLogs === true || control?.usesLogs === true,
      logsOf: model.logs,
      variancesOf: product.monitoring === "bridge" ? model.variances : undefined,
      AFTER: model.variancesAfterStep === true,
      discountOf: model.discount,
      scoreOf: hasScores ? model.score?.function : undefined,
      update: product.update,
      controlUpdate: control?.update,
      SUBSTEPS: substeps,
      HEAD: rows.head,
      STEP: rows.step,
      COPIED: rows.copied,
      C: rows.coefficients,
      DATED: rows.dated,
      SHIFTS: shape.isShifted === true ? model.normals : 0,
      A: model.assets,
      EACH: monitored(product),
      CONTROL_EACH: monitored(control),
      C_ROOM: arrayLength(rows.copied),
      NORMAL_ROOM: arrayLength(draw.normals),
      UNIFORM_ROOM: arrayLength(draw.modelUniforms),
      OWN_ROOM: arrayLength(draw.productUniforms),
      Q_ROOM: arrayLength(rows.dated),
    },
    body({ batch: { table, columns, column }, draws, path, date, isFirst, scores, initial }, gpu, env) {
      const { SUBSTEPS, COPIED, A, AFTER, EACH, CONTROL_EACH, variancesOf, logsOf, discountOf } = env;
      const c = gpu.privateReal(env.C_ROOM);
      const normals = gpu.privateReal(env.NORMAL_ROOM);
      const uniforms = gpu.privateReal(env.UNIFORM_ROOM);
      const own = gpu.privateReal(env.OWN_ROOM);
      const before = gpu.privateReal(A);
      const variances = gpu.privateReal(A);
      const logs = gpu.privateReal(A);
      const q = gpu.privateReal(env.Q_ROOM);
      for (let a = 0; a < A; a++) variances[a] = 0;
      const { state, spots, running, p } = path;
      let time = gpu.real(0);
      let discount = gpu.real(1);
      for (let s = 0; s < SUBSTEPS; s++) {
        const isLast = s === SUBSTEPS - 1;
        const n = date * SUBSTEPS + s;
        const row = env.HEAD + n * env.STEP;
        const t = table[row * columns + column];
        const dt = table[(row + 1) * columns + column];
        for (let j = 0; j < COPIED; j++) c[j] = table[(row + 3 + j) * columns + column];
        const tables = { values: table, first: (row + 3 + COPIED) * columns + column, stride: columns };
        env.drawStep({ draws, n, isFirst: isFirst && s === 0, words: path.words, normals, uniforms, own });
        // A density ratio of exp(−μ·z − μ²/2) for each z that becomes z + μ.
        for (let j = 0; j < env.SHIFTS; j++) {
          const shift = table[(row + 3 + env.C + j) * columns + column];
          path.weight[0] = path.weight[0] - shift * (normals[j] + 0.5 * shift);
          normals[j] = normals[j] + shift;
        }
        for (let a = 0; a < A; a++) before[a] = spots[a];
        if (!AFTER) variancesOf?.({ state, c, dt, variances, tables });
        env.scoreOf?.({ scores, normals, c, dt, isFirst: n === 0, initial });
        env.modelStep({ state, normals, uniforms, c, t, dt, tables });
        if (AFTER) variancesOf?.({ state, c, dt, variances, tables });
        if (EACH || CONTROL_EACH || isLast) {
          env.observe({ state, spots });
          if (env.LOGS) {
            if (logsOf !== undefined) logsOf({ state, logs });
            else for (let a = 0; a < A; a++) logs[a] = spots[a] > 0 ? Math.log(spots[a]) : env.LOG_OF_ZERO;
          }
          time = t + dt;
          discount = table[(row + 2) * columns + column];
          if (discountOf !== undefined) discount *= discountOf({ state });
          for (let j = 0; j < env.DATED; j++) q[j] = table[(row + 3 + env.C + env.SHIFTS + j) * columns + column];
          if (EACH || isLast)
            env.update?.({ running, p, q, spots, logs, before, variances, uniforms: own, t: time, dt, date, discount });
          if (CONTROL_EACH || isLast)
            env.controlUpdate?.({
              running: path.controlRunning,
              p: path.controlP,
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
      }
      return { time, discount };
    },
  });
}
