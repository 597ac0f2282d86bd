/** Small dense systems of linear equations. */

/** Below this part of its length, what a row has beside others is rounding. */
const ROUNDING = 1e-11;

/** Returns the number of the first row that is a combination of those before it; −1 if none is. */
export function firstDependent(matrix: readonly Float64Array[]): number {
  const dot = (a: Float64Array, b: Float64Array): number => a.reduce((sum, value, k) => sum + value * b[k], 0);
  const basis: Float64Array[] = [];
  return matrix.findIndex((row) => {
    const rest = Float64Array.from(row);
    for (const unit of basis) {
      const part = dot(rest, unit);
      unit.forEach((value, k) => (rest[k] -= part * value));
    }
    const length = Math.sqrt(dot(rest, rest));
    basis.push(rest.map((value) => value / length));
    return length <= ROUNDING * Math.sqrt(dot(row, row));
  });
}

/** Solves A·X = B by elimination with partial pivoting. `right` has the rows of B; the result has those of X. */
export function solveDense(matrix: readonly Float64Array[], right: readonly Float64Array[]): Float64Array[] {
  const n = matrix.length;
  const width = n + (right[0]?.length ?? 0);
  const rows = matrix.map((row, k) => {
    const whole = new Float64Array(width);
    whole.set(row);
    whole.set(right[k], n);
    return whole;
  });
  for (let k = 0; k < n; k++) {
    let pivot = k;
    for (let i = k + 1; i < n; i++) if (Math.abs(rows[i][k]) > Math.abs(rows[pivot][k])) pivot = i;
    [rows[k], rows[pivot]] = [rows[pivot], rows[k]];
    for (let i = k + 1; i < n; i++) subtract(rows[i], rows[k], rows[i][k] / rows[k][k], k);
  }
  for (let i = n - 1; i >= 0; i--) {
    const row = rows[i];
    for (let j = i + 1; j < n; j++) subtract(row, rows[j], row[j], n);
    for (let j = n; j < width; j++) row[j] /= row[i];
  }
  return rows.map((row) => row.subarray(n));
}

/** Subtracts a multiple of another row, from a column on. */
export function subtract(row: Float64Array, other: Float64Array, multiple: number, from = 0): void {
  if (multiple === 0) return;
  for (let j = from; j < row.length; j++) row[j] -= multiple * other[j];
}
