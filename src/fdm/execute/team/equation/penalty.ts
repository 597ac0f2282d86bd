import { fn, read, real } from "../../../../kernel/index.ts";
import { MAX_ROUNDS } from "../../../conditions/policy.ts";
import { total } from "../counters.ts";
import { factorRuns } from "../factor.ts";
import { Factors, Products, Rows, Scans } from "../records.ts";
import { eliminateRuns, substituteRuns } from "../step.ts";
import type { Team } from "../team.ts";
import type { EquationPlan } from "./plan.ts";
import { Penalty, State } from "./records.ts";
import { reachOf } from "./state.ts";

/** y on the nodes before and after an item's run; some other number where there is none. */
function beside({ items, shuffles }: Team, rows: number) {
  return fn({
    name: "beside",
    params: [read(real), Scans],
    env: { last: rows - 1, items, shuffles },
    *body([y, { scratch }], gpu, { last, items, shuffles }) {
      const item = gpu.localId();
      let below = 0.0;
      let above = 0.0;
      if (shuffles) {
        below = yield gpu.shuffleUp(y[last], 1);
        above = yield gpu.shuffleDown(y[0], 1);
      } else {
        scratch[item] = y[0];
        scratch[items + item] = y[last];
        yield;
        below = scratch[items + Math.max(item - 1, 0)];
        above = scratch[Math.min(item + 1, items - 1)];
      }
      return { below, above };
    },
  });
}

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
      bound: read(real),
      penalty: Penalty,
      factors: Factors,
      products: Products,
      scans: Scans,
    },
    env: {
      count: rows,
      last: rows - 1,
      MAX_ROUNDS,
      factorRuns: factorRuns(team, rows, { policy: false, lasting: false, scaled: false, summed: false }),
      eliminateRuns: eliminateRuns(team, rows, false, "refactorised"),
      substituteRuns: substituteRuns(team, rows),
      reachOf: reachOf(team),
      beside: beside(team, rows),
      total,
    },
    *body({ state, rows: { a, c }, bound, penalty, factors, products, scans }, gpu, env) {
      const { z } = state;
      const { diagonal, right, active } = penalty;
      const { count, last } = env;
      const scaled = { a: gpu.privateReal(count), c: gpu.privateReal(count) };
      let unconverged = 1;
      for (let round = 0; round < env.MAX_ROUNDS; round++) {
        for (let k = 0; k < count; k++) {
          const own = active[k] > 0.5 ? 0.0 : gpu.reciprocal(diagonal[k]);
          scaled.a[k] = a[k] * own;
          scaled.c[k] = c[k] * own;
          z[k] = active[k] > 0.5 ? bound[k] : right[k] * own;
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
        const neighbours = yield* env.beside(z, scans);
        let { below } = neighbours;
        let changes = 0;
        for (let k = 0; k < count; k++) {
          // Of the ends a or c is 0 where there is no neighbour.
          const above = k === last ? neighbours.above : z[Math.min(k + 1, last)];
          if (active[k] > 0.5) {
            if (diagonal[k] * z[k] + a[k] * (z[k] - below) + c[k] * (z[k] - above) < right[k]) {
              active[k] = 0.0;
              changes++;
            }
          } else if (z[k] < bound[k]) {
            active[k] = 1.0;
            changes++;
          }
          below = z[k];
        }
        if ((yield* env.total(changes, scans.counter, scans.result)) === 0) {
          unconverged = 0;
          break;
        }
      }
      return unconverged;
    },
  });
}
