/** Statistics of a matrix's shape, by which a format is chosen. */

/** The number of entries of the longest row. */
export function longestRow(starts: Int32Array): number {
  let longest = 0;
  for (let i = 0; i + 1 < starts.length; i++) longest = Math.max(longest, starts[i + 1] - starts[i]);
  return longest;
}

/**
 * Returns the number of entries of a row in the ELL part of HYB: the largest number that at least a third of the rows
 * have (Bell & Garland 2009, section 4.5: ELL was about three times as fast as COO for the same entries).
 */
export function hybWidth(starts: Int32Array): number {
  const rows = starts.length - 1;
  const having = new Int32Array(longestRow(starts) + 2);
  for (let i = 0; i < rows; i++) having[starts[i + 1] - starts[i]]++;
  let [width, count] = [having.length - 2, 0];
  for (; width > 0; width--) {
    count += having[width];
    if (3 * count >= rows) break;
  }
  return Math.max(width, 0);
}
