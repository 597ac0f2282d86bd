import { fn, i32, read, real, write } from "../../../../kernel/index.ts";
import { CROSSING_WORDS, knockOut, liveObstacle, readLive } from "../../conditions/barrier.ts";
import { Live } from "../../operator/live.ts";
import { payDividend } from "../../conditions/dividend.ts";
import { exerciseOnDate } from "../../conditions/exercise.ts";
import { crossInWords, dormantDividend, settleDormant } from "../../conditions/knock-in.ts";
import { valueAt } from "../../operator/column.ts";
import { Launch } from "../variant.ts";
import { Place } from "../place.ts";
import type { OptionPlan } from "./plan.ts";

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
