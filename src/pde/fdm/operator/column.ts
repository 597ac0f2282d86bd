import { fn, i32, read, real, record } from "../../../kernel/index.ts";

/**
 * One column of a table in a buffer that has a column for each instance of a launch: value i is at [i·pitch +
 * instance].
 */
export const Column = record({ values: read(real), pitch: i32, instance: i32 });

/** Returns value i of an instance's column. */
export const valueAt = fn({
  name: "valueAt",
  params: [Column, i32],
  body([{ values, pitch, instance }, i]) {
    return values[i * pitch + instance];
  },
});
