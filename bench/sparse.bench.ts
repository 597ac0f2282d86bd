/** Products of sparse matrices in every format, beside the speed of copies and SciPy's CSR. */
import { createCpuDevice } from "../src/device/cpu/index.ts";
import type { Device } from "../src/device/index.ts";
import { i32, kernel, read, real, write } from "../src/kernel/index.ts";
import {
  convertSparse,
  type CsrMatrix,
  type OperatorOptions,
  sparseMatrix,
  type SparseMatrix,
  SparseOperator,
  stencil,
  type Stencil,
  stencilMatrix,
} from "../src/linalg/index.ts";
import { type Benchmark, type Context, medianSeconds } from "./harness.ts";
import { openScipy } from "./peers/scipy.ts";

type Real = "f64" | "f32";

const copy = kernel({
  name: "copy",
  params: { n: i32, x: read(real), y: write(real) },
  body({ x, y }, gpu) {
    const i = gpu.globalId();
    y[i] = x[i];
  },
});

/** Bytes per second that a copy of 64 MB reads and writes. */
async function copySpeed(device: Device, precision: Real, repetitions: number): Promise<number> {
  const n = 8_000_000;
  const compiled = await device.compile(copy, { precision });
  using x = device.createBuffer(precision, n);
  using y = device.createBuffer(precision, n);
  const seconds = await medianSeconds(repetitions, async () => {
    device.launch(compiled, { n, x, y }, { items: n });
    await device.finish();
  });
  return (2 * n * (precision === "f64" ? 8 : 4)) / seconds;
}

const sevenPoints = [
  [0, 0, 0],
  [0, 0, 1],
  [0, 0, -1],
  [0, 1, 0],
  [0, -1, 0],
  [1, 0, 0],
  [-1, 0, 0],
];
const laplace = (grid: number): Stencil =>
  stencil({ shape: [grid, grid, grid], points: sevenPoints, coefficient: [6, -1, -1, -1, -1, -1, -1] });

/** Rows of very different lengths, at random columns. */
function powerLaw(rows: number): CsrMatrix {
  let state = 1;
  const next = (): number => (state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0) / 2 ** 32;
  const [row, column]: number[][] = [[], []];
  for (let i = 0; i < rows; i++) {
    const length = Math.min(1000, Math.ceil(2 / Math.sqrt(next() + 1e-6)));
    for (let k = 0; k < length; k++) {
      row.push(i);
      column.push(Math.floor(next() * rows));
    }
  }
  return sparseMatrix({ rows, columns: rows, row, column, values: row.map(() => 1), duplicates: "sum" });
}

type Case = readonly [name: string, matrix: SparseMatrix | Stencil, options?: OperatorOptions];

function cases(matrix: CsrMatrix, name: string, from?: Stencil): readonly Case[] {
  const common: readonly Case[] = [
    [`${name}, csr scalar`, matrix, { algorithm: "scalar" }],
    [`${name}, csr vector`, matrix, { algorithm: "vector" }],
    [`${name}, csr aligned`, matrix, { algorithm: "aligned" }],
    [`${name}, coo`, convertSparse(matrix, "coo")],
    [`${name}, hyb`, convertSparse(matrix, "hyb")],
    [`${name}, bcsr 2×2`, convertSparse(matrix, "bcsr")],
    [`${name}, pkt`, convertSparse(matrix, "pkt", { order: "natural" })],
  ];
  if (from === undefined) return common;
  return [
    ...common,
    [`${name}, ell`, convertSparse(matrix, "ell")],
    [`${name}, dia`, convertSparse(matrix, "dia")],
    [`${name}, stencil`, from],
  ];
}

interface Around {
  readonly device: Device;
  readonly precision: Real;
  readonly context: Context;
  readonly floor: number;
  readonly peers: { readonly peers?: Readonly<Record<string, number>> };
}

/** Bytes of compressed rows, by which all formats of one matrix can be compared. */
const bytesOfRows = ({ rows, columns, column }: CsrMatrix, precision: Real): number => {
  const word = precision === "f64" ? 8 : 4;
  return column.length * (word + 4) + 4 * (rows + 1) + (rows + columns) * word;
};

async function measured(around: Around, [name, matrix, options = {}]: Case, expected: Float64Array): Promise<void> {
  const { device, precision, context, floor, peers } = around;
  using operator = await SparseOperator.create(device, matrix, { ...options, precision });
  using x = device.createBuffer(precision, matrix.columns);
  using y = device.createBuffer(precision, matrix.rows);
  device.write(x, vectorOf(matrix.columns));
  const seconds = await medianSeconds(context.quick ? 3 : 11, async () => {
    operator.apply({ x, y });
    await device.finish();
  });
  const got = await device.read(y);
  context.report({
    case: `${name}: ${(seconds * 1e3).toPrecision(3)} ms`,
    device: context.cpu,
    precision,
    figure: operator.bytes / seconds,
    unit: "B/s",
    floor,
    error: expected.reduce((worst, value, i) => Math.max(worst, Math.abs(value - got[i])), 0),
    ...peers,
  });
}

const vectorOf = (n: number): Float64Array => Float64Array.from({ length: n }, (_, i) => Math.sin(i));

function productOnHost({ rows, columns, starts, column, values }: CsrMatrix): Float64Array {
  const x = vectorOf(columns);
  return Float64Array.from({ length: rows }, (_, i) => {
    let sum = 0;
    for (let k = starts[i]; k < starts[i + 1]; k++) sum += values[k] * x[column[k]];
    return sum;
  });
}

async function run(context: Context): Promise<void> {
  const scipy = openScipy((text) => context.note(text));
  const grid = context.quick ? 20 : 100;
  context.note("figure: the bytes of the format, each once, in the median time; floor: bytes of a copy of 64 MB");
  using device = createCpuDevice({ threads: 1 });
  const from = laplace(grid);
  const matrix = stencilMatrix(from);
  const irregular = powerLaw(context.quick ? 2000 : 400_000);
  for (const precision of ["f64", "f32"] as const) {
    const floor = await copySpeed(device, precision, context.quick ? 3 : 11);
    const seconds = scipy?.product(grid, precision, context.quick ? 3 : 11);
    const peers = seconds === undefined ? {} : { peers: { "SciPy, csr": bytesOfRows(matrix, precision) / seconds } };
    const around = { device, precision, context, floor, peers };
    const expected = productOnHost(matrix);
    for (const one of cases(matrix, `7 points, ${grid}³`, from)) await measured(around, one, expected);
    const other = productOnHost(irregular);
    for (const one of cases(irregular, `lengths by a power law, ${irregular.rows} rows`))
      await measured({ ...around, peers: {} }, one, other);
  }
}

export const benchmark: Benchmark = {
  name: "sparse",
  description: "products of sparse matrices on one core in every format, beside copies and SciPy",
  run,
};
