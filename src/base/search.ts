/** Binary searches in ascending lists. */

/**
 * Returns the first index from `low` on at which a condition holds, or `high` if it holds at none before. Where it
 * holds, it must hold at all later indices, too.
 */
export function firstIndex(low: number, high: number, holds: (index: number) => boolean): number {
  while (low < high) {
    const middle = (low + high) >> 1;
    if (holds(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** Returns the first index whose value is at least x, or the number of values. The values must ascend. */
export const firstNotBefore = (values: ArrayLike<number>, x: number): number =>
  firstIndex(0, values.length, (i) => values[i] >= x);

/**
 * Returns the index of the cell between ascending ends that contains x: ends[i] ≤ x < ends[i + 1]. What lies outside
 * belongs to the first or the last cell.
 */
export const cellAt = (ends: ArrayLike<number>, x: number): number =>
  firstIndex(1, ends.length - 1, (i) => ends[i] > x) - 1;
