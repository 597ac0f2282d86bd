/**
 * Products of sparse matrices on a GPU, format by format, beside the speed of copies: matrices are made there, from a
 * stencil.
 *
 * npx tsx bench/device/main.ts device-sparse
 */
import { type Device, openDevice } from "../../src/device/index.ts";
import { DeviceUnavailableError } from "../../src/errors.ts";
import { convertSparse, SparseOperator, stencilMatrix } from "../../src/linalg/index.ts";
import type { Benchmark, Context } from "../harness.ts";
import { copy, laplace, productOnHost, vectorOf } from "../sparse/matrices.ts";
import { type Stopwatch, stopwatch } from "./stopwatch.ts";

type Real = "f64" | "f32";

/** Formats that are made on the device, with the algorithms of csr. */
const made = [
  { name: "csr scalar", format: "csr", algorithm: "scalar" },
  { name: "csr vector", format: "csr", algorithm: "vector" },
  { name: "csr aligned", format: "csr", algorithm: "aligned" },
  { name: "ell", format: "ell" },
  { name: "dia", format: "dia" },
  { name: "hyb", format: "hyb" },
  { name: "coo", format: "coo" },
] as const;

interface Around {
  readonly watch: Stopwatch;
  readonly precision: Real;
  readonly grid: number;
  /** Bytes per second of a copy. */
  readonly floor: number;
  readonly context: Context;
}

async function copySpeed(watch: Stopwatch, precision: Real, { quick }: Context): Promise<number> {
  const { device } = watch;
  const n = quick ? 100_000 : 40_000_000;
  const compiled = await device.compile(copy, { precision });
  using x = device.createBuffer(precision, n);
  using y = device.createBuffer(precision, n);
  const ms = await watch.milliseconds(() => device.launch(compiled, { x, y }, { items: n }), quick ? 2 : 9);
  return (2 * n * (precision === "f64" ? 8 : 4)) / (ms / 1e3);
}

async function measured(around: Around, name: string, operator: SparseOperator, expected: Float64Array): Promise<void> {
  const { watch, precision, grid, floor, context } = around;
  const { device } = watch;
  using x = device.createBuffer(precision, operator.columns);
  using y = device.createBuffer(precision, operator.rows);
  device.write(x, vectorOf(operator.columns));
  const ms = await watch.milliseconds(() => operator.apply({ x, y }), context.quick ? 2 : 9);
  const got = await device.read(y, 0, expected.length);
  context.report({
    case: `7 points, ${grid}³, ${name}: ${ms.toPrecision(3)} ms; ${watch.how}`,
    device: device.name,
    precision,
    figure: operator.bytes / (ms / 1e3),
    unit: "B/s",
    floor,
    error: expected.reduce((worst, value, i) => Math.max(worst, Math.abs(value - got[i])), 0),
  });
}

/** The first rows of the product, which reach no further than the first layers of nodes. */
const firstRows = (grid: number): Float64Array => {
  const few = stencilMatrix({ ...laplace(grid), shape: [3, grid, grid], rows: 3 * grid ** 2, columns: 3 * grid ** 2 });
  return productOnHost(few).subarray(0, grid ** 2);
};

async function formats(device: Device, precision: Real, context: Context): Promise<void> {
  const watch = stopwatch(device);
  const grid = context.quick ? 12 : 160;
  const floor = await copySpeed(watch, precision, context);
  const around = { watch, precision, grid, floor, context };
  const expected = firstRows(grid);
  for (const { name, format, ...options } of made) {
    using free = await SparseOperator.create(device, laplace(grid), { precision, ...options });
    if (name === "csr scalar") await measured(around, "stencil", free, expected);
    using operator = await free.convert(format);
    await measured(around, name, operator, expected);
  }
  // Blocks and packets are made on the host, where a smaller matrix has to do.
  const small = context.quick ? 12 : 64;
  const matrix = stencilMatrix(laplace(small));
  for (const format of ["bcsr", "pkt"] as const) {
    using operator = await SparseOperator.create(device, convertSparse(matrix, format), { precision });
    await measured({ ...around, grid: small }, format, operator, firstRows(small));
  }
}

async function run(context: Context): Promise<void> {
  context.note("figure: the bytes of the format, each once; floor: bytes of a copy");
  for (const backend of ["cuda", "webgpu"] as const) {
    try {
      using device = await openDevice({ backend });
      for (const precision of ["f64", "f32"] as const)
        if (device.precisions.includes(precision)) await formats(device, precision, context);
    } catch (error) {
      if (!(error instanceof DeviceUnavailableError)) throw error;
      context.note(`${backend}: ${error.message}`);
    }
  }
}

export const benchmark: Benchmark = {
  name: "device-sparse",
  description: "products of sparse matrices on GPUs in every format, beside copies",
  run,
};
