import { fn, i32, read, real, record, write } from "../../../../kernel/index.ts";
import {
  CROSSING_REALS,
  crossInReals,
  dormantDividend,
  knockOut,
  liveObstacle,
  readLive,
  applyDormantDate,
} from "../../conditions/barrier.ts";
import { LiveNodes } from "../../operator/matrix.ts";
import { exerciseOnDate, payDividend } from "../../conditions/dates.ts";
import { Column, valueAt } from "../../operator/state.ts";
import { Launch, type OptionPlan, type SolverVariant } from "./plan.ts";
import { ItemContext } from "../rollback.ts";
import { Coefficients, readClosedForm, SurfaceLocation, surfaceSigma } from "../../operator/coefficients.ts";
import { WINDOW } from "../../read/solution.ts";

/**
 * Returns the function that applies the barriers of a date to an item's nodes. The function sets the values of
 * knocked-out nodes. With `policy` it also marks the nodes at which early exercise is possible until the next date. Its
 * result is the live nodes.
 */
export const applyBarrierDate = ({ rows, policy, variant: { barriers = 0 } }: OptionPlan) =>
  fn({
    name: "applyBarrierDate",
    params: { launch: Launch, context: ItemContext, row: i32, u: write(real), paid: write(real) },
    env: {
      policy,
      knockOut: knockOut(barriers, rows),
      readLive: readLive(barriers),
      liveObstacle: liveObstacle(rows),
    },
    body({ launch: { nodes, obstacleColumn }, context, row, u, paid }, _gpu, env) {
      const { table, parameters: coefficients, first } = context;
      env.knockOut(coefficients, row, first, nodes, u);
      const live = env.readLive(coefficients, row, first, nodes);
      if (env.policy) env.liveObstacle(table, obstacleColumn, first, nodes, live, paid);
      return live;
    },
  });

/**
 * Returns the function that applies a dividend, V(S) ← V(S − dividend), to an item's nodes, with the barriers that it
 * takes the spot across. It interpolates the solution at all nodes, which is in `values`, and writes into u. It returns
 * the index of the coefficients after those of the dividend.
 *
 * Just before the dividend the holder may exercise, which gives V a kink between nodes as on a date of exercise.
 * Without barriers a team exercises after this function, since it needs nodes of other items for that.
 */
export function applyDividend({ rows, early, policy, hasBarriers, variant }: OptionPlan) {
  const { barriers = 0, knockIns = 0 } = variant;
  return fn({
    name: "applyDividend",
    params: {
      launch: Launch,
      context: ItemContext,
      x: read(real),
      values: write(real),
      u: write(real),
      paid: read(real),
      /** The value before a knock-in, an array for its use, and the last event's words of it. */
      dormant: write(real),
      scratch: write(real),
      dormantRow: i32,
      live: LiveNodes,
      row: i32,
      keep: real,
      cash: real,
    },
    env: {
      rows,
      policy,
      hasBarriers,
      hasKnockIns: knockIns > 0,
      exercisesHere: early && (hasBarriers || rows === undefined),
      exerciseOnDate,
      payDividend: payDividend(rows, hasBarriers),
      dormantDividend: dormantDividend(barriers, knockIns),
      crossDormant: applyDormantDate(barriers, knockIns, true),
      crossInReals: crossInReals(barriers, knockIns),
      cross: knockOut(barriers, rows, true),
      crossReals: CROSSING_REALS * barriers,
      valueAt,
    },
    body(of, _gpu, env) {
      const { x, values, u, paid, dormant, scratch, dormantRow, live, keep, cash } = of;
      const { nodes, obstacleColumn } = of.launch;
      const { table, parameters: coefficients, first } = of.context;
      const rows = env.rows ?? nodes;
      let row = of.row + 2;
      env.payDividend({ x, values, first, u, nodes, keep, cash, low: first + live.low, high: first + live.high });
      if (env.hasKnockIns) {
        // Knocked in after the dividend: nobody could exercise before it.
        env.dormantDividend({ coefficients, row: dormantRow, x, v: dormant, scratch, nodes, keep, cash });
        env.crossDormant(coefficients, row, u, dormant, nodes, false);
        row += env.crossInReals;
      }
      // Before the date other nodes of a barrier's trade may be alive.
      if (env.hasBarriers && env.policy)
        for (let k = 0; k < rows; k++)
          u[k] = Math.max(u[k], env.valueAt(table, obstacleColumn * nodes + Math.min(first + k, nodes - 1)));
      else if (env.exercisesHere && !env.hasBarriers && obstacleColumn === 1)
        env.exerciseOnDate(u, paid, values, nodes);
      else if (env.exercisesHere) for (let k = 0; k < rows; k++) u[k] = Math.max(u[k], paid[k]);
      if (env.hasBarriers) {
        env.cross(coefficients, row, first, nodes, u);
        row += env.crossReals;
      }
      return row;
    },
  });
}

/**
 * Returns the function that computes h·σ²S² at node i, whose price is `here`. From `row` on the table has the column of
 * local variances, or the spot and the literals of a formula. For a surface `piece` is the number of its spots up to
 * the price (`surfaceSigma`): the argument is where the search starts, and the result where it ended.
 */
export const varianceAt = ({ shape, volatility }: SolverVariant) =>
  fn({
    name: "varianceAt",
    params: { table: Column, of: Coefficients, slice: SurfaceLocation, row: i32, i: i32, here: real, piece: i32 },
    env: { shape, volatility: volatility?.call, surfaceSigma, valueAt },
    body({ table, of, slice, row, i, here, piece }, _gpu, env) {
      let found = piece;
      let variance = of.hVariance * here * here;
      if (env.shape === "table") variance = of.hVariance * env.valueAt(table, row + i);
      if (env.volatility !== undefined && here > 0) {
        const sigma = Math.max(env.volatility(table, row, here, of.time) + of.shift, 0);
        variance = of.hVariance * sigma * sigma * here * here;
      }
      if (env.shape === "surface") {
        const { first, spots, slice: at, move } = slice;
        const on = env.surfaceSigma(table.values, first, spots, at, move, piece, here);
        found = on.piece;
        variance = of.hVariance * on.sigma * on.sigma * here * here;
      }
      return { variance, piece: found };
    },
  });

/**
 * Returns the function that writes the results of an option, in the layout of `solverKernel`. They are the solution at
 * the six nodes about the spot, from which the host interpolates value, delta and gamma; these nodes themselves where
 * the device made the mesh; and the values at further spots. The function reads the solution `u` at all nodes `x`.
 * `row` is the index of the coefficients of the problem at the further spots. `slope` and `kink` are the slope and the
 * strike of a payoff that depends on time.
 */
export function readValues({ items, early, timeDependent, variant }: OptionPlan) {
  const { closed, points = false, knockIns = 0 } = variant;
  const hasKnockIns = knockIns > 0;
  return fn({
    name: "readValues",
    params: {
      launch: Launch,
      context: ItemContext,
      x: read(real),
      u: read(real),
      dormant: read(real),
      row: i32,
      slope: real,
      kink: real,
    },
    env: {
      items,
      closed,
      hasKnockIns,
      hasPoints: points,
      WINDOW,
      realsPerPoint: realsPerPoint(closed),
      pointValue: pointValue({ closed, american: early, timeDependent, hasKnockIns }),
    },
    body({ launch, context, x, u, dormant, row, slope, kink }, _gpu, env) {
      const { pitch, nodes, obstacleColumn, start, out } = launch;
      const { instance, isOwner, table, parameters: coefficients, item } = context;
      const windows = isOwner ? launch.windows : 0;
      for (let k = item; k < windows * env.WINDOW; k += env.items) {
        const window = (k / env.WINDOW) | 0;
        const i = start[window * pitch + instance] + k - window * env.WINDOW;
        if (env.hasKnockIns && i >= nodes) out[k * pitch + instance] = dormant[i - nodes];
        else out[k * pitch + instance] = u[i];
        if (env.closed) out[(launch.windows * env.WINDOW + k) * pitch + instance] = x[i];
      }
      if (env.hasPoints) {
        const points = isOwner ? launch.points : 0;
        const read = (env.closed ? 2 : 1) * launch.windows * env.WINDOW;
        const of = { table, coefficients, nodes, x, u, dormant, obstacleRow: obstacleColumn * nodes, slope, kink };
        for (let point = item; point < points; point += env.items)
          out[(read + point) * pitch + instance] = env.pointValue({ of, row: row + point * env.realsPerPoint });
      }
    },
  });
}

/** The output value that means immediate exercise. The value is then the payoff, which the host evaluates exactly. */
export const EXERCISED = 1e30;

/**
 * Returns the number of coefficients with which the value at a spot is read: the spot and, unless the mesh has a closed
 * form, the first and the last node that may be used.
 */
export const realsPerPoint = (closed: boolean): number => (closed ? 1 : 3);

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
const valueBetween = fn({
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
const Reading = record({
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
    env: { closed, timeDependent, readClosedForm, valueAt },
    body([{ table, x, u, obstacleRow, slope, kink: held }, i, rounding], _gpu, env) {
      let below = 0.0;
      let above = 0.0;
      if (env.closed) {
        const { kink, sign } = env.readClosedForm(table);
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
 * Returns the function that computes the value at a point, whose coefficients begin at table row `row`. The value is
 * `EXERCISED` where two nodes about the point are exercised, or where the mesh ends before the point because exercise
 * is certain there. For the value before a knock-in, which nobody can exercise, nodes are numbered from `nodes` on.
 */
function pointValue({
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
