import { fn, i32, real } from "../../../kernel/index.ts";
import { Memory, Terms } from "./records.ts";

/**
 * The call price that stands for a bond that cannot be called, in units of the notional. It is above any other price.
 */
export const NO_CALL_PRICE = 1e12;

/** Returns the lower bound of the value at a spot: the larger of conversion value and put price. */
export const floorAt = fn({
  name: "floorAt",
  params: { s: real, terms: Terms },
  body({ s, terms: { put, ratio } }) {
    return Math.max(ratio * s, put);
  },
});

/**
 * Returns the upper bound of the value at a spot: the call price, or the conversion value or put price if larger,
 * because the holder may still convert or put.
 */
export const capAt = fn({
  name: "capAt",
  params: { s: real, terms: Terms },
  env: { NO_CALL_PRICE },
  body({ s, terms: { call, trigger, put, ratio } }, _gpu, env) {
    return s >= trigger ? Math.max(Math.max(ratio * s, call), put) : env.NO_CALL_PRICE;
  },
});

/** Returns the cash-only part B of a bond that is converted, put or called at a spot, as its `status` says. */
export const cashAt = fn({
  name: "cashAt",
  params: { s: real, terms: Terms, status: real, calledCash: real },
  body({ s, terms: { call, put, ratio }, status, calledCash }) {
    const parity = ratio * s;
    if (status < 1.5) return put > parity ? put : 0.0;
    return put > Math.max(call, parity) ? put : call > parity ? calledCash * call : 0.0;
  },
});

/**
 * Replaces V by max(V, target) or, with `sign` −1, by min(V, target) at spots from `from` on, where target =
 * max(amount, ratio·S). It takes means over the cells of the nodes, because pointwise values would lose one order of
 * accuracy. Where V and the target cross inside a cell, V gets the mean of the larger (smaller) one. B gets the mean
 * over the cell of the B that is kept and of `cash`, which the target pays where `amount` exceeds ratio·S. With `whole`
 * the cell of a node at `from` counts as a whole, because a continuous call binds there at once.
 */
export const applyExchange = fn({
  name: "applyExchange",
  params: {
    memory: Memory,
    nodes: i32,
    sign: real,
    amount: real,
    ratio: real,
    from: real,
    cash: real,
    whole: real,
  },
  body({ memory, nodes, sign, amount, ratio, from, cash, whole }) {
    const { s, v, b } = memory;
    let gainBefore = 0.0;
    let gain = sign * (Math.max(amount, ratio * s[0]) - v[0]);
    for (let i = 0; i < nodes; i++) {
      const here = s[i];
      const isFirst = i === 0;
      const isLast = i === nodes - 1;
      const above = isLast ? here : s[i + 1];
      const below = isFirst ? here : s[i - 1];
      const gainAfter = isLast ? gain : sign * (Math.max(amount, ratio * above) - v[i + 1]);
      const isAtStart = below < from;
      if (here >= from) {
        const leftWidth = isAtStart && whole < 0.5 && !isFirst ? 0.0 : here - below;
        const left = 0.5 * (gain + gainBefore);
        const right = 0.5 * (gain + gainAfter);
        const width = above - below;
        const weightRight = (above - here) / width;
        const weightLeft = leftWidth / width;
        const weightStart = isAtStart && whole > 0.5 ? (here - below) / width : 0.0;
        const size = Math.abs(gain);
        let mean = Math.max(gain, 0) * (weightLeft + weightRight);
        let share = gain > 0 ? weightLeft + weightRight : 0.0;
        if (gain > 0 !== right > 0) {
          const part = Math.abs(right) / (Math.abs(right) + size);
          mean += 0.5 * weightRight * part * Math.abs(right);
          share += gain > 0 ? -weightRight * part : weightRight * part;
        }
        if (gain > 0 !== left > 0 && weightStart === 0.0) {
          const part = Math.abs(left) / (Math.abs(left) + size);
          mean += 0.5 * weightLeft * part * Math.abs(left);
          share += gain > 0 ? -weightLeft * part : weightLeft * part;
        }
        v[i] += sign * mean;
        // The part of the cell in which the target is the amount.
        const ofAmount = ratio > 0 ? (amount / ratio - 0.5 * (below + here)) / (0.5 * width) : 1.0;
        b[i] += share * (cash * Math.min(Math.max(ofAmount, 0), 1) - b[i]);
      }
      gainBefore = gain;
      gain = gainAfter;
    }
  },
});

/** Sets V = max(put, conversion, min(V, call)) at one time: the holder decides after the issuer. */
export const exerciseAll = fn({
  name: "exerciseAll",
  params: { memory: Memory, nodes: i32, terms: Terms, calledCash: real, whole: real },
  env: { applyExchange, NO_CALL_PRICE },
  body({ memory, nodes, terms: { call, trigger, put, ratio }, calledCash, whole }, _gpu, env) {
    const paid = Math.max(put, 0);
    if (ratio > 0 || paid > 0)
      env.applyExchange({ memory, nodes, sign: 1.0, amount: paid, ratio, from: 0.0, cash: paid, whole });
    if (call < 0.5 * env.NO_CALL_PRICE)
      env.applyExchange({
        memory,
        nodes,
        sign: -1.0,
        amount: Math.max(call, put),
        ratio,
        from: trigger,
        cash: put > call ? put : calledCash * call,
        whole,
      });
  },
});

/**
 * Sets the status of each node (held, converted or put, called) just after `exerciseAll` at a time of continuous
 * exercise.
 */
export const setStatus = fn({
  name: "setStatus",
  params: { memory: Memory, nodes: i32, terms: Terms },
  env: { floorAt, capAt },
  body({ memory: { s, v, status }, nodes, terms }, _gpu, env) {
    for (let i = 0; i < nodes; i++) {
      const low = env.floorAt({ s: s[i], terms });
      const high = env.capAt({ s: s[i], terms });
      status[i] = v[i] >= high ? 2.0 : v[i] <= low ? 1.0 : 0.0;
    }
  },
});
