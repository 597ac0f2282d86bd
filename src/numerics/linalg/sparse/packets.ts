/** The packet format of Bell & Garland (2008): rows are cut into packets whose part of x fits workgroup memory. */
import { type CooMatrix, type CsrMatrix, NO_ENTRY, type PktMatrix } from "./formats.ts";
import { reverseCuthillMcKee } from "./order.ts";

/**
 * Divides a matrix into packets of consecutive rows in an order that brings coupled rows near each other (Bell and
 * Garland use METIS). Row r of a packet belongs to item r mod items, which alone adds to it.
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

/** Pairs of row and place, in COO and in the order of the rows. */
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
