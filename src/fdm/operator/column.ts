import { fn, i32, read, real, record } from "../../kernel/index.ts";

/** One instance's column of a buffer that a launch's instances share: its value i is at [i·pitch + instance]. */
export const Column = record({ values: read(real), pitch: i32, instance: i32 });

/** Returns value i of a column. */
export const valueAt = fn({
  name: "valueAt",
  params: [Column, i32],
  body([{ values, pitch, instance }, i]) {
    return values[i * pitch + instance];
  },
});
