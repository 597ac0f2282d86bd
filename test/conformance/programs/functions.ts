/** Kernel functions that generated programs call. */
import { bool, fn, i32, real, record, write } from "../../../src/kernel/index.ts";

/** Keeps reals within (−½, ½), and differences from growing. */
const bound = fn({
  name: "bound",
  params: [real],
  body([x]) {
    return (0.5 * x) / (1 + Math.abs(x));
  },
});

const choose = fn({
  name: "choose",
  params: [i32, real, real],
  body([k, a, b]) {
    if (k % 3 === 0) return a;
    if (k > 100) {
      if (k % 2 === 0) return b;
      return a - b;
    }
    return a + b;
  },
});

const pair = fn({
  name: "pair",
  params: [real, i32],
  body([x, k]) {
    return { half: x * 0.5, low: k & 15, odd: (k & 1) === 1 };
  },
});

/** Returns from within a loop. */
const search = fn({
  name: "search",
  params: [i32, i32],
  body([start, step]) {
    let at = start & 31;
    for (let trips = 0; trips < 6; trips++) {
      at += step & 7;
      if (at % 5 === 0) return at;
      if (at > 60) break;
    }
    return -at;
  },
});

/** Changes its own parameter and an array of the caller. */
const stir = fn({
  name: "stir",
  params: [write(real), i32, bool],
  body([t, k, up]) {
    k &= 3;
    t[k] = up ? t[k] * 0.5 + 0.125 : -t[k];
  },
});

const State = record({ r: real, k: i32 });

/** Takes and returns records, in two returns, and changes an array of the caller. */
const mix = fn({
  name: "mix",
  params: { of: State, by: i32, t: write(real) },
  body({ of, by, t }) {
    if (by % 2 === 0) return { r: of.r * 0.5, k: by };
    const { r, k } = of;
    t[by & 3] = r;
    const mixed = { r: -r, k: 0 };
    mixed.k = k ^ by;
    return mixed;
  },
});

/** `stir` with an array in a record. */
const swirl = fn({
  name: "swirl",
  params: { at: record({ t: write(real), k: i32 }), up: bool },
  env: { stir },
  body({ at, up }, _gpu, { stir }) {
    stir(at.t, at.k, up);
  },
});

export const functions = { bound, choose, mix, pair, search, stir, swirl };
