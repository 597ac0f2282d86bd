import { bool, fn, i32, type KernelFunction, read, real, write } from "../../kernel/index.ts";
import { CROSSING_WORDS, knockOut, SETTING_WORDS } from "./barrier.ts";
import { payDividendBetween } from "./dividend.ts";
import { ZERO_VALUE_GUARD } from "../operator/zero-value-guard.ts";

/**
 * Two values on one mesh: u of the trade once it has been knocked in, v while it waits for that. Both solve the same
 * equation; only u may be exercised, and where the trade is knocked in v = u. Words of coefficients at an event, before
 * those of `barrier.ts`:
 *
 *   of each knock-out    what it makes of v, as `knockOut` has it: no early exercise
 *   of each knock-in     node, side, keep: v ← u beyond the node, v ← keep·v + (1 − keep)·u on it, u as it is before it
 *                        is knocked out
 *   of either end        the node at and beyond which the trade does not wait until the event before, −1 and `nodes`
 *                        where it does everywhere; what v is there (`WAITING_END`); the value that is held
 *   last                 what is paid at expiry if nothing was hit
 */
export const knockInWords = (barriers: number, knockIns: number): number =>
  knockIns === 0 ? 0 : SETTING_WORDS * barriers + ENTRY_WORDS * knockIns + 2 * END_WORDS + 1;

const ENTRY_WORDS = 3;
const END_WORDS = 3;

/**
 * Words of a dividend before which nothing may have been knocked in: what it takes the spot to, of each knock-out and
 * each knock-in; see `settleWaiting`.
 */
export const crossInWords = (barriers: number, knockIns: number): number =>
  knockIns === 0 ? 0 : CROSSING_WORDS * barriers + (ENTRY_WORDS + 1) * knockIns;

/** What v is at an end: a rebate that is discounted, one that is held, or u. */
export const DORMANT_END = { discounted: 0, held: 1, joined: 2 } as const;

/**
 * What an event's date knocks in, and out, which goes before; at expiry (`first`) of what is paid if nothing was hit.
 * `crossing`: see `knockOut`; each knock-in has
 * one more word, keep of the next node beyond.
 */
export function settleDormant(barriers: number, knockIns: number, crossing = false): KernelFunction<any, void> {
  return fn({
    name: "settleWaiting",
    params: [read(real), i32, i32, i32, read(real), write(real), i32, bool],
    env: {
      knockIns,
      crossing,
      knockOut: knockOut(barriers, crossing),
      entries: (crossing ? CROSSING_WORDS : SETTING_WORDS) * barriers,
      words: crossing ? ENTRY_WORDS + 1 : ENTRY_WORDS,
      min: ZERO_VALUE_GUARD,
      last: knockInWords(barriers, knockIns) - 1,
    },
    body([coefficients, row, pitch, instance, u, v, nodes, first], gpu, env) {
      if (first) {
        const rebate = coefficients[(row + env.last) * pitch + instance];
        for (let i = 0; i < nodes; i++) v[i] = rebate + env.min;
      }
      for (let k = 0; k < env.knockIns; k++) {
        const at = (row + env.entries + k * env.words) * pitch + instance;
        const node = coefficients[at];
        const side = coefficients[at + pitch];
        const keep = coefficients[at + 2 * pitch];
        for (let i = 0; i < nodes; i++) {
          const beyond = side * (gpu.real(i) - node);
          const here = beyond > -0.5 ? u[i] + keep * (v[i] - u[i]) : v[i];
          let joined = u[i];
          if (env.crossing && beyond < 1.5) joined = u[i] + coefficients[at + 3 * pitch] * (v[i] - u[i]);
          v[i] = beyond > 0.5 ? joined : here;
        }
      }
      env.knockOut({ values: coefficients, pitch, instance }, row, v, nodes);
    },
  });
}

/** The two ends at an event; see `knockInWords`. */
const readDormantEnds = (barriers: number, knockIns: number): KernelFunction<any, any> =>
  fn({
    name: "readWaitingEnds",
    params: [read(real), i32, i32, i32],
    env: { ends: SETTING_WORDS * barriers + ENTRY_WORDS * knockIns },
    body([coefficients, row, pitch, instance], gpu, { ends }) {
      const at = (row + ends) * pitch + instance;
      return {
        low: gpu.i32(coefficients[at]),
        lowIs: coefficients[at + pitch],
        lowValue: coefficients[at + 2 * pitch],
        high: gpu.i32(coefficients[at + 3 * pitch]),
        highIs: coefficients[at + 4 * pitch],
        highValue: coefficients[at + 5 * pitch],
      };
    },
  });

/**
 * One step without exercise: (−a, 1 + hr + a + c, −c)·y = v for the nodes between `low` and `high`, y as z has it for
 * the others; then v ← y (implicit Euler) or v ← 2y − v (Crank–Nicolson). Elimination as in `policy.ts`, on the way:
 * two values, each with ends of its own, do not share a factorisation. Cost: 11 flops, one of them a division, and 10
 * words of private memory a node.
 */
export const rowsStep = fn({
  name: "rowsStep",
  params: [write(real), write(real), read(real), read(real), write(real), i32, i32, i32, real, bool],
  body([v, z, a, c, factor, nodes, low, high, hRate, crankNicolson]) {
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

/** One step of v, after u's: beyond an end that is joined it is u, beyond any other a rebate. */
export const dormantStep = (barriers: number, knockIns: number): KernelFunction<any, void> =>
  fn({
    name: "waitingStep",
    params: [
      read(real),
      i32,
      i32,
      i32,
      write(real),
      read(real),
      write(real),
      read(real),
      read(real),
      write(real),
      i32,
      real,
      bool,
    ],
    env: { readDormantEnds: readDormantEnds(barriers, knockIns), rowsStep },
    body([coefficients, row, pitch, instance, v, u, z, a, c, factor, nodes, hRate, crankNicolson], _gpu, env) {
      const { low, lowIs, lowValue, high, highIs, highValue } = env.readDormantEnds(coefficients, row, pitch, instance);
      // y is the mean of what v was and will be.
      const memory = crankNicolson ? 0.5 : 0.0;
      for (let i = 0; i < nodes; i++) {
        const is = i <= low ? lowIs : highIs;
        const held = i <= low ? lowValue : highValue;
        const next = is > 1.5 ? u[i] : held;
        z[i] = is > 0.5 ? next + memory * (v[i] - next) : v[i] / (1 + hRate);
      }
      env.rowsStep(v, z, a, c, factor, nodes, low, high, hRate, crankNicolson);
    },
  });

/** A dividend before the knock-in, into v; where it knocks in, `settleWaiting` says. */
export const dormantDividend = (barriers: number, knockIns: number): KernelFunction<any, void> =>
  fn({
    name: "waitingDividend",
    params: [read(real), i32, i32, i32, read(real), write(real), write(real), i32, real, real],
    env: { readDormantEnds: readDormantEnds(barriers, knockIns), payDividendBetween },
    body([coefficients, row, pitch, instance, x, v, scratch, nodes, keep, cash], _gpu, env) {
      const { low, high } = env.readDormantEnds(coefficients, row, pitch, instance);
      env.payDividendBetween(x, v, scratch, nodes, keep, cash, low, high);
      for (let i = 0; i < nodes; i++) v[i] = scratch[i];
    },
  });
