/** Rows that stay in registers, and their way from memory and back. */
import { fn, i32, read, real, write } from "../../../kernel/index.ts";
import { offsetsAt } from "./node.ts";
import { Grid, type GridVariant, Launch, neighboursOf, slot, slotsOf } from "./variant.ts";

/**
 * Returns the sizes of the arrays of a work item whose rows stay in registers: the registers, the distances to its
 * neighbours, and the workgroup memory for two vectors. The latter has zeros before, between and after the vectors, up
 * to the largest distance. The sizes are 1 where rows are in memory.
 */
export const residentSizes = (variant: GridVariant) => {
  const { residentRows: rows, groupSize } = variant;
  return rows > 0
    ? { registers: rows * slotsOf(variant), distances: neighboursOf(variant), seen: 5 * rows * groupSize }
    : { registers: 1, distances: 1, seen: 1 };
};

/**
 * Returns the function that loads the arrays from number `from` (`slot`) on into registers; rows beyond the grid are
 * zero.
 */
export const loadRows = (variant: GridVariant, from: number) =>
  fn({
    name: "loadRows",
    params: { launch: Launch, grid: Grid, own: write(real) },
    env: { ROWS: variant.residentRows, GROUP: variant.groupSize, FROM: from, END: slotsOf(variant) },
    body({ launch: { work }, grid: { base, pitch, rounds, item }, own }, _gpu, { ROWS, GROUP, FROM, END }) {
      for (let s = FROM; s < END; s++) {
        for (let r = 0; r < ROWS; r++) {
          let value = 0.0;
          if (r < rounds) value = work[base + s * pitch + r * GROUP + item];
          own[s * ROWS + r] = value;
        }
      }
    },
  });

/**
 * Returns the function that copies arrays from registers to memory: those with indices `from` to `slot.U`, the
 * solution.
 */
export const storeRows = (variant: GridVariant, from: number) =>
  fn({
    name: "storeRows",
    params: { launch: Launch, grid: Grid, own: read(real) },
    env: { ROWS: variant.residentRows, GROUP: variant.groupSize, FROM: from, LAST: slot.U },
    body({ launch: { work }, grid: { base, pitch, rounds, item }, own }, _gpu, { ROWS, GROUP, FROM, LAST }) {
      for (let s = FROM; s <= LAST; s++) {
        for (let r = 0; r < ROWS; r++) if (r < rounds) work[base + s * pitch + r * GROUP + item] = own[s * ROWS + r];
      }
    },
  });

/** Returns the function that clears the workgroup memory `seen` and computes the distances to the neighbours. */
export const beginResident = (variant: GridVariant) =>
  fn({
    name: "beginResident",
    params: { launch: Launch, grid: Grid, seen: write(real), distances: write(i32) },
    env: {
      GROUP: variant.groupSize,
      PARTS: 5 * variant.residentRows,
      neighbours: neighboursOf(variant),
      offsetsAt: offsetsAt(variant),
    },
    body({ launch: { table }, grid: { words, item }, seen, distances }, _gpu, env) {
      const { GROUP, PARTS, neighbours, offsetsAt } = env;
      for (let part = 0; part < PARTS; part++) seen[part * GROUP + item] = 0;
      for (let k = 0; k < neighbours; k++) distances[k] = table[words + offsetsAt + k];
    },
  });
