/**
 * Batches of tridiagonal systems on one core, beside LAPACK's dgtsv; then on the GPUs that are here
 * (bench/device/tridiagonal).
 */
import { createCpuDevice } from "../src/device/cpu/index.ts";
import type { Device } from "../src/device/index.ts";
import {
  type Algorithm,
  TridiagonalSolver,
  tridiagonalSpec,
  type TridiagonalSpec,
} from "../src/numerics/linalg/index.ts";
import { benchmark as onGpus } from "./device/tridiagonal.ts";
import { type Benchmark, clockGHz, type Context, median } from "./harness.ts";
import { type LapackSystems, openLapack } from "./peers/lapack.ts";

const ROWS = 512;
type Layout = "contiguous" | "interleaved";

/**
 * Cycles a row on a core, at least: a division of two doubles occupies the divider for 4 (Zen, Skylake) and serves two
 * systems; five words moved, and c′ and d′ written and read, are nine accesses of 8 bytes, two of 16 bytes a cycle.
 */
export const FLOOR_CYCLES = 9 / 4;

function systems(batch: number): LapackSystems {
  // Numerical Recipes' generator: what is timed does not depend on the numbers.
  let state = 1;
  const uniform = (): number => (state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0) / 2 ** 31 - 1;
  const array = (make: () => number): Float64Array => Float64Array.from({ length: ROWS * batch }, make);
  return {
    rows: ROWS,
    batch,
    lower: array(uniform),
    diagonal: array(() => 4 + uniform()),
    upper: array(uniform),
    rhs: array(uniform),
  };
}

/** Element e of an array in the order of a layout, from one that is contiguous. */
const placed = (values: Float64Array, batch: number, layout: Layout): Float64Array =>
  layout === "contiguous" ? values : values.map((_, e) => values[(e % batch) * ROWS + Math.floor(e / batch)]);

/** Median nanoseconds a row, and the solutions. */
async function solve(
  device: Device,
  spec: TridiagonalSpec,
  given: LapackSystems,
  repetitions: number,
): Promise<{ readonly seconds: number; readonly x: ArrayLike<number> }> {
  using solver = await TridiagonalSolver.create(device, spec);
  const upload = (values: Float64Array) => {
    const buffer = device.createBuffer(spec.precision === "f32" ? "f32" : "f64", values.length);
    device.write(buffer, values);
    return buffer;
  };
  using lower = upload(given.lower);
  using diagonal = upload(given.diagonal);
  using upper = upload(given.upper);
  using rhs = upload(given.rhs);
  const seconds: number[] = [];
  for (let i = 0; i < repetitions; i++) {
    device.write(rhs, given.rhs);
    await device.finish();
    const start = performance.now();
    solver.solveInPlace({ lower, diagonal, upper, rhs });
    await device.finish();
    seconds.push((performance.now() - start) / 1e3);
  }
  const failures = await solver.failures();
  if (failures.length > 0) throw new Error(`tridiagonal: ${failures.length} failures`);
  // The first tenth runs in code that the engine has not optimised yet.
  return { seconds: median(seconds.slice(Math.floor(repetitions / 10))), x: await device.read(rhs) };
}

async function run(context: Context): Promise<void> {
  using device = createCpuDevice({ threads: 1 });
  const dgtsv = openLapack(context.note);
  const gigahertz = clockGHz();
  for (const batch of context.quick ? [64] : [250, 1000, 1024]) {
    const given = systems(batch);
    for (const layout of ["contiguous", "interleaved"] as const) {
      const [lower, diagonal, upper, rhs] = [given.lower, given.diagonal, given.upper, given.rhs].map((values) =>
        placed(values, batch, layout),
      );
      const placedSystems = { ...given, lower, diagonal, upper, rhs };
      for (const algorithm of ["thomas", "pivoting"] as const satisfies readonly Algorithm[]) {
        for (const precision of ["f64", "f32"] as const) {
          const spec = tridiagonalSpec({ rows: ROWS, batch, layout, precision, algorithm });
          // Beside each figure, since what else the machine does changes from second to second.
          const lapack = dgtsv?.(given, context.quick ? 3 : 15);
          const { seconds, x } = await solve(device, spec, placedSystems, context.quick ? 5 : 61);
          const expected = lapack === undefined ? undefined : placed(lapack.x, batch, layout);
          const error = expected?.reduce((worst, value, i) => Math.max(worst, Math.abs(value - x[i])), 0);
          context.report({
            case: `${batch} systems of ${ROWS} rows, ${layout}, ${algorithm}, a core`,
            device: context.cpu,
            precision,
            figure: (ROWS * batch) / seconds,
            unit: "rows/s",
            ...(precision === "f64" && algorithm === "thomas" ? { floor: (gigahertz * 1e9) / FLOOR_CYCLES } : {}),
            ...(error === undefined ? {} : { error }),
            ...(lapack === undefined ? {} : { peers: { "LAPACK dgtsv (f64)": (ROWS * batch) / lapack.seconds } }),
          });
        }
      }
    }
  }
  await onGpus.run(context);
}

export const benchmark: Benchmark = {
  name: "tridiagonal",
  description: "batches of tridiagonal systems beside LAPACK (a core) and cuSPARSE (a GPU)",
  run,
};
