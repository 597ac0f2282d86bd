import type { DriverCorrelations } from "../book/index.ts";
import { BookError } from "../base/errors.ts";

/** Correlations of a singular matrix that somebody has rounded to nine digits make an eigenvalue as far below 0. */
const ROUNDED = 1e-9;

/**
 * Returns the error of a correlation matrix that is not valid, which names the nearest valid one (Higham 2002);
 * undefined for a valid matrix.
 */
export async function problemOf({ names, matrix }: DriverCorrelations): Promise<BookError | undefined> {
  // Linear algebra is loaded where there are correlations.
  const { isPositiveSemidefinite, nearestCorrelation } = await import("../numerics/linalg/index.ts");
  if (isPositiveSemidefinite(matrix.flat(), { relative: ROUNDED })) return undefined;
  const { values } = nearestCorrelation(matrix.flat());
  const n = names.length;
  const list = (valueOf: (i: number, j: number) => number): string =>
    names.flatMap((a, i) => names.slice(i + 1).map((b, k) => JSON.stringify([a, b, valueOf(i, i + 1 + k)]))).join(", ");
  return new BookError(
    "market.correlations",
    `the matrix of ${list((i, j) => matrix[i][j])} is not positive semi-definite: no prices have such correlations; ` +
      `the nearest that some have: ${list((i, j) => rounded(values[i * n + j]))}`,
  );
}

/** Rounds to four digits towards zero, so that the matrix stays positive semi-definite. */
const rounded = (value: number): number => Math.trunc(value * 1e4) / 1e4;
