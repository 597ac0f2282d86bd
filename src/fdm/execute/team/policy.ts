import { bool, fn, i32, type KernelFunction, read, real, write } from "../../../kernel/index.ts";
import { pinRuns } from "./barrier.ts";
import { total } from "./counters.ts";
import { factorRuns } from "./factor.ts";
import { FAR } from "./scan.ts";
import { eliminateRuns, substituteRuns } from "./step.ts";
import { partsOf, type Team } from "./team.ts";

/**
 * As `improvePolicy` does it, for an item's run; y beyond its ends comes from the neighbours. Returns how many of its
 * rows changed.
 */
function improveRuns({ items, shuffles }: Team, rows: number): KernelFunction<any, any> {
  return fn({
    name: "improveRuns",
    params: [read(real), read(real), read(real), read(real), read(real), write(real), write(real), real, real],
    env: { rows, last: rows - 1, items, shuffles },
    *body([u, y, a, c, obstacle, active, scratch, hRate, memory], gpu, { rows, last, items, shuffles }) {
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
      for (let k = 0; k < rows; k++) {
        const above = k === last ? beyond : y[Math.min(k + 1, last)];
        if (active[k] > 0.5) {
          const multiplier = y[k] * (1 + hRate) + a[k] * (y[k] - below) + c[k] * (y[k] - above) - u[k];
          if (multiplier < 0) {
            active[k] = 0.0;
            changes++;
          }
        } else if (y[k] < obstacle[k] + memory * (u[k] - obstacle[k])) {
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
 * again, solves, and improves the policy. `barred`: rows `lowHeld` and `highHeld` keep their values (`pinRuns`). Cost
 * of a round: a factorisation, about 20 flops a node, 32 words and 18 barriers an item.
 */
export function policyRuns(team: Team, rows: number, hasBarriers: boolean): KernelFunction<any, any> {
  return fn({
    name: "policyRuns",
    params: [
      write(real),
      write(real),
      read(real),
      read(real),
      read(real),
      write(real),
      write(real),
      write(real),
      write(real),
      write(real),
      write(real),
      write(real),
      write(real),
      write(i32),
      write(i32),
      real,
      bool,
      i32,
      i32,
    ],
    env: {
      rows,
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
      improveRuns: improveRuns(team, rows),
    },
    *body(
      [
        u,
        z,
        a,
        c,
        obstacle,
        active,
        rhs,
        inverse,
        lower,
        upper,
        above,
        below,
        scratch,
        count,
        sum,
        hRate,
        crankNicolson,
        lowHeld,
        highHeld,
      ],
      gpu,
      env: any,
    ) {
      const none = gpu.privateReal(1);
      const memory = crankNicolson ? 0.5 : 0.0;
      const downProduct = gpu.privateReal(env.parts);
      const upProduct = gpu.privateReal(env.parts);
      for (let round = 0; round < 12; round++) {
        const needed = yield* env.factorRuns(
          a,
          c,
          active,
          inverse,
          lower,
          upper,
          above,
          below,
          scratch,
          none,
          none,
          downProduct,
          upProduct,
          hRate,
          1.0,
          false,
          count,
          sum,
        );
        if (env.hasBarriers) env.pinRuns(inverse, lowHeld, highHeld, 1.0);
        const reach = needed === env.far ? env.levels : env.few;
        for (let k = 0; k < env.rows; k++)
          rhs[k] = active[k] > 0.5 ? obstacle[k] + memory * (u[k] - obstacle[k]) : u[k];
        yield* env.eliminateRuns(rhs, z, inverse, upper, none, downProduct, above, scratch, reach);
        yield* env.substituteRuns(z, lower, below, scratch, reach);
        const mine = yield* env.improveRuns(u, z, a, c, obstacle, active, scratch, hRate, memory);
        const changes = yield* env.total(mine, count, sum);
        if (changes === 0) break;
      }
      for (let k = 0; k < env.rows; k++) u[k] = Math.max(crankNicolson ? z[k] + z[k] - u[k] : z[k], obstacle[k]);
    },
  });
}
