import { fn, i32, read, real } from "../../kernel/index.ts";
import { CODE_OK } from "./status.ts";

/**
 * Returns 0 as long as every x it is given, with what it gave for the one before, is finite; something that is not 0
 * (NaN, in f64) from then on. In f64, which is IEEE 754's everywhere, two operations; f32 may be WebGPU's, where
 * infinities need not survive arithmetic.
 */
export const stillZero = fn({
  name: "stillZero",
  params: [real, real],
  body([check, x], gpu) {
    if (gpu.precision === "f64") return check + (x - x);
    return Number.isFinite(x) ? check : 1.0;
  },
});

/**
 * The row of the first pivot that is zero in Thomas' elimination of `count` rows, the first of which is `first`; the
 * code of "ok" if none is.
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
 * The row of the first pivot that is zero with partial pivoting: the matrix is singular. The code of "ok" if none is.
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
