/**
 * Batches of tridiagonal systems of 512 rows on a GPU, contiguous and interleaved, beside cuSPARSE in the same run.
 *
 * npx tsx bench/device/main.ts device-tridiagonal
 */
import { type CudaDevice, type Device, type DeviceBuffer, openDevice } from "../../src/device/index.ts";
import { DeviceUnavailableError } from "../../src/base/errors.ts";
import { type Algorithm, TridiagonalSolver, tridiagonalSpec } from "../../src/numerics/linalg/index.ts";
import { type Benchmark, type Context, median } from "../harness.ts";
import { CuSparse, INTERLEAVED, type PeerSystem } from "./cusparse.ts";
import { floorOn, H200 } from "./h200.ts";
import { COPIED, copy } from "./kernels.ts";
import { stopwatch } from "./stopwatch.ts";
import { fillSystems, residuals } from "./tridiagonal-kernels.ts";

type Real = "f64" | "f32";
type Layout = "contiguous" | "interleaved";

const ROWS = 512;
/** Launches that are timed together, as one graph, so that the host's part, some 5 µs, is not what is measured. */
const few = (batch: number): boolean => batch <= 512;
const together = (batch: number): number => (few(batch) ? 16 : batch <= 16_384 ? 4 : 1);

interface Case {
  readonly device: Device;
  readonly precision: Real;
  readonly layout: Layout;
  readonly batch: number;
  readonly cuSparse: CuSparse | undefined;
}

export async function tridiagonal(device: Device, context: Context): Promise<void> {
  const batches = context.quick ? [64] : [131_072, 16_384, 512]; // the largest first, as an idle GPU's clock is slow
  using cuSparse = device.backend === "cuda" ? CuSparse.open(device as CudaDevice, context.note) : undefined;
  for (const precision of ["f64", "f32"] as const) {
    if (!device.precisions.includes(precision)) continue;
    for (const batch of batches)
      for (const layout of ["contiguous", "interleaved"] as const)
        await solved({ device, precision, layout, batch, cuSparse }, context);
  }
}

/** The systems of a case in memory, and how they get there. */
interface Memory extends Disposable {
  readonly system: PeerSystem;
  fill(): void;
  /** Largest componentwise backward error of what stands in `rhs`. */
  error(): Promise<number>;
}

async function memoryFor({ device, precision, layout, batch }: Case): Promise<Memory> {
  const length = ROWS * batch;
  const stride = layout === "contiguous" ? 1 : batch;
  const buffer = (): DeviceBuffer<Real> => device.createBuffer(precision, length);
  const system = { lower: buffer(), diagonal: buffer(), upper: buffer(), rhs: buffer() };
  const worst = device.createBuffer(precision, batch);
  const [filling, checking] = await Promise.all(
    [fillSystems, residuals].map((kernel) => device.compile(kernel, { precision })),
  );
  return {
    system,
    fill: () => device.launch(filling, { ...system }, { items: length }),
    error: async () => {
      device.launch(checking, { rows: ROWS, stride, x: system.rhs, worst }, { items: batch });
      const found = await device.read(worst);
      let max = 0;
      for (const value of found) max = max >= value ? max : value;
      return max;
    },
    [Symbol.dispose]: () => {
      for (const one of [...Object.values(system), worst]) one[Symbol.dispose]();
    },
  };
}

/** Median milliseconds of one solution; the right-hand side of the next is its result, a third as large. */
async function timed({ device, batch }: Case, context: Context, memory: Memory, solve: () => void): Promise<number> {
  memory.fill();
  return milliseconds(device, together(batch), solve, context);
}

/** Median milliseconds of what `launch` records, on CUDA of `count` in a graph. */
async function milliseconds(device: Device, count: number, launch: () => void, context: Context): Promise<number> {
  const repetitions = context.quick ? 2 : 11;
  const watch = stopwatch(device);
  if (count === 1 || device.backend !== "cuda") return watch.milliseconds(launch, repetitions);
  using graph = (device as CudaDevice).record(() => {
    for (let i = 0; i < count; i++) launch();
  });
  return (await watch.milliseconds(() => graph.run(), repetitions)) / count;
}

/**
 * Units of rounding of the componentwise backward error, in the worst row of all systems. Elimination stays below 20;
 * the constant grows with the levels of a reduction, and the worst of 67 million rows is rarely met: seen are 171 for
 * PCR and 334 for CR–PCR in f32, 103 for one row an instance.
 */
export const ALLOWED_UNITS = 512;

async function solved(one: Case, context: Context): Promise<void> {
  const { device, precision, layout, batch } = one;
  using memory = await memoryFor(one);
  const peers = { ...(await copied(one, context)), ...(await peersOf(one, context, memory)) };
  const algorithms: readonly Algorithm[] = context.quick || few(batch) ? ["auto"] : ["auto", "thomas", "pcr", "cr-pcr"];
  for (const algorithm of algorithms) {
    const spec = tridiagonalSpec({ rows: ROWS, batch, layout, precision, algorithm });
    using solver = await TridiagonalSolver.create(device, spec);
    memory.fill();
    solver.solveInPlace(memory.system);
    const error = await memory.error();
    const failures = await solver.failures();
    if (failures.length > 0 || !(error < ALLOWED_UNITS * 2 ** (precision === "f64" ? -53 : -24)))
      throw new Error(`tridiagonal: ${solver.algorithm}: backward error ${error}, ${failures.length} failures`);
    const ms = await timed(one, context, memory, () => solver.solveInPlace(memory.system));
    report(one, context, { algorithm: solver.algorithm, ms, error, peers: algorithm === "auto" ? peers : {} });
  }
}

interface Timing {
  readonly algorithm: string;
  readonly ms: number;
  readonly error: number;
  /** Milliseconds of others. */
  readonly peers: Readonly<Record<string, number>>;
}

function report(
  { device, precision, layout, batch }: Case,
  context: Context,
  { algorithm, ms, error, peers }: Timing,
): void {
  const bytes = 5 * ROWS * batch * (precision === "f64" ? 8 : 4);
  const common = { device: device.name, precision, error };
  const count = device.backend === "cuda" ? together(batch) : 1;
  const how = `${count === 1 ? "" : `one of ${count} in a graph; `}${stopwatch(device).how}`;
  const name = `${batch.toLocaleString("en-US")} systems of ${ROWS} rows, ${layout}, ${algorithm}`;
  if (few(batch)) {
    context.report({
      ...common,
      case: `${name}; ${how}`,
      figure: ms / 1e3,
      unit: "s",
      ...floorOn(device, bytes / H200.copy),
      peers: Object.fromEntries(Object.entries(peers).map(([peer, time]) => [peer, time / 1e3])),
    });
    return;
  }
  context.report({
    ...common,
    case: `${name}, 5 words a row; ${how}`,
    figure: bytes / (ms / 1e3),
    unit: "B/s",
    ...floorOn(device, H200.copy),
    peers: Object.fromEntries(Object.entries(peers).map(([peer, time]) => [peer, bytes / (time / 1e3)])),
  });
}

/**
 * Milliseconds of a copy that reads and writes as many bytes as a solution does, half each, on the same device in the
 * same run.
 */
async function copied({ device, precision, batch }: Case, context: Context): Promise<Record<string, number>> {
  const groups = Math.floor((5 * ROWS * batch) / 2 / COPIED);
  using from = device.createBuffer(precision, groups * COPIED);
  using to = device.createBuffer(precision, groups * COPIED);
  const compiled = await device.compile(copy, { precision });
  const launch = (): void => device.launch(compiled, { from, to }, { groups });
  return { "copy of as many bytes": await milliseconds(device, together(batch), launch, context) };
}

/**
 * Milliseconds of cuSPARSE's solvers for a layout. Those for interleaved systems destroy the matrices: they are
 * computed again each time, untimed.
 */
async function peersOf(one: Case, context: Context, memory: Memory): Promise<Record<string, number>> {
  const device = one.device as CudaDevice;
  const { layout, batch, cuSparse: library } = one;
  if (library === undefined) return {};
  const measured: Record<string, number> = {};
  const methods =
    layout === "contiguous"
      ? [{ name: "gtsv2StridedBatch", ready: () => library.strided(memory.system, ROWS, batch) }]
      : INTERLEAVED.map((name, i) => ({
          name: `gtsvInterleavedBatch ${name}`,
          ready: () => library.interleaved(memory.system, ROWS, batch, i),
        }));
  for (const { name, ready } of methods) {
    const { solve, work } = ready();
    try {
      const all: number[] = [];
      for (let i = 0; i < (context.quick ? 2 : 8); i++) {
        memory.fill();
        const ms = await device.timed(solve);
        if (i > 0) all.push(ms);
      }
      const error = await memory.error();
      // Its QR in f32 reaches 2e-4 in the worst of 67 million rows.
      if (!(error < 1e-3)) throw new Error(`${name}: backward error ${error}: it was not called as it should be`);
      measured[`cuSPARSE ${name}`] = median(all);
    } finally {
      work[Symbol.dispose]();
    }
  }
  return measured;
}

export const benchmark: Benchmark = {
  name: "device-tridiagonal",
  description: "batches of tridiagonal systems on GPUs, and cuSPARSE beside them",
  async run(context) {
    for (const backend of ["cuda", "webgpu"] as const) {
      try {
        using device = await openDevice({ backend });
        await tridiagonal(device, context);
      } catch (error) {
        if (!(error instanceof DeviceUnavailableError)) throw error;
        context.note(`${backend}: ${error.message}`);
      }
    }
  },
};
