import { fn, i32, real, write } from "../../../kernel/index.ts";
import { Live, readHeld } from "../../conditions/barrier.ts";
import { Column } from "../../operator/column.ts";
import { Rows } from "./records.ts";

/** Returns the function that writes the values held from an event on into u; see `pinRuns`. */
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

/** Returns the function that decouples nodes at and beyond the ends from their neighbours. */
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
 * Returns the function that pins rows. A held row is y = u: with the pivot 1 instead of 1 + hr a step keeps its value
 * to the last bit, so that it is set once a segment, not before and after each step as by `holdEnds`. No other row's
 * pivot depends on it, its neighbours being decoupled. `held` is the value of `gain` for the pivot 1.
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
