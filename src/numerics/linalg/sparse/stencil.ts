/** Matrices that are not stored: every row of a grid has the same neighbours, and coefficients that are computed. */
import { ShapeError, SpecError } from "../../../base/errors.ts";
import { fn, type FunctionOf, i32, read, type ReadonlyNumbers, real } from "../../../kernel/index.ts";
import { csrFromEntries, MAX_INDEX } from "./entries.ts";
import type { CsrMatrix } from "./formats.ts";

/** The position at which a coefficient of a stencil is evaluated. @stable */
export interface StencilPlace {
  /** The row: the number of the node in C order. */
  readonly row: number;
  /** The number of the stencil's point. */
  readonly point: number;
  /** The node's index along each axis. */
  readonly coordinate: ReadonlyNumbers<"i32">;
  readonly parameters: ReadonlyNumbers<"real">;
}

/** A kernel function that returns a coefficient at a position; see `stencilPlace` for its declaration. @stable */
export type StencilCoefficient = FunctionOf<(place: StencilPlace) => number>;

/**
 * The parameters of a `StencilCoefficient`: `fn({ params: stencilPlace, body({ point, parameters }) { … } })`.
 * @stable
 */
export const stencilPlace = { row: i32, point: i32, coordinate: read(i32), parameters: read(real) } as const;

/** The options of `stencil`. @stable */
export interface StencilOptions {
  /** The number of nodes along each axis; the last axis is contiguous. */
  readonly shape: readonly number[];
  /**
   * The neighbours as steps along each axis: [0, 0] is the node itself. Neighbours outside the grid are not entries.
   */
  readonly points: readonly (readonly number[])[];
  /** The coefficients: a number per point, or a kernel function. */
  readonly coefficient: readonly number[] | StencilCoefficient;
  /** The numbers in f64 that the function receives; they may be replaced on the device later. */
  readonly parameters?: ArrayLike<number>;
}

/** A matrix-free operator on a grid. @stable */
export interface Stencil {
  readonly kind: "stencil";
  readonly rows: number;
  readonly columns: number;
  readonly shape: readonly number[];
  readonly points: readonly (readonly number[])[];
  readonly coefficient: StencilCoefficient;
  readonly parameters: Float64Array;
}

const constantCoefficient: StencilCoefficient = fn({
  name: "constantCoefficient",
  params: stencilPlace,
  body: ({ point, parameters }) => parameters[point],
});

/**
 * Makes a matrix-free operator: row i of the matrix couples node i of a grid to the nodes at `points` around it, where
 * they are inside the grid. As a matrix on a device it needs no memory but its parameters.
 *
 * @param options the grid, the points and their coefficients.
 * @throws SpecError (the shape, a point, a repeated point) | ShapeError (a number of coefficients that is not that of
 * the points)
 * @example
 * import { stencil, stencilMatrix } from "feynkac/linalg";
 *
 * const laplace = stencil({ shape: [3], points: [[-1], [0], [1]], coefficient: [1, -2, 1] });
 * console.log(stencilMatrix(laplace).values.join(" ")); // -2 1 1 -2 1 1 -2
 * @stable
 */
export function stencil(options: StencilOptions): Stencil {
  const { shape, points, coefficient, parameters } = options;
  const rows = shape.reduce((product, n) => product * n, 1);
  if (shape.length === 0 || !shape.every((n) => Number.isInteger(n) && n > 0) || rows > MAX_INDEX)
    throw new SpecError(`stencil: shape [${shape.join(", ")}], expected whole numbers ≥ 1, at most ${MAX_INDEX} nodes`);
  points.forEach((point, p) => {
    if (point.length !== shape.length || !point.every((step) => Number.isInteger(step)))
      throw new SpecError(`stencil: points[${p}] [${point.join(", ")}], expected ${shape.length} whole numbers`);
  });
  if (new Set(points.map((point) => point.join())).size < points.length)
    throw new SpecError("stencil: points: one is there twice, expected each once; add their coefficients");
  const isFunction = typeof coefficient === "function";
  if (!isFunction && coefficient.length !== points.length)
    throw new ShapeError(`stencil: ${coefficient.length} coefficients, expected ${points.length}, one per point`);
  return Object.freeze({
    kind: "stencil",
    rows,
    columns: rows,
    shape: [...shape],
    points: points.map((point) => [...point]),
    coefficient: isFunction ? coefficient : constantCoefficient,
    parameters: Float64Array.from(isFunction ? (parameters ?? []) : coefficient),
  });
}

/**
 * Returns a stencil as compressed rows, computed on the host: the coefficient runs as plain JavaScript in f64.
 *
 * @param of the stencil.
 * @example
 * import { stencil, stencilMatrix } from "feynkac/linalg";
 *
 * const shift = stencil({ shape: [2, 2], points: [[0, 1]], coefficient: [7] });
 * console.log(stencilMatrix(shift).column.join(" ")); // 1 3
 * @stable
 */
export function stencilMatrix(of: Stencil): CsrMatrix {
  const { rows, columns, shape, points, coefficient, parameters } = of;
  const shifts = shiftsOf(of);
  const coordinate = new Int32Array(shape.length);
  const lists = { row: [] as number[], column: [] as number[], values: [] as number[] };
  for (let row = 0; row < rows; row++) {
    points.forEach((steps, point) => {
      if (!steps.every((step, a) => coordinate[a] + step >= 0 && coordinate[a] + step < shape[a])) return;
      lists.row.push(row);
      lists.column.push(row + shifts[point]);
      lists.values.push(coefficient({ row, point, coordinate, parameters }));
    });
    for (let a = shape.length - 1; a >= 0 && ++coordinate[a] === shape[a]; a--) coordinate[a] = 0;
  }
  return csrFromEntries({ rows, columns, ...lists }, () => {});
}

/** Rows from a node to that of each point. */
const shiftsOf = ({ shape, points }: Stencil): number[] => {
  const strides = stridesOf(shape);
  return points.map((steps) => steps.reduce((sum, step, a) => sum + step * strides[a], 0));
};

const stridesOf = (shape: readonly number[]): number[] =>
  shape.map((_, a) => shape.slice(a + 1).reduce((product, n) => product * n, 1));

/**
 * Returns the table of a stencil that kernels read. It has the shape and the strides; then, with points in the order of
 * their columns, the steps of each point along each axis, its offset, and its number in `points`; and along each axis
 * the first node whose neighbours are all inside, and the first one after it whose neighbours are not.
 */
export function stencilTable(of: Stencil): Int32Array {
  const { shape, points } = of;
  const shifts = shiftsOf(of);
  const order = points.map((_, p) => p).sort((a, b) => shifts[a] - shifts[b]);
  return Int32Array.from([
    ...shape,
    ...stridesOf(shape),
    ...order.flatMap((p) => points[p]),
    ...order.map((p) => shifts[p]),
    ...order,
    ...shape.map((_, a) => Math.max(0, ...points.map((steps) => -steps[a]))),
    ...shape.map((n, a) => n - Math.max(0, ...points.map((steps) => steps[a]))),
  ]);
}
