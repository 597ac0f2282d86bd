/** Systems of SciPy and LAPACK, and how to solve one. */
import type { Device } from "../../../src/device/index.ts";
import type { Precision } from "../../../src/kernel/index.ts";
import {
  type CsrMatrix,
  type KrylovOptions,
  type KrylovResult,
  KrylovSolver,
  krylovSpec,
  type Preconditioner,
  sparseMatrix,
  SparseOperator,
} from "../../../src/numerics/linalg/index.ts";
import { readFixture } from "../../support/fixtures.ts";
import { uploaded } from "./sparse-support.ts";

interface Known {
  readonly name: string;
  readonly rows: number;
  readonly row: readonly number[];
  readonly column: readonly number[];
  readonly values: readonly number[];
  readonly b: readonly number[];
  readonly condition: number | null;
  /** LAPACK's dgesv; null of singular matrices. */
  readonly x: readonly number[] | null;
}

export const { systems, products } = readFixture("sparse/systems.json") as {
  systems: readonly Known[];
  products: readonly (Known & { readonly columns: number; readonly y: readonly number[] })[];
};

export const systemNamed = (name: string): Known => systems.find((one) => one.name === name)!;

export const matrixOf = ({ rows, row, column, values }: Known): CsrMatrix =>
  sparseMatrix({ rows, columns: rows, row, column, values });

export type PreconditionerOf = (operator: SparseOperator) => Promise<Preconditioner | undefined>;

/** Solves once, from x = 0, or from `guess`. */
export async function solved(
  device: Device,
  precision: Precision,
  system: Known,
  options: KrylovOptions,
  { preconditioner, guess }: { preconditioner?: PreconditionerOf | undefined; guess?: readonly number[] } = {},
): Promise<{ readonly result: KrylovResult; readonly x: ArrayLike<number> }> {
  using operator = await SparseOperator.create(device, matrixOf(system), { precision });
  const m = await preconditioner?.(operator);
  try {
    using solver = await KrylovSolver.create(operator, krylovSpec(options), m);
    using b = uploaded(device, precision, Float64Array.from(system.b));
    using x = uploaded(device, precision, Float64Array.from(guess ?? system.b.map(() => 0)));
    const result = await solver.solve({ b, x });
    return { result, x: await device.read(x) };
  } finally {
    m?.[Symbol.dispose]();
  }
}

/** ‖b − A·x‖₂ in f64 on the host. */
export function residualOf({ rows, row, column, values, b }: Known, x: ArrayLike<number>): number {
  const r = Float64Array.from(b);
  for (let k = 0; k < row.length; k++) r[row[k]] -= values[k] * x[column[k]];
  return norm(r.subarray(0, rows));
}

export const norm = (x: ArrayLike<number>): number =>
  Math.sqrt(Array.from(x).reduce((sum, value) => sum + value ** 2, 0));
