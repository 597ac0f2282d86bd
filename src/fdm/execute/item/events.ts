import { fn, i32 } from "../../../kernel/index.ts";
import { barrierWords, CROSSING_WORDS, knockOut, liveObstacle, readEnds } from "../../conditions/barrier.ts";
import { payDividend, payDividendBetween } from "../../conditions/dividend.ts";
import { exerciseByHalves, exerciseOnDate } from "../../conditions/exercise.ts";
import { crossInWords, dormantDividend, knockInWords, settleDormant } from "../../conditions/knock-in.ts";
import { valueAt } from "../../operator/column.ts";
import { FLAGS } from "../../time/flags.ts";
import { Launch, type SolverVariant } from "../variant.ts";
import { atRun, Cursor, Memory, ItemPlace } from "./records.ts";

const atEvent = { launch: Launch, place: ItemPlace, memory: Memory, cursor: Cursor, row: i32 };

/** V(S) ← V(S − dividend), into u; returns the row of coefficients after the dividend's. */
function applyDividend({ exercise, barriers = 0, knockIns = 0 }: SolverVariant) {
  return fn({
    name: "applyDividend",
    params: atEvent,
    env: {
      hasBarriers: barriers > 0,
      hasKnockIns: knockIns > 0,
      policy: exercise === "policy",
      continuous: exercise !== "none" && exercise !== "dates",
      payDividend,
      payDividendBetween,
      dormantDividend: dormantDividend(barriers, knockIns),
      crossDormant: settleDormant(barriers, knockIns, true),
      crossInWords: crossInWords(barriers, knockIns),
      cross: knockOut(barriers, true),
      crossWords: CROSSING_WORDS * barriers,
      valueAt,
    },
    body({ launch, place, memory, cursor, row }, _gpu, env) {
      const { nodes, obstacleColumn } = launch;
      const { table, coefficients } = place;
      const { x, u, z, dormant, factor, obstacle } = memory;
      const { ends, dormantRow } = cursor;
      const keep = env.valueAt(coefficients, row);
      const cash = env.valueAt(coefficients, row + 1);
      let next = row + 2;
      if (env.hasBarriers) env.payDividendBetween(x, u, z, nodes, keep, cash, ends.low, ends.high);
      else env.payDividend(x, u, z, nodes, keep, cash);
      if (env.hasKnockIns) {
        // Knocked in after the dividend: nobody could exercise before it.
        env.dormantDividend({ coefficients, row: dormantRow, x, v: dormant, scratch: factor, nodes, keep, cash });
        env.crossDormant(coefficients, next, z, dormant, nodes, false);
        next += env.crossInWords;
      }
      for (let i = 0; i < nodes; i++) {
        u[i] = z[i];
        // Before the date other nodes may be alive.
        if (env.hasBarriers && env.policy) u[i] = Math.max(u[i], env.valueAt(table, obstacleColumn * nodes + i));
        else if (env.continuous) u[i] = Math.max(u[i], obstacle[i]);
      }
      if (env.hasBarriers) {
        env.cross(coefficients, next, u, nodes);
        next += env.crossWords;
      }
      return next;
    },
  });
}

/**
 * Returns the function that applies the events of a date backwards in time: exercise, the dividend, then knock-ins and
 * knock-outs.
 */
export function applyEvents(variant: SolverVariant) {
  const { exercise, dividends, barriers = 0, knockIns = 0 } = variant;
  return fn({
    name: "applyEvents",
    params: atRun,
    env: {
      ...FLAGS,
      dates: exercise === "dates",
      exerciseOnDate,
      exerciseByHalves,
      dividends,
      applyDividend: applyDividend(variant),
      hasKnockIns: knockIns > 0,
      settleDormant: settleDormant(barriers, knockIns),
      knockInWords: knockInWords(barriers, knockIns),
      hasBarriers: barriers > 0,
      knockOut: knockOut(barriers),
      readEnds: readEnds(barriers),
      barrierWords: barrierWords(barriers),
      policy: exercise === "policy",
      liveObstacle,
    },
    *body({ launch, place, memory, cursor, step: { flag } }, _gpu, env) {
      const { nodes, obstacleColumn } = launch;
      const { table, coefficients } = place;
      const { u, z, obstacle, dormant } = memory;
      let { row, dormantRow } = cursor;
      let { low, high, lowHeld, highHeld, lowValue, highValue } = cursor.ends;
      if (env.dates && (flag & env.EXERCISE) !== 0) {
        if (obstacleColumn === 1) env.exerciseOnDate(u, obstacle, z, nodes);
        else env.exerciseByHalves(u, table, 1, obstacleColumn, nodes);
      }
      if (env.dividends && (flag & env.DIVIDEND) !== 0) row = env.applyDividend({ launch, place, memory, cursor, row });
      if (env.hasKnockIns && (flag & env.BARRIERS) !== 0) {
        env.settleDormant(coefficients, row, u, dormant, nodes, false);
        dormantRow = row;
        row += env.knockInWords;
      }
      if (env.hasBarriers && (flag & env.BARRIERS) !== 0) {
        env.knockOut(coefficients, row, u, nodes);
        const ends = env.readEnds(coefficients, row);
        low = ends.low;
        high = ends.high;
        lowHeld = ends.lowHeld;
        highHeld = ends.highHeld;
        lowValue = ends.lowValue;
        highValue = ends.highValue;
        row += env.barrierWords;
        if (env.policy) {
          env.liveObstacle(table, obstacleColumn, obstacle, nodes, ends);
          for (let i = 0; i < nodes; i++) u[i] = Math.max(u[i], obstacle[i]);
        }
      }
      const ends = { low, high, lowHeld, highHeld, lowValue, highValue };
      return { row, rates: cursor.rates, exercise: cursor.exercise, surface: cursor.surface, ends, dormantRow };
    },
  });
}
