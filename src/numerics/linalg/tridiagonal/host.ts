import { type Device, type DeviceBuffer, TemporaryBuffers, openDevice } from "../../../device/index.ts";
import { hostRealType } from "../../../kernel/index.ts";
import { ShapeError } from "../../../base/errors.ts";
import { TridiagonalSolver } from "./solver.ts";
import { type Placement, tridiagonalSpec, type TridiagonalOptions } from "./spec.ts";
import type { Failure } from "./status.ts";

type Values = ArrayLike<number>;

/** Tridiagonal systems in plain arrays: lower[i]·x[i−1] + diagonal[i]·x[i] + upper[i]·x[i+1] = rhs[i]. @stable */
export interface HostSystem {
  readonly lower: Values;
  readonly diagonal: Values;
  readonly upper: Values;
  readonly rhs: Values;
}

/**
 * The options of `solveTridiagonal`: those of `tridiagonalSpec`, and a device. By default one system is solved in f64
 * by `pivoting`, with as many rows as the diagonal has elements.
 * @stable
 */
export type HostOptions = Partial<TridiagonalOptions> & { readonly device?: Device } & (
    | Placement
    | Partial<Record<keyof Placement, never>>
  );

/** The result of `solveTridiagonal`. @stable */
export interface HostSolution {
  readonly x: Float64Array | Float32Array;
  /** The systems without a usable solution; usually none. */
  readonly failures: readonly Failure[];
}

/**
 * Solves tridiagonal systems in plain arrays, which are not changed.
 *
 * Equations, placements and failures are those of `TridiagonalSolver`. That class is the better choice for several
 * batches of the same sizes, because each call of this function compiles, copies and, without a `device`, opens one CPU
 * thread. Cost: as `TridiagonalSolver`, and 5 words per row copied.
 *
 * @param system the arrays, each [rows] for one system; placed as `options` say for several.
 * @param options the placement, the algorithm, the precision and the device.
 * @returns `x`, placed as the right-hand sides, and the systems that have no solution.
 * @throws SpecError; ShapeError for arrays of other lengths; PrecisionError.
 * @example
 * import { solveTridiagonal } from "feynkac/linalg";
 *
 * const { x } = await solveTridiagonal({ lower: [0, 1, 1], diagonal: [4, 4, 4], upper: [1, 1, 0], rhs: [5, 6, 5] });
 * console.log([...x].map((value) => value.toFixed(4)).join(" ")); // 1.0000 1.0000 1.0000
 * @stable
 */
export async function solveTridiagonal(system: HostSystem, options: HostOptions = {}): Promise<HostSolution> {
  const { device, precision = "f64", algorithm = "pivoting", ...rest } = options;
  const placement = "rows" in rest || "shape" in rest ? rest : { ...rest, rows: system.diagonal.length, batch: 1 };
  const spec = tridiagonalSpec({ ...(placement as Placement), precision, algorithm });
  if (device !== undefined) return solveOn(device, system, spec);
  using own = await openDevice({ backend: "cpu", threads: 1 });
  return await solveOn(own, system, spec);
}

async function solveOn(
  device: Device,
  system: HostSystem,
  spec: ReturnType<typeof tridiagonalSpec>,
): Promise<HostSolution> {
  const { rows, batch, matrices } = spec;
  using buffers = new TemporaryBuffers(device);
  const element = hostRealType(spec.precision);
  const upload = (name: keyof HostSystem): DeviceBuffer<"f64" | "f32"> => {
    const length = name !== "rhs" && matrices === "one" ? rows : rows * batch;
    const values = system[name];
    if (values.length !== length)
      throw new ShapeError(`solveTridiagonal: ${name}: got ${values.length} elements, expected ${length}`);
    return buffers.filled(element, Float64Array.from(values));
  };
  const rhs = upload("rhs");
  const matrix = { lower: upload("lower"), diagonal: upload("diagonal"), upper: upload("upper") };
  using solver = await TridiagonalSolver.create(device, spec);
  solver.solveInPlace({ ...matrix, rhs });
  return { x: await device.read(rhs), failures: await solver.failures() };
}
