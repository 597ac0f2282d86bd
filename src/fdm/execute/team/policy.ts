import { bool, fn, read, real, write } from "../../../kernel/index.ts";
import { MAX_ROUNDS } from "../../conditions/policy.ts";
import { pinRuns } from "./barrier.ts";
import { total } from "./counters.ts";
import { factorRuns } from "./factor.ts";
import { Factors, Live, Policy, Rows, Scans, State } from "./records.ts";
import { FAR } from "./scan.ts";
import { eliminateRuns, substituteRuns } from "./step.ts";
import { partsOf, type Team } from "./team.ts";

/**
 * As `improvePolicy` does it, for an item's run; y beyond its ends comes from the neighbours. `varying`: rows have
 * `diagonal` in place of the same `decay`. Returns how many of its rows changed.
 */
export function improveRuns({ items, shuffles }: Team, rows: number, varying: boolean) {
  return fn({
    name: "improveRuns",
    params: {
      u: read(real),
      y: read(real),
      rows: Rows,
      diagonal: read(real),
      decay: real,
      right: read(real),
      obstacle: read(real),
      weightOfOld: real,
      active: write(real),
      scratch: write(real),
    },
    env: { count: rows, last: rows - 1, items, shuffles, varying },
    *body({ u, y, rows: { a, c }, diagonal, decay, right, obstacle, weightOfOld, active, scratch }, gpu, env) {
      const { count, last, items, shuffles, varying } = env;
      const item = gpu.localId();
      let below = 0.0;
      let beyond = 0.0;
      if (shuffles) {
        below = yield gpu.shuffleUp(y[last], 1);
        beyond = yield gpu.shuffleDown(y[0], 1);
      } else {
        scratch[item] = y[0];
        scratch[items + item] = y[last];
        yield;
        below = scratch[items + Math.max(item - 1, 0)];
        beyond = scratch[Math.min(item + 1, items - 1)];
      }
      let changes = 0;
      for (let k = 0; k < count; k++) {
        // Of the ends a or c is 0 where there is no neighbour.
        const above = k === last ? beyond : y[Math.min(k + 1, last)];
        if (active[k] > 0.5) {
          const own = y[k] * (varying ? diagonal[k] : decay);
          const multiplier = own + a[k] * (y[k] - below) + c[k] * (y[k] - above) - right[k];
          if (multiplier < 0) {
            active[k] = 0.0;
            changes++;
          }
        } else if (y[k] < obstacle[k] + weightOfOld * (u[k] - obstacle[k])) {
          active[k] = 1.0;
          changes++;
        }
        below = y[k];
      }
      return changes;
    },
  });
}

/**
 * One time step with early exercise wherever it is, as `policyStep` does it: each round of Howard's iteration factors
 * again, solves, and improves the policy. With barriers rows that are held keep their values (`pinRuns`). Cost
 * of a round: a factorisation, about 20 flops a node, 32 words and 18 barriers an item.
 */
export function policyRuns(team: Team, rows: number, hasBarriers: boolean) {
  return fn({
    name: "policyRuns",
    params: {
      state: State,
      rows: Rows,
      obstacle: read(real),
      policy: Policy,
      factors: Factors,
      scans: Scans,
      hRate: real,
      crankNicolson: bool,
      live: Live,
    },
    env: {
      MAX_ROUNDS,
      count: rows,
      hasBarriers,
      pinRuns: pinRuns(rows),
      total,
      parts: partsOf(rows).count,
      far: FAR,
      few: team.few,
      levels: team.levels,
      factorRuns: factorRuns(team, rows, { policy: true, lasting: false, scaled: false, summed: false }),
      eliminateRuns: eliminateRuns(team, rows, false, "refactorised"),
      substituteRuns: substituteRuns(team, rows),
      improveRuns: improveRuns(team, rows, false),
    },
    *body({ state, rows, obstacle, policy, factors, scans, hRate, crankNicolson, live }, gpu, env) {
      const { u, z } = state;
      const { active, rhs } = policy;
      const none = gpu.privateReal(1);
      const memory = crankNicolson ? 0.5 : 0.0;
      const products = {
        downProduct: gpu.privateReal(env.parts),
        upProduct: gpu.privateReal(env.parts),
        downTo: none,
        upTo: none,
      };
      for (let round = 0; round < env.MAX_ROUNDS; round++) {
        const needed = yield* env.factorRuns({
          rows,
          active,
          hRate,
          numerator: 1,
          near: false,
          factors,
          products,
          scans,
        });
        if (env.hasBarriers) env.pinRuns(factors.gain, live, 1);
        const reach = needed === env.far ? env.levels : env.few;
        for (let k = 0; k < env.count; k++)
          rhs[k] = active[k] > 0.5 ? obstacle[k] + memory * (u[k] - obstacle[k]) : u[k];
        yield* env.eliminateRuns({ rhs, z, factors, products, scans, reach });
        yield* env.substituteRuns({ z, lower: factors.lower, scans, reach });
        const mine = yield* env.improveRuns({
          u,
          y: z,
          rows,
          diagonal: rhs, // not looked at
          decay: 1 + hRate,
          right: u,
          obstacle,
          weightOfOld: memory,
          active,
          scratch: scans.scratch,
        });
        const changes = yield* env.total(mine, scans.counter, scans.result);
        if (changes === 0) break;
      }
      for (let k = 0; k < env.count; k++) u[k] = Math.max(crankNicolson ? z[k] + z[k] - u[k] : z[k], obstacle[k]);
    },
  });
}
