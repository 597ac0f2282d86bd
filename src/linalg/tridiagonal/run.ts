/** What an item of the register hybrid does with its run of rows, all in registers. */
import { fn, i32, type KernelFunction, read, real, write } from "../../kernel/index.ts";
import { CODE_OK } from "./status.ts";

/**
 * Elimination within a run of `rows` ≥ 2 rows (László, Giles & Appleyard 2016). Rows 1 … become
 *
 *   xₖ + aₖ·x₀ + cₖ·xₖ₊₁ = dₖ,
 *
 * the last of them coupled to the next run; on the way row 0 is freed of all but the last row of its own run, and
 * becomes x₀ + a·(last of the run before) + c·(last of this run) = d, which is returned as a, c, d. `code` is that of
 * the run's first row, `first`, if a pivot is zero, or its inverse is (`gpu.reciprocal`); b and d lie `pitch` apart
 * from `origin` on. Cost a row: 12 flops, a division.
 */
export function eliminateRun(rows: number, pitch = 1): KernelFunction<any, any> {
  return fn({
    name: "eliminateRun",
    params: [write(real), read(real), write(real), write(real), i32, i32],
    env: { rows, pitch, eliminateRow: eliminateRow(rows, pitch), freeFirstRow, ok: CODE_OK },
    body([a, b, c, d, first, origin], _gpu, { rows, pitch, eliminateRow, freeFirstRow, ok }: any) {
      let broken = false;
      let pivot0 = b[origin];
      let c0 = c[0];
      let d0 = d[origin];
      let dBefore = d0;
      for (let k = 1; k < rows; k++) {
        const row = eliminateRow(a, c, d, k, b[k * pitch + origin], dBefore, pivot0, c0, d0, origin);
        pivot0 = row.pivot0;
        c0 = row.c0;
        d0 = row.d0;
        dBefore = row.d;
        broken = broken || row.broken;
      }
      const freed = freeFirstRow(pivot0, a[0], c0, d0);
      return { a: freed.a, c: freed.c, d: freed.d, code: broken || freed.broken ? first : ok };
    },
  });
}

/**
 * Row k ≥ 1 of a run, whose a, c, d are in place, after the one before; and what it leaves of row 0, whose pivot, c and
 * d are given. `d` of the row before comes and goes as a number, so that it is not read again.
 */
export function eliminateRow(rows: number, pitch = 1): KernelFunction<any, any> {
  return fn({
    name: "eliminateRow",
    params: [write(real), write(real), write(real), i32, real, real, real, real, real, i32],
    env: { pitch, last: rows - 1 },
    body([a, c, d, k, b, dBefore, pivot0, c0, d0, origin], gpu, { pitch, last }) {
      const before = k === 1 ? 0.0 : a[k]; // couples to row k − 1, and so to x₀; row 1 is coupled to x₀ as it is
      const at = k * pitch + origin;
      const pivot = b - before * c[k - 1];
      const inverse = gpu.reciprocal(pivot);
      const dHere = (d[at] - before * dBefore) * inverse;
      d[at] = dHere;
      a[k] = (k === 1 ? a[k] : -before * a[k - 1]) * inverse;
      c[k] *= inverse;
      const inner = k < last;
      return {
        d: dHere,
        pivot0: inner ? pivot0 - c0 * a[k] : pivot0,
        d0: inner ? d0 - c0 * dHere : d0,
        c0: inner ? -c0 * c[k] : c0,
        broken: pivot === 0 || inverse === 0,
      };
    },
  });
}

/** Row 0 in the end: x₀ + a·(last of the run before) + c·(last of this run) = d. */
export const freeFirstRow = fn({
  name: "freeFirstRow",
  params: [real, real, real, real],
  body([pivot0, a, c0, d0], gpu) {
    const inverse = gpu.reciprocal(pivot0);
    return { a: a * inverse, c: c0 * inverse, d: d0 * inverse, broken: pivot0 === 0 || inverse === 0 };
  },
});

/** The unknowns of a run from its last, and from row 0 and the last of the run before: x in d. Cost a row: 4 flops. */
export function substituteRun(rows: number, pitch = 1): KernelFunction<any, any> {
  return fn({
    name: "substituteRun",
    params: [read(real), read(real), write(real), real, real, i32],
    env: { pitch, last: rows - 1 },
    body([a, c, d, x0, xLast, origin], _gpu, { pitch, last }) {
      d[origin] = x0;
      let x = xLast;
      d[last * pitch + origin] = x;
      for (let k = last - 1; k > 0; k--) {
        x = d[k * pitch + origin] - a[k] * x0 - c[k] * x;
        d[k * pitch + origin] = x;
      }
    },
  });
}

/**
 * Rows strided over the items become runs, or back: an item's k-th value is row k·items + item on one side, item·rows +
 * k on the other. Through a workgroup array with a word of padding every `rows`, so that the items of a subgroup touch
 * as many banks. `rows` divides `items`. Cost: a word written and one read, each without a conflict; two barriers.
 */
export function transposeRuns(items: number, rows: number, toRuns: boolean): KernelFunction<any, any> {
  return fn({
    name: toRuns ? "stridedToRuns" : "runsToStrided",
    params: [write(real), write(real)],
    env: { rows, toRuns, pitch: items + items / rows },
    *body([values, tile], gpu, { rows, toRuns, pitch }) {
      const item = gpu.localId();
      const run = item * (rows + 1);
      const strided = item + ((item / rows) | 0);
      for (let k = 0; k < rows; k++) {
        if (toRuns) tile[strided + k * pitch] = values[k];
        else tile[run + k] = values[k];
      }
      yield;
      for (let k = 0; k < rows; k++) values[k] = toRuns ? tile[run + k] : tile[strided + k * pitch];
      yield;
    },
  });
}

/** Words of the array for `transposeRuns`. */
export const tileWords = (items: number, rows: number): number => items * (rows + 1);
