import { fn, i32, type KernelFunction, read, real, write } from "../../../kernel/index.ts";
import { CROSSING_WORDS, NEVER_EXERCISED, readEnds, SETTING_WORDS } from "../../conditions/barrier.ts";

/**
 * What knocks out at an event's date, see `knockOut`, for an item's run, whose first node is `first`. By whole numbers:
 * compilers take a row's number as a real out of the time loop, which costs a register a row.
 */
export function knockOutRuns(barriers: number, rows: number, crossing = false): KernelFunction<any, void> {
  return fn({
    name: "knockOutRuns",
    params: [read(real), i32, i32, i32, i32, write(real)],
    env: { barriers, rows, crossing, words: crossing ? CROSSING_WORDS : SETTING_WORDS },
    body([coefficients, row, pitch, instance, first, u], gpu, env) {
      for (let j = 0; j < env.barriers; j++) {
        const at = (row + j * env.words) * pitch + instance;
        const node = gpu.i32(coefficients[at]) - first;
        const up = coefficients[at + pitch] > 0;
        const value = coefficients[at + 2 * pitch];
        const keep = coefficients[at + 3 * pitch];
        const paid = coefficients[at + 4 * pitch];
        for (let k = 0; k < env.rows; k++) {
          const beyond = up ? k > node : k < node;
          const here = k === node ? keep * u[k] + paid : u[k];
          let out = value;
          if (env.crossing && (k === node + 1 || k === node - 1))
            out = coefficients[at + 5 * pitch] * u[k] + coefficients[at + 6 * pitch];
          u[k] = beyond ? out : here;
        }
      }
    },
  });
}

/**
 * The ends of the live nodes (`readEnds`) as rows of an item's run, which may be far outside it: knocked out up to
 * `low` and from `high` on; `lowHeld` and `highHeld` are the rows whose value is held, −1 where none of the run's is.
 */
const readRunEnds = (barriers: number): KernelFunction<any, any> =>
  fn({
    name: "readRunEnds",
    params: [read(real), i32, i32, i32, i32, i32],
    env: { readEnds: readEnds(barriers) },
    body([coefficients, row, pitch, instance, first, nodes], _gpu, { readEnds }) {
      const { low, lowHeld, high, highHeld } = readEnds({ values: coefficients, pitch, instance }, row);
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

/** The values that are held from an event on, into u; see `pinRuns`. */
export const holdRuns = (barriers: number, rows: number): KernelFunction<any, void> =>
  fn({
    name: "holdRuns",
    params: [read(real), i32, i32, i32, i32, i32, write(real)],
    env: { rows, readEnds: readEnds(barriers) },
    body([coefficients, row, pitch, instance, lowHeld, highHeld, u], _gpu, { rows, readEnds }) {
      const { lowValue, highValue } = readEnds({ values: coefficients, pitch, instance }, row);
      for (let k = 0; k < rows; k++) {
        if (k === lowHeld) u[k] = lowValue;
        if (k === highHeld) u[k] = highValue;
      }
    },
  });

/** Nodes at and beyond the ends lose their neighbours. */
export const cutRuns = (rows: number): KernelFunction<any, void> =>
  fn({
    name: "cutRuns",
    params: [write(real), write(real), i32, i32],
    env: { rows },
    body([a, c, low, high], _gpu, { rows }) {
      for (let k = 0; k < rows; k++) {
        const cut = k <= low || k >= high;
        a[k] = cut ? 0.0 : a[k];
        c[k] = cut ? 0.0 : c[k];
      }
    },
  });

/**
 * A row that is held is y = u: with the pivot 1 instead of 1 + hr a step leaves its value as it is, to the last bit, so
 * that it is set once a segment, not, as by `holdEnd`, before and after each step. No other row's pivot knows of it,
 * its neighbours being cut off. `gain` is what 1/pivot is scaled with.
 */
export const pinRuns = (rows: number): KernelFunction<any, void> =>
  fn({
    name: "pinRuns",
    params: [write(real), i32, i32, real],
    env: { rows },
    body([inverse, lowHeld, highHeld, gain], _gpu, { rows }) {
      for (let k = 0; k < rows; k++) if (k === lowHeld || k === highHeld) inverse[k] = gain;
    },
  });

/** Where an item's run can be exercised, see `liveObstacle`. */
const liveObstacleRuns = (rows: number): KernelFunction<any, void> =>
  fn({
    name: "liveObstacleRuns",
    params: [read(real), i32, i32, i32, i32, i32, i32, i32, i32, i32, write(real)],
    env: { rows, never: NEVER_EXERCISED },
    body(
      [table, column, nodes, pitch, instance, first, low, high, lowHeld, highHeld, obstacle],
      _gpu,
      { rows, never },
    ) {
      for (let k = 0; k < rows; k++) {
        const dead = k < low || k > high || k === lowHeld || k === highHeld;
        const payoff = table[(column * nodes + Math.min(first + k, nodes - 1)) * pitch + instance];
        obstacle[k] = dead || first + k >= nodes ? never : payoff;
      }
    },
  });

/**
 * An event's date for an item's run: what it knocks out, and where early exercise (`policy`) is possible from then on.
 * Returns the ends, see `readRunEnds`; what is held there is set by `holdRuns`, after the date's other events.
 */
export const settleRuns = (barriers: number, rows: number, policy: boolean): KernelFunction<any, any> =>
  fn({
    name: "settleRuns",
    params: [read(real), i32, i32, i32, i32, i32, write(real), read(real), i32, write(real)],
    env: {
      policy,
      knockOutRuns: knockOutRuns(barriers, rows),
      readRunEnds: readRunEnds(barriers),
      liveObstacleRuns: liveObstacleRuns(rows),
    },
    body([coefficients, row, pitch, instance, first, nodes, u, table, column, obstacle], _gpu, env: any) {
      env.knockOutRuns(coefficients, row, pitch, instance, first, u);
      const { low, high, lowHeld, highHeld } = env.readRunEnds(coefficients, row, pitch, instance, first, nodes);
      if (env.policy)
        env.liveObstacleRuns(table, column, nodes, pitch, instance, first, low, high, lowHeld, highHeld, obstacle);
      return { low, high, lowHeld, highHeld };
    },
  });
