import { fn, i32, kernel, read, real, write } from "../../src/kernel/index.ts";

/** A number in [−1, 1) with 24 bits, from a place and a salt: the same on every device and in every precision. */
const scattered = fn({
  name: "scattered",
  params: [i32, i32],
  body([place, salt], gpu) {
    let h = Math.imul(place, 1664525) + salt;
    h = h ^ (h >>> 16);
    h = Math.imul(h, 2146121005);
    h = h ^ (h >>> 15);
    h = Math.imul(h, 739982445);
    h = h ^ (h >>> 15);
    return gpu.real(h >>> 8) / 8388608 - 1;
  },
});

/** Diagonally dominant systems, element by element wherever they are placed: |b| ≥ 3, |a|, |c| ≤ 1. */
export const fillSystems = kernel({
  name: "fill-systems",
  params: { lower: write(real), diagonal: write(real), upper: write(real), rhs: write(real) },
  env: { scattered },
  body({ lower, diagonal, upper, rhs }, gpu, { scattered }) {
    const e = gpu.globalId();
    lower[e] = scattered(e, 1);
    diagonal[e] = 4 + scattered(e, 2);
    upper[e] = scattered(e, 3);
    rhs[e] = scattered(e, 4);
  },
});

/**
 * The largest componentwise backward error of a system's solution, against the matrices of `fillSystems`, as they were
 * made.
 */
export const residuals = kernel({
  name: "residuals",
  params: { rows: i32, stride: i32, x: read(real), worst: write(real) },
  env: { scattered },
  body({ rows, stride, x, worst }, gpu, { scattered }) {
    const s = gpu.globalId();
    const base = stride === 1 ? s * rows : s;
    let max = 0.0;
    for (let i = 0; i < rows; i++) {
      const e = base + i * stride;
      const below = i > 0 ? scattered(e, 1) * x[Math.max(e - stride, 0)] : 0.0;
      const here = (4 + scattered(e, 2)) * x[e];
      const above = i < rows - 1 ? scattered(e, 3) * x[Math.min(e + stride, x.length - 1)] : 0.0;
      const d = scattered(e, 4);
      const size = Math.abs(below) + Math.abs(here) + Math.abs(above) + Math.abs(d);
      const error = Math.abs(below + here + above - d) / Math.max(size, 1e-30);
      if (!(error <= max)) max = Number.isFinite(error) ? error : 1.0;
    }
    worst[s] = max;
  },
});

/**
 * The same, element by element, an item every `items`-th: for systems so long that an item each would take longer than
 * their solution.
 */
export const residualsOfElements = kernel({
  name: "residuals-of-elements",
  params: { rows: i32, stride: i32, items: i32, x: read(real), worst: write(real) },
  env: { scattered },
  body({ rows, stride, items, x, worst }, gpu, { scattered }) {
    const t = gpu.globalId();
    let max = 0.0;
    for (let e = t; e < x.length; e += items) {
      const i = stride === 1 ? e % rows : (e / stride) | 0;
      const below = i > 0 ? scattered(e, 1) * x[Math.max(e - stride, 0)] : 0.0;
      const here = (4 + scattered(e, 2)) * x[e];
      const above = i < rows - 1 ? scattered(e, 3) * x[Math.min(e + stride, x.length - 1)] : 0.0;
      const d = scattered(e, 4);
      const size = Math.abs(below) + Math.abs(here) + Math.abs(above) + Math.abs(d);
      const error = Math.abs(below + here + above - d) / Math.max(size, 1e-30);
      if (!(error <= max)) max = Number.isFinite(error) ? error : 1.0;
    }
    worst[t] = max;
  },
});
