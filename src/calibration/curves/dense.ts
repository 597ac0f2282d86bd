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

/** Solves A·x = b for several right-hand sides, by elimination with partial pivoting. */
export function solveDense(matrix: readonly Float64Array[], sides: readonly Float64Array[]): Float64Array[] {
  const n = matrix.length;
  const width = n + sides.length;
  const rows = matrix.map((row, k) => {
    const whole = new Float64Array(width);
    whole.set(row);
    for (let side = 0; side < sides.length; side++) whole[n + side] = sides[side][k];
    return whole;
  });
  for (let k = 0; k < n; k++) {
    let pivot = k;
    for (let i = k + 1; i < n; i++) if (Math.abs(rows[i][k]) > Math.abs(rows[pivot][k])) pivot = i;
    [rows[k], rows[pivot]] = [rows[pivot], rows[k]];
    const top = rows[k];
    for (let i = k + 1; i < n; i++) {
      const row = rows[i];
      const factor = row[k] / top[k];
      if (factor !== 0) for (let j = k; j < width; j++) row[j] -= factor * top[j];
    }
  }
  return sides.map((_, side) => {
    const x = new Float64Array(n);
    for (let i = n - 1; i >= 0; i--) {
      const row = rows[i];
      let sum = row[n + side];
      for (let j = i + 1; j < n; j++) sum -= row[j] * x[j];
      x[i] = sum / row[i];
    }
    return x;
  });
}
