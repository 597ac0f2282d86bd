import { type Device, type DeviceBuffer, offeredPrecision } from "../../../device/index.ts";
import { hostRealType } from "../../../kernel/index.ts";
import { DisposedError, SpecError } from "../../../base/errors.ts";
import { checkBuffer } from "../given.ts";
import { chooseAlgorithm, type ConcreteAlgorithm, createMethod } from "./create-method.ts";
import { type Factors, factorsOf } from "./factors.ts";
import type { Matrix, Method, TridiagonalBatch } from "./method.ts";
import { type PeriodicSolver, periodicSolver } from "./periodic.ts";
import type { TridiagonalSpec } from "./spec.ts";
import { type Failure, failuresOf } from "./status.ts";

/**
 * The matrices of a batch, which are only read: three buffers whose elements are placed as the specification says, or
 * of `rows` elements each if all systems share one matrix.
 * @stable
 */
export type TridiagonalMatrix = Matrix;

/** The matrices of a batch, and the right-hand sides that the solutions replace. @stable */
export interface TridiagonalSystem extends Matrix {
  readonly rhs: DeviceBuffer;
}

/** The parts that a solver is made of; the spec decides which there are. */
interface Parts {
  readonly method: Method;
  /** The method for A′q = u of periodic systems that share a matrix. */
  readonly matrixMethod?: Method;
  readonly periodic?: PeriodicSolver;
  readonly factors?: Factors;
  readonly matrixFactors?: Factors;
}

/**
 * A solver of batches of independent tridiagonal systems on a device:
 *
 *   lower[i]·x[i−1] + diagonal[i]·x[i] + upper[i]·x[i+1] = rhs[i],   i = 0 … rows−1, for each of `batch` systems,
 *
 * placed as the specification says. lower[0] and upper[rows−1] are not used, unless the systems are periodic.
 *
 * Accuracy: the algorithms without pivoting are backward stable for matrices that are diagonally dominant by rows or
 * columns, or symmetric positive definite; `pivoting` is so for all. Failures are never silent: `failures` names every
 * system whose elimination met a zero pivot or whose solution is not finite.
 * Cost: 5 words per row (4 read, 1 written), and more where a system does not fit on the chip; see `Algorithm`.
 * Verified: test/numerics/linalg/tridiagonal*, against LAPACK's dgtsv and systems whose solution is known exactly.
 *
 * @example
 * import { openDevice } from "feynkac/device";
 * import { TridiagonalSolver, tridiagonalSpec } from "feynkac/linalg";
 *
 * using device = await openDevice({ backend: "cpu", threads: 1 });
 * using solver = await TridiagonalSolver.create(device, tridiagonalSpec({ rows: 3, batch: 2, precision: "f64" }));
 * const buffer = (...values: number[]) => {
 *   const made = device.createBuffer("f64", values.length);
 *   device.write(made, Float64Array.from(values));
 *   return made;
 * };
 * const rhs = buffer(5, 6, 5, 10, 12, 10);
 * const one = buffer(1, 1, 1, 1, 1, 1);
 * solver.solveInPlace({ lower: one, diagonal: buffer(4, 4, 4, 4, 4, 4), upper: one, rhs });
 * console.log((await device.read(rhs)).map((value) => Math.round(value)).join(" ")); // 1 1 1 2 2 2
 * console.log(await solver.failures()); // []
 * @stable
 */
export class TridiagonalSolver implements Disposable {
  readonly device: Device;
  readonly spec: TridiagonalSpec;
  /** The algorithm in use; for "auto" the chosen one. */
  readonly algorithm: ConcreteAlgorithm;
  /**
   * The status of each system in one word, written by each solve: 0, row + 1 of a zero pivot, −1 not finite, −2
   * singular (periodic). The buffer is lent.
   */
  readonly status: DeviceBuffer<"i32">;
  readonly #parts: Parts;
  #factored = false;
  #disposed = false;

  private constructor(device: Device, spec: TridiagonalSpec, algorithm: ConcreteAlgorithm, parts: Parts) {
    this.device = device;
    this.spec = spec;
    this.algorithm = algorithm;
    this.#parts = parts;
    this.status = device.createBuffer("i32", spec.batch);
  }

  /**
   * Compiles kernels and allocates a workspace. The spec's precision is kept: f64 on a device that only emulates it is
   * f32x2. @throws SpecError (more rows than the algorithm has room for on this device) | PrecisionError |
   * OutOfMemoryError
   */
  static async create(device: Device, spec: TridiagonalSpec): Promise<TridiagonalSolver> {
    const { rows, batch, stride, matrices } = spec;
    const precision = await offeredPrecision(device, spec.precision);
    const problem = { rows, batch, stride, shared: matrices === "one", precision };
    const algorithm = spec.algorithm === "auto" ? chooseAlgorithm(device, problem) : spec.algorithm;
    return new TridiagonalSolver(device, spec, algorithm, await partsOf(device, spec, problem, algorithm));
  }

  /**
   * Records the solution of all systems; `rhs` becomes x. Buffers are borrowed, and may be reused as soon as this
   * returns.
   * @throws ShapeError (a buffer of another length, element type or device) | DisposedError
   */
  solveInPlace(system: TridiagonalSystem): void {
    this.#check(system);
    const { lower, diagonal, upper, rhs } = system;
    const { method, matrixMethod, periodic } = this.#parts;
    const { status } = this;
    const matrix = { lower, diagonal, upper };
    if (periodic === undefined) {
      method.solve({ ...matrix, rhs, status });
      return;
    }
    periodic.prepare(matrix);
    (matrixMethod ?? method).solve({ ...periodic.matrix, rhs: periodic.q, status: periodic.inner });
    method.solve({ ...periodic.matrix, rhs, status });
    periodic.finish(rhs, status);
  }

  /**
   * Records the factorisation of the matrices for `solve`: with partial pivoting if that is the spec's algorithm
   * (LAPACK's dgttrf), otherwise by Thomas' elimination. The matrices are copied: their buffers may be reused. @throws
   * SpecError (the spec has no `factors`) | ShapeError | DisposedError
   */
  factor(matrix: TridiagonalMatrix): void {
    this.#check(matrix);
    const { factors, matrixFactors, periodic } = this.#parts;
    if (factors === undefined)
      throw new SpecError("TridiagonalSolver.factor: the spec has factors: false; make it with factors: true");
    if (periodic === undefined) factors.factor(matrix);
    else {
      periodic.prepare(matrix);
      factors.factor(periodic.matrix);
      matrixFactors?.factor(periodic.matrix);
      (matrixFactors ?? factors).solve(periodic.q, periodic.inner);
    }
    this.#factored = true;
  }

  /**
   * Records the solution for the last factored matrices; `rhs` becomes x. @throws SpecError (nothing has been factored)
   * | ShapeError | DisposedError
   */
  solve({ rhs }: { readonly rhs: DeviceBuffer }): void {
    this.#check({ rhs });
    const { factors, periodic } = this.#parts;
    if (factors === undefined || !this.#factored)
      throw new SpecError("TridiagonalSolver.solve: nothing has been factored; call factor first, or solveInPlace");
    factors.solve(rhs, this.status);
    periodic?.finish(rhs, this.status);
  }

  /**
   * Waits and returns the systems for which the last solution failed; usually none. @throws DisposedError |
   * DeviceLostError
   */
  async failures(): Promise<Failure[]> {
    this.#check({});
    return failuresOf(await this.device.read(this.status));
  }

  [Symbol.dispose](): void {
    if (this.#disposed) return;
    this.#disposed = true;
    for (const part of Object.values(this.#parts) as (Disposable | undefined)[]) part?.[Symbol.dispose]();
    this.status[Symbol.dispose]();
  }

  #check(buffers: Readonly<Record<string, DeviceBuffer>> | TridiagonalMatrix): void {
    if (this.#disposed) throw new DisposedError("TridiagonalSolver: used after it was disposed");
    const { rows, batch, matrices } = this.spec;
    const element = hostRealType(this.spec.precision);
    for (const [name, buffer] of Object.entries(buffers) as [string, DeviceBuffer][]) {
      const length = name !== "rhs" && matrices === "one" ? rows : rows * batch;
      checkBuffer(`TridiagonalSolver: ${name}`, buffer, { device: this.device, element, length });
    }
  }
}

async function partsOf(
  device: Device,
  spec: TridiagonalSpec,
  problem: TridiagonalBatch,
  algorithm: ConcreteAlgorithm,
): Promise<Parts> {
  const own = spec.periodic && problem.shared ? { ...problem, batch: 1, stride: 1, shared: false } : undefined;
  const pivoting = algorithm === "pivoting";
  const made: Disposable[] = [];
  const kept = async <T extends Disposable>(making: Promise<T>): Promise<T> => {
    const part = await making;
    made.push(part);
    return part;
  };
  try {
    return {
      method: await kept(createMethod(device, problem, algorithm)),
      ...(own === undefined ? {} : { matrixMethod: await kept(createMethod(device, own, algorithm)) }),
      ...(spec.periodic ? { periodic: await kept(periodicSolver(device, problem)) } : {}),
      ...(spec.factors ? { factors: await kept(factorsOf(device, problem, pivoting)) } : {}),
      ...(spec.factors && own !== undefined ? { matrixFactors: await kept(factorsOf(device, own, pivoting)) } : {}),
    };
  } catch (error) {
    for (const part of made) part[Symbol.dispose](); // no room for the rest
    throw error;
  }
}
