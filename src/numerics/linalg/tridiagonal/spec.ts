import { SpecError } from "../../../base/errors.ts";
import { checkOneOf, valueText } from "../../../base/argument-checks.ts";
import type { Precision } from "../../../kernel/index.ts";

const ALGORITHMS = ["auto", "thomas", "pivoting", "cr", "pcr", "cr-pcr", "register-hybrid", "partition"] as const;
const PRECISIONS = ["f64", "f32", "f32x2"] as const;
const LAYOUTS = ["contiguous", "interleaved"] as const;

/**
 * The algorithm that solves a system. `pivoting` solves every non-singular system. All others are for diagonally
 * dominant (or symmetric positive definite) matrices, and report a zero pivot in the status.
 *
 * * `thomas`: elimination and substitution, one system per work item (Thomas 1949); 8 flops per row.
 * * `pivoting`: the same with partial pivoting, LAPACK's dgtsv; about 14 flops per row.
 * * `cr`: cyclic reduction in workgroup memory (Hockney 1965); 17 flops per row, 2·log₂ n rounds.
 * * `pcr`: parallel cyclic reduction there (Hockney & Jesshope 1981); 12·log₂ n flops per row, log₂ n rounds.
 * * `cr-pcr`: cyclic reduction until one row per item is left, then parallel (Zhang, Cohen & Owens 2010).
 * * `register-hybrid`: each item eliminates consecutive rows in registers, and pcr joins them (László, Giles &
 *   Appleyard 2016); 14 flops per row.
 * * `partition`: chunks are reduced to two rows each, which are solved recursively (Wang 1981); any length, 9 words per
 *   row.
 * * `auto`: by size, batch, layout and device; never `pivoting`, which changes what can be solved.
 * @stable
 */
export type Algorithm = (typeof ALGORITHMS)[number];

/**
 * The placement of systems in memory. Contiguous: element i of system s at `[s·rows + i]`. Interleaved: at `[i·batch +
 * s]`. Otherwise along `axis` of an array of this `shape`, in C order; systems are then numbered in C order of the
 * other axes.
 * @stable
 */
export type Placement =
  | { readonly rows: number; readonly batch: number; readonly layout?: (typeof LAYOUTS)[number] }
  | { readonly shape: readonly number[]; readonly axis: number };

/** The options of `tridiagonalSpec` besides the placement. @stable */
export interface TridiagonalOptions {
  readonly precision: Precision;
  /** The algorithm, "auto" by default. */
  readonly algorithm?: Algorithm;
  /**
   * The matrices of a batch. "each" (the default): every right-hand side has its own matrix, placed likewise. "one":
   * all share one, given as three arrays of `rows` elements.
   */
  readonly matrices?: "each" | "one";
  /**
   * True for periodic systems, where lower[0] couples the first row to the last unknown, and upper[rows − 1] the last
   * row to the first; false by default.
   */
  readonly periodic?: boolean;
  /**
   * True to make `factor` and `solve` available, which takes memory: 3 words per row (5 for `pivoting`). False by
   * default.
   */
  readonly factors?: boolean;
}

/** A checked specification of a batch of systems: frozen, serialisable, without a device. @stable */
export interface TridiagonalSpec extends Required<TridiagonalOptions> {
  readonly kind: "tridiagonal";
  readonly rows: number;
  readonly batch: number;
  /**
   * The number of elements from a row to the next. System s begins at ⌊s/stride⌋·rows·stride + s mod stride, for every
   * placement.
   */
  readonly stride: number;
}

/** Indexes on devices are of 32 bits. */
const MAX_ELEMENTS = 2 ** 31 - 1;

/**
 * Checks and completes a description of `batch` tridiagonal systems of `rows` equations each,
 *
 *   lower[i]·x[i−1] + diagonal[i]·x[i] + upper[i]·x[i+1] = rhs[i],   i = 0 … rows−1
 *
 * @param options the placement, the precision, and values that differ from the defaults.
 * @returns a frozen, serialisable specification without a device.
 * @throws SpecError naming the field, what was got, and what was expected.
 * @example
 * import { tridiagonalSpec } from "feynkac/linalg";
 *
 * const { rows, batch } = tridiagonalSpec({ shape: [64, 401, 3], axis: 1, precision: "f64" });
 * console.log(rows, batch); // 401 192
 * @stable
 */
export function tridiagonalSpec(options: Placement & TridiagonalOptions): TridiagonalSpec {
  const { precision, algorithm = "auto", matrices = "each", periodic = false, factors = false } = options;
  checkOneOf("tridiagonalSpec: precision", precision, PRECISIONS);
  checkOneOf("tridiagonalSpec: algorithm", algorithm, ALGORITHMS);
  checkOneOf("tridiagonalSpec: matrices", matrices, ["each", "one"]);
  checkOneOf("tridiagonalSpec: periodic", periodic, [true, false]);
  checkOneOf("tridiagonalSpec: factors", factors, [true, false]);
  const place = "shape" in options ? alongAxis(options) : inLayout(options);
  if (place.rows * place.batch > MAX_ELEMENTS)
    throw wrong("rows × batch", place.rows * place.batch, `at most ${MAX_ELEMENTS} elements; solve the batch in parts`);
  return Object.freeze({ kind: "tridiagonal", ...place, precision, algorithm, matrices, periodic, factors });
}

type Place = Pick<TridiagonalSpec, "rows" | "batch" | "stride">;

function inLayout({ rows, batch, layout = "contiguous" }: Extract<Placement, { rows: number }>): Place {
  positive("rows", rows);
  positive("batch", batch);
  checkOneOf("tridiagonalSpec: layout", layout, LAYOUTS);
  return { rows, batch, stride: layout === "contiguous" ? 1 : batch };
}

function alongAxis({ shape, axis }: Extract<Placement, { axis: number }>): Place {
  if (!Array.isArray(shape) || shape.length === 0) throw wrong("shape", shape, "an array of lengths");
  shape.forEach((length: number, i) => positive(`shape[${i}]`, length));
  if (!Number.isInteger(axis) || axis < 0 || axis >= shape.length)
    throw wrong("axis", axis, `a whole number from 0 to ${shape.length - 1}`);
  const product = (lengths: readonly number[]): number => lengths.reduce((a, b) => a * b, 1);
  const stride = product(shape.slice(axis + 1));
  return { rows: shape[axis] as number, batch: product(shape.slice(0, axis)) * stride, stride };
}

function positive(name: string, value: unknown): void {
  if (!Number.isSafeInteger(value) || (value as number) < 1) throw wrong(name, value, "a whole number of at least 1");
}

const wrong = (name: string, got: unknown, expected: string): SpecError =>
  new SpecError(`tridiagonalSpec: ${name}: got ${valueText(got)}, expected ${expected}`);
