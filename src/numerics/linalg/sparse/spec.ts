import { checkFields, checkOneOf } from "../../../base/argument-checks.ts";
import type { Precision } from "../../../kernel/index.ts";

/** The options of `SparseOperator.create`. @stable */
export interface OperatorOptions {
  /** The precision, "f64" by default; f32x2 on a device that only emulates f64. */
  readonly precision?: Precision;
  /**
   * The algorithm of csr: one item per row ("scalar"), `lanes` items per row ("vector"), or `lanes` items that begin to
   * read at multiples of `lanes` ("aligned"). By default scalar on CPUs and vector on GPUs.
   */
  readonly algorithm?: CsrAlgorithm;
  /**
   * The number of items for each row of csr, a power of two from 2 to 32. By default it depends on the mean length of a
   * row.
   */
  readonly lanes?: 2 | 4 | 8 | 16 | 32;
}

/** Checks the options of an operator. @throws SpecError */
export function checkOptions(options: OperatorOptions): void {
  checkFields("SparseOperator", options, ["precision", "algorithm", "lanes"]);
  const { precision = "f64", algorithm, lanes } = options;
  checkOneOf("SparseOperator: precision", precision, ["f64", "f32", "f32x2"]);
  checkOneOf("SparseOperator: algorithm", algorithm, [undefined, "scalar", "vector", "aligned"]);
  checkOneOf("SparseOperator: lanes", lanes, [undefined, 2, 4, 8, 16, 32]);
}

/**
 * The number of entries of a row that an item of csr loads before it adds the first, so that several loads are in
 * flight.
 */
export const ENTRIES_PER_LOAD = 4;

/**
 * Returns the number of work items for each row: the smallest number that loads a row of mean length at once, so that
 * few rows wait for the sums of others.
 */
export function lanesPerRow(rows: number, entries: number): 2 | 4 | 8 | 16 | 32 {
  const mean = entries / Math.max(rows, 1);
  return ([2, 4, 8, 16] as const).find((lanes) => ENTRIES_PER_LOAD * lanes >= mean) ?? 32;
}

/** The algorithm of the product of compressed rows. @stable */
export type CsrAlgorithm = "scalar" | "vector" | "aligned";
