import { SpecError } from "../../../base/errors.ts";
import { checkFields, checkWholeNumber } from "../../../base/argument-checks.ts";
import type { SparseOperator } from "../sparse/index.ts";
import { iluPreconditioner } from "./ilu.ts";
import { jacobiPreconditioner } from "./jacobi.ts";
import { linePreconditioner } from "./lines.ts";
import type { Preconditioner } from "./factor-parts.ts";

/** The kind of a preconditioner with its settings. @stable */
export type PreconditionerOptions =
  /** The diagonal. */
  | { readonly kind: "jacobi" }
  /** The diagonal blocks of `size` rows, 1 … 64. */
  | { readonly kind: "block-jacobi"; readonly size: number }
  /** Incomplete factors with the pattern of the matrix, which needs a diagonal entry in each row. */
  | { readonly kind: "ilu0" }
  /** The tridiagonal systems along an axis of the grid, whose last axis is contiguous. */
  | { readonly kind: "lines"; readonly shape: readonly number[]; readonly axis: number };

/**
 * Makes a preconditioner for a matrix on its device. It reads the operator's own values if they are in compressed rows
 * (`refresh` factors them again), otherwise a copy made on the device.
 *
 * Source: Saad, Iterative Methods for Sparse Linear Systems (2003), chapter 10. Verified: test/numerics/linalg/krylov,
 * against factors made in plain JavaScript.
 *
 * @param operator a square matrix in csr, coo, ell or dia, or a stencil.
 * @param options the kind and its settings.
 * @returns the preconditioner, which owns its factors.
 * @throws SpecError (an option; a row without a pivot, by its number; a format that is converted on the host) |
 * ShapeError (not square; a grid of another size)
 * @example
 * import { openDevice } from "feynkac/device";
 * import { preconditioner, SparseOperator, stencil } from "feynkac/linalg";
 *
 * using device = await openDevice({ backend: "cpu", threads: 1 });
 * const laplace = stencil({ shape: [8], points: [[-1], [0], [1]], coefficient: [-1, 2, -1] });
 * using a = await SparseOperator.create(device, laplace);
 * using m = await preconditioner(a, { kind: "ilu0" });
 * console.log(m.name); // ILU(0)
 * @stable
 */
export async function preconditioner(
  operator: SparseOperator,
  options: PreconditionerOptions,
): Promise<Preconditioner> {
  checkFields("preconditioner", options, ["kind", "size", "shape", "axis"]);
  const made = await make(operator, options);
  made.refresh();
  const row = await made.failure();
  if (row === undefined) return made;
  made[Symbol.dispose]();
  throw new SpecError(
    `preconditioner: ${made.name}: row ${row} has no pivot, expected a diagonal that is not zero; ` +
      "reorder the rows, or take another preconditioner",
  );
}

function make(operator: SparseOperator, options: PreconditionerOptions): Promise<Preconditioner> {
  switch (options.kind) {
    case "jacobi":
      return jacobiPreconditioner(operator, 1);
    case "block-jacobi":
      checkWholeNumber("preconditioner: size", options.size, 1, 64);
      return jacobiPreconditioner(operator, options.size);
    case "ilu0":
      return iluPreconditioner(operator);
    case "lines":
      return linePreconditioner(operator, options.shape, options.axis);
    default:
      throw new SpecError(
        `preconditioner: kind ${JSON.stringify((options satisfies never as PreconditionerOptions).kind)}, expected jacobi, block-jacobi, ilu0 or lines`,
      );
  }
}
