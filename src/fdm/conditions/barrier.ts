import { bool, fn, i32, real, record, write } from "../../kernel/index.ts";
import { Column, valueAt } from "../operator/column.ts";
import { ZERO_VALUE_GUARD } from "../operator/zero-value-guard.ts";

/** The number of coefficients of one barrier on a date; see `knockOut`. */
export const SETTING_WORDS = 5;
const END_WORDS = 3;
/** The number of coefficients of one barrier on the date of a dividend that may take the spot across it. */
export const CROSSING_WORDS = SETTING_WORDS + 2;

/**
 * The number of coefficients on a date of a problem with a number of barriers, including the two ends of the live nodes
 * (`Ends`); 0 without barriers.
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
 */
export function knockOut(barriers: number, crossing = false) {
  return fn({
    name: "knockOut",
    params: [Column, i32, write(real), i32],
    env: { barriers, crossing, words: crossing ? CROSSING_WORDS : SETTING_WORDS, guard: ZERO_VALUE_GUARD },
    body([coefficients, row, u, nodes], gpu, env) {
      const { values, pitch, instance } = coefficients;
      for (let k = 0; k < env.barriers; k++) {
        const at = (row + k * env.words) * pitch + instance;
        const node = values[at];
        const side = values[at + pitch];
        const value = values[at + 2 * pitch];
        const keep = values[at + 3 * pitch];
        const paid = values[at + 4 * pitch];
        for (let i = 0; i < nodes; i++) {
          const beyond = side * (gpu.real(i) - node);
          const here = beyond > -0.5 ? keep * u[i] + paid : u[i];
          let out = value + env.guard;
          if (env.crossing && beyond < 1.5) out = values[at + 5 * pitch] * u[i] + values[at + 6 * pitch] + env.guard;
          u[i] = beyond > 0.5 ? out : here;
        }
      }
    },
  });
}

/**
 * The ends of the live nodes: nodes with index `low` and less, and `high` and more, are knocked out. They are −1 and
 * the number of nodes where no barrier is monitored. The value at a `held` end stays constant; otherwise it is
 * discounted.
 */
export const Ends = record({ low: i32, high: i32, lowHeld: bool, highHeld: bool, lowValue: real, highValue: real });

/** Returns the function that reads the ends of the live nodes for the interval between a date and the one before. */
export const readEnds = (barriers: number) =>
  fn({
    name: "readEnds",
    params: [Column, i32],
    env: { settings: SETTING_WORDS * barriers },
    body([{ values, pitch, instance }, row], gpu, { settings }) {
      const at = (row + settings) * pitch + instance;
      return {
        low: gpu.i32(values[at]),
        lowHeld: values[at + pitch] > 0.5,
        lowValue: values[at + 2 * pitch],
        high: gpu.i32(values[at + 3 * pitch]),
        highHeld: values[at + 4 * pitch] > 0.5,
        highValue: values[at + 5 * pitch],
      };
    },
  });

/**
 * Tells whether node i is at or beyond an end of the live nodes, so that its equation is decoupled from its neighbours.
 */
export const cutOff = fn({
  name: "cutOff",
  params: [Ends, i32],
  body([{ low, high }, i]) {
    return i <= low || i >= high;
  },
});

/** Sets what is `held` at a node: value·(1 + hr) before a step, so that the step leaves the value itself. */
const holdEnd = fn({
  name: "holdEnd",
  params: [write(real), i32, i32, bool, real, real],
  body([u, nodes, end, held, value, hRate]) {
    const node = Math.min(Math.max(end, 0), nodes - 1);
    const before = u[node];
    u[node] = held ? value * (1 + hRate) : before;
  },
});

/**
 * Sets the right-hand side of (1 + hr)·y = u at the held ends before a step, so that the step returns the held values;
 * called after a step with `hRate` = 0, it sets the held values themselves.
 */
export const holdEnds = fn({
  name: "holdEnds",
  params: [write(real), i32, Ends, real],
  env: { holdEnd },
  body([u, nodes, { low, lowHeld, lowValue, high, highHeld, highValue }, hRate], _gpu, { holdEnd }) {
    holdEnd(u, nodes, low, lowHeld, lowValue, hRate);
    holdEnd(u, nodes, high, highHeld, highValue, hRate);
  },
});

/**
 * Writes the exercise payoff of the live nodes. Nodes beyond the ends cannot be exercised, nor can a held end, whose
 * value includes exercise already.
 */
export const liveObstacle = fn({
  name: "liveObstacle",
  params: [Column, i32, write(real), i32, Ends],
  env: { never: NEVER_EXERCISED, valueAt },
  body([table, column, obstacle, nodes, { low, lowHeld, high, highHeld }], _gpu, { never, valueAt }) {
    for (let i = 0; i < nodes; i++) {
      const dead = i < low || i > high || (i === low && lowHeld) || (i === high && highHeld);
      const payoff = valueAt(table, column * nodes + i);
      obstacle[i] = dead ? never : payoff;
    }
  },
});
