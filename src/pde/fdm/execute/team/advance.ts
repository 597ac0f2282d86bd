import { fn } from "../../../../kernel/index.ts";
import { FLAGS, STEPS_SHIFT } from "../../time/flags.ts";
import type { TeamPlan } from "../option/plan.ts";
import { iterateRuns } from "./policy.ts";
import { atRun } from "./records.ts";
import { advanceRuns } from "./step.ts";
import { advanceSums } from "./sums.ts";

/** Returns the function that makes a series of equal time steps. */
export function advance(plan: TeamPlan) {
  const { team, rows, lasting, early, dates, timeDependent, policy, hasBarriers, held, scaled, summed } = plan;
  return fn({
    name: "advance",
    params: atRun,
    env: {
      ...FLAGS,
      STEPS_SHIFT,
      lasting,
      dates,
      policy,
      isSummed: summed,
      count: rows,
      iterateRuns: iterateRuns(team, rows, "same", hasBarriers),
      advanceRuns: advanceRuns(team, rows, { early, scaled, lasting, weighted: dates, timeDependent }),
      advanceSums: advanceSums(team, rows, held),
    },
    *body({ launch, place, memory, cursor, step }, gpu, env) {
      const { state, rows, factors, products, scans, paid, active } = memory;
      const { u, z } = state;
      const { factored, slice, live, obstacle } = cursor;
      const { hRate, signOfFirst, reach } = factored;
      const { flag } = step;
      const crankNicolson = (flag & env.CRANK_NICOLSON) !== 0;
      const count = env.lasting ? flag >> env.STEPS_SHIFT : 1;
      let { moves } = cursor;
      if (env.policy) {
        const diagonal = { active, decays: rows.a, decay: 1 + hRate };
        const bound = { u, obstacle: paid, weightOfOld: crankNicolson ? 0.5 : 0.0 };
        for (let step = 0; step < count; step++) {
          yield* env.iterateRuns({ rows, diagonal, right: u, bound, z, factors, products, scans, live });
          for (let k = 0; k < env.count; k++) u[k] = Math.max(crankNicolson ? z[k] + z[k] - u[k] : z[k], paid[k]);
        }
      } else {
        const alexander = env.dates && (flag & env.ALEXANDER) !== 0;
        const steps = {
          count,
          extrapolated: crankNicolson || alexander,
          over: alexander ? Math.SQRT2 : 1.0,
          reach,
          moves,
        };
        if (env.isSummed && gpu.precision === "f64")
          yield* env.advanceSums({ state, factors, doubled: paid, products, scans, steps, signOfFirst });
        else yield* env.advanceRuns({ state, factors, products, scans, obstacle, steps, table: place.table });
        moves += 2 * launch.pitch * count;
      }
      return { row: step.row, next: step.next, factored, slice, live, obstacle, moves };
    },
  });
}
