/**
 * Nanoseconds a row against the length of tridiagonal systems, for every algorithm: about as many rows in all whatever
 * the length, so that the same memory is moved. docs/tridiagonal-*.svg are drawn from it
 * (bench/figures/tridiagonal.ts).
 *
 * npx tsx bench/device/main.ts device-tridiagonal-sizes
 */
import { type Device, type DeviceBuffer, openDevice } from "../../src/device/index.ts";
import { DeviceUnavailableError, SpecError } from "../../src/base/errors.ts";
import { type Algorithm, TridiagonalSolver, tridiagonalSpec } from "../../src/numerics/linalg/index.ts";
import type { Benchmark, Context } from "../harness.ts";
import { floorOn, H200 } from "./h200.ts";
import { stopwatch } from "./stopwatch.ts";
import { ALLOWED_UNITS } from "./tridiagonal.ts";
import { fillSystems, residualsOfElements } from "./tridiagonal-kernels.ts";

type Real = "f64" | "f32";
type Layout = "contiguous" | "interleaved";

const ALGORITHMS = ["thomas", "pivoting", "cr", "pcr", "cr-pcr", "register-hybrid", "partition"] as const;
const LAYOUTS = ["contiguous", "interleaved"] as const;
/** Powers of two, and lengths beside them that are none. */
const LADDER = [
  8, 16, 30, 64, 100, 200, 256, 500, 512, 1000, 1024, 2000, 2048, 4096, 10_000, 32_768, 100_000, 300_000, 1_000_000,
];
const UNIT = { f64: 2 ** -53, f32: 2 ** -24 } as const;

export interface SizesSettings {
  readonly precisions: readonly Real[];
  /** Rows of all systems together, about. */
  readonly total: number;
  /** The best a row can take, in seconds; undefined where nobody has counted. */
  readonly floor: (precision: Real) => number | undefined;
  /** What the figures stand under, and what is added to the name of a case. */
  readonly name: string;
  readonly suffix?: string;
  /** Seconds after which no further case is begun. */
  readonly seconds: number;
}

/** Lengths, coarse steps first: what is cut short has gaps rather than an end. */
function ladder(quick: boolean): number[] {
  if (quick) return [8, 100, 1000];
  const step = (i: number): number => [4, 2, 1].findIndex((by) => i % by === 0);
  return LADDER.map((rows, i) => ({ rows, step: step(i) }))
    .toSorted((a, b) => a.step - b.step)
    .map(({ rows }) => rows);
}

interface Case {
  readonly device: Device;
  readonly precision: Real;
  readonly layout: Layout;
  readonly rows: number;
  readonly batch: number;
}

/** Everything the cases of a run tell one another. */
interface Run {
  readonly settings: SizesSettings;
  readonly context: Context;
  readonly ends: number;
  /** By algorithm, precision and layout, the shortest systems that were refused or took too long, and why. */
  readonly limits: Map<string, { rows: number; why: string }>;
  left: number;
}

export async function tridiagonalSizes(device: Device, context: Context, settings: SizesSettings): Promise<void> {
  const run: Run = { settings, context, ends: performance.now() + 1e3 * settings.seconds, limits: new Map(), left: 0 };
  for (const rows of ladder(context.quick)) {
    for (const precision of settings.precisions) {
      const batch = Math.max(1, Math.round(settings.total / rows));
      for (const layout of LAYOUTS) await solvedByAll(run, { device, precision, layout, rows, batch });
    }
  }
  for (const [which, { rows, why }] of run.limits) context.note(`${which}: nothing from ${rows} rows on: ${why}`);
  if (run.left > 0) context.note(`${device.name}: ${run.left} cases left out after ${settings.seconds} s`);
}

/** Work items that check a solution. */
const CHECKERS = 2 ** 16;

async function solvedByAll(run: Run, one: Case): Promise<void> {
  const { device, precision, layout, rows, batch } = one;
  const buffer = (): DeviceBuffer<Real> => device.createBuffer(precision, rows * batch);
  using lower = buffer();
  using diagonal = buffer();
  using upper = buffer();
  using rhs = buffer();
  const items = Math.min(rows * batch, CHECKERS);
  using worst = device.createBuffer(precision, items);
  const system = { lower, diagonal, upper, rhs };
  const [filling, checking] = await Promise.all(
    [fillSystems, residualsOfElements].map((kernel) => device.compile(kernel, { precision })),
  );
  const fill = (): void => device.launch(filling, system, { items: rows * batch });
  const error = async (): Promise<number> => {
    const stride = layout === "contiguous" ? 1 : batch;
    device.launch(checking, { rows, stride, items, x: rhs, worst }, { items });
    let max = 0;
    for (const value of await device.read(worst)) max = max >= value ? max : value;
    return max;
  };
  for (const algorithm of ALGORITHMS) {
    if (rows >= (run.limits.get(name(one, algorithm))?.rows ?? Infinity)) continue;
    if (performance.now() > run.ends) run.left++;
    else await solved(run, one, algorithm, { system, fill, error });
  }
}

const name = ({ precision, layout }: Case, algorithm: Algorithm): string => `${algorithm}, ${precision}, ${layout}`;

interface Memory {
  readonly system: Parameters<TridiagonalSolver["solveInPlace"]>[0];
  fill(): void;
  /** Largest componentwise backward error of what stands in `rhs`. */
  error(): Promise<number>;
}

async function solved(run: Run, one: Case, algorithm: Algorithm, { system, fill, error }: Memory): Promise<void> {
  const { device, precision, layout, rows, batch } = one;
  const { settings, context } = run;
  const spec = tridiagonalSpec({ rows, batch, layout, precision, algorithm });
  using solver = await TridiagonalSolver.create(device, spec).catch((refused: unknown) => {
    if (!(refused instanceof SpecError)) throw refused;
    run.limits.set(name(one, algorithm), { rows, why: refused.message });
    return null;
  });
  if (solver === null) return;
  fill();
  solver.solveInPlace(system);
  const found = await error();
  if ((await solver.failures()).length > 0 || !(found < ALLOWED_UNITS * UNIT[precision]))
    throw new Error(`${algorithm}: ${rows} rows, ${layout}, ${precision}: backward error ${found}`);
  fill();
  const ms = await timed(device, () => solver.solveInPlace(system));
  if (ms > TOO_SLOW[device.backend === "cpu" ? "cpu" : "gpu"])
    run.limits.set(name(one, algorithm), { rows: rows + 1, why: `${rows} took ${Math.round(ms)} ms` });
  if (!(ms > 0)) return context.note(`${name(one, algorithm)}, ${rows} rows: too short for this clock`); // WebGPU's difference of two times
  const floor = settings.floor(precision);
  context.report({
    case: `${rows} rows × ${batch} systems, ${layout}, ${algorithm}${settings.suffix ?? ""}`,
    device: settings.name,
    precision,
    figure: (ms * 1e6) / (rows * batch),
    unit: "ns/row",
    ...(floor === undefined ? {} : { floor: 1e9 * floor }),
    error: found,
  });
}

/**
 * Milliseconds: solutions that take longer are timed twice, and longer systems, on a CPU and on a GPU, not solved at
 * all.
 */
const SLOW = 100;
const TOO_SLOW = { cpu: 1000, gpu: 100 };
/** Milliseconds spent on a case on a CPU, about. */
const ENOUGH = 40;

/**
 * Milliseconds of a solution, whose right-hand side is the last one's result, a third as large. On a CPU the least of
 * several: others who use the machine only ever add time, and with hundreds of cases some would always be hit.
 */
async function timed(device: Device, solve: () => void): Promise<number> {
  const wall = async (): Promise<number> => {
    const start = performance.now();
    solve();
    await device.finish();
    return performance.now() - start;
  };
  const first = await wall();
  if (first > SLOW) return Math.min(first, await wall());
  if (device.backend !== "cpu") return stopwatch(device).milliseconds(solve, 3);
  let min = first;
  let runs = 1;
  for (let spent = first; spent < ENOUGH || runs < 5; runs++) {
    const ms = await wall();
    spent += ms;
    min = Math.min(min, ms);
  }
  return min;
}

/** Words read and written a row at copy speed, on the GPU whose copy speed is known. */
const copied = (device: Device) => (precision: Real) =>
  floorOn(device, (5 * (precision === "f64" ? 8 : 4)) / H200.copy).floor;

export const benchmark: Benchmark = {
  name: "device-tridiagonal-sizes",
  description: "nanoseconds a row against the length of tridiagonal systems, for every algorithm",
  async run(context) {
    for (const backend of ["cuda", "webgpu"] as const) {
      try {
        using device = await openDevice({ backend });
        await tridiagonalSizes(device, context, {
          precisions: (["f64", "f32"] as const).filter((one) => device.precisions.includes(one)),
          total: context.quick ? 2 ** 14 : 2 ** 24,
          floor: copied(device),
          name: device.name,
          seconds: backend === "cuda" ? 32 : 18,
        });
      } catch (error) {
        if (!(error instanceof DeviceUnavailableError)) throw error;
        context.note(`${backend}: ${error.message}`);
      }
    }
  },
};
