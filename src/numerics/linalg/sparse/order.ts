import type { CsrMatrix } from "./formats.ts";

/**
 * Orders the rows so that coupled ones are near each other: reverse Cuthill–McKee (1969; George 1971) on the pattern of
 * A + Aᵀ. Each component starts at a peripheral row (George & Liu 1979).
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
