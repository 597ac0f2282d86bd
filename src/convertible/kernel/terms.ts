import { fn, i32, real } from "../../kernel/index.ts";
import { Memory, Terms } from "./records.ts";

/** A price beyond any other, in units of the notional: the call price of a bond that cannot be called. */
export const NEVER = 1e12;

/** Returns the lower bound of the value: conversion or put. */
export const floorAt = fn({
  name: "floorAt",
  params: { s: real, terms: Terms },
  body({ s, terms: { put, ratio } }) {
    return Math.max(ratio * s, put);
  },
});

/** Returns the upper bound of the value: after a call the holder may still convert, and a put comes first. */
export const capAt = fn({
  name: "capAt",
  params: { s: real, terms: Terms },
  env: { NEVER },
  body({ s, terms: { call, trigger, put, ratio } }, _gpu, env) {
    return s >= trigger ? Math.max(Math.max(ratio * s, call), put) : env.NEVER;
  },
});

/** Returns the cash-only part of a bond that is converted, put or called. */
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
 * Replaces V by max(V, target) or, with `sign` −1, by min(V, target) for spots from `from` on, with target =
 * max(amount, ratio·S), as means over the cells of the nodes: where the two cross inside a cell, V gets the mean of the
 * larger (smaller) one, and B the share that is left of it and of the target's cash, which is there while the amount is
 * more than the shares. Pointwise values would lose one order of accuracy. `whole`: the cell of a node at `from` counts
 * as a whole, since a continuous call binds there at once.
 */
export const exchange = fn({
  name: "exchange",
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

/** Sets V = max(put, conversion, min(hold, call)) at a moment: the holder's choice after the issuer's. */
export const exerciseAll = fn({
  name: "exerciseAll",
  params: { memory: Memory, nodes: i32, terms: Terms, calledCash: real, whole: real },
  env: { exchange, NEVER },
  body({ memory, nodes, terms: { call, trigger, put, ratio }, calledCash, whole }, _gpu, env) {
    const paid = Math.max(put, 0);
    if (ratio > 0 || paid > 0)
      env.exchange({ memory, nodes, sign: 1.0, amount: paid, ratio, from: 0.0, cash: paid, whole });
    if (call < 0.5 * env.NEVER)
      env.exchange({
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

/** Sets the statuses of the nodes just after `exerciseAll` at a moment of continuous exercise. */
export const settleStatus = fn({
  name: "settleStatus",
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
