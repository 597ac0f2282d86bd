/** The packet format of Bell & Garland (2008): rows are cut into packets whose part of x fits workgroup memory. */
import { type CooMatrix, type CsrMatrix, NO_ENTRY, type PktMatrix } from "./formats.ts";

/**
 * Divides a matrix into packets of consecutive rows, in an order that brings coupled rows near each other. (Bell and
 * Garland use METIS.) Row r of a packet belongs to item r mod items, which alone adds to it.
 */
export function packetsOf(
  matrix: CsrMatrix,
  packetRows: number,
  items: number,
  ordering: "natural" | "rcm",
): PktMatrix {
  const { rows, columns, starts: rowStarts, column, values } = matrix;
  const order = ordering === "rcm" ? reverseCuthillMcKee(matrix) : Int32Array.from({ length: rows }, (_, i) => i);
  const place = new Int32Array(rows);
  order.forEach((i, at) => (place[i] = at));
  const count = Math.ceil(rows / packetRows);
  const starts = Int32Array.from({ length: count + 1 }, (_, p) => Math.min(rows, p * packetRows));
  const entryStarts = new Int32Array(count + 1);
  const packed: number[] = [];
  const stored: number[] = [];
  const outside: number[] = [];
  for (let p = 0; p < count; p++) {
    const lists: number[][] = Array.from({ length: items }, () => []);
    for (let at = starts[p]; at < starts[p + 1]; at++) {
      const i = order[at];
      for (let k = rowStarts[i]; k < rowStarts[i + 1]; k++) {
        const to = place[column[k]];
        if (to >= starts[p] && to < starts[p + 1]) lists[(at - starts[p]) % items].push(at, k);
        else outside.push(i, k);
      }
    }
    const longest = lists.reduce((most, { length }) => Math.max(most, length / 2), 0);
    for (let s = 0; s < longest; s++)
      for (const list of lists) {
        const [at, k] = [list[2 * s], list[2 * s + 1]];
        packed.push(at === undefined ? NO_ENTRY : ((at - starts[p]) << 16) | (place[column[k]] - starts[p]));
        stored.push(k === undefined ? 0 : values[k]);
      }
    entryStarts[p + 1] = packed.length;
  }
  return {
    kind: "pkt",
    rows,
    columns,
    items,
    packetRows,
    order,
    starts,
    entryStarts,
    packed: Uint32Array.from(packed, (word) => word >>> 0),
    values: Float64Array.from(stored),
    rest: restOf(matrix, outside),
  };
}

/** Returns the entries in `pairs`, which has the row and the index of each, in COO and in the order of the rows. */
function restOf({ rows, columns, column, values }: CsrMatrix, pairs: readonly number[]): CooMatrix {
  const places = Array.from({ length: pairs.length / 2 }, (_, k) => k).sort(
    (a, b) => pairs[2 * a] - pairs[2 * b] || pairs[2 * a + 1] - pairs[2 * b + 1],
  );
  return {
    kind: "coo",
    rows,
    columns,
    row: Int32Array.from(places, (k) => pairs[2 * k]),
    column: Int32Array.from(places, (k) => column[pairs[2 * k + 1]]),
    values: Float64Array.from(places, (k) => values[pairs[2 * k + 1]]),
  };
}

/**
 * Returns the rows in an order in which coupled ones are near each other: reverse Cuthill–McKee (1969; George 1971) on
 * the pattern of A + Aᵀ. Each component starts at a peripheral row (George & Liu 1979).
 */
export function reverseCuthillMcKee(matrix: CsrMatrix): Int32Array {
  const neighbours = symmetricPattern(matrix);
  const { starts } = neighbours;
  const degree = (i: number): number => starts[i + 1] - starts[i];
  const order: number[] = [];
  const seen = new Uint8Array(matrix.rows);
  for (let i = 0; i < matrix.rows; i++) {
    if (seen[i] === 1) continue;
    const from = order.length;
    order.push(peripheral(neighbours, i));
    seen[order[from]] = 1;
    for (let at = from; at < order.length; at++) {
      const next: number[] = [];
      for (let k = starts[order[at]]; k < starts[order[at] + 1]; k++) {
        const j = neighbours.column[k];
        if (seen[j] === 1) continue;
        seen[j] = 1;
        next.push(j);
      }
      // Not push(...next): a dense row has more neighbours than a call may have arguments.
      for (const j of next.sort((a, b) => degree(a) - degree(b) || a - b)) order.push(j);
    }
  }
  return Int32Array.from(order).reverse();
}

interface Pattern {
  readonly starts: Int32Array;
  readonly column: Int32Array;
}

/** The pattern of A + Aᵀ without the diagonal. */
function symmetricPattern({ rows, starts, column }: CsrMatrix): Pattern {
  const lists: number[][] = Array.from({ length: rows }, () => []);
  for (let i = 0; i < rows; i++)
    for (let k = starts[i]; k < starts[i + 1]; k++)
      if (column[k] !== i) {
        lists[i].push(column[k]);
        lists[column[k]].push(i);
      }
  const unique = lists.map((list) => [...new Set(list)].sort((a, b) => a - b));
  const ends = new Int32Array(rows + 1);
  unique.forEach((list, i) => (ends[i + 1] = ends[i] + list.length));
  return { starts: ends, column: Int32Array.from(unique.flat()) };
}

/** A row of the component of `start` from which the levels of neighbours are many. */
function peripheral(pattern: Pattern, start: number): number {
  let [root, depth] = [start, -1];
  for (;;) {
    const { levels, last } = levelsFrom(pattern, root);
    if (levels <= depth) return root;
    depth = levels;
    const degree = (i: number): number => pattern.starts[i + 1] - pattern.starts[i];
    root = last.reduce((best, i) => (degree(i) < degree(best) ? i : best), last[0]);
  }
}

function levelsFrom({ starts, column }: Pattern, root: number): { levels: number; last: readonly number[] } {
  const seen = new Set([root]);
  let last = [root];
  for (let levels = 0; ; levels++) {
    const next: number[] = [];
    for (const i of last)
      for (let k = starts[i]; k < starts[i + 1]; k++)
        if (!seen.has(column[k])) {
          seen.add(column[k]);
          next.push(column[k]);
        }
    if (next.length === 0) return { levels, last };
    last = next;
  }
}
