import { fn, i32, real, write } from "../../../../kernel/index.ts";
import { readHeld } from "../../conditions/barrier.ts";
import { Live } from "../../operator/live.ts";
import { Column } from "../../operator/column.ts";
import { Rows } from "./records.ts";

/** Returns the function that writes the values that are held from an event on into u (`pinRuns`). */
export const holdRuns = (barriers: number, rows: number) =>
  fn({
    name: "holdRuns",
    params: [Column, i32, Live, write(real)],
    env: { rows, readHeld: readHeld(barriers) },
    body([coefficients, row, { lowHeld, highHeld }, u], _gpu, { rows, readHeld }) {
      const { lowValue, highValue } = readHeld(coefficients, row);
      for (let k = 0; k < rows; k++) {
        if (k === lowHeld) u[k] = lowValue;
        if (k === highHeld) u[k] = highValue;
      }
    },
  });

/** Returns the function that decouples the nodes at and beyond the ends of the live nodes from their neighbours. */
export const cutRuns = (rows: number) =>
  fn({
    name: "cutRuns",
    params: [Rows, Live],
    env: { rows },
    body([{ a, c }, { low, high }], _gpu, { rows }) {
      for (let k = 0; k < rows; k++) {
        const cut = k <= low || k >= high;
        a[k] = cut ? 0.0 : a[k];
        c[k] = cut ? 0.0 : c[k];
      }
    },
  });

/**
 * Returns the function that makes the matrix rows of held nodes y = u. With the pivot 1 instead of 1 + hr a step keeps
 * their value to the last bit, so that it is set once between two dates, and not before and after each step as by
 * `holdEnd`. No other pivot depends on these rows, because their neighbours are decoupled. `held` is the value of
 * `gain` for the pivot 1.
 */
export const pinRuns = (rows: number) =>
  fn({
    name: "pinRuns",
    params: [write(real), Live, real],
    env: { rows },
    body([gain, { lowHeld, highHeld }, held], _gpu, { rows }) {
      for (let k = 0; k < rows; k++) if (k === lowHeld || k === highHeld) gain[k] = held;
    },
  });
