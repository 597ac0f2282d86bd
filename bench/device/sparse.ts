/**
 * Products of sparse matrices on a GPU, format by format, beside the speed of copies and cuSPARSE in the same run:
 * matrices are made there, from a stencil.
 *
 * npx tsx bench/device/main.ts device-sparse
 */
import { type CudaDevice, type Device, openDevice } from "../../src/device/index.ts";
import { DeviceUnavailableError } from "../../src/base/errors.ts";
import { convertSparse, SparseOperator, stencilMatrix } from "../../src/numerics/linalg/index.ts";
import type { Benchmark, Context } from "../harness.ts";
import { laplace, productOnHost, vectorOf } from "../sparse/matrices.ts";
import { CuSparseProducts, type PeerProduct } from "./cusparse-product.ts";
import { copySpeed } from "./memory.ts";
import { type Stopwatch, stopwatch } from "./stopwatch.ts";

type Real = "f64" | "f32";

/** Formats that are made on the device, with the algorithms of csr. */
const made = [
  { name: "csr scalar", format: "csr", algorithm: "scalar" },
  { name: "csr vector", format: "csr", algorithm: "vector" },
  { name: "csr vector, 4 items a row", format: "csr", algorithm: "vector", lanes: 4 },
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
  /** Seconds of cuSPARSE's products. */
  readonly peers?: Readonly<Partial<Record<"csr" | "sell", number>>>;
}

async function measured(around: Around, name: string, operator: SparseOperator, expected: Float64Array): Promise<void> {
  const { watch, precision, grid, floor, context, peers = {} } = around;
  const { device } = watch;
  using x = device.createBuffer(precision, operator.columns);
  using y = device.createBuffer(precision, operator.rows);
  device.write(x, vectorOf(operator.columns));
  const ms = await watch.milliseconds(() => operator.apply({ x, y }), context.quick ? 2 : 9);
  const got = await device.read(y, 0, expected.length);
  context.report({
    case: `7 points, ${grid}³ nodes, ${name}`,
    device: device.name,
    precision,
    figure: ms / 1e3,
    unit: "s",
    floor: operator.bytes / floor,
    error: worstError(expected, got),
    ...(operator.format === "csr" && peers.csr !== undefined ? { peers: { "cuSPARSE CSR": peers.csr } } : {}),
    ...(operator.format === "ell" && peers.sell !== undefined ? { peers: { "cuSPARSE SELL": peers.sell } } : {}),
  });
}

const worstError = (expected: Float64Array, got: ArrayLike<number>): number =>
  expected.reduce((worst, value, i) => Math.max(worst, Math.abs(value - got[i])), 0);

/** Rows of a slice of cuSPARSE's sliced ELL: a warp's. */
const SLICE = 32;

/** Seconds of cuSPARSE's products with the same matrix. */
async function peersOf(
  { watch, precision, grid, context }: Around,
  csr: SparseOperator,
  expected: Float64Array,
): Promise<NonNullable<Around["peers"]>> {
  const device = watch.device as CudaDevice;
  const { rows, columns } = csr;
  const { starts, column, values } = csr.arrays;
  const shape = { precision, rows, columns, entries: column.length };
  using x = device.createBuffer(precision, columns);
  using y = device.createBuffer(precision, rows);
  device.write(x, vectorOf(columns));
  using library = new CuSparseProducts(device);
  const seconds = async (name: string, product: PeerProduct): Promise<number> => {
    using recorded = product;
    const ms = await watch.milliseconds(() => recorded.record(), context.quick ? 2 : 9);
    const error = worstError(expected, await device.read(y, 0, expected.length));
    context.note(`${precision}, ${grid}³, cuSPARSE ${name}: ${ms.toPrecision(3)} ms, error ${error.toExponential(1)}`);
    return ms / 1e3;
  };
  const rowsSeconds = await seconds("CSR", library.csr(shape, { starts, column, values }, { x, y }));
  const sliced = slicesOf(grid);
  using sliceStarts = device.createBuffer("i32", sliced.starts.length);
  using slicedColumn = device.createBuffer("i32", sliced.column.length);
  using slicedValues = device.createBuffer(precision, sliced.values.length);
  device.write(sliceStarts, sliced.starts);
  device.write(slicedColumn, sliced.column);
  device.write(slicedValues, sliced.values);
  const arrays = { starts: sliceStarts, column: slicedColumn, values: slicedValues };
  return { csr: rowsSeconds, sell: await seconds("SELL", library.sell(shape, SLICE, arrays, { x, y })) };
}

interface Slices {
  readonly starts: Int32Array;
  readonly column: Int32Array;
  readonly values: Float64Array;
}

const madeSlices = new Map<number, Slices>();
/** Made once a grid: seconds, of a large one. */
function slicesOf(grid: number): Slices {
  const made = madeSlices.get(grid) ?? newSlices(grid);
  madeSlices.set(grid, made);
  return made;
}

/** The seven-point Laplacian in slices, entries in the order of their columns. */
function newSlices(grid: number): Slices {
  const rows = grid ** 3;
  const slices = Math.ceil(rows / SLICE);
  const starts = Int32Array.from({ length: slices + 1 }, (_, k) => 7 * SLICE * k);
  const column = new Int32Array(7 * SLICE * slices).fill(-1);
  const values = new Float64Array(column.length);
  const strides = [grid * grid, grid, 1];
  for (let i = 0; i < rows; i++) {
    const at = [Math.floor(i / strides[0]), Math.floor(i / grid) % grid, i % grid];
    let place = 7 * SLICE * Math.floor(i / SLICE) + (i % SLICE);
    const add = (j: number, value: number): void => {
      column[place] = j;
      values[place] = value;
      place += SLICE;
    };
    for (let a = 0; a < 3; a++) if (at[a] > 0) add(i - strides[a], -1);
    add(i, 6);
    for (let a = 2; a >= 0; a--) if (at[a] < grid - 1) add(i + strides[a], -1);
  }
  return { starts, column, values };
}

/** The first rows of the product, which reach no further than the first layers of nodes. */
const firstRows = (grid: number): Float64Array => {
  const few = stencilMatrix({ ...laplace(grid), shape: [3, grid, grid], rows: 3 * grid ** 2, columns: 3 * grid ** 2 });
  return productOnHost(few).subarray(0, grid ** 2);
};

async function formats(
  watch: Stopwatch,
  precision: Real,
  grid: number,
  floor: number,
  context: Context,
): Promise<void> {
  const { device } = watch;
  const expected = firstRows(grid);
  let around: Around = { watch, precision, grid, floor, context };
  if (device.backend === "cuda") {
    try {
      using free = await SparseOperator.create(device, laplace(grid), { precision });
      using rows = await free.convert("csr");
      around = { ...around, peers: await peersOf(around, rows, expected) };
    } catch (error) {
      context.note(`no cuSPARSE: ${(error as Error).message.split("\n")[0]}`);
    }
  }
  for (const { name, format, ...options } of made) {
    // Through WebGPU every case warms up for a second.
    if ("lanes" in options && device.backend === "webgpu") continue;
    using free = await SparseOperator.create(device, laplace(grid), { precision, ...options });
    if (name === "csr scalar") await measured(around, "stencil", free, expected);
    using operator = await free.convert(format);
    await measured(around, name, operator, expected);
  }
}

/** Blocks and packets are made on the host, where a smaller matrix has to do. */
async function formatsOfHost(watch: Stopwatch, precision: Real, floor: number, context: Context): Promise<void> {
  const small = context.quick ? 12 : 64;
  const matrix = stencilMatrix(laplace(small));
  for (const format of ["bcsr", "pkt"] as const) {
    using operator = await SparseOperator.create(watch.device, convertSparse(matrix, format), { precision });
    await measured({ watch, precision, grid: small, floor, context }, format, operator, firstRows(small));
  }
}

/** 4.1 and 16.8 million rows; through WebGPU, where every case warms up for a second, the smaller one. */
const gridsOf = (backend: Device["backend"], isQuick: boolean): readonly number[] =>
  isQuick ? [12] : backend === "webgpu" ? [160] : [160, 256];

async function run(context: Context): Promise<void> {
  context.note("floor: the bytes of the format, each once, at the speed of a copy");
  for (const backend of ["cuda", "webgpu"] as const) {
    try {
      using device = await openDevice({ backend });
      const watch = stopwatch(device);
      context.note(`${device.name}: ${watch.how}`);
      for (const precision of ["f64", "f32"] as const) {
        if (!device.precisions.includes(precision)) continue;
        const floor = await copySpeed(watch, precision, context.quick);
        for (const grid of gridsOf(backend, context.quick)) await formats(watch, precision, grid, floor, context);
        await formatsOfHost(watch, precision, floor, context);
      }
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
