/** A path from date to date, as kernel functions that all kernels of paths share. */
import { bool, fn, i32, read, real, record, u32, write } from "../../kernel/index.ts";
import { normal32, philox4x32, uniform24, uniform32 } from "../../numerics/random/index.ts";
import { drawsOf, type PathShape, room, rowsOf } from "./shape.ts";

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

/** Random numbers of a step, to private arrays. */
function drawFunction(shape: PathShape) {
  const { normals: count, modelUniforms, productUniforms, numbers, blocks, group } = drawsOf(shape);
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
      uniform24,
      uniform32,
      SOBOL: shape.sampling === "sobol",
      F: count,
      U: modelUniforms,
      V: productUniforms,
      D: numbers,
      BLOCKS: blocks,
      GROUP: group,
    },
    body(
      { draws, n, isFirst, words, normals, uniforms, own },
      gpu,
      { philox4x32, normal32, uniform24, uniform32, SOBOL, F, U, V, D, BLOCKS, GROUP },
    ) {
      if (SOBOL) {
        const at = n * D * draws.pointStride + draws.pointAt;
        for (let j = 0; j < F; j++) {
          const z = draws.points[at + j * draws.pointStride];
          normals[j] = draws.isReflected ? -z : z;
        }
        for (let j = 0; j < U; j++) {
          const u = draws.points[at + (F + j) * draws.pointStride];
          uniforms[j] = draws.isReflected ? 1 - u : u;
        }
        for (let j = 0; j < V; j++) {
          const u = draws.points[at + (F + U + j) * draws.pointStride];
          own[j] = draws.isReflected ? 1 - u : u;
        }
      } else {
        const slot = n % GROUP;
        if (slot === 0 || isFirst)
          for (let b = 0; b < BLOCKS; b++) {
            const block = gpu.u32(((n / GROUP) | 0) * BLOCKS + b);
            const counter = { x: block, y: draws.path, z: draws.stream, w: draws.purpose };
            const four = philox4x32({ counter, key: { x: draws.seedLow, y: draws.seedHigh } });
            words[4 * b] = four.x;
            words[4 * b + 1] = four.y;
            words[4 * b + 2] = four.z;
            words[4 * b + 3] = four.w;
          }
        const at = slot * D;
        for (let j = 0; j < F; j++) {
          const z = normal32(words[at + j]);
          normals[j] = draws.isReflected ? -z : z;
        }
        for (let j = 0; j < U; j++) {
          const word = words[at + F + j];
          const u = gpu.precision === "f32" ? uniform24(word) : uniform32(word);
          uniforms[j] = draws.isReflected ? 1 - u : u;
        }
        for (let j = 0; j < V; j++) {
          const word = words[at + F + U + j];
          const u = gpu.precision === "f32" ? uniform24(word) : uniform32(word);
          own[j] = draws.isReflected ? 1 - u : u;
        }
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
      S: rows.state,
      PRODUCT: rows.product,
      CONTROL: rows.control,
      R: product.running,
      CONTROL_R: control?.running ?? 0,
    },
    body(
      { batch: { table, columns, column }, path },
      _gpu,
      { observe, start, controlStart, S, PRODUCT, CONTROL, R, CONTROL_R },
    ) {
      for (let j = 0; j < S; j++) path.state[j] = table[j * columns + column];
      for (let j = 0; j < PRODUCT; j++) path.p[j] = table[(S + j) * columns + column];
      for (let j = 0; j < CONTROL; j++) path.controlP[j] = table[(S + PRODUCT + j) * columns + column];
      for (let j = 0; j < R; j++) path.running[j] = 0;
      for (let j = 0; j < CONTROL_R; j++) path.controlRunning[j] = 0;
      path.weight[0] = 0;
      observe({ state: path.state, spots: path.spots });
      if (start !== undefined) start({ running: path.running, spots: path.spots, p: path.p });
      if (controlStart !== undefined)
        controlStart({ running: path.controlRunning, spots: path.spots, p: path.controlP });
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
      SHIFTS: shape.isShifted === true ? model.normals : 0,
      A: model.assets,
      EACH: monitored(product),
      CONTROL_EACH: monitored(control),
      C_ROOM: room(rows.copied),
      NORMAL_ROOM: room(draw.normals),
      UNIFORM_ROOM: room(draw.modelUniforms),
      OWN_ROOM: room(draw.productUniforms),
    },
    body(
      { batch: { table, columns, column }, draws, path, date, isFirst, scores, initial },
      gpu,
      {
        drawStep,
        modelStep,
        observe,
        LOG_OF_ZERO,
        LOGS,
        logsOf,
        variancesOf,
        AFTER,
        discountOf,
        scoreOf,
        update,
        controlUpdate,
        SUBSTEPS,
        HEAD,
        STEP,
        COPIED,
        C,
        SHIFTS,
        A,
        EACH,
        CONTROL_EACH,
        C_ROOM,
        NORMAL_ROOM,
        UNIFORM_ROOM,
        OWN_ROOM,
      },
    ) {
      const c = gpu.privateReal(C_ROOM);
      const normals = gpu.privateReal(NORMAL_ROOM);
      const uniforms = gpu.privateReal(UNIFORM_ROOM);
      const own = gpu.privateReal(OWN_ROOM);
      const before = gpu.privateReal(A);
      const variances = gpu.privateReal(A);
      const logs = gpu.privateReal(A);
      for (let a = 0; a < A; a++) variances[a] = 0;
      const { state, spots, running, controlRunning, p, controlP } = path;
      let time = gpu.real(0);
      let discount = gpu.real(1);
      for (let s = 0; s < SUBSTEPS; s++) {
        const n = date * SUBSTEPS + s;
        const row = HEAD + n * STEP;
        const t = table[row * columns + column];
        const dt = table[(row + 1) * columns + column];
        for (let j = 0; j < COPIED; j++) c[j] = table[(row + 3 + j) * columns + column];
        const tables = { values: table, first: (row + 3 + COPIED) * columns + column, stride: columns };
        drawStep({ draws, n, isFirst: isFirst && s === 0, words: path.words, normals, uniforms, own });
        // A density ratio of exp(−μ·z − μ²/2) for each z that becomes z + μ.
        for (let j = 0; j < SHIFTS; j++) {
          const shift = table[(row + 3 + C + j) * columns + column];
          path.weight[0] = path.weight[0] - shift * (normals[j] + 0.5 * shift);
          normals[j] = normals[j] + shift;
        }
        for (let a = 0; a < A; a++) before[a] = spots[a];
        if (variancesOf !== undefined && !AFTER) variancesOf({ state, c, dt, variances, tables });
        if (scoreOf !== undefined) scoreOf({ scores, normals, c, dt, isFirst: n === 0, initial });
        modelStep({ state, normals, uniforms, c, t, dt, tables });
        if (variancesOf !== undefined && AFTER) variancesOf({ state, c, dt, variances, tables });
        if (EACH || CONTROL_EACH || s === SUBSTEPS - 1) {
          observe({ state, spots });
          if (LOGS) {
            if (logsOf !== undefined) logsOf({ state, logs });
            else for (let a = 0; a < A; a++) logs[a] = spots[a] > 0 ? Math.log(spots[a]) : LOG_OF_ZERO;
          }
          time = t + dt;
          discount = table[(row + 2) * columns + column];
          if (discountOf !== undefined) discount *= discountOf({ state });
          if (update !== undefined && (EACH || s === SUBSTEPS - 1))
            update({ running, p, spots, logs, before, variances, uniforms: own, t: time, dt, date, discount });
          if (controlUpdate !== undefined && (CONTROL_EACH || s === SUBSTEPS - 1))
            controlUpdate({
              running: controlRunning,
              p: controlP,
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
