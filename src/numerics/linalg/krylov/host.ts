import { type CallOptions, createBufferOf, withDevice } from "../../../device/index.ts";
import { ShapeError } from "../../../base/errors.ts";
import { hostRealType, type Precision } from "../../../kernel/index.ts";
import { checkNumberList } from "../given.ts";
import { type SparseMatrix, SparseOperator } from "../sparse/index.ts";
import { preconditioner as preconditionerOf, type PreconditionerOptions } from "./precondition.ts";
import { KrylovSolver } from "./solver.ts";
import { type KrylovOptions, krylovSpec } from "./spec.ts";
import type { KrylovResult } from "./status.ts";

/**
 * The options of `solveSparse`: those of `krylovSpec`, the preconditioner, the first guess, the precision and the
 * device.
 * @stable
 */
export interface SolveSparseOptions extends KrylovOptions, Pick<CallOptions, "device" | "signal"> {
  /** The preconditioner, none by default; it requires a matrix in csr, coo, ell or dia. */
  readonly preconditioner?: PreconditionerOptions;
  /** The first guess; zero by default. */
  readonly x?: ArrayLike<number>;
  /** The precision, "f64" by default. */
  readonly precision?: Precision;
}

/** The result of `solveSparse`. @stable */
export interface SparseSolved extends KrylovResult {
  /** The last iterate, whatever the status is. */
  readonly x: Float64Array | Float32Array;
}

/**
 * Solves A·x = b for a right-hand side in a plain array, which is not changed.
 *
 * Iterations, preconditioners and statuses are those of `KrylovSolver`. That class is the better choice for several
 * systems with the same matrix, because each call of this function uploads, compiles and, without a `device`, opens a
 * CPU. Verified: test/numerics/linalg/krylov-host, against LAPACK's solutions.
 *
 * @param matrix a square matrix in any format.
 * @param b as many numbers as the matrix has rows.
 * @param options the method, the tolerance, the preconditioner, the first guess, the precision, the device, and a
 *   signal that ends the solution.
 * @returns `x` and how the solution ended. A system that is not solved is a status, not an exception.
 * @throws SpecError; ShapeError (a matrix that is not square, arrays of another length); PrecisionError; the
 *   signal's reason.
 * @example
 * import { solveSparse, sparseMatrix } from "feynkac/linalg";
 *
 * const a = sparseMatrix({ rows: 2, columns: 2, row: [0, 0, 1], column: [0, 1, 1], values: [2, 1, 4] });
 * const { status, x } = await solveSparse(a, [4, 8], { preconditioner: { kind: "ilu0" } });
 * console.log(status, x.join(" ")); // converged 1 2
 * @stable
 */
export async function solveSparse(
  matrix: SparseMatrix,
  b: ArrayLike<number>,
  options: SolveSparseOptions = {},
): Promise<SparseSolved> {
  const { preconditioner, x, precision = "f64", device, signal, ...rest } = options;
  const spec = krylovSpec(rest);
  for (const [name, list] of Object.entries({ b, ...(x === undefined ? {} : { x }) })) {
    checkNumberList("solveSparse", name, list);
    if (list.length !== matrix.rows)
      throw new ShapeError(
        `solveSparse: ${name}: got ${list.length} elements, expected ${matrix.rows}, one for each row`,
      );
  }
  return withDevice(device, { backend: "cpu" }, async (on) => {
    using a = await SparseOperator.create(on, matrix, { precision });
    using m = preconditioner === undefined ? undefined : await preconditionerOf(a, preconditioner);
    using solver = await KrylovSolver.create(a, spec, m);
    const element = hostRealType(a.precision);
    using rhs = createBufferOf(on, element, Float64Array.from(b));
    using solution = createBufferOf(
      on,
      element,
      x === undefined ? new Float64Array(matrix.rows) : Float64Array.from(x),
    );
    const result = await solver.solve({ b: rhs, x: solution }, { signal });
    return { ...result, x: await on.read(solution) };
  });
}
