/** What an item of the register hybrid does with its run of rows, all in registers. */
import { fn, i32, type KernelFunction, read, real, write } from "../../kernel/index.ts";
import { CODE_OK } from "./status.ts";

/**
 * Elimination within a run of `rows` ≥ 2 rows (László, Giles & Appleyard 2016). Rows 1 … become
 *
 *   xₖ + aₖ·x₀ + cₖ·xₖ₊₁ = dₖ,
 *
 * the last of them coupled to the next run; on the way row 0 is freed of all but the last row of its own run, and
 * becomes x₀ + a·(last of the run before) + c·(last of this run) = d, which is returned as a, c, d. `code` is that of the first zero pivot.
 * `first` is the number of the run's first row. Cost a row: 12 flops, a division.
 */
export function eliminateRun(rows: number): KernelFunction<any, any> {
  return fn({
    name: "eliminateRun",
    params: [write(real), read(real), write(real), write(real), i32],
    env: { rows, last: rows - 1, ok: CODE_OK },
    body([a, b, c, d, first], _gpu, { rows, last, ok }) {
      let code = ok;
      let pivot0 = b[0];
      let c0 = c[0];
      let d0 = d[0];
      for (let k = 1; k < rows; k++) {
        const before = k === 1 ? 0.0 : a[k]; // couples to row k − 1, and so to x₀; row 1 is coupled to x₀ as it is
        const pivot = b[k] - before * c[k - 1];
        if (pivot === 0 && code === ok) code = first + k;
        const inverse = 1 / pivot;
        d[k] = (d[k] - before * d[k - 1]) * inverse;
        a[k] = (k === 1 ? a[k] : -before * a[k - 1]) * inverse;
        c[k] *= inverse;
        if (k < last) {
          pivot0 -= c0 * a[k];
          d0 -= c0 * d[k];
          c0 = -c0 * c[k];
        }
      }
      if (pivot0 === 0) code = Math.min(code, first);
      const inverse = 1 / pivot0;
      return { a: a[0] * inverse, c: c0 * inverse, d: d0 * inverse, code };
    },
  });
}

/** The unknowns of a run from its last, and from row 0 and the last of the run before: x in d. Cost a row: 4 flops. */
export function substituteRun(rows: number): KernelFunction<any, any> {
  return fn({
    name: "substituteRun",
    params: [read(real), read(real), write(real), real, real],
    env: { last: rows - 1 },
    body([a, c, d, x0, xLast], _gpu, { last }) {
      d[0] = x0;
      let x = xLast;
      d[last] = x;
      for (let k = last - 1; k > 0; k--) {
        x = d[k] - a[k] * x0 - c[k] * x;
        d[k] = x;
      }
    },
  });
}

/**
 * Rows strided over the items become runs, or back: an item's k-th value is row k·items + item on one side, item·rows + k on the other. Through
 * a workgroup array with a word of padding every `rows`, so that the items of a subgroup touch as many banks. `rows` divides `items`.
 * Cost: a word written and one read, each without a conflict; two barriers.
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
