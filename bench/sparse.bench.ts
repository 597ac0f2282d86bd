/** Products of sparse matrices in every format, beside the speed of copies and SciPy's CSR. */
import { createCpuDevice } from "../src/device/cpu/index.ts";
import type { Device } from "../src/device/index.ts";
import {
  convertSparse,
  type CsrMatrix,
  type OperatorOptions,
  type SparseMatrix,
  SparseOperator,
  type Stencil,
  stencilMatrix,
} from "../src/numerics/linalg/index.ts";
import { type Benchmark, type Context, medianSeconds } from "./harness.ts";
import { openScipy } from "./peers/scipy.ts";
import { copy, laplace, powerLaw, productOnHost, vectorOf } from "./sparse/matrices.ts";

type Real = "f64" | "f32";

/** Bytes per second that a copy of 64 MB reads and writes. */
async function copySpeed(device: Device, precision: Real, repetitions: number): Promise<number> {
  const n = 8_000_000;
  const compiled = await device.compile(copy, { precision });
  using x = device.createBuffer(precision, n);
  using y = device.createBuffer(precision, n);
  const seconds = await medianSeconds(repetitions, async () => {
    device.launch(compiled, { x, y }, { items: n });
    await device.finish();
  });
  return (2 * n * (precision === "f64" ? 8 : 4)) / seconds;
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
