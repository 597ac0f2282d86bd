import type { CompiledKernel, Device, DeviceBuffer } from "../../../device/index.ts";
import { DisposedError, ShapeError, SpecError } from "../../../base/errors.ts";
import { hostRealType } from "../../../kernel/index.ts";
import { checkSystemBuffers } from "../given.ts";
import type { WorkOptions } from "../../../base/event-loop.ts";
import type { SparseOperator } from "../sparse/index.ts";
import { gmres } from "./gmres.ts";
import { bicgstab, cg, cgs, type KrylovIteration } from "./methods.ts";
import { residualPass, zeroSolution } from "./passes.ts";
import type { Preconditioner } from "./factor-parts.ts";
import { stateSlots, startCycle, flagSlots, verifyResidual } from "./recurrences.ts";
import type { KrylovSpec } from "./spec.ts";
import { statusCodes, type KrylovResult, krylovResultOf } from "./status.ts";
import { Workspace } from "./workspace.ts";

/** The vectors of the system A·x = b: b is only read; x holds the first guess, and then the solution. @stable */
export interface KrylovSystem {
  readonly b: DeviceBuffer;
  readonly x: DeviceBuffer;
}

interface Passes {
  readonly method: KrylovIteration;
  readonly residual: CompiledKernel<(typeof residualPass)["params"]>;
  readonly zero: CompiledKernel<(typeof zeroSolution)["params"]>;
  readonly begin: () => void;
  readonly verify: () => void;
  readonly r: DeviceBuffer;
  readonly shadow: DeviceBuffer;
  readonly product: DeviceBuffer;
}

/**
 * An iterative solver of A·x = b on a device, for one large system: each pass of an iteration occupies the whole
 * device.
 *
 * Scalars and tests of convergence and breakdown stay on the device; the host checks every `checkEvery` iterations, and
 * iterations recorded beyond the end change nothing. At the end the residual is computed from A, b and x. If it is
 * above the tolerance although the residual of the recurrences is not, and after a breakdown, the iteration starts
 * again from x, as long as each start halves the residual. Sums have a fixed shape, which depends on the number of rows
 * only: the same system gives the same bits, on any number of threads. Squares of norms must be representable: in f32
 * ‖b‖ between 1e-15 and 1e18, in f64 between 1e-145 and 1e154. Above that the result is "not-finite", below it
 * "breakdown" or "stagnation": scale b. Verified: test/numerics/linalg/krylov, against LAPACK's solutions (NumPy,
 * SciPy).
 *
 * @example
 * import { openDevice } from "feynkac/device";
 * import { krylovSpec, KrylovSolver, SparseOperator, sparseMatrix } from "feynkac/linalg";
 *
 * using device = await openDevice({ backend: "cpu", threads: 1 });
 * const matrix = sparseMatrix({ rows: 2, columns: 2, row: [0, 0, 1], column: [0, 1, 1], values: [2, 1, 4] });
 * using a = await SparseOperator.create(device, matrix);
 * using solver = await KrylovSolver.create(a, krylovSpec());
 * const [b, x] = [device.createBuffer("f64", 2), device.createBuffer("f64", 2)];
 * device.write(b, Float64Array.of(4, 8));
 * const { status } = await solver.solve({ b, x });
 * console.log(status, (await device.read(x)).map((value) => Math.round(value)).join(" ")); // converged 1 2
 * @stable
 */
export class KrylovSolver implements Disposable {
  readonly device: Device;
  readonly spec: KrylovSpec;
  readonly #operator: SparseOperator;
  readonly #work: Workspace;
  readonly #passes: Passes;
  #disposed = false;

  private constructor(operator: SparseOperator, spec: KrylovSpec, work: Workspace, passes: Passes) {
    this.device = operator.device;
    this.spec = spec;
    this.#operator = operator;
    this.#work = work;
    this.#passes = passes;
  }

  /**
   * Compiles the passes and allocates the workspace. The operator and the preconditioner are borrowed. @throws
   * ShapeError (a matrix that is not square) | OutOfMemoryError
   */
  static async create(
    operator: SparseOperator,
    spec: KrylovSpec,
    preconditioner?: Preconditioner,
  ): Promise<KrylovSolver> {
    const { rows, columns, device, precision } = operator;
    if (rows !== columns || rows === 0)
      throw new ShapeError(`KrylovSolver: a matrix of ${rows} × ${columns}, expected a square one with rows`);
    const work = new Workspace(device, precision, rows);
    try {
      return new KrylovSolver(operator, spec, work, await passesOf(operator, spec, work, preconditioner));
    } catch (error) {
      work[Symbol.dispose]();
      throw error;
    }
  }

  /**
   * Solves a system; `x` is overwritten whatever the result is.
   * @throws ShapeError (a buffer of another length, element type or device; b and x the same) | DisposedError | the
   * signal's reason, between two iterations
   */
  async solve(system: KrylovSystem, { signal }: Pick<WorkOptions, "signal"> = {}): Promise<KrylovResult> {
    this.#check(system);
    const { maxIterations, checkEvery } = this.spec;
    this.#reset(maxIterations);
    for (;;) {
      this.#start(system);
      let { isRunning, iterations } = await this.#progress();
      signal?.throwIfAborted();
      while (isRunning && iterations < maxIterations) {
        const count = Math.min(checkEvery, maxIterations - iterations);
        for (let k = 0; k < count; k++) this.#passes.method.iterate(system.x, system.b);
        ({ isRunning, iterations } = await this.#progress());
        signal?.throwIfAborted();
      }
      this.#finish(system);
      const { again } = await this.#progress();
      if (!again) return this.result();
    }
  }

  /**
   * Records at most `iterations` iterations, and the true residual, without waiting; for time loops whose steps need
   * few iterations. `result` then gives the outcome of the last system. @throws SpecError | ShapeError | DisposedError
   */
  record(system: KrylovSystem, iterations: number): void {
    this.#check(system);
    if (!Number.isInteger(iterations) || iterations < 0)
      throw new SpecError(`KrylovSolver: iterations: got ${iterations}, expected a whole number of at least 0`);
    this.#reset(iterations);
    this.#start(system);
    for (let k = 0; k < iterations; k++) this.#passes.method.iterate(system.x, system.b);
    this.#finish(system);
  }

  /** Waits and returns the result of the last system. @throws DisposedError */
  async result(): Promise<KrylovResult> {
    this.#assertUsable();
    const { state, flags } = this.#work;
    const [scalars, words] = await Promise.all([this.device.read(state), this.device.read(flags)]);
    return krylovResultOf(
      words[flagSlots.STATUS],
      words[flagSlots.ITERATIONS],
      scalars[stateSlots.RESIDUAL],
      scalars[stateSlots.RHS],
    );
  }

  [Symbol.dispose](): void {
    this.#disposed = true;
    this.#work[Symbol.dispose]();
  }

  #reset(maxIterations: number): void {
    const { state, flags } = this.#work;
    const { tolerance, patience } = this.spec;
    this.device.write(state, Float64Array.of(tolerance.relative, tolerance.absolute), stateSlots.RELATIVE);
    this.device.write(state, Float64Array.of(-1), stateSlots.LAST);
    this.device.write(flags, Int32Array.of(0, 0, 0, patience, maxIterations), flagSlots.STATUS);
  }

  #start(system: KrylovSystem): void {
    this.#residual(system);
    this.#passes.begin();
    this.#passes.method.start?.();
  }

  #residual({ b, x }: KrylovSystem): void {
    const { n, groups, partials } = this.#work;
    const { residual, r, shadow, product } = this.#passes;
    this.#operator.apply({ x, y: product });
    this.device.launch(residual, { n, b, ax: product, r, copy: shadow, partials }, { groups });
  }

  #finish(system: KrylovSystem): void {
    const { n, flags } = this.#work;
    const { x } = system;
    this.#passes.method.flush?.(x);
    this.device.launch(this.#passes.zero, { flags, zero: statusCodes.ZERO, x }, { items: n });
    this.#residual(system);
    this.#passes.verify();
  }

  async #progress(): Promise<{ isRunning: boolean; iterations: number; again: boolean }> {
    const words = await this.device.read(this.#work.flags);
    // A cycle of gmres that is over waits for the true residual, which `finish` computes.
    const isRunning = words[flagSlots.STATUS] === statusCodes.RUNNING && words[flagSlots.CYCLE] === 0;
    return { isRunning, iterations: words[flagSlots.ITERATIONS], again: words[flagSlots.AGAIN] === 1 };
  }

  #check({ b, x }: KrylovSystem): void {
    this.#assertUsable();
    const { device, precision, n } = this.#work;
    checkSystemBuffers("KrylovSolver", { b, x }, { device, element: hostRealType(precision), length: n });
  }

  #assertUsable(): void {
    if (this.#disposed) throw new DisposedError("KrylovSolver: used after it was disposed");
  }
}

async function passesOf(
  operator: SparseOperator,
  { method, restart }: KrylovSpec,
  work: Workspace,
  preconditioner: Preconditioner | undefined,
): Promise<Passes> {
  const [r, shadow, product] = [work.buffer(), work.buffer(), work.buffer()];
  const parts = { work, operator, preconditioner, r, shadow };
  const methods = { bicgstab, cgs, cg, gmres: () => gmres(parts, restart) };
  return {
    method: await methods[method](parts),
    residual: await work.compile(residualPass),
    zero: await work.compile(zeroSolution),
    begin: await work.scalarStep(startCycle(false)),
    verify: await work.scalarStep(verifyResidual),
    r,
    shadow,
    product,
  };
}
