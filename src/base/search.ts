/** Binary searches in ascending lists. */

/**
 * Returns the first index from `low` to `high` − 1 at which a condition holds, or `high` if there is none, by
 * bisection. If the condition holds at an index, it must hold at all later ones, too.
 */
export function firstIndex(low: number, high: number, holds: (index: number) => boolean): number {
  while (low < high) {
    const middle = (low + high) >> 1;
    if (holds(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}

/**
 * Returns the index of the first value that is at least x, or the number of values if there is none. The values must
 * ascend.
 */
export const firstNotBefore = (values: ArrayLike<number>, x: number): number =>
  firstIndex(0, values.length, (i) => values[i] >= x);

/**
 * Returns the index i of the cell between ascending ends that contains x: ends[i] ≤ x < ends[i + 1]. An x outside of
 * all cells belongs to the first or the last one.
 */
export const cellAt = (ends: ArrayLike<number>, x: number): number =>
  firstIndex(1, ends.length - 1, (i) => ends[i] > x) - 1;
