/** Matrices, oracles and measures for the tests of numerics/linalg/sparse and numerics/linalg/krylov. */
import type { Device, DeviceBuffer } from "../../../src/device/index.ts";
import type { Precision } from "../../../src/kernel/index.ts";
import { type CsrMatrix, sparseMatrix } from "../../../src/numerics/linalg/index.ts";
import type { TestDevice } from "../../support/devices.ts";
import { product, rounded, worstOf } from "./dense-reference.ts";

/** Uniform in ±1, the same every time. */
export function uniform(seed: number): () => number {
  let state = Math.imul(seed, 2_654_435_761) + 12_345;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0;
    return state / 2 ** 31;
  };
}

/** A matrix whose row i has the columns that `columnsOf` gives, with random values. */
export function matrixOf(
  rows: number,
  columns: number,
  columnsOf: (i: number) => readonly number[],
  precision: Precision = "f64",
): CsrMatrix {
  const next = uniform(rows + 7 * columns);
  const entries = Array.from({ length: rows }, (_, i) => [...new Set(columnsOf(i))].map((j) => ({ i, j }))).flat();
  return sparseMatrix({
    rows,
    columns,
    row: entries.map(({ i }) => i),
    column: entries.map(({ j }) => j),
    values: entries.map(() => rounded(next(), precision)),
  });
}

const range = (from: number, to: number): number[] =>
  Array.from({ length: Math.max(0, to - from) }, (_, k) => from + k);

/** Matrices of every kind that the formats find hard. */
export function matrices(precision: Precision): Readonly<Record<string, CsrMatrix>> {
  const next = uniform(3);
  const random = (count: number, columns: number): number[] =>
    range(0, count).map(() => Math.min(columns - 1, Math.floor(((next() + 1) / 2) * columns)));
  const make = (rows: number, columns: number, columnsOf: (i: number) => readonly number[]): CsrMatrix =>
    matrixOf(rows, columns, columnsOf, precision);
  return {
    "by hand": sparseMatrix({ rows: 2, columns: 3, row: [0, 0, 1], column: [0, 2, 1], values: [1, 2, 3] }),
    random: make(301, 301, () => random(7, 301)),
    wide: make(70, 513, (i) => random(i % 11, 513)),
    tall: make(513, 70, (i) => random(i % 5, 70)),
    banded: make(260, 260, (i) => range(Math.max(0, i - 2), Math.min(260, i + 3))),
    "empty rows": make(200, 200, (i) => (i % 3 === 1 ? random(4, 200) : [])),
    "one dense row": make(600, 600, (i) => (i === 77 ? range(0, 600) : [i])),
    empty: make(40, 40, () => []),
    "no rows": make(0, 5, () => []),
    "a row": make(1, 3000, () => range(0, 3000)),
  };
}

/** Numbers that arrive on the device as they are. */
export function vector(length: number, seed: number, precision: Precision): Float64Array {
  const next = uniform(seed);
  return Float64Array.from({ length }, () => rounded(next(), precision));
}

/**
 * The largest error of y ← α·A·x + β·y, row by row, in units of γ(n + 2)·(|α||A||x| + |β||y|), n the entries of the
 * row.
 */
export function worstProduct(
  matrix: CsrMatrix,
  precision: Precision,
  given: { x: Float64Array; y: Float64Array; alpha: number; beta: number },
  got: ArrayLike<number>,
): number {
  const { rows, starts, column, values } = matrix;
  const { x, y, alpha, beta } = given;
  let worst = got.length === rows ? 0 : Infinity;
  for (let i = 0; i < rows; i++) {
    const inner = starts[i + 1] - starts[i];
    const row = { rows: 1, columns: inner, values: [...values.subarray(starts[i], starts[i + 1])] };
    const part = { rows: inner, columns: 1, values: [...column.subarray(starts[i], starts[i + 1])].map((j) => x[j]) };
    const c = { rows: 1, columns: 1, values: [y[i]] };
    worst = Math.max(worst, worstOf([got[i]], product(precision, row, part, { alpha, beta, c })));
  }
  return worst;
}

/**
 * Devices with the precisions that are worth a test: the emulator of CUDA computes f32 as it does f64, and takes
 * seconds to compile.
 */
export function devicePairs(devices: readonly TestDevice[]) {
  const all = devices.flatMap(({ label, device, missing }) =>
    (device?.precisions ?? (["f64"] as const)).map((precision) => ({ label, device, missing, precision })),
  );
  return all.filter(({ label, precision }) => label !== "cuda, emulated" || precision === "f64");
}

export function uploaded(device: Device, precision: Precision, values: Float64Array): DeviceBuffer<"f64" | "f32"> {
  const buffer = device.createBuffer(precision === "f32" ? "f32" : "f64", values.length);
  device.write(buffer, values);
  return buffer;
}
