/** The order in which rows of a triangular system can be solved side by side. */

/**
 * The rows of a triangular system by levels: those of level l are order[starts[l]] … order[starts[l + 1] − 1]. A row
 * depends only on rows of earlier levels, so that the rows of a level can be solved at the same time.
 */
export interface Levels {
  readonly order: Int32Array;
  readonly starts: Int32Array;
}

/**
 * Returns the levels of the strict lower triangle of a pattern, or of the upper one (level scheduling, Anderson & Saad
 * 1989).
 */
export function levelsOf(starts: Int32Array, column: Int32Array, triangle: "lower" | "upper"): Levels {
  const rows = starts.length - 1;
  const level = new Int32Array(rows);
  let count = 0;
  for (let at = 0; at < rows; at++) {
    const i = triangle === "lower" ? at : rows - 1 - at;
    let mine = 0;
    for (let k = starts[i]; k < starts[i + 1]; k++) {
      const j = column[k];
      if (triangle === "lower" ? j < i : j > i) mine = Math.max(mine, level[j] + 1);
    }
    level[i] = mine;
    count = Math.max(count, mine + 1);
  }
  const ends = new Int32Array(count + 1);
  for (const l of level) ends[l + 1]++;
  for (let l = 0; l < count; l++) ends[l + 1] += ends[l];
  const next = ends.slice();
  const order = new Int32Array(rows);
  for (let i = 0; i < rows; i++) order[next[level[i]]++] = i;
  return { order, starts: ends };
}

/** A range of levels, `from` … `to` − 1, which are solved in one launch of `groups` workgroups. */
export interface LevelRange {
  readonly from: number;
  readonly to: number;
  readonly groups: number;
}

/**
 * Returns the levels grouped by launches. A wide level has a launch of its own, with as many workgroups as it fills.
 * Consecutive narrow levels share a launch of a single workgroup, with barriers between the levels.
 */
export function levelRangesOf({ starts }: Levels, groupSize: number): readonly LevelRange[] {
  const spans: LevelRange[] = [];
  const wide = 4 * groupSize;
  for (let l = 0; l + 1 < starts.length; l++) {
    const groups = Math.ceil((starts[l + 1] - starts[l]) / groupSize);
    const last = spans.at(-1);
    const isNarrow = starts[l + 1] - starts[l] <= wide;
    if (isNarrow && last !== undefined && last.groups === 1) spans[spans.length - 1] = { ...last, to: l + 1 };
    else spans.push({ from: l, to: l + 1, groups: isNarrow ? 1 : groups });
  }
  return spans;
}
