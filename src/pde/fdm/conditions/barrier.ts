import { bool, fn, i32, read, real, record, write } from "../../../kernel/index.ts";
import { Column, valueAt } from "../operator/state.ts";
import { LiveNodes, Rows, SUBNORMAL_GUARD } from "../operator/matrix.ts";
import { NEVER_EXERCISED, payDividend } from "./dates.ts";

/** The number of coefficients of one barrier on a date; see `knockOut`. */
export const SETTING_REALS = 5;
const END_REALS = 3;
/** The number of coefficients of one barrier on the date of a dividend that may take the spot across it. */
export const CROSSING_REALS = SETTING_REALS + 2;

/**
 * Returns the number of coefficients on a date of a problem with a number of barriers, including the two ends of the
 * live nodes (`LiveNodes`); 0 without barriers.
 */
export const barrierReals = (barriers: number): number =>
  barriers === 0 ? 0 : SETTING_REALS * barriers + 2 * END_REALS;

/**
 * Returns the function that applies the knock-outs of a date to u, barrier by barrier: u ← value at nodes beyond the
 * barrier's node, and u ← keep·u + paid at that node. The coefficients of a barrier are: node, side (+1: knocked out at
 * higher nodes, −1: at lower), value, keep, paid. The node of a barrier that is not monitored is far outside the mesh.
 * With `crossing` the function applies just before a dividend that takes the spot to a barrier between the node and the
 * next one beyond; that node has two more coefficients, for u ← keep·u + paid.
 *
 * u are the values of `rows` nodes from node `first` on, or of all nodes. `SUBNORMAL_GUARD` has been added to them. In
 * rows node numbers are compared as integers: compilers hoist a row's number as a real out of the time loop, which
 * costs a register a row. An item alone compares them as reals, whose masks a CPU's lanes need not convert.
 */
export function knockOut(barriers: number, rows: number | undefined, crossing = false) {
  return fn({
    name: "knockOut",
    params: [Column, i32, i32, i32, write(real)],
    env: {
      barriers,
      rows,
      crossing,
      words: crossing ? CROSSING_REALS : SETTING_REALS,
      alone: rows === undefined,
      guard: SUBNORMAL_GUARD,
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

/** The prescribed values at the two ends of the live nodes. */
export const HeldValues = record({ lowValue: real, highValue: real });

/** Returns the function that reads the ends of the live nodes for the interval from the previous date to this one. */
export const readLive = (barriers: number) =>
  fn({
    name: "readLive",
    params: [Column, i32, i32, i32],
    env: { settings: SETTING_REALS * barriers },
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

/** Returns the places of the prescribed values at the ends of the live nodes among the coefficients of a date. */
export const endValues = (barriers: number): { readonly low: number; readonly high: number } => ({
  low: SETTING_REALS * barriers + 2,
  high: SETTING_REALS * barriers + END_REALS + 2,
});

/** Returns the function that reads the prescribed values at the ends of the live nodes. */
export const readHeld = (barriers: number) =>
  fn({
    name: "readHeld",
    params: [Column, i32],
    env: { settings: SETTING_REALS * barriers },
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
 * Sets the right-hand side of (1 + hr)·y = u at those ends of the live nodes whose values are prescribed. It is called
 * before a step, which then returns the prescribed values. A call after the step with `hRate` = 0 sets these values
 * themselves.
 */
export const holdEnds = fn({
  name: "holdEnds",
  params: [write(real), i32, LiveNodes, HeldValues, real],
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
    params: [Column, i32, i32, i32, LiveNodes, write(real)],
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

/**
 * Returns the number of coefficients on a date of a problem with knock-ins. Two values are solved on one mesh: u of the
 * trade once it has been knocked in, and v while it is dormant. Both solve the same equation. Only u may be exercised,
 * and where the trade is knocked in v = u. The coefficients precede those of `barrier.ts`:
 *
 *   each knock-out   as for `knockOut`, applied to v: without early exercise
 *   each knock-in    node, side, keep: v ← u beyond the node, v ← keep·v + (1 − keep)·u on it, with u before knock-outs
 *   each end         the node at and beyond which the trade is not dormant back to the previous date (−1 and the number
 *                    of nodes where it is dormant everywhere); the kind of v there (`DORMANT_END`); the held value
 *   last             the amount paid at expiry if no level was ever breached
 */
export const knockInReals = (barriers: number, knockIns: number): number =>
  knockIns === 0 ? 0 : SETTING_REALS * barriers + ENTRY_REALS * knockIns + 2 * END_REALS + 1;

const ENTRY_REALS = 3;

/**
 * Returns the number of coefficients of a dormant value on the date of a dividend: for each knock-out and knock-in
 * level that the dividend may take the spot across (`applyDormantDate`).
 */
export const crossInReals = (barriers: number, knockIns: number): number =>
  knockIns === 0 ? 0 : CROSSING_REALS * barriers + (ENTRY_REALS + 1) * knockIns;

/**
 * The kinds of values that the dormant value v takes beyond its ends: a discounted rebate, a held rebate, or the
 * knocked-in value u ("joined").
 */
export const DORMANT_END = { discounted: 0, held: 1, joined: 2 } as const;

/**
 * Returns the function that sets the dormant value v on a date: first the knock-outs, then the knock-ins. At expiry
 * (`first`) v starts from the amount paid if no level was ever breached. With `crossing` (`knockOut`) each knock-in has
 * one more coefficient, the weight of the next node beyond.
 */
export function applyDormantDate(barriers: number, knockIns: number, crossing = false) {
  return fn({
    name: "applyDormantDate",
    params: [Column, i32, read(real), write(real), i32, bool],
    env: {
      knockIns,
      crossing,
      knockOut: knockOut(barriers, undefined, crossing),
      entries: (crossing ? CROSSING_REALS : SETTING_REALS) * barriers,
      words: crossing ? ENTRY_REALS + 1 : ENTRY_REALS,
      guard: SUBNORMAL_GUARD,
      last: knockInReals(barriers, knockIns) - 1,
      valueAt,
    },
    body([coefficients, row, u, v, nodes, first], gpu, env) {
      const { values, pitch, instance } = coefficients;
      if (first) {
        const rebate = env.valueAt(coefficients, row + env.last);
        for (let i = 0; i < nodes; i++) v[i] = rebate + env.guard;
      }
      for (let k = 0; k < env.knockIns; k++) {
        const at = (row + env.entries + k * env.words) * pitch + instance;
        const node = values[at];
        const side = values[at + pitch];
        const keep = values[at + 2 * pitch];
        for (let i = 0; i < nodes; i++) {
          const beyond = side * (gpu.real(i) - node);
          const here = beyond > -0.5 ? u[i] + keep * (v[i] - u[i]) : v[i];
          let joined = u[i];
          if (env.crossing && beyond < 1.5) joined = u[i] + values[at + 3 * pitch] * (v[i] - u[i]);
          v[i] = beyond > 0.5 ? joined : here;
        }
      }
      env.knockOut(coefficients, row, 0, nodes, v);
    },
  });
}

/** The two ends at an event; see `knockInReals`. */
const readDormantEnds = (barriers: number, knockIns: number) =>
  fn({
    name: "readDormantEnds",
    params: [Column, i32],
    env: { ends: SETTING_REALS * barriers + ENTRY_REALS * knockIns },
    body([{ values, pitch, instance }, row], gpu, { ends }) {
      const at = (row + ends) * pitch + instance;
      return {
        low: gpu.i32(values[at]),
        lowIs: values[at + pitch],
        lowValue: values[at + 2 * pitch],
        high: gpu.i32(values[at + 3 * pitch]),
        highIs: values[at + 4 * pitch],
        highValue: values[at + 5 * pitch],
      };
    },
  });

/**
 * Makes one time step of the dormant value v, which cannot be exercised. It solves (−a, 1 + hr + a + c, −c)·y = v for
 * the nodes between `low` and `high`, with y = z at the other nodes, and sets v ← y (implicit Euler) or v ← 2y − v
 * (Crank–Nicolson). It eliminates afresh, as `policy.ts` does, because v and the knocked-in value u have different ends
 * and cannot share a factorisation. Cost for each node: 11 flops, one of them a division, and 10 reals of private
 * memory.
 */
export const rowsStep = fn({
  name: "rowsStep",
  params: {
    v: write(real),
    z: write(real),
    rows: Rows,
    factor: write(real),
    low: i32,
    high: i32,
    crankNicolson: bool,
  },
  body({ v, z, rows: { a, c, nodes, hRate }, factor, low, high, crankNicolson }) {
    let excess = 1.0;
    let y = 0.0;
    for (let i = nodes - 1; i >= 0; i--) {
      if (i <= low || i >= high) {
        y = z[i];
        factor[i] = 0.0;
        excess = 1.0;
      } else {
        const rest = 1 + hRate + c[i] * excess;
        const pivot = 1 / (rest + a[i]);
        y = (v[i] + c[i] * y) * pivot;
        factor[i] = a[i] * pivot;
        excess = rest * pivot;
      }
      z[i] = y;
    }
    y = 0.0;
    for (let i = 0; i < nodes; i++) {
      y = z[i] + factor[i] * y;
      v[i] = crankNicolson ? y + y - v[i] : y;
    }
  },
});

/**
 * Returns the function that makes one step of the dormant value v, after the step of u. Beyond a joined end v equals u;
 * beyond any other end v is a rebate.
 */
export const dormantStep = (barriers: number, knockIns: number) =>
  fn({
    name: "dormantStep",
    params: {
      coefficients: Column,
      row: i32,
      v: write(real),
      u: read(real),
      z: write(real),
      rows: Rows,
      factor: write(real),
      crankNicolson: bool,
    },
    env: { readDormantEnds: readDormantEnds(barriers, knockIns), rowsStep },
    body({ coefficients, row, v, u, z, rows, factor, crankNicolson }, _gpu, env) {
      const { low, lowIs, lowValue, high, highIs, highValue } = env.readDormantEnds(coefficients, row);
      // y is the mean of what v was and will be.
      const weightOfOld = crankNicolson ? 0.5 : 0.0;
      for (let i = 0; i < rows.nodes; i++) {
        const is = i <= low ? lowIs : highIs;
        const held = i <= low ? lowValue : highValue;
        const next = is > 1.5 ? u[i] : held;
        z[i] = is > 0.5 ? next + weightOfOld * (v[i] - next) : v[i] / (1 + rows.hRate);
      }
      env.rowsStep({ v, z, rows, factor, low, high, crankNicolson });
    },
  });

/**
 * Returns the function that applies a dividend to the dormant value v; `applyDormantDate` then applies the knock-ins.
 */
export const dormantDividend = (barriers: number, knockIns: number) =>
  fn({
    name: "dormantDividend",
    params: {
      coefficients: Column,
      row: i32,
      x: read(real),
      v: write(real),
      scratch: write(real),
      nodes: i32,
      keep: real,
      cash: real,
    },
    env: { readDormantEnds: readDormantEnds(barriers, knockIns), payDividend: payDividend(undefined, true) },
    body({ coefficients, row, x, v, scratch, nodes, keep, cash }, _gpu, env) {
      const { low, high } = env.readDormantEnds(coefficients, row);
      for (let i = 0; i < nodes; i++) scratch[i] = v[i];
      env.payDividend({ x, values: scratch, first: 0, u: v, nodes, keep, cash, low, high });
    },
  });
