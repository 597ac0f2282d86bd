/** The trapezoidal rule across a kink, corrected to high order by the values of eight nodes. */
import { fn, i32, read, real, record, write } from "../../kernel/index.ts";

/** Nodes of the polynomial at a kink: three before the cell, its two ends, and three after it. */
const STENCIL = 8;
const BEFORE = 3;

/**
 * The arrays of one instance in the launch's work memory: element j of the array that starts at `slot` is `work[origin
 * + (slot + j)·block]`.
 */
export const InstanceArrays = record({ work: write(real), origin: i32, block: i32 });

/**
 * Returns the coefficients of Lagrange's polynomials on the nodes −3 … 4 as [power][node]: the polynomial with the
 * values f has the coefficients Σ_j matrix[m·8 + j]·f_j.
 */
export function lagrangeCoefficients(): Float64Array {
  const matrix = new Float64Array(STENCIL * STENCIL);
  for (let j = 0; j < STENCIL; j++) {
    let coefficients = [1];
    for (let k = 0; k < STENCIL; k++) {
      if (k === j) continue;
      const node = k - BEFORE;
      const scale = 1 / (j - k);
      const product = (m: number): number => (coefficients[m - 1] ?? 0) - node * (coefficients[m] ?? 0);
      coefficients = Array.from({ length: coefficients.length + 1 }, (_, m) => scale * product(m));
    }
    coefficients.forEach((value, m) => (matrix[m * STENCIL + j] = value));
  }
  return matrix;
}

/**
 * Adds to the node values of max(g, 0) the correction that makes the trapezoidal rule accurate to high order across the
 * kink of g between the nodes `at` and `at + 1`. With u = (z − z*)/h, z* the root, θ the distance of the first node
 * beyond it and a smooth weight w,
 *
 *   ∫₀^∞ g·w du = Σ_{j ≥ 0} (g·w)(j + θ) + Σ_{p ≥ 1} B_{p+1}(θ)/(p + 1)·[uᵖ](g·w)      (Euler and Maclaurin)
 *
 * The Taylor coefficients of g and of w at z* are those of their polynomials on eight nodes, so that the sum over p is
 * a combination of the values of w on these nodes: it is added to the node values in `to`, times `factor`. Where g
 * decreases, −g has the same correction, since the rule is exact for g itself. The error is of order h⁸.
 */
export const correctKink = fn({
  name: "correctKink",
  params: { room: InstanceArrays, table: read(real), g: read(real), to: i32, at: i32, factor: real },
  env: { STENCIL, BEFORE },
  body({ room, table, g, to, at, factor }, gpu, { STENCIL, BEFORE }) {
    const { work, origin, block } = room;
    const c = gpu.privateReal(STENCIL);
    const w = gpu.privateReal(STENCIL);
    const b = gpu.privateReal(STENCIL);
    const sign = g[BEFORE + 1] > g[BEFORE] ? 1.0 : -1.0;
    for (let m = 0; m < STENCIL; m++) {
      let sum = 0.0;
      for (let j = 0; j < STENCIL; j++) sum += table[m * STENCIL + j] * g[j];
      c[m] = sign * sum;
    }
    // The root, by Newton's method from the chord.
    let root = g[BEFORE] / (g[BEFORE] - g[BEFORE + 1]);
    for (let step = 0; step < 4; step++) {
      let value = c[STENCIL - 1];
      let slope = 0.0;
      for (let m = STENCIL - 2; m >= 0; m--) {
        slope = slope * root + value;
        value = value * root + c[m];
      }
      root = Math.min(Math.max(slope > 0 ? root - value / slope : root, 0), 1);
    }
    for (let i = 0; i < STENCIL - 1; i++) for (let m = STENCIL - 2; m >= i; m--) c[m] += root * c[m + 1];
    // b[p] = B_{p+1}(θ)/(p + 1).
    const x = 1 - root;
    const y = x * x;
    b[1] = (y - x + 1 / 6) / 2;
    b[2] = (x * (y - 1.5 * x + 0.5)) / 3;
    b[3] = (y * (y - 2 * x + 1) - 1 / 30) / 4;
    b[4] = (x * (y * (y - 2.5 * x + 5 / 3) - 1 / 6)) / 5;
    b[5] = (y * (y * (y - 3 * x + 2.5) - 0.5) + 1 / 42) / 6;
    b[6] = (x * (y * (y * (y - 3.5 * x + 3.5) - 7 / 6) + 1 / 6)) / 7;
    b[7] = (y * (y * (y * (y - 4 * x + 14 / 3) - 7 / 3) + 2 / 3) - 1 / 30) / 8;
    for (let l = 0; l < STENCIL; l++) {
      let sum = 0.0;
      for (let i = 1; i + l < STENCIL; i++) sum += c[i] * b[i + l];
      w[l] = factor * sum;
    }
    for (let i = STENCIL - 2; i >= 0; i--) for (let m = i; m < STENCIL - 1; m++) w[m + 1] += root * w[m];
    for (let j = 0; j < STENCIL; j++) {
      let sum = 0.0;
      for (let m = 0; m < STENCIL; m++) sum += table[m * STENCIL + j] * w[m];
      work[origin + (to + at - BEFORE + j) * block] += sum;
    }
  },
});
