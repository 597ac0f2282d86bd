import { fn, i32, read, real, record } from "../../../kernel/index.ts";
import { Column, valueAt } from "../operator/state.ts";
import { readClosed } from "../operator/coefficients.ts";

/** The output value that means immediate exercise. The value is then the payoff, which the host evaluates exactly. */
export const EXERCISED = 1e30;

/**
 * The number of coefficients for reading at a point: its spot and, where the mesh is a table, the first and the last
 * node that may be used.
 */
export const pointWords = (closed: boolean): number => (closed ? 1 : 3);

/**
 * The last i for which node i is on the side of node 0 of a price, or at it; held between 0 and `nodes` − 2. As many
 * rounds for every price.
 */
const cellIn = fn({
  name: "cellIn",
  params: [read(real), i32, real],
  body([x, nodes, price]) {
    const ascends = x[nodes - 1] > x[0];
    let span = 1;
    while (2 * span < nodes) span = 2 * span;
    let cell = 0;
    while (span > 0) {
      const probe = Math.min(cell + span, nodes - 2);
      const isPast = ascends ? x[probe] > price : x[probe] <= price;
      if (!isPast) cell = probe;
      span = span >> 1;
    }
    return cell;
  },
});

/**
 * Evaluates the polynomial of degree 5 through the six nodes from `first` on at a price, by Lagrange's weights as the
 * host's `stencil`. Distances are in units of the middle interval, so that products of five stay within the range of
 * f32. The error is O(h⁶) where the solution is smooth. Cost: 7 divisions, some 70 flops.
 */
export const valueBetween = fn({
  name: "valueBetween",
  params: [read(real), read(real), i32, real],
  body([x, u, first, price]) {
    const x0 = x[first];
    const x1 = x[first + 1];
    const x2 = x[first + 2];
    const x3 = x[first + 3];
    const x4 = x[first + 4];
    const x5 = x[first + 5];
    const unit = 1 / (x3 - x2);
    const d0 = (x0 - price) * unit;
    const d1 = (x1 - price) * unit;
    const d2 = (x2 - price) * unit;
    const d3 = (x3 - price) * unit;
    const d4 = (x4 - price) * unit;
    const d5 = (x5 - price) * unit;
    const h10 = (x1 - x0) * unit;
    const h20 = (x2 - x0) * unit;
    const h30 = (x3 - x0) * unit;
    const h40 = (x4 - x0) * unit;
    const h50 = (x5 - x0) * unit;
    const h21 = (x2 - x1) * unit;
    const h31 = (x3 - x1) * unit;
    const h41 = (x4 - x1) * unit;
    const h51 = (x5 - x1) * unit;
    const h42 = (x4 - x2) * unit;
    const h52 = (x5 - x2) * unit;
    const h43 = (x4 - x3) * unit;
    const h53 = (x5 - x3) * unit;
    const h54 = (x5 - x4) * unit;
    // x₃ − x₂ is 1 of these units.
    const low = d0 * d1;
    const middle = d2 * d3;
    const high = d4 * d5;
    const outer = low * high;
    return (
      (u[first] * d1 * middle * high) / (h10 * h20 * h30 * h40 * h50) -
      (u[first + 1] * d0 * middle * high) / (h10 * h21 * h31 * h41 * h51) +
      (u[first + 2] * d3 * outer) / (h20 * h21 * h42 * h52) -
      (u[first + 3] * d2 * outer) / (h30 * h31 * h43 * h53) +
      (u[first + 4] * d5 * low * middle) / (h40 * h41 * h42 * h43 * h54) -
      (u[first + 5] * d4 * low * middle) / (h50 * h51 * h52 * h53 * h54)
    );
  },
});

/** The inputs for reading a solution at a point: the nodes, their values, and the exercise payoff. */
export const Reading = record({
  table: Column,
  coefficients: Column,
  nodes: i32,
  x: read(real),
  u: read(real),
  /** The value before a knock-in. */
  dormant: read(real),
  /** The place at which the obstacle starts in the table, unless mesh and payoff are `closed`. */
  obstacleRow: i32,
  /** A time-dependent obstacle is slope·φ·x − kink. */
  slope: real,
  kink: real,
});

/**
 * Tells whether nodes i and i + 1 are on the obstacle where that is worth something: exercise is then optimal between
 * them.
 */
const isExercised = (closed: boolean, timeDependent: boolean) =>
  fn({
    name: "isExercised",
    params: [Reading, i32, real],
    env: { closed, timeDependent, readClosed, valueAt },
    body([{ table, x, u, obstacleRow, slope, kink: held }, i, rounding], _gpu, env) {
      let below = 0.0;
      let above = 0.0;
      if (env.closed) {
        const { kink, sign } = env.readClosed(table);
        below = env.timeDependent ? sign * x[i] * slope - held : sign * (x[i] - kink);
        above = env.timeDependent ? sign * x[i + 1] * slope - held : sign * (x[i + 1] - kink);
      } else {
        below = env.valueAt(table, obstacleRow + i);
        above = env.valueAt(table, obstacleRow + i + 1);
      }
      return below > 0 && above > 0 && u[i] <= below + rounding && u[i + 1] <= above + rounding;
    },
  });

/**
 * Returns the function for the value at a point, whose coefficients begin at table row `row`. The value is `EXERCISED`
 * where two nodes about the point are exercised, or where the mesh ends before the point because exercise is certain
 * there. For the value before a knock-in, which nobody can exercise, nodes are numbered from `nodes` on.
 */
export function pointValue({
  closed,
  american,
  timeDependent,
  hasKnockIns,
}: Readonly<Record<"closed" | "american" | "timeDependent" | "hasKnockIns", boolean>>) {
  return fn({
    name: "pointValue",
    params: { of: Reading, row: i32 },
    env: {
      closed,
      american,
      hasKnockIns,
      cellIn,
      valueBetween,
      isExercised: isExercised(closed, timeDependent),
      EXERCISED,
      valueAt,
    },
    body({ of, row }, gpu, env) {
      const { coefficients, nodes, x } = of;
      const price = env.valueAt(coefficients, row);
      const cell = env.cellIn(x, nodes, price);
      let lowest = 0;
      let highest = nodes - 1;
      if (!env.closed) {
        lowest = gpu.i32(env.valueAt(coefficients, row + 1));
        highest = gpu.i32(env.valueAt(coefficients, row + 2));
      }
      const isIn = lowest < nodes;
      if (!isIn) {
        lowest -= nodes;
        highest -= nodes;
      }
      const first = Math.min(Math.max(Math.min(Math.max(cell - 2, lowest), highest - 5), 0), nodes - 6);
      let value = 0.0;
      if (env.hasKnockIns && !isIn) value = env.valueBetween(x, of.dormant, first, price);
      else value = env.valueBetween(x, of.u, first, price);
      const isBeyond = (price - x[0]) * (price - x[nodes - 1]) > 0;
      if (isBeyond) value = env.EXERCISED;
      if (env.american && isIn) {
        const rounding = gpu.precision === "f32" ? 2e-6 : 1e-12;
        if (env.isExercised(of, cell, rounding)) value = env.EXERCISED;
      }
      return value;
    },
  });
}
