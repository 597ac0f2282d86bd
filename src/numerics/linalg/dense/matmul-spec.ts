/** The specification of a product: frozen, serialisable, without a device. */
import { checkOneOf, checkWholeNumber } from "../../../base/argument-checks.ts";
import type { Precision } from "../../../kernel/index.ts";
import { checkTile, type Tile } from "./tile.ts";

/** The layout of an operand in memory: contiguous rows, or contiguous columns as in a transposed view. @stable */
export type Order = "row-major" | "column-major";

/**
 * The implementation of a product: "library" is cuBLAS; "kernel" is Feynkac's own, on every device; "auto" is the
 * library where it can be loaded, otherwise the kernel.
 * @stable
 */
export type Implementation = "auto" | "library" | "kernel";

/**
 * The specification of a product of `batch` matrices, A [rows, inner] times B [inner, columns]: frozen, serialisable
 * and without a device.
 * @stable
 */
export interface MatmulSpec {
  readonly rows: number;
  readonly inner: number;
  readonly columns: number;
  /** The number of matrices. */
  readonly batch: number;
  readonly precision: Precision;
  readonly a: Order;
  readonly b: Order;
  readonly implementation: Implementation;
  /**
   * The tile of Feynkac's own kernel on GPUs; by default it depends on the device and the sizes. With a tile, "auto"
   * takes that kernel.
   */
  readonly tile?: Tile;
}

/** The settings of `matmulSpec`: the sizes, and values that differ from the defaults. @stable */
export type MatmulSettings = Pick<MatmulSpec, "rows" | "inner" | "columns"> & Partial<MatmulSpec>;

const PRECISIONS: readonly Precision[] = ["f64", "f32", "f32x2"];
const ORDERS: readonly Order[] = ["row-major", "column-major"];
const IMPLEMENTATIONS: readonly Implementation[] = ["auto", "library", "kernel"];

/**
 * Checks and completes a description of a product. By default it is one product in f64, row-major, by the fastest
 * implementation available.
 *
 * @param settings `rows`, `inner` and `columns`, and any other field of `MatmulSpec`.
 * @throws SpecError naming the field, what was got, and what was expected.
 * @example
 * import { matmulSpec } from "feynkac/linalg";
 *
 * console.log(matmulSpec({ rows: 2, inner: 3, columns: 4 }).precision); // f64
 * @stable
 */
export function matmulSpec(settings: MatmulSettings): MatmulSpec {
  const spec: MatmulSpec = {
    batch: 1,
    precision: "f64",
    a: "row-major",
    b: "row-major",
    implementation: "auto",
    ...settings,
  };
  for (const name of ["rows", "inner", "columns", "batch"] as const)
    checkWholeNumber(`matmul: ${name}`, spec[name], 0, 2 ** 31 - 1);
  checkOneOf("matmul: precision", spec.precision, PRECISIONS);
  checkOneOf("matmul: a", spec.a, ORDERS);
  checkOneOf("matmul: b", spec.b, ORDERS);
  checkOneOf("matmul: implementation", spec.implementation, IMPLEMENTATIONS);
  if (spec.tile !== undefined) checkTile(spec.tile);
  return Object.freeze(spec);
}
