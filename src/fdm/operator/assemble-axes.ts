import { bool, fn, i32, real, record } from "../../kernel/index.ts";
import type { AxesVariant, AxisCode } from "./axes-variant.ts";
import { AxesState } from "./state.ts";
import { endRow, inCoordinate, innerRow, slopeSource } from "./row.ts";
import { FAULT } from "./status.ts";

/** The place of a node on an axis: its number, the steps of the coordinate beside it, and those of the axis' values. */
export const AxisPlace = record({
  isFirst: bool,
  isLast: bool,
  x: real,
  hDown: real,
  hUp: real,
  down: real,
  up: real,
});

/**
 * The row of hLⱼ along one axis, off the diagonal: h·a to the node before and h·c to the one after, by the differences
 * of `innerRow` and `endRow`, and what a Neumann end adds to F.
 */
export function axisRow({ log, first, last }: AxisCode, fitted: boolean) {
  return fn({
    name: "axisRow",
    params: { at: AxisPlace, h: real, a: real, b: real, state: AxesState },
    env: {
      inCoordinate: inCoordinate(log),
      innerRow: innerRow(fitted),
      endRow: endRow({ first, last }),
      slopeSource: slopeSource(log),
      firstSlope: first.kind === "neumann" ? first.number : undefined,
      lastSlope: last.kind === "neumann" ? last.number : undefined,
    },
    body({ at, h, a, b, state }, _gpu, env) {
      const { diffusion, drift } = env.inCoordinate(Math.max(a, 0.0), b, at.x);
      let below = 0.0;
      let above = 0.0;
      let slope = 0.0;
      if (at.isFirst) {
        above = env.endRow(true, h, b, diffusion, drift, at.hUp, at.up).flow;
        if (env.firstSlope !== undefined)
          slope = env.slopeSource(true, diffusion, drift, at.hUp, at.x, env.firstSlope(state));
      } else if (at.isLast) {
        below = env.endRow(false, h, b, diffusion, drift, at.hDown, at.down).flow;
        if (env.lastSlope !== undefined)
          slope = env.slopeSource(false, diffusion, drift, at.hDown, at.x, env.lastSlope(state));
      } else {
        const row = env.innerRow(h, diffusion, drift, at.hDown, at.hUp);
        below = row.a;
        above = row.c;
      }
      return { below, above, slope };
    },
  });
}

/** Tells whether a node has a value of its own at time t, by a Dirichlet boundary or a knock-out in force. */
export function isPinnedOnAxes({ axes, region }: AxesVariant) {
  const [e0, e1, e2] = axes.map(({ first, last }) => [first.kind === "dirichlet", last.kind === "dirichlet"]);
  return fn({
    name: "isPinned",
    params: { state: AxesState, mask: i32, ends: record({ on0: i32, on1: i32, on2: i32 }) },
    env: {
      first0: e0[0],
      last0: e0[1],
      first1: e1[0],
      last1: e1[1],
      first2: e2?.[0] ?? false,
      last2: e2?.[1] ?? false,
      inside: region?.inside,
    },
    body({ state, mask, ends: { on0, on1, on2 } }, _gpu, env) {
      // −1 at the first node of an axis, 1 at the last one.
      let pinned = (env.first0 && on0 < 0) || (env.last0 && on0 > 0) || (env.first1 && on1 < 0);
      pinned = pinned || (env.last1 && on1 > 0) || (env.first2 && on2 < 0) || (env.last2 && on2 > 0);
      if (env.inside !== undefined) pinned = pinned || env.inside({ state, mask });
      return pinned;
    },
  });
}

/** The value of a pinned node. */
export function pinnedValueOnAxes({ axes, region }: AxesVariant) {
  const [e0, e1, e2] = axes.map(({ first, last }) => [
    first.kind === "dirichlet" ? first.number : undefined,
    last.kind === "dirichlet" ? last.number : undefined,
  ]);
  return fn({
    name: "pinnedValue",
    params: { state: AxesState, mask: i32, ends: record({ on0: i32, on1: i32, on2: i32 }) },
    env: {
      regionValue: region?.value,
      first0: e0[0],
      last0: e0[1],
      first1: e1[0],
      last1: e1[1],
      first2: e2?.[0],
      last2: e2?.[1],
    },
    body({ state, mask, ends: { on0, on1, on2 } }, _gpu, env) {
      let value = 0.0;
      if (env.regionValue !== undefined) value = env.regionValue({ state, mask });
      if (env.first2 !== undefined && on2 < 0) value = env.first2(state);
      if (env.last2 !== undefined && on2 > 0) value = env.last2(state);
      if (env.first1 !== undefined && on1 < 0) value = env.first1(state);
      if (env.last1 !== undefined && on1 > 0) value = env.last1(state);
      if (env.first0 !== undefined && on0 < 0) value = env.first0(state);
      if (env.last0 !== undefined && on0 > 0) value = env.last0(state);
      return value;
    },
  });
}

const Coefficients = record({
  a00: real,
  a11: real,
  a22: real,
  a01: real,
  a02: real,
  a12: real,
  b0: real,
  b1: real,
  b2: real,
  c: real,
  d: real,
});

/**
 * `FAULT` of coefficients: not finite; a second derivative along an axis that is negative; a matrix of second
 * derivatives that is not positive semi-definite, 4·aᵢᵢ·aⱼⱼ < aᵢⱼ², for which the equation is not well posed either.
 */
export const coefficientFault = fn({
  name: "coefficientFault",
  params: [Coefficients],
  env: FAULT,
  body([{ a00, a11, a22, a01, a02, a12, b0, b1, b2, c, d }], gpu, bad) {
    let fault = 0;
    if (!Number.isFinite(a00 + a11 + a22 + a01 + a02 + a12)) fault = fault | bad.a;
    if (!Number.isFinite(b0 + b1 + b2)) fault = fault | bad.b;
    if (!Number.isFinite(c)) fault = fault | bad.c;
    if (!Number.isFinite(d)) fault = fault | bad.d;
    if (fault === 0) {
      const unit = gpu.precision === "f32" ? 1e-5 : 1e-10;
      const slack = 1 + unit;
      const largest = Math.max(Math.abs(a00), Math.max(Math.abs(a11), Math.abs(a22)));
      if (Math.min(a00, Math.min(a11, a22)) < -unit * largest) fault = bad.negative;
      else if (
        a01 * a01 > 4 * slack * a00 * a11 ||
        a02 * a02 > 4 * slack * a00 * a22 ||
        a12 * a12 > 4 * slack * a11 * a22
      )
        fault = bad.indefinite;
    }
    return fault;
  },
});
