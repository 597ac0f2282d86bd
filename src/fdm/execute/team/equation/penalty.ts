import { fn, real } from "../../../../kernel/index.ts";
import { MAX_ROUNDS } from "../../../conditions/policy.ts";
import { total } from "../counters.ts";
import { factorRuns } from "../factor.ts";
import { Factors, Products, Rows, Scans } from "../records.ts";
import { improveRuns } from "../policy.ts";
import { eliminateRuns, substituteRuns } from "../step.ts";
import type { EquationPlan } from "./plan.ts";
import { Penalty, State } from "./records.ts";
import { reachOf } from "./state.ts";

/**
 * A stage by policy iteration, as `iteratePolicy` does it, from the rows (−a, diagonal + a + c, −c) of an item's run:
 * each round divides them by the diagonal, makes y = bound of those that are exercised, factors and solves. The last y
 * in z; returns 1 if the rounds were not enough. Cost of a round: a factorisation, about 25 flops a node.
 */
export function penaliseRuns({ team, rows }: EquationPlan) {
  return fn({
    name: "penaliseRuns",
    params: {
      state: State,
      rows: Rows,
      weightOfOld: real,
      penalty: Penalty,
      factors: Factors,
      products: Products,
      scans: Scans,
    },
    env: {
      count: rows,
      MAX_ROUNDS,
      factorRuns: factorRuns(team, rows, { policy: false, lasting: false, scaled: false, summed: false }),
      eliminateRuns: eliminateRuns(team, rows, false, "refactorised"),
      substituteRuns: substituteRuns(team, rows),
      reachOf: reachOf(team),
      improveRuns: improveRuns(team, rows, true),
      total,
    },
    *body({ state, rows: { a, c }, weightOfOld, penalty, factors, products, scans }, gpu, env) {
      const { u, z, obstacle } = state;
      const { diagonal, right, active } = penalty;
      const { count } = env;
      const scaled = { a: gpu.privateReal(count), c: gpu.privateReal(count) };
      let unconverged = 1;
      for (let round = 0; round < env.MAX_ROUNDS; round++) {
        for (let k = 0; k < count; k++) {
          const own = active[k] > 0.5 ? 0.0 : gpu.reciprocal(diagonal[k]);
          scaled.a[k] = a[k] * own;
          scaled.c[k] = c[k] * own;
          z[k] = active[k] > 0.5 ? obstacle[k] + weightOfOld * (u[k] - obstacle[k]) : right[k] * own;
        }
        const needed = yield* env.factorRuns({
          rows: scaled,
          active, // not looked at
          hRate: 0,
          numerator: 1,
          near: false,
          factors,
          products,
          scans,
        });
        const reach = env.reachOf(needed);
        yield* env.eliminateRuns({ rhs: z, z, factors, products, scans, reach });
        yield* env.substituteRuns({ z, lower: factors.lower, scans, reach });
        const changes = yield* env.improveRuns({
          u,
          y: z,
          rows: { a, c },
          diagonal,
          decay: 0,
          right,
          obstacle,
          weightOfOld,
          active,
          scratch: scans.scratch,
        });
        if ((yield* env.total(changes, scans.counter, scans.result)) === 0) {
          unconverged = 0;
          break;
        }
      }
      return unconverged;
    },
  });
}
