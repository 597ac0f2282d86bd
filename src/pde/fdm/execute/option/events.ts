import { fn, i32, read, real, write } from "../../../../kernel/index.ts";
import {
  CROSSING_WORDS,
  crossInWords,
  dormantDividend,
  knockOut,
  liveObstacle,
  readLive,
  settleDormant,
} from "../../conditions/barrier.ts";
import { Live } from "../../operator/matrix.ts";
import { payDividend } from "../../conditions/dividend.ts";
import { exerciseOnDate } from "../../conditions/exercise.ts";
import { Column, valueAt } from "../../operator/state.ts";
import { Launch, type OptionPlan, type SolverVariant } from "./plan.ts";
import { Place } from "../rollback.ts";
import { Coefficients, Slice, surfaceSigma } from "../../operator/coefficients.ts";
import { WINDOW } from "../../read/solution.ts";
import { pointValue, pointWords } from "../../read/point.ts";

/**
 * Returns the function that applies a date with barriers to an item's nodes: the knock-outs, and where early exercise
 * (`policy`) is possible from then on. It returns the live nodes.
 */
export const settle = ({ rows, policy, variant: { barriers = 0 } }: OptionPlan) =>
  fn({
    name: "settle",
    params: { launch: Launch, place: Place, row: i32, u: write(real), paid: write(real) },
    env: {
      policy,
      knockOut: knockOut(barriers, rows),
      readLive: readLive(barriers),
      liveObstacle: liveObstacle(rows),
    },
    body({ launch: { nodes, obstacleColumn }, place, row, u, paid }, _gpu, env) {
      const { table, parameters: coefficients, first } = place;
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
      place: Place,
      x: read(real),
      values: write(real),
      u: write(real),
      paid: read(real),
      /** The value before a knock-in, an array for its use, and the last event's words of it. */
      dormant: write(real),
      scratch: write(real),
      dormantRow: i32,
      live: Live,
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
      crossDormant: settleDormant(barriers, knockIns, true),
      crossInWords: crossInWords(barriers, knockIns),
      cross: knockOut(barriers, rows, true),
      crossWords: CROSSING_WORDS * barriers,
      valueAt,
    },
    body(of, _gpu, env) {
      const { x, values, u, paid, dormant, scratch, dormantRow, live, keep, cash } = of;
      const { nodes, obstacleColumn } = of.launch;
      const { table, parameters: coefficients, first } = of.place;
      const rows = env.rows ?? nodes;
      let row = of.row + 2;
      env.payDividend({ x, values, first, u, nodes, keep, cash, low: first + live.low, high: first + live.high });
      if (env.hasKnockIns) {
        // Knocked in after the dividend: nobody could exercise before it.
        env.dormantDividend({ coefficients, row: dormantRow, x, v: dormant, scratch, nodes, keep, cash });
        env.crossDormant(coefficients, row, u, dormant, nodes, false);
        row += env.crossInWords;
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
        row += env.crossWords;
      }
      return row;
    },
  });
}

/**
 * Returns the function for h·σ²S² at node i, whose price is `here`. From `row` on the table has the column of local
 * variances, or the spot and the literals of a formula. For a surface `piece` is the number of its spots up to the
 * price (`surfaceSigma`): where the search starts, and in the result where it ended.
 */
export const varianceAt = ({ shape, volatility }: SolverVariant) =>
  fn({
    name: "varianceAt",
    params: { table: Column, of: Coefficients, slice: Slice, row: i32, i: i32, here: real, piece: i32 },
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
      place: Place,
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
      pointWords: pointWords(closed),
      pointValue: pointValue({ closed, american: early, timeDependent, hasKnockIns }),
    },
    body({ launch, place, x, u, dormant, row, slope, kink }, _gpu, env) {
      const { pitch, nodes, obstacleColumn, start, out } = launch;
      const { instance, isOwner, table, parameters: coefficients, item } = place;
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
          out[(read + point) * pitch + instance] = env.pointValue({ of, row: row + point * env.pointWords });
      }
    },
  });
}
