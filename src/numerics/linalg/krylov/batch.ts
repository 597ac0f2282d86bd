import {
  type CompiledKernel,
  type Device,
  type DeviceBuffer,
  hasResources,
  isGpu,
  offeredPrecision,
  createBufferOf,
} from "../../../device/index.ts";
import { DisposedError, SpecError, ShapeError } from "../../../base/errors.ts";
import { checkFields, checkOneOf } from "../../../base/argument-checks.ts";
import { hostRealType, type Precision } from "../../../kernel/index.ts";
import { checkSystemBuffers } from "../given.ts";
import { type SparseMatrix, convertSparse, type CsrMatrix } from "../sparse/index.ts";
import { batchKernel, scalarRealCount, vectorCount } from "./batch-kernel.ts";
import { type BatchPreconditioner, preconditionerOperationOf, factorsOf } from "./batch-factors.ts";
import type { KrylovSpec } from "./spec.ts";
import { type KrylovResult, krylovResultOf } from "./status.ts";
import { headerSlots, HEADER_WORDS } from "./batch-parts.ts";
import { type Levels, levelsOf } from "./levels.ts";

/** The options of `KrylovBatch.create` besides the matrices and the specification. @stable */
export interface BatchOptions {
  /** The precision, "f64" by default; f32x2 on a device that only emulates f64. */
  readonly precision?: Precision;
  /** The preconditioner, "none" by default. It is factored on the host in f64. */
  readonly preconditioner?: BatchPreconditioner;
  /**
   * The memory of vectors: workgroup memory if the largest system fits there ("auto", the default, on GPUs), or device
   * memory.
   */
  readonly memory?: "auto" | "workgroup" | "device";
}

/** The right-hand sides and solutions of a batch, one system after the other in the order of the matrices. @stable */
export interface BatchSystems {
  readonly b: DeviceBuffer;
  /** The buffer of the first guesses, replaced by the solutions. */
  readonly x: DeviceBuffer;
  /** The number of steps of a time loop: each solves A·x′ = b + carry·x for the next x. 1 by default. */
  readonly steps?: number;
  /** The factor of x on the right-hand side, 0 by default, so that A·x′ = b; 1 with A = 1 − Δt·L is implicit Euler. */
  readonly carry?: number;
}

/** The result for one system of a batch. @stable */
export interface BatchResult extends KrylovResult {
  /** The number of steps that converged; the first step that does not converge ends the system's time loop. */
  readonly steps: number;
}

/**
 * A solver of a batch of small sparse systems of any sizes: one workgroup for each, with the whole iteration, and a
 * whole time loop, in one launch.
 *
 * Iterations, tests, restarts and the true residual are those of `KrylovSolver`; sums are reduced in the same order on
 * every device. Matrices are stored as ELL: every row takes the memory of the longest one. Verified:
 * test/numerics/linalg/krylov-batch, against LAPACK's solutions and `KrylovSolver`.
 *
 * @example
 * import { openDevice } from "feynkac/device";
 * import { KrylovBatch, krylovSpec, stencil, stencilMatrix } from "feynkac/linalg";
 *
 * using device = await openDevice({ backend: "cpu", threads: 1 });
 * const laplace = (n: number) => stencilMatrix(stencil({ shape: [n], points: [[-1], [0], [1]], coefficient: [-1, 2,
 * -1] })); using batch = await KrylovBatch.create(device, [laplace(3), laplace(5)], krylovSpec({ method: "cg" }));
 * const [b, x] = [device.createBuffer("f64", 8), device.createBuffer("f64", 8)];
 * device.write(b, new Float64Array(8).fill(1));
 * batch.solve({ b, x });
 * const results = await batch.results();
 * console.log(results.map(({ status }) => status).join(" "), (await device.read(x, 0, 3)).join(" "));
 * // converged converged 1.5 2 1.5
 * @stable
 */
export class KrylovBatch implements Disposable {
  readonly device: Device;
  readonly spec: KrylovSpec;
  readonly precision: Precision;
  /** The number of systems. */
  readonly size: number;
  /** The number of rows of all systems: the length of b and x. */
  readonly rows: number;
  /** The memory that holds the vectors. */
  readonly memory: "workgroup" | "device";
  readonly #kernel: CompiledKernel<ReturnType<typeof batchKernel>["params"]>;
  readonly #layout: BatchLayout;
  readonly #buffers: Readonly<Record<"table" | "column" | "values" | "work" | "residuals" | "info", DeviceBuffer>>;
  #disposed = false;

  private constructor(
    device: Device,
    spec: KrylovSpec,
    precision: Precision,
    size: number,
    layout: BatchLayout,
    compiled: Awaited<ReturnType<typeof compile>>,
  ) {
    this.device = device;
    this.spec = spec;
    this.precision = precision;
    this.size = size;
    this.rows = layout.totalRows;
    this.memory = compiled.memory;
    this.#kernel = compiled.kernel;
    this.#layout = layout;
    const element = hostRealType(precision);
    this.#buffers = {
      table: createBufferOf(device, "i32", layout.table),
      column: createBufferOf(device, "i32", layout.column),
      values: createBufferOf(device, element, layout.values),
      work: device.createBuffer(element, compiled.memory === "device" ? compiled.vectors * layout.totalRows : 1),
      residuals: device.createBuffer(element, 2 * size),
      info: device.createBuffer("i32", 3 * size),
    };
  }

  /**
   * Uploads the matrices and compiles the kernel. @throws SpecError (a row without a pivot; memory: "workgroup" where
   * it is too small) | ShapeError (a matrix that is not square) | PrecisionError | OutOfMemoryError
   */
  static async create(
    device: Device,
    matrices: readonly SparseMatrix[],
    spec: KrylovSpec,
    options: BatchOptions = {},
  ): Promise<KrylovBatch> {
    checkFields("KrylovBatch", options, ["precision", "preconditioner", "memory"]);
    const { preconditioner = "none", memory = "auto" } = options;
    checkOneOf("KrylovBatch: memory", memory, ["auto", "workgroup", "device"]);
    const precision = await offeredPrecision(device, options.precision ?? "f64");
    const layout = batchLayoutOf(matrices, preconditioner);
    const compiled = await compile(device, spec, precision, layout, { preconditioner, memory });
    return new KrylovBatch(device, spec, precision, matrices.length, layout, compiled);
  }

  /**
   * Records the solution of all systems; the buffers are borrowed.
   * @throws ShapeError (a buffer of another length, element type or device; b and x the same) | SpecError |
   * DisposedError
   */
  solve({ b, x, steps = 1, carry = 0 }: BatchSystems): void {
    if (this.#disposed) throw new DisposedError("KrylovBatch: used after it was disposed");
    const expected = { device: this.device, element: hostRealType(this.precision), length: this.rows };
    checkSystemBuffers("KrylovBatch", { b, x }, expected);
    if (!Number.isInteger(steps) || steps < 1)
      throw new SpecError(`KrylovBatch: steps: got ${steps}, expected a whole number of at least 1`);
    if (!Number.isFinite(carry)) throw new SpecError(`KrylovBatch: carry: got ${carry}, expected a finite number`);
    const { maxIterations, patience, tolerance } = this.spec;
    const { totalRows } = this.#layout;
    const numbers = { steps, carry, maxIterations, patience, ...tolerance, totalRows };
    this.device.launch(this.#kernel, { ...numbers, ...this.#buffers, b, x }, { groups: this.size });
  }

  /** Waits and returns the result of each system of the last solution. @throws DisposedError */
  async results(): Promise<BatchResult[]> {
    if (this.#disposed) throw new DisposedError("KrylovBatch: used after it was disposed");
    const { residuals, info } = this.#buffers;
    const [norms, words] = await Promise.all([this.device.read(residuals), this.device.read(info)]);
    return Array.from({ length: this.size }, (_, s) => ({
      ...krylovResultOf(words[3 * s], words[3 * s + 1], norms[2 * s], norms[2 * s + 1]),
      steps: words[3 * s + 2],
    }));
  }

  [Symbol.dispose](): void {
    if (this.#disposed) return;
    this.#disposed = true;
    for (const buffer of Object.values(this.#buffers)) buffer[Symbol.dispose]();
  }
}

/** The kernel, with vectors in workgroup memory where that is asked for and has room. */
async function compile(
  device: Device,
  { method, restart }: KrylovSpec,
  precision: Precision,
  { maxRows }: BatchLayout,
  { preconditioner, memory }: Required<Pick<BatchOptions, "preconditioner" | "memory">>,
) {
  const shape = {
    method,
    preconditioning: preconditionerOperationOf(preconditioner),
    restart: method === "gmres" ? restart : 1,
  };
  const vectors = vectorCount(shape);
  const bytes = precision === "f32" ? 4 : 8;
  // Few sizes, so that batches of similar systems share a kernel.
  const pitch = Math.ceil(maxRows / 256) * 256;
  const needed = (vectors * pitch + scalarRealCount(shape)) * bytes + 256;
  const hasRoom = hasResources(device, { workgroupBytes: needed });
  if (memory === "workgroup" && !hasRoom)
    throw new SpecError(
      `KrylovBatch: ${method} with ${maxRows} rows needs ${needed} bytes of workgroup memory, ${device.name} has ` +
        `${device.limits.maxWorkgroupBytes}; take memory: "device"`,
    );
  const isShared = memory === "workgroup" || (memory === "auto" && hasRoom && isGpu(device));
  const program = batchKernel({ ...shape, shared: isShared ? vectors * pitch : 0 });
  const kernel = await device.compile(program, { precision, fma: "reproducible", vectors: 2 });
  return { kernel, vectors, memory: isShared ? ("workgroup" as const) : ("device" as const) };
}

/** The layout of a batch: one table, one array of columns and one of values for all systems. */
interface BatchLayout {
  readonly table: Int32Array;
  readonly column: Int32Array;
  /** The entries of all matrices, then those of all factors. */
  readonly values: Float64Array;
  readonly totalRows: number;
  readonly maxRows: number;
}

/**
 * Returns the layout of the matrices of a batch and of their factors. @throws ShapeError (a matrix or a grid of another
 * shape) | SpecError (a row without a pivot; no matrices)
 */
export function batchLayoutOf(matrices: readonly SparseMatrix[], preconditioner: BatchPreconditioner): BatchLayout {
  if (matrices.length === 0) throw new SpecError("KrylovBatch: no matrices, expected at least one");
  const systems = matrices.map((matrix, s) => {
    if (matrix.rows !== matrix.columns || matrix.rows === 0)
      throw new ShapeError(
        `KrylovBatch: matrix ${s}: ${matrix.rows} × ${matrix.columns}, expected a square one with rows`,
      );
    const rows = convertSparse(matrix, "csr");
    return { rows, factors: factorsOf(preconditioner, rows, s) };
  });
  const places = systems.reduce((sum, { rows }) => sum + rows.rows * widthOf(rows), 0);
  const total = systems.reduce((sum, { factors }) => sum + (factors?.rows ?? 0) * widthOf(factors), places);
  const table = systems.flatMap(() => Array.from({ length: HEADER_WORDS }, () => 0));
  const column = new Int32Array(total).fill(-1);
  const values = new Float64Array(total);
  let [firstRow, slot, factorPlace] = [0, 0, places];
  systems.forEach(({ rows: matrix, factors }, s) => {
    const words = s * HEADER_WORDS;
    table[words + headerSlots.FIRST_ROW] = firstRow;
    table[words + headerSlots.ROWS] = matrix.rows;
    table[words + headerSlots.WIDTH] = widthOf(matrix);
    table[words + headerSlots.FIRST_PLACE] = slot;
    table[words + headerSlots.FACTORS] = factorPlace;
    table[words + headerSlots.FACTOR_WIDTH] = widthOf(factors);
    fill(matrix, slot, column, values);
    if (factors !== undefined) {
      fill(factors, factorPlace, column, values);
      for (const triangle of ["lower", "upper"] as const) {
        const levels = levelsOf(factors.starts, factors.column, triangle);
        const isLower = triangle === "lower";
        table[words + (isLower ? headerSlots.LOWER_LEVELS : headerSlots.UPPER_LEVELS)] = levels.starts.length - 1;
        table[words + (isLower ? headerSlots.LOWER : headerSlots.UPPER)] = table.length;
        append(table, levels);
      }
      factorPlace += factors.rows * widthOf(factors);
    }
    firstRow += matrix.rows;
    slot += matrix.rows * widthOf(matrix);
  });
  const maxRows = Math.max(...systems.map(({ rows }) => rows.rows));
  return { table: Int32Array.from(table), column, values, totalRows: firstRow, maxRows };
}

/** The number of entries of the longest row. */
const widthOf = (matrix: CsrMatrix | undefined): number =>
  matrix === undefined
    ? 0
    : matrix.starts.reduce((most, end, i) => Math.max(most, end - (matrix.starts[i - 1] ?? end)), 0);

function append(table: number[], { starts, order }: Levels): void {
  for (const word of starts) table.push(word);
  for (const word of order) table.push(word);
}

/** Place k of row i is at `from` + k·rows + i. */
function fill(
  { rows, starts, column, values }: CsrMatrix,
  from: number,
  toColumn: Int32Array,
  toValues: Float64Array,
): void {
  for (let i = 0; i < rows; i++)
    for (let k = starts[i]; k < starts[i + 1]; k++) {
      const at = from + (k - starts[i]) * rows + i;
      toColumn[at] = column[k];
      toValues[at] = values[k];
    }
}
