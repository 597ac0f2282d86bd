import { fn } from "../../../../kernel/index.ts";
import { holdEnds } from "../../conditions/barrier.ts";
import { dormantStep, rowsStep } from "../../conditions/knock-in.ts";
import { policyStep } from "../../conditions/policy.ts";
import type { SolverVariant } from "../variant.ts";
import { atRun } from "./records.ts";
import { projectedStep } from "./step.ts";

/** Returns the function that makes a series of equal time steps. */
export function advance({ exercise, barriers = 0, knockIns = 0 }: SolverVariant) {
  const dates = exercise === "dates";
  const timeDependent = exercise === "time-dependent";
  return fn({
    name: "advance",
    params: atRun,
    env: {
      hasBarriers: barriers > 0,
      hasKnockIns: knockIns > 0,
      policy: exercise === "policy",
      timeDependent,
      holdEnds,
      policyStep,
      rowsStep,
      dormantStep: dormantStep(barriers, knockIns),
      projectedStep: projectedStep(exercise !== "none" && !dates, dates, timeDependent),
    },
    *body({ launch, place, memory, cursor, step }, _gpu, env) {
      const { nodes, pitch, table } = launch;
      const { u, z, inverse, lower, upper, obstacle, active, factor, dormant } = memory;
      const { rates, live, held, dormantRow } = cursor;
      const { crankNicolson, alexander } = step;
      const rows = { a: lower, c: upper, nodes, hRate: rates.hRate };
      const factors = { inverse, lower, upper, start: step.start };
      let { next, slope, kink } = cursor.exercise;
      for (let k = 0; k < step.count; k++) {
        if (env.hasBarriers) env.holdEnds(u, nodes, live, held, rates.hRate);
        if (env.policy) env.policyStep({ u, z, rows, obstacle, active, factor, crankNicolson });
        else if (env.hasKnockIns) env.rowsStep({ v: u, z, rows, factor, low: -1, high: nodes, crankNicolson });
        else {
          if (env.timeDependent) {
            slope = table[next];
            kink = table[next + pitch];
            next += 2 * pitch;
          }
          env.projectedStep({
            u,
            z,
            factors,
            paid: { obstacle, slope, kink },
            nodes,
            extrapolated: crankNicolson || alexander,
            over: alexander ? Math.SQRT2 : 1.0,
          });
        }
        if (env.hasBarriers) env.holdEnds(u, nodes, live, held, 0.0);
        if (env.hasKnockIns)
          env.dormantStep({
            coefficients: place.parameters,
            row: dormantRow,
            v: dormant,
            u,
            z,
            rows,
            factor,
            crankNicolson,
          });
      }
      const { isExercised } = cursor.exercise;
      return {
        row: cursor.row,
        rates,
        exercise: { isExercised, next, slope, kink },
        surface: cursor.surface,
        live,
        held,
        dormantRow,
      };
    },
  });
}
