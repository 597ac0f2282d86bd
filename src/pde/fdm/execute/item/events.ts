import { fn } from "../../../../kernel/index.ts";
import { barrierWords, readHeld } from "../../conditions/barrier.ts";
import { exerciseByHalves, exerciseOnDate } from "../../conditions/exercise.ts";
import { knockInWords, settleDormant } from "../../conditions/knock-in.ts";
import { valueAt } from "../../operator/column.ts";
import { FLAGS } from "../../time/flags.ts";
import { applyDividend, settle } from "../option/events.ts";
import { itemPlan } from "../option/plan.ts";
import type { SolverVariant } from "../variant.ts";
import { atRun } from "./records.ts";

/**
 * Returns the function that applies the events of a date backward in time: exercise, the dividend, then knock-ins and
 * knock-outs.
 */
export function applyEvents(variant: SolverVariant) {
  const { dividends, barriers = 0, knockIns = 0 } = variant;
  const plan = itemPlan(variant);
  return fn({
    name: "applyEvents",
    params: atRun,
    env: {
      ...FLAGS,
      dates: plan.dates,
      exerciseOnDate,
      exerciseByHalves,
      dividends,
      applyDividend: applyDividend(plan),
      hasKnockIns: knockIns > 0,
      settleDormant: settleDormant(barriers, knockIns),
      knockInWords: knockInWords(barriers, knockIns),
      hasBarriers: plan.hasBarriers,
      settle: settle(plan),
      readHeld: readHeld(barriers),
      barrierWords: barrierWords(barriers),
      policy: plan.policy,
      valueAt,
    },
    *body({ launch, place, memory, cursor, step: { flag } }, _gpu, env) {
      const { nodes, obstacleColumn } = launch;
      const { table, parameters: coefficients } = place;
      const { x, u, z, obstacle: paid, dormant, factor: scratch } = memory;
      let { row, live, held, dormantRow } = cursor;
      if (env.dates && (flag & env.EXERCISE) !== 0) {
        if (obstacleColumn === 1) env.exerciseOnDate(u, paid, z, nodes);
        else env.exerciseByHalves(u, table, 1, obstacleColumn, nodes);
      }
      if (env.dividends && (flag & env.DIVIDEND) !== 0) {
        const keep = env.valueAt(coefficients, row);
        const cash = env.valueAt(coefficients, row + 1);
        for (let i = 0; i < nodes; i++) z[i] = u[i];
        const of = { launch, place, x, values: z, u, paid, dormant, scratch, dormantRow, live, row, keep, cash };
        row = env.applyDividend(of);
      }
      if (env.hasKnockIns && (flag & env.BARRIERS) !== 0) {
        env.settleDormant(coefficients, row, u, dormant, nodes, false);
        dormantRow = row;
        row += env.knockInWords;
      }
      if (env.hasBarriers && (flag & env.BARRIERS) !== 0) {
        live = env.settle({ launch, place, row, u, paid });
        held = env.readHeld(coefficients, row);
        row += env.barrierWords;
        if (env.policy) for (let i = 0; i < nodes; i++) u[i] = Math.max(u[i], paid[i]);
      }
      return { row, rates: cursor.rates, exercise: cursor.exercise, surface: cursor.surface, live, held, dormantRow };
    },
  });
}
