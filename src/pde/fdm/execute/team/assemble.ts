import { fn, read, real } from "../../../../kernel/index.ts";
import { valueAt } from "../../operator/column.ts";
import { matrixRow } from "../../operator/matrix.ts";
import { Coefficients } from "../../operator/read-coefficients.ts";
import { Slice } from "../../operator/read-surface.ts";
import { Place } from "../place.ts";
import { varianceAt } from "../option/variance.ts";
import { Rows } from "./records.ts";
import { Launch } from "../variant.ts";
import type { TeamPlan } from "../option/plan.ts";

/**
 * Returns the function that computes the off-diagonal entries a and c of I − hL (`matrixRow`) at an item's nodes, from
 * the nodes x and their `weights`; 0 beyond the last node. It returns the interval of the volatility surface in which
 * the item's first node lies, where the search of the next step starts.
 */
export function assembleRuns({ rows, variant }: TeamPlan) {
  return fn({
    name: "assembleRuns",
    params: {
      launch: Launch,
      place: Place,
      x: read(real),
      weights: read(real),
      rows: Rows,
      coefficients: Coefficients,
      slice: Slice,
    },
    env: { count: rows, matrixRow, isSurface: variant.shape === "surface", varianceAt: varianceAt(variant) },
    body({ launch, place, x, weights, rows: { a, c }, coefficients, slice }, _gpu, env) {
      const { nodes, obstacleColumn, firstExercised } = launch;
      const { table, first } = place;
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
 * end rows are assembled as by `assembleRuns`. Cost: 4 flops a node, where assembling takes 20; unless `kept`, a and c
 * are rounded once each time.
 */
export function rescaleRuns({ rows, variant: { shape }, summed: kept }: TeamPlan) {
  return fn({
    name: "rescaleRuns",
    params: {
      launch: Launch,
      place: Place,
      x: read(real),
      weights: read(real),
      rows: Rows,
      gain: read(real),
      before: Rows,
      ratio: real,
      coefficients: Coefficients,
    },
    env: { count: rows, byTable: shape === "table", matrixRow, kept, valueAt },
    body({ launch, place, x, weights, rows: { a, c }, gain, before, ratio, coefficients }, gpu, env) {
      const { count, byTable, matrixRow, kept, valueAt } = env;
      const { nodes, obstacleColumn, firstExercised } = launch;
      const { table, first } = place;
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
