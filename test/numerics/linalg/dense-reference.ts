/** The oracle of matrix products: a triple loop, compensated, in f64; and the bound on what rounding may do. */
import type { Precision } from "../../../src/kernel/index.ts";

export interface Matrix {
  readonly rows: number;
  readonly columns: number;
  /** Row by row. */
  readonly values: readonly number[];
}

/** Of one operation. In f32x2 products are good to 5·2⁻⁴⁸, sums to 3·2⁻⁴⁸ (design/f32x2.md). */
export const unitRoundoff: Readonly<Record<Precision, number>> = { f64: 2 ** -53, f32: 2 ** -24, f32x2: 2 ** -45 };

/** A number as it arrives on the device: pairs keep 48 bits. */
export const rounded = (x: number, precision: Precision): number => {
  if (precision === "f64") return x;
  const high = Math.fround(x);
  return precision === "f32" ? high : high + Math.fround(x - high);
};

/** Uniform in ±1, the same every time. */
export function randomMatrix(rows: number, columns: number, seed: number, precision: Precision = "f64"): Matrix {
  let state = seed * 2_654_435_761 + 12_345;
  const next = (): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0;
    return state / 2 ** 31;
  };
  return { rows, columns, values: Array.from({ length: rows * columns }, () => rounded(next(), precision)) };
}

export const transposed = ({ rows, columns, values }: Matrix): Matrix => ({
  rows: columns,
  columns: rows,
  values: Array.from({ length: rows * columns }, (_, k) => values[(k % rows) * columns + Math.floor(k / rows)]),
});

/** a + b and what its rounding lost. */
function twoSum(a: number, b: number): readonly [number, number] {
  const sum = a + b;
  const part = sum - a;
  return [sum, a - (sum - part) + (b - part)];
}

function split(x: number): readonly [number, number] {
  const big = 134_217_729 * x;
  const high = big - (big - x);
  return [high, x - high];
}

/** a·b and what its rounding lost (Dekker). */
function twoProduct(a: number, b: number): readonly [number, number] {
  const product = a * b;
  const [[ah, al], [bh, bl]] = [split(a), split(b)];
  return [product, al * bl - (product - ah * bh - al * bh - ah * bl)];
}

export interface Product {
  readonly expected: readonly number[];
  /**
   * |C − Ĉ| ≤ γ(inner + 2)·(|α||A||B| + |β||C|), γ(m) = m·u/(1 − m·u): Higham (2002), §3.5, and two operations for α
   * and β.
   */
  readonly bound: readonly number[];
}

/** α·A·B + β·C in twice the precision of f64 (Ogita, Rump & Oishi 2005). C is not read if β is 0. */
export function product(
  precision: Precision,
  a: Matrix,
  b: Matrix,
  { alpha = 1, beta = 0, c }: { alpha?: number; beta?: number; c?: Matrix } = {},
): Product {
  const m = a.columns + 2;
  const u = unitRoundoff[precision];
  const gamma = (m * u) / (1 - m * u);
  const [expected, bound]: [number[], number[]] = [[], []];
  for (let i = 0; i < a.rows; i++) {
    for (let j = 0; j < b.columns; j++) {
      let [sum, lost, size] = [0, 0, 0];
      for (let p = 0; p < a.columns; p++) {
        const [x, y] = [a.values[i * a.columns + p], b.values[p * b.columns + j]];
        const [term, termLost] = twoProduct(x, y);
        const [next, nextLost] = twoSum(sum, term);
        [sum, lost, size] = [next, lost + termLost + nextLost, size + Math.abs(x * y)];
      }
      const old = beta === 0 || c === undefined ? 0 : c.values[i * b.columns + j];
      expected.push(alpha * (sum + lost) + beta * old);
      bound.push(
        gamma * (Math.abs(alpha) * size + Math.abs(beta * old)) + 2 ** -52 * Math.abs(alpha * sum + beta * old),
      );
    }
  }
  return { expected, bound };
}

/** The largest error in units of its bound; infinite where either is no number. */
export function worstOf(got: ArrayLike<number>, { expected, bound }: Product): number {
  let worst = 0;
  for (let k = 0; k < expected.length; k++) {
    const error = Math.abs(got[k] - expected[k]);
    if (!Number.isFinite(error)) return Infinity;
    if (error > 0) worst = Math.max(worst, error / bound[k]);
  }
  return got.length === expected.length ? worst : Infinity;
}
