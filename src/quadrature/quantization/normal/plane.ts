/** Optimal quantizers of N(0, I₂): Lloyd's iteration, then Newton's method, on exactly integrated cells. */
import type { Quantizer } from "../quantizer.ts";
import { type CellEdge, type PlaneCells, planeCells, PlaneScratch } from "./plane-cells.ts";

/** Lloyd's iterations before Newton's method. */
const LLOYD = 20;
const MAX_NEWTON = 200;
/** The tolerance on the gradient's largest component relative to the smallest weight's scale: rounding. */
const GRADIENT = 1e-15;

/**
 * Returns the optimal quantizer of N(0, I₂) near a first guess of its points, [size, 2], by minimising the distortion
 * locally.
 */
export function optimalPlaneQuantizer(guess: Float64Array, lloyd = LLOYD): Quantizer {
  const scratch = new PlaneScratch();
  let points = Float64Array.from(guess);
  let cells = planeCells(points, scratch);
  for (let iteration = 0; iteration < lloyd; iteration++) {
    points = points.map((x, k) => (cells.weights[k >> 1] > 0 ? cells.firstMoments[k] / cells.weights[k >> 1] : x));
    cells = planeCells(points, scratch);
  }
  let damping = 1e-3;
  for (let iteration = 0; iteration < MAX_NEWTON && damping < 1e6; iteration++) {
    const order = byPlace(points);
    const gradient = halfGradientOf(points, cells);
    if (gradient.every((g) => Math.abs(g) < GRADIENT)) break;
    const step = newtonStep({ points, cells, gradient, order, damping });
    const next = step === undefined ? undefined : points.map((x, k) => x - step[k]);
    const after = next === undefined ? undefined : planeCells(next, scratch);
    // Near the optimum the distortion changes by rounding only, and the gradient tells.
    const isBetter =
      after !== undefined &&
      (after.distortion < cells.distortion - 1e-13 ||
        (after.distortion < cells.distortion + 1e-13 && norm(halfGradientOf(next!, after)) < norm(gradient)));
    if (!isBetter) {
      damping *= 10;
      continue;
    }
    [points, cells] = [next!, after];
    damping = damping > 1e-9 ? damping / 10 : 0;
  }
  const { weights, distortion } = cells;
  return { dimension: 2, size: points.length / 2, points, weights, distortion, errorEstimate: 0 };
}

const norm = (a: Float64Array): number => Math.sqrt(a.reduce((sum, x) => sum + x * x, 0));

/** Returns half the gradient of the distortion, wᵢ·xᵢ − E[X; Cᵢ]. */
export const halfGradientOf = (points: Float64Array, { weights, firstMoments }: PlaneCells): Float64Array =>
  points.map((x, k) => weights[k >> 1] * x - firstMoments[k]);

/**
 * Places of the points in the order of their first coordinate, so that the matrix has its elements near the diagonal.
 */
function byPlace(points: Float64Array): Int32Array {
  const order = Array.from({ length: points.length / 2 }, (_, i) => i).sort((a, b) => points[2 * a] - points[2 * b]);
  const place = new Int32Array(order.length);
  order.forEach((i, k) => (place[i] = k));
  return place;
}

interface NewtonSystem {
  readonly points: Float64Array;
  readonly cells: PlaneCells;
  readonly gradient: Float64Array;
  readonly order: Int32Array;
  readonly damping: number;
}

/** The lower triangle of a symmetric matrix from each row's first element that is not zero: rows after one another. */
interface Skyline {
  readonly first: Int32Array;
  readonly start: Int32Array;
  readonly values: Float64Array;
}

/**
 * (H + λW)·step = gradient, H half the Hessian and W the diagonal of weights: λ = 0 is Newton's step, and with a large
 * λ the step is a share of Lloyd's. Undefined if the matrix is not positive definite. H is singular along rotations,
 * to which the gradient is orthogonal; a pivot of rounding is no obstacle, since the step is tested.
 *
 *   Hᵢⱼ = ∫ (ξ − xᵢ)(ξ − xⱼ)ᵀ·φ ds / |xᵢ − xⱼ| over the edge,   Hᵢᵢ = wᵢ·I − Σ ∫ (ξ − xᵢ)(ξ − xᵢ)ᵀ·φ ds / |xᵢ − xⱼ|
 *
 * Cost: a skyline Cholesky factorisation, N²·b flops of a band of b = O(√N).
 */
function newtonStep({ points, cells, gradient, order, damping }: NewtonSystem): Float64Array | undefined {
  const size = order.length;
  const matrix = skyline(cells.edges, order);
  const { first, start, values } = matrix;
  const at = (row: number, column: number): number => start[row] + column - first[row];
  for (let i = 0; i < size; i++) {
    const row = 2 * order[i];
    const diagonal = (1 + damping) * cells.weights[i] + 1e-300;
    values[at(row, row)] += diagonal;
    values[at(row + 1, row + 1)] += diagonal;
  }
  for (const edge of cells.edges) {
    const { cell, other } = edge;
    const [row, column] = [2 * order[cell], 2 * order[other]];
    const length = Math.hypot(points[2 * cell] - points[2 * other], points[2 * cell + 1] - points[2 * other + 1]);
    const own = edgeMoments(edge, points, cell, cell);
    for (let a = 0; a < 2; a++) for (let b = 0; b <= a; b++) values[at(row + a, row + b)] -= own[2 * a + b] / length;
    if (column >= row) continue;
    const across = edgeMoments(edge, points, cell, other);
    for (let a = 0; a < 2; a++)
      for (let b = 0; b < 2; b++) values[at(row + a, column + b)] += across[2 * a + b] / length;
  }
  if (!factor(matrix)) return undefined;
  const rhs = new Float64Array(2 * size);
  for (let i = 0; i < size; i++) for (let a = 0; a < 2; a++) rhs[2 * order[i] + a] = gradient[2 * i + a];
  substitute(matrix, rhs);
  return gradient.map((_, k) => rhs[2 * order[k >> 1] + (k & 1)]);
}

/** ∫ (ξ − xᵢ)(ξ − xⱼ)ᵀ·φ ds along an edge, [2, 2]. */
function edgeMoments(edge: CellEdge, points: Float64Array, i: number, j: number): readonly number[] {
  const { normalX, normalY, height, moments } = edge;
  const [one, first, second] = moments;
  const [tangentX, tangentY] = [-normalY, normalX];
  // ξ − x = (h·n − x) + s·τ
  const [px, py] = [height * normalX - points[2 * i], height * normalY - points[2 * i + 1]];
  const [qx, qy] = [height * normalX - points[2 * j], height * normalY - points[2 * j + 1]];
  const product = (p: number, q: number, tp: number, tq: number): number =>
    p * q * one + (p * tq + q * tp) * first + tp * tq * second;
  return [
    product(px, qx, tangentX, tangentX),
    product(px, qy, tangentX, tangentY),
    product(py, qx, tangentY, tangentX),
    product(py, qy, tangentY, tangentY),
  ];
}

function skyline(edges: readonly CellEdge[], order: Int32Array): Skyline {
  const rows = 2 * order.length;
  const first = Int32Array.from({ length: rows }, (_, row) => row & ~1);
  for (const { cell, other } of edges)
    for (let a = 0; a < 2; a++) first[2 * order[cell] + a] = Math.min(first[2 * order[cell] + a], 2 * order[other]);
  const start = new Int32Array(rows + 1);
  for (let row = 0; row < rows; row++) start[row + 1] = start[row] + row + 1 - first[row];
  return { first, start, values: new Float64Array(start[rows]) };
}

/** L·Lᵀ in place; false if a pivot is not positive. */
function factor({ first, start, values }: Skyline): boolean {
  for (let row = 0; row < first.length; row++) {
    const from = start[row] - first[row];
    for (let column = first[row]; column <= row; column++) {
      const other = start[column] - first[column];
      let sum = values[from + column];
      for (let k = Math.max(first[row], first[column]); k < column; k++) sum -= values[from + k] * values[other + k];
      if (column < row) values[from + column] = sum / values[other + column];
      else if (sum > 0) values[from + column] = Math.sqrt(sum);
      else return false;
    }
  }
  return true;
}

function substitute({ first, start, values }: Skyline, x: Float64Array): void {
  for (let row = 0; row < x.length; row++) {
    const from = start[row] - first[row];
    for (let k = first[row]; k < row; k++) x[row] -= values[from + k] * x[k];
    x[row] /= values[from + row];
  }
  for (let row = x.length - 1; row >= 0; row--) {
    const from = start[row] - first[row];
    x[row] /= values[from + row];
    for (let k = first[row]; k < row; k++) x[k] -= values[from + k] * x[row];
  }
}
