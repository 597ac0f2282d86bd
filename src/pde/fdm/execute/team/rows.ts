import { bool, fn, i32, read, real, write } from "../../../../kernel/index.ts";
import { Column, valueAt } from "../../operator/state.ts";
import { LiveNodes, matrixRow } from "../../operator/matrix.ts";
import { Coefficients, SurfaceLocation } from "../../operator/coefficients.ts";
import { ItemContext } from "../rollback.ts";
import { varianceAt } from "../option/values.ts";
import { Mesh, RowEntries } from "./records.ts";
import { Launch, type TeamPlan } from "../option/plan.ts";
import { readHeld } from "../../conditions/barrier.ts";

/**
 * Returns the function that computes the off-diagonal entries a and c of I − hL (`matrixRow`) at an item's nodes, from
 * the nodes x and their `weights`; 0 beyond the last node. It returns the interval of the volatility surface in which
 * the item's first node lies, where the search of the next step starts.
 */
export function assembleSegment({ rows, variant }: TeamPlan) {
  return fn({
    name: "assembleSegment",
    params: {
      launch: Launch,
      context: ItemContext,
      x: read(real),
      weights: read(real),
      rows: RowEntries,
      coefficients: Coefficients,
      slice: SurfaceLocation,
    },
    env: { count: rows, matrixRow, isSurface: variant.shape === "surface", varianceAt: varianceAt(variant) },
    body({ launch, context, x, weights, rows: { a, c }, coefficients, slice }, _gpu, env) {
      const { nodes, obstacleColumn, firstExercised } = launch;
      const { table, first } = context;
      const { hDrift } = coefficients;
      const row = (obstacleColumn + 1) * nodes;
      const last = nodes - 1;
      let at = slice.piece;
      let next = at;
      for (let k = 0; k < env.count; k++) {
        const i = Math.min(first + k, last);
        const here = x[i];
        const hDown = here - x[Math.max(i - 1, 0)];
        const hUp = x[Math.min(i + 1, last)] - here;
        const on = env.varianceAt({ table, of: coefficients, slice, row, i, here, piece: at });
        if (env.isSurface) {
          at = on.piece;
          if (k === 0) next = at;
        }
        const entries = env.matrixRow(
          hDrift * here,
          on.variance,
          hDown,
          hUp,
          weights[i],
          i === 0,
          i === last,
          firstExercised,
        );
        a[k] = first + k <= last ? entries.a : 0.0;
        c[k] = first + k <= last ? entries.c : 0.0;
      }
      return next;
    },
  });
}

/**
 * Returns the function that scales the matrix rows by `ratio` where only the step h has changed. In f64 a and c may
 * have been `kept` and are then given as `before`. Otherwise `before` has the results of elimination, lower = a/pivot
 * and upper = c/pivot, with `gain` = 2/pivot. The limit on inflow at the ends depends on h (`matrixRow`), so the two
 * end rows are assembled as by `assembleSegment`. Cost for each node: 4 flops, where assembling takes 20. Unless
 * `kept`, a and c are rounded once each time.
 */
export function rescaleSegment({ rows, variant: { shape }, summed: kept }: TeamPlan) {
  return fn({
    name: "rescaleSegment",
    params: {
      launch: Launch,
      context: ItemContext,
      x: read(real),
      weights: read(real),
      rows: RowEntries,
      gain: read(real),
      before: RowEntries,
      ratio: real,
      coefficients: Coefficients,
    },
    env: { count: rows, byTable: shape === "table", matrixRow, kept, valueAt },
    body({ launch, context, x, weights, rows: { a, c }, gain, before, ratio, coefficients }, gpu, env) {
      const { count, byTable, matrixRow, kept, valueAt } = env;
      const { nodes, obstacleColumn, firstExercised } = launch;
      const { table, first } = context;
      const { hVariance, hDrift } = coefficients;
      // Of a formula its spot and literals.
      const varianceRow = (obstacleColumn + 1) * nodes;
      const last = nodes - 1;
      for (let k = 0; k < count; k++) {
        const scale = kept && gpu.precision === "f64" ? ratio : 2.0 * ratio * gpu.reciprocal(gain[k]);
        a[k] = before.a[k] * scale;
        c[k] = before.c[k] * scale;
      }
      const isFirst = first === 0;
      if (isFirst || (first <= last && last < first + count)) {
        const i = isFirst ? 0 : last;
        const here = x[i];
        const hDown = here - x[Math.max(i - 1, 0)];
        const hUp = x[Math.min(i + 1, last)] - here;
        let variance = hVariance * here * here;
        if (byTable) variance = hVariance * valueAt(table, varianceRow + i);
        const row = matrixRow(hDrift * here, variance, hDown, hUp, weights[i], isFirst, !isFirst, firstExercised);
        for (let k = 0; k < count; k++) {
          if (first + k === i && isFirst) c[k] = row.c;
          if (first + k === i && !isFirst) a[k] = row.a;
        }
      }
    },
  });
}

/** A local variance of less than this fraction of the drift counts for nothing. */
const NEGLIGIBLE = 1e-30;
/** A ratio |hμ|/hσ² beyond any bound, for rows without diffusion. */
const UNBOUNDED = 1e30;

/**
 * The part of the mesh and of the local variance v (S², or σ²(S)S²) in a row of I − hL, so that `matrixRow` is
 *
 *   a = hσ²·A − hμ·B,   c = hσ²·C + hμ·D, A = v/(h₋(h₋ + h₊)), B = S·h₊/(h₋(h₋ + h₊)), C = v/(h₊(h₋ + h₊)), D =
 *                       S·h₋/(h₊(h₋ + h₊)),
 *
 * at the ends B = S/h₋ or D = S/h₊ alone, and how far |hμ|/hσ² may go before diffusion has to be raised: up to
 * 1/`bound`.
 */
const rowMetrics = fn({
  name: "rowMetrics",
  params: [real, real, real, real, bool, bool, bool],
  env: { NEGLIGIBLE, UNBOUNDED },
  body([here, variance, hDown, hUp, isFirst, isLast, firstExercised], gpu, { NEGLIGIBLE, UNBOUNDED }) {
    let A = 0.0;
    let B = 0.0;
    let C = 0.0;
    let D = 0.0;
    if (isLast) B = here / hDown;
    else if (isFirst) D = firstExercised ? 0.0 : here / hUp;
    else {
      const weight = gpu.reciprocal(hDown * hUp * (hDown + hUp));
      A = variance * (hUp * weight);
      C = variance * (hDown * weight);
      B = here * hUp * (hUp * weight);
      D = here * hDown * (hDown * weight);
    }
    const widest = here * Math.max(Math.abs(hDown), Math.abs(hUp));
    let bound = 0.0;
    if (widest > 0) bound = variance > NEGLIGIBLE * widest ? (1.00001 * widest) / variance : UNBOUNDED;
    return { A, B, C, D, bound };
  },
});

/** The number of reals in `ends` (`computeRowMetrics`). */
export const END_REALS = 4;

/**
 * Returns the function that computes the metrics A, B, C and D of all rows (`rowMetrics`) from the nodes, which are in
 * A. They overwrite the nodes and B, at index [i], and are 0 beyond the last node. `bounds` receives the largest bound
 * of each item, and `ends` those of the first and the last node, with D and B there without sign. It runs once for each
 * launch and once for each dividend.
 */
export function computeRowMetrics({ rows, variant: { shape } }: TeamPlan) {
  return fn({
    name: "computeRowMetrics",
    params: [Mesh, Launch, ItemContext],
    env: { rows, shape, rowMetrics, valueAt },
    *body([mesh, { nodes, obstacleColumn, firstExercised }, { table, item, first }], gpu, env) {
      const { x: A, values: B, third: C, fourth: D, bounds, ends } = mesh;
      const varianceRow = (obstacleColumn + 1) * nodes;
      const last = nodes - 1;
      const ownA = gpu.privateReal(env.rows);
      const ownB = gpu.privateReal(env.rows);
      let largest = 0.0;
      for (let k = 0; k < env.rows; k++) {
        const i = Math.min(first + k, last);
        const here = A[i];
        const hDown = here - A[Math.max(i - 1, 0)];
        const hUp = A[Math.min(i + 1, last)] - here;
        const variance = env.shape === "table" ? env.valueAt(table, varianceRow + i) : here * here;
        const row = env.rowMetrics(here, variance, hDown, hUp, i === 0, i === last, firstExercised);
        const inside = first + k <= last;
        ownA[k] = inside ? row.A : 0.0;
        ownB[k] = inside ? row.B : 0.0;
        C[first + k] = inside ? row.C : 0.0;
        D[first + k] = inside ? row.D : 0.0;
        largest = Math.max(largest, row.bound);
        if (first + k === 0) {
          ends[0] = row.bound;
          ends[1] = Math.abs(row.D);
        }
        if (first + k === last) {
          ends[2] = row.bound;
          ends[3] = Math.abs(row.B);
        }
      }
      bounds[item] = largest;
      yield;
      for (let k = 0; k < env.rows; k++) {
        A[first + k] = ownA[k];
        B[first + k] = ownB[k];
      }
      yield;
    },
  });
}

/**
 * Returns the function that assembles a and c (`matrixRow`) at an item's nodes from the metrics. Both are scaled by
 * `scale`, as hσ² and hμ already are. Where drift would make one of them negative it becomes zero, and the other takes
 * the raised diffusion: S/h₋ and S/h₊ are B + √(BD) and D + √(BD).
 *
 * Cost for each node: 4 flops and 4 reals of workgroup memory.
 */
export function assembleByMetrics({ rows }: TeamPlan) {
  return fn({
    name: "assembleByMetrics",
    params: {
      context: ItemContext,
      mesh: Mesh,
      rows: RowEntries,
      nodes: i32,
      hVariance: real,
      hDrift: real,
      scale: real,
    },
    env: { count: rows },
    body({ context: { item, first }, mesh, rows: { a, c }, nodes, hVariance, hDrift, scale }, _gpu, { count }) {
      const { x: A, values: B, third: C, fourth: D, bounds, ends } = mesh;
      const last = nodes - 1;
      for (let k = 0; k < count; k++) {
        a[k] = hVariance * A[first + k] - hDrift * B[first + k];
        c[k] = hVariance * C[first + k] + hDrift * D[first + k];
      }
      const drift = Math.abs(hDrift);
      if (drift * bounds[item] > hVariance || drift * Math.max(ends[1], ends[3]) > 0.5 * scale) {
        for (let k = 0; k < count; k++) {
          const i = first + k;
          if (a[k] < 0 || c[k] < 0) {
            if (i === 0) {
              if (drift * ends[0] > hVariance || c[k] < -0.5 * scale) c[k] = 0.0;
            } else if (i === last) {
              if (drift * ends[2] > hVariance || a[k] < -0.5 * scale) a[k] = 0.0;
            } else {
              const both = Math.sqrt(B[i] * D[i]);
              if (a[k] < 0) {
                a[k] = 0.0;
                c[k] = drift * (Math.abs(D[i]) + both);
              } else {
                c[k] = 0.0;
                a[k] = drift * (Math.abs(B[i]) + both);
              }
            }
          }
        }
      }
    },
  });
}

/**
 * Returns the function that writes the prescribed values at the ends of the live nodes, which hold from an event on,
 * into u (`pinHeldRows`).
 */
export const writeHeldValues = (barriers: number, rows: number) =>
  fn({
    name: "writeHeldValues",
    params: [Column, i32, LiveNodes, write(real)],
    env: { rows, readHeld: readHeld(barriers) },
    body([coefficients, row, { lowHeld, highHeld }, u], _gpu, { rows, readHeld }) {
      const { lowValue, highValue } = readHeld(coefficients, row);
      for (let k = 0; k < rows; k++) {
        if (k === lowHeld) u[k] = lowValue;
        if (k === highHeld) u[k] = highValue;
      }
    },
  });

/**
 * Returns the function that decouples the nodes at and beyond the ends of the live nodes from their neighbours, by zero
 * entries a and c.
 */
export const decoupleEnds = (rows: number) =>
  fn({
    name: "decoupleEnds",
    params: [RowEntries, LiveNodes],
    env: { rows },
    body([{ a, c }, { low, high }], _gpu, { rows }) {
      for (let k = 0; k < rows; k++) {
        const cut = k <= low || k >= high;
        a[k] = cut ? 0.0 : a[k];
        c[k] = cut ? 0.0 : c[k];
      }
    },
  });

/**
 * Returns the function that replaces the matrix rows of nodes with prescribed values by y = u. With the pivot 1 instead
 * of 1 + hr, a step keeps these values to the last bit. They are therefore set once between two dates, whereas
 * `holdEnd` sets them before and after each step. No other pivot depends on these rows, because their neighbours are
 * decoupled. `held` is the value of `gain` for the pivot 1.
 */
export const pinHeldRows = (rows: number) =>
  fn({
    name: "pinHeldRows",
    params: [write(real), LiveNodes, real],
    env: { rows },
    body([gain, { lowHeld, highHeld }, held], _gpu, { rows }) {
      for (let k = 0; k < rows; k++) if (k === lowHeld || k === highHeld) gain[k] = held;
    },
  });
