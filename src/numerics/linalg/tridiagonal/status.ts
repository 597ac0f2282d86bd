/** The status of one system. Rows count from 0. @stable */
export type SystemStatus =
  | { readonly kind: "ok" }
  /**
   * The pivot of this row was exactly zero: with partial pivoting the matrix is singular, without it elimination broke
   * down.
   */
  | { readonly kind: "zero-pivot"; readonly row: number }
  /** The solution has an infinity or a NaN: something overflowed, or was not finite to begin with. */
  | { readonly kind: "not-finite" }
  /** A periodic matrix that is singular to working precision. */
  | { readonly kind: "singular" };

/** The number of a system without a solution in its batch, with its status. @stable */
export interface Failure {
  readonly system: number;
  readonly status: Exclude<SystemStatus, { readonly kind: "ok" }>;
}

/**
 * The status word of a system whose solution is not finite. Other words are 0 (ok), and k + 1 for a zero pivot at row
 * k, as LAPACK's `info`.
 */
export const NOT_FINITE = -1;
/** The status word of a singular periodic system. */
export const SINGULAR = -2;

/** Returns the status that a status word stands for. */
export function statusOf(word: number): SystemStatus {
  if (word === 0) return { kind: "ok" };
  if (word === NOT_FINITE) return { kind: "not-finite" };
  return word === SINGULAR ? { kind: "singular" } : { kind: "zero-pivot", row: word - 1 };
}

/** Returns the failures of a batch from the status words of its systems. */
export function failuresOf(words: Int32Array): Failure[] {
  const failures: Failure[] = [];
  words.forEach((word, system) => {
    const status = statusOf(word);
    if (status.kind !== "ok") failures.push({ system, status });
  });
  return failures;
}

/**
 * Describes a status in words, for messages.
 *
 * @param status of a system, as `TridiagonalSolver.failures` gives it.
 * @example
 * import { describeStatus } from "feynkac/linalg";
 *
 * console.log(describeStatus({ kind: "zero-pivot", row: 3 })); // zero pivot at row 3
 * @stable
 */
export function describeStatus(status: SystemStatus): string {
  return status.kind === "zero-pivot" ? `zero pivot at row ${status.row}` : status.kind.replace("-", " ");
}

/**
 * The code in kernels of a system whose solution is not finite. The smallest code of a system's rows is its status: the
 * row of a zero pivot, this, or ok.
 */
const CODE_NOT_FINITE = 0x7ffffffe;
/** The code of a solved system inside kernels. */
export const CODE_OK = 0x7fffffff;
/** The codes of a solved system and of one whose solution is not finite, by their names in kernels. */
export const CODES = { ok: CODE_OK, notFinite: CODE_NOT_FINITE } as const;
