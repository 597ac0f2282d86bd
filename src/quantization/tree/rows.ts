/**
 * Counters to probabilities: sparse rows of at most `slots` columns each, [slots, rows], so that neighbours are read
 * together.
 */
import { i32, kernel, read, real, u32, write } from "../../kernel/index.ts";

/** Where the counters of each row begin, and how many columns the layer after it has. */
const rowParams = { starts: read(i32), widths: read(i32), counters: read(u32) } as const;

/** The largest number of columns that occur in a row goes to `most`. */
export const rowLengths = kernel({
  name: "rowLengths",
  params: { ...rowParams, most: write(i32) },
  body({ starts, widths, counters, most }, gpu) {
    const row = gpu.globalId();
    const start = starts[row];
    const width = widths[row];
    let length = 0;
    for (let j = 0; j < width; j++) length += counters[start + j] > 0 ? 1 : 0;
    gpu.atomicMax(most, 0, length);
  },
});

/** p = count / sum of the row; slots that a row does not use have probability 0. A cell that no path met has none. */
export const rowProbabilities = kernel({
  name: "rowProbabilities",
  params: { ...rowParams, totalRows: i32, columns: write(i32), probabilities: write(real) },
  body({ starts, widths, counters, totalRows, columns, probabilities }, gpu) {
    const row = gpu.globalId();
    const start = starts[row];
    const width = widths[row];
    let total = 0;
    for (let j = 0; j < width; j++) total += gpu.i32(counters[start + j]);
    const scale = 1 / gpu.real(Math.max(total, 1));
    let slot = row;
    for (let j = 0; j < width; j++) {
      const count = gpu.i32(counters[start + j]);
      if (count > 0) {
        columns[slot] = j;
        probabilities[slot] = gpu.real(count) * scale;
        slot += totalRows;
      }
    }
  },
});
