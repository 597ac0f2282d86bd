import { fn, i32, real, write } from "../../../kernel/index.ts";
import { CROSSING_WORDS, NEVER_EXERCISED, readEnds, SETTING_WORDS } from "../../conditions/barrier.ts";
import { Column, valueAt } from "../../operator/column.ts";
import { Launch } from "../variant.ts";
import type { TeamPlan } from "./plan.ts";
import { Live, TeamPlace, Rows } from "./records.ts";

/**
 * Returns the function that knocks out at an event's date, see `knockOut`, in an item's run, whose first node is
 * `first`. Node numbers are compared as integers: compilers hoist a row's number as a real out of the time loop, which
 * costs a register a row.
 */
export function knockOutRuns(barriers: number, rows: number, crossing = false) {
  return fn({
    name: "knockOutRuns",
    params: [Column, i32, i32, write(real)],
    env: { barriers, rows, crossing, words: crossing ? CROSSING_WORDS : SETTING_WORDS },
    body([{ values, pitch, instance }, row, first, u], gpu, env) {
      for (let j = 0; j < env.barriers; j++) {
        const at = (row + j * env.words) * pitch + instance;
        const node = gpu.i32(values[at]) - first;
        const up = values[at + pitch] > 0;
        const value = values[at + 2 * pitch];
        const keep = values[at + 3 * pitch];
        const paid = values[at + 4 * pitch];
        for (let k = 0; k < env.rows; k++) {
          const beyond = up ? k > node : k < node;
          const here = k === node ? keep * u[k] + paid : u[k];
          let out = value;
          if (env.crossing && (k === node + 1 || k === node - 1))
            out = values[at + 5 * pitch] * u[k] + values[at + 6 * pitch];
          u[k] = beyond ? out : here;
        }
      }
    },
  });
}

/** The ends of the live nodes (`readEnds`), as rows of an item's run whose first node is `first`. */
const readRunEnds = (barriers: number) =>
  fn({
    name: "readRunEnds",
    params: [Column, i32, i32, i32],
    env: { readEnds: readEnds(barriers) },
    body([coefficients, row, first, nodes], _gpu, { readEnds }) {
      const { low, lowHeld, high, highHeld } = readEnds(coefficients, row);
      const lowRow = Math.min(Math.max(low, 0), nodes - 1) - first;
      const highRow = Math.min(Math.max(high, 0), nodes - 1) - first;
      return {
        low: low - first,
        high: high - first,
        lowHeld: lowHeld ? lowRow : -1,
        highHeld: highHeld ? highRow : -1,
      };
    },
  });

/** Returns the function that writes the values held from an event on into u; see `pinRuns`. */
export const holdRuns = (barriers: number, rows: number) =>
  fn({
    name: "holdRuns",
    params: [Column, i32, Live, write(real)],
    env: { rows, readEnds: readEnds(barriers) },
    body([coefficients, row, { lowHeld, highHeld }, u], _gpu, { rows, readEnds }) {
      const { lowValue, highValue } = readEnds(coefficients, row);
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
 * to the last bit, so that it is set once a segment, not before and after each step as by `holdEnd`. No other row's
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

/** The obstacle where an item's run can be exercised, see `liveObstacle`. */
const liveObstacleRuns = (rows: number) =>
  fn({
    name: "liveObstacleRuns",
    params: [Launch, TeamPlace, Live, write(real)],
    env: { rows, NEVER_EXERCISED, valueAt },
    body([{ nodes, obstacleColumn }, { table, first }, live, paid], _gpu, { rows, NEVER_EXERCISED, valueAt }) {
      const { low, high, lowHeld, highHeld } = live;
      for (let k = 0; k < rows; k++) {
        const dead = k < low || k > high || k === lowHeld || k === highHeld;
        const payoff = valueAt(table, obstacleColumn * nodes + Math.min(first + k, nodes - 1));
        paid[k] = dead || first + k >= nodes ? NEVER_EXERCISED : payoff;
      }
    },
  });

/**
 * Returns the function that applies an event's date to an item's run: its knock-outs, and where early exercise
 * (`policy`) is possible from then on. It returns the live rows; `holdRuns` sets the held values after the date's other
 * events.
 */
export const settleRuns = ({ rows, policy, variant: { barriers = 0 } }: TeamPlan) =>
  fn({
    name: "settleRuns",
    params: { launch: Launch, place: TeamPlace, row: i32, u: write(real), paid: write(real) },
    env: {
      policy,
      knockOutRuns: knockOutRuns(barriers, rows),
      readRunEnds: readRunEnds(barriers),
      liveObstacleRuns: liveObstacleRuns(rows),
    },
    body({ launch, place, row, u, paid }, _gpu, env) {
      const { coefficients, first } = place;
      env.knockOutRuns(coefficients, row, first, u);
      const live = env.readRunEnds(coefficients, row, first, launch.nodes);
      if (env.policy) env.liveObstacleRuns(launch, place, live, paid);
      return live;
    },
  });
