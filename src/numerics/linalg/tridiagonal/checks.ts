import { fn, i32, read, real } from "../../../kernel/index.ts";
import { CODE_OK } from "./status.ts";

/**
 * Returns 0 as long as every x so far was finite, and a nonzero value afterwards (NaN, in f64). Its first argument is
 * its previous result, 0 at first. It costs two operations in f64. In f32 it tests x, because WebGPU need not preserve
 * infinities.
 */
export const nonFiniteFlag = fn({
  name: "stillZero",
  params: [real, real],
  body([check, x], gpu) {
    if (gpu.precision === "f64") return check + (x - x);
    return Number.isFinite(x) ? check : 1.0;
  },
});

/**
 * Returns the first row with a zero pivot in Thomas' elimination of `count` rows from row `first` on, or the code of
 * "ok" if there is none.
 */
export const firstZeroPivot = fn({
  name: "firstZeroPivot",
  params: [read(real), read(real), read(real), i32, i32, i32, i32],
  env: { ok: CODE_OK },
  body([lower, diagonal, upper, matrix, stride, first, count], _gpu, { ok }) {
    let code = ok;
    let c = 0.0;
    for (let i = 0; i < count; i++) {
      const at = matrix + i * stride;
      const pivot = diagonal[at] - (i > 0 ? lower[at] * c : 0.0);
      if (pivot === 0 && code === ok) code = first + i;
      c = upper[at] * (1 / pivot); // as elimination has it, so that its zeros are zeros here
    }
    return code;
  },
});

/**
 * Returns the first row whose pivot is zero even with partial pivoting, so that the matrix is singular, or the code of
 * "ok" if there is none.
 */
export const firstSingularPivot = fn({
  name: "firstSingularPivot",
  params: [read(real), read(real), read(real), i32, i32, i32],
  env: { ok: CODE_OK },
  body([lower, diagonal, upper, matrix, stride, rows], _gpu, { ok }) {
    let code = ok;
    let p = diagonal[matrix];
    let q = rows > 1 ? upper[matrix] : 0.0;
    for (let i = 0; i < rows - 1; i++) {
      const at = matrix + (i + 1) * stride;
      const a = lower[at];
      const b = diagonal[at];
      const c = upper[at];
      const swap = Math.abs(a) > Math.abs(p);
      const pivot = swap ? a : p;
      if (pivot === 0 && code === ok) code = i;
      const multiplier = (swap ? p : a) / pivot;
      p = (swap ? q : b) - multiplier * (swap ? b : q);
      q = swap ? -multiplier * c : c;
    }
    return p === 0 && code === ok ? rows - 1 : code;
  },
});
