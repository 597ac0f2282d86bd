import { fn, i32, real, record, write } from "../../../kernel/index.ts";
import { Column, valueAt } from "../operator/column.ts";
import { Live } from "../operator/live.ts";
import { ZERO_VALUE_GUARD } from "../operator/zero-value-guard.ts";

/** The number of coefficients of one barrier on a date; see `knockOut`. */
export const SETTING_WORDS = 5;
const END_WORDS = 3;
/** The number of coefficients of one barrier on the date of a dividend that may take the spot across it. */
export const CROSSING_WORDS = SETTING_WORDS + 2;

/**
 * The number of coefficients on a date of a problem with a number of barriers, including the two ends of the live nodes
 * (`Live`); 0 without barriers.
 */
export const barrierWords = (barriers: number): number =>
  barriers === 0 ? 0 : SETTING_WORDS * barriers + 2 * END_WORDS;

/** The exercise payoff of a node that cannot be exercised; it is below every value. */
export const NEVER_EXERCISED = -1e30;

/**
 * Returns the function that applies the knock-outs of a date to u, barrier by barrier: u ← value beyond the barrier's
 * node, u ← keep·u + paid on it. The coefficients of a barrier are: node, side (+1: knocked out at higher nodes, −1: at
 * lower), value, keep, paid. The node of a barrier that is not monitored is far outside the mesh. With `crossing` the
 * function applies just before a dividend that takes the spot to a barrier between the node and the next one beyond;
 * that node has two more coefficients, for u ← keep·u + paid.
 *
 * u are the values of `rows` nodes from node `first` on, or of all nodes, which have a zero-value guard. In rows node
 * numbers are compared as integers: compilers hoist a row's number as a real out of the time loop, which costs a
 * register a row. An item alone compares them as reals, whose masks a CPU's lanes need not convert.
 */
export function knockOut(barriers: number, rows: number | undefined, crossing = false) {
  return fn({
    name: "knockOut",
    params: [Column, i32, i32, i32, write(real)],
    env: {
      barriers,
      rows,
      crossing,
      words: crossing ? CROSSING_WORDS : SETTING_WORDS,
      alone: rows === undefined,
      guard: ZERO_VALUE_GUARD,
    },
    body([{ values, pitch, instance }, row, first, nodes, u], gpu, env) {
      const rows = env.rows ?? nodes;
      for (let j = 0; j < env.barriers; j++) {
        const at = (row + j * env.words) * pitch + instance;
        const place = values[at];
        const side = values[at + pitch];
        const node = gpu.i32(place) - first;
        const up = side > 0;
        const value = values[at + 2 * pitch];
        const keep = values[at + 3 * pitch];
        const paid = values[at + 4 * pitch];
        for (let k = 0; k < rows; k++) {
          const far = env.alone ? side * (gpu.real(k) - place) : 0.0;
          const beyond = env.alone ? far > 0.5 : up ? k > node : k < node;
          const here = (env.alone ? far > -0.5 : k === node) ? keep * u[k] + paid : u[k];
          let out = value;
          if (env.crossing && (env.alone ? far < 1.5 : k === node + 1 || k === node - 1))
            out = values[at + 5 * pitch] * u[k] + values[at + 6 * pitch];
          if (env.alone) out = out + env.guard;
          u[k] = beyond ? out : here;
        }
      }
    },
  });
}

/** The values that are held at the ends of the live nodes. */
export const Held = record({ lowValue: real, highValue: real });

/** Returns the function that reads the ends of the live nodes for the interval between a date and the one before. */
export const readLive = (barriers: number) =>
  fn({
    name: "readLive",
    params: [Column, i32, i32, i32],
    env: { settings: SETTING_WORDS * barriers },
    body([{ values, pitch, instance }, row, first, nodes], gpu, { settings }) {
      const at = (row + settings) * pitch + instance;
      const low = gpu.i32(values[at]);
      const high = gpu.i32(values[at + 3 * pitch]);
      const lowRow = Math.min(Math.max(low, 0), nodes - 1) - first;
      const highRow = Math.min(Math.max(high, 0), nodes - 1) - first;
      return {
        low: low - first,
        high: high - first,
        lowHeld: values[at + pitch] > 0.5 ? lowRow : -1,
        highHeld: values[at + 4 * pitch] > 0.5 ? highRow : -1,
      };
    },
  });

/** Returns the function that reads what is held at the ends of the live nodes. */
export const readHeld = (barriers: number) =>
  fn({
    name: "readHeld",
    params: [Column, i32],
    env: { settings: SETTING_WORDS * barriers },
    body([{ values, pitch, instance }, row], _gpu, { settings }) {
      const at = (row + settings) * pitch + instance;
      return { lowValue: values[at + 2 * pitch], highValue: values[at + 5 * pitch] };
    },
  });

/** Sets what is held at a node, if any: value·(1 + hr) before a step, so that the step leaves the value itself. */
const holdEnd = fn({
  name: "holdEnd",
  params: [write(real), i32, i32, real, real],
  body([u, nodes, held, value, hRate]) {
    const node = Math.min(Math.max(held, 0), nodes - 1);
    const before = u[node];
    u[node] = held >= 0 ? value * (1 + hRate) : before;
  },
});

/**
 * Sets the right-hand side of (1 + hr)·y = u at the held ends before a step, so that the step returns the held values;
 * called after a step with `hRate` = 0, it sets the held values themselves.
 */
export const holdEnds = fn({
  name: "holdEnds",
  params: [write(real), i32, Live, Held, real],
  env: { holdEnd },
  body([u, nodes, { lowHeld, highHeld }, { lowValue, highValue }, hRate], _gpu, { holdEnd }) {
    holdEnd(u, nodes, lowHeld, lowValue, hRate);
    holdEnd(u, nodes, highHeld, highValue, hRate);
  },
});

/**
 * Returns the function that writes the exercise payoff of the live nodes, from a column of the table, for the nodes
 * that an item holds. Nodes beyond the ends cannot be exercised, nor can a held end, whose value includes exercise
 * already.
 */
export const liveObstacle = (rows: number | undefined) =>
  fn({
    name: "liveObstacle",
    params: [Column, i32, i32, i32, Live, write(real)],
    env: { rows, never: NEVER_EXERCISED, valueAt },
    body([table, column, first, nodes, { low, high, lowHeld, highHeld }, obstacle], _gpu, env) {
      const rows = env.rows ?? nodes;
      for (let k = 0; k < rows; k++) {
        const dead = k < low || k > high || k === lowHeld || k === highHeld;
        const payoff = env.valueAt(table, column * nodes + Math.min(first + k, nodes - 1));
        obstacle[k] = dead || first + k >= nodes ? env.never : payoff;
      }
    },
  });
