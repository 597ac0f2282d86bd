/**
 * Matrix products on a GPU: our own kernels, tile by tile, beside cuBLAS in the same run, or beside the adapter's peak.
 *
 * npx tsx bench/device/main.ts device-dense
 */
import { type Device, openDevice } from "../../src/device/index.ts";
import { DeviceUnavailableError, KernelError, SpecError } from "../../src/base/errors.ts";
import { DeviceArray, Matmul, matmulSpec, type Tile } from "../../src/numerics/linalg/index.ts";
import type { Benchmark, Context } from "../harness.ts";
import { floorOn, H200 } from "./h200.ts";
import { stopwatch } from "./stopwatch.ts";

type Real = "f64" | "f32";

const tile = (rows: number, columns: number, depth: number, itemRows: number, itemColumns: number): Tile => ({
  rows,
  columns,
  depth,
  itemRows,
  itemColumns,
});

/**
 * What the choice of a tile is made from, at 4,096³; the first is the choice for large matrices, measured at the other
 * sizes too.
 */
const tiles: Readonly<Record<Real, readonly Tile[]>> = {
  f32: [
    tile(256, 128, 8, 8, 16),
    tile(128, 128, 8, 8, 16),
    tile(128, 128, 16, 8, 8),
    tile(128, 128, 8, 8, 8),
    tile(128, 64, 16, 8, 8),
    tile(64, 64, 16, 4, 4),
  ],
  f64: [
    tile(128, 128, 8, 8, 8),
    tile(128, 64, 8, 8, 8),
    tile(64, 64, 8, 8, 8),
    tile(64, 64, 16, 8, 4),
    tile(64, 64, 16, 4, 4),
  ],
};

const textOf = ({ rows, columns, depth, itemRows, itemColumns }: Tile): string =>
  `${rows}×${columns}×${depth}, ${itemRows}×${itemColumns} an item`;

/** Largest error of every 13,999th element of C against a sum in f64 on the host. */
function worst(n: number, a: Numbers, b: Numbers, c: Numbers): number {
  let error = 0;
  for (let k = 0; k < n * n; k += 13_999) {
    const [i, j] = [Math.floor(k / n), k % n];
    let sum = 0;
    for (let p = 0; p < n; p++) sum += a[i * n + p] * b[p * n + j];
    error = Math.max(error, Math.abs(sum - c[k]));
  }
  return error;
}

type Numbers = Float64Array | Float32Array;

function filled(n: number, precision: Real, seed: number): Numbers {
  const values = precision === "f64" ? new Float64Array(n * n) : new Float32Array(n * n);
  let state = seed;
  for (let k = 0; k < values.length; k++) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0;
    values[k] = state / 2 ** 31;
  }
  return values;
}

interface Timed {
  readonly flops: number;
  readonly error: number;
}

async function products(device: Device, precision: Real, n: number, context: Context): Promise<void> {
  const watch = stopwatch(device);
  const [valuesA, valuesB] = [filled(n, precision, 1), filled(n, precision, 2)];
  using a = await DeviceArray.create(device, [n, n], { precision, values: valuesA });
  using b = await DeviceArray.create(device, [n, n], { precision, values: valuesB });
  using c = await DeviceArray.create(device, [n, n], { precision });
  const time = async (settings: { implementation: "library" | "kernel"; tile?: Tile }): Promise<Timed> => {
    const spec = matmulSpec({ rows: n, inner: n, columns: n, precision, ...settings });
    using product = await Matmul.create(device, spec);
    c.upload(new (valuesA.constructor as typeof Float64Array)(n * n));
    const ms = await watch.milliseconds(() => product.run({ a, b, c }), context.quick ? 2 : 9);
    return { flops: (2 * n ** 3) / (ms / 1e3), error: worst(n, valuesA, valuesB, await c.download()) };
  };
  const library = await optional(() => time({ implementation: "library" }), context);
  const peers = library === undefined ? {} : { peers: { cuBLAS: library.flops } };
  if (library !== undefined) {
    context.report({
      case: `C = A·B, ${n}³, cuBLAS through Matmul; ${watch.how}`,
      device: device.name,
      precision,
      figure: library.flops,
      unit: "flop/s",
      error: library.error,
    });
  }
  for (const one of n === 4096 || context.quick ? tiles[precision] : tiles[precision].slice(0, 1)) {
    const own = await optional(() => time({ implementation: "kernel", tile: one }), context);
    if (own === undefined) continue;
    context.report({
      case: `C = A·B, ${n}³, own kernel, tile ${textOf(one)}; ${watch.how}`,
      device: device.name,
      precision,
      figure: own.flops,
      unit: "flop/s",
      error: own.error,
      ...floorOn(device, H200.flops[precision]),
      ...peers,
    });
  }
}

/** Undefined, with a note, where the device has no such library, or no room for the tile. */
async function optional(work: () => Promise<Timed>, context: Context): Promise<Timed | undefined> {
  try {
    return await work();
  } catch (error) {
    const expected = [DeviceUnavailableError, KernelError, SpecError].some((kind) => error instanceof kind);
    if (!expected) throw error;
    context.note((error as Error).message);
    return undefined;
  }
}

async function run(context: Context): Promise<void> {
  for (const backend of ["cuda", "webgpu"] as const) {
    try {
      using device = await openDevice({ backend });
      for (const precision of ["f32", "f64"] as const) {
        if (!device.precisions.includes(precision)) continue;
        for (const n of context.quick ? [256] : [1024, 4096, 8192]) await products(device, precision, n, context);
      }
    } catch (error) {
      if (!(error instanceof DeviceUnavailableError)) throw error;
      context.note(`${backend}: ${error.message}`);
    }
  }
}

export const benchmark: Benchmark = {
  name: "device-dense",
  description: "matrix products on GPUs: our own kernels beside cuBLAS, and beside what the hardware gives",
  run,
};
