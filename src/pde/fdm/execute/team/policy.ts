import { fn, read, real, write } from "../../../../kernel/index.ts";
import { LiveNodes } from "../../operator/matrix.ts";
import { Bound, boundAt, improvePolicy, MAX_POLICY_ROUNDS } from "../../conditions/policy.ts";
import { pinHeldRows } from "./rows.ts";
import { groupReduction, type Team } from "./team.ts";
import { factorSegment, type DecayKind } from "./factor.ts";
import { Diagonal, Factors, Products, RowEntries, Scans } from "./records.ts";
import { scanRounds } from "./scan.ts";
import { eliminateSegment, substituteSegment } from "./step.ts";

/** y beside an item's segment, of the neighbours. */
function valuesBeside({ items, shuffles }: Team, rows: number) {
  return fn({
    name: "valuesBeside",
    params: [read(real), write(real)],
    env: { last: rows - 1, items, shuffles },
    *body([y, scratch], gpu, { last, items, shuffles }) {
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
      return { below, beyond };
    },
  });
}

/**
 * Returns the function that solves a stage with early exercise anywhere, as `iteratePolicy` does, at an item's nodes.
 * Each round of Howard's iteration factors again, solves, and improves the policy. With barriers, rows of held nodes
 * keep their values (`pinHeldRows`). The last y is in z. It returns 1 if the iteration did not converge within its
 * rounds. Cost of a round: a factorisation, about 20 flops for each node, and 32 reals of workgroup memory and 18
 * barriers for each item.
 */
export function iteratePolicyOnSegment(team: Team, rows: number, policy: DecayKind, hasBarriers: boolean) {
  return fn({
    name: "iteratePolicyOnSegment",
    params: {
      rows: RowEntries,
      diagonal: Diagonal,
      right: read(real),
      bound: Bound,
      z: write(real),
      factors: Factors,
      products: Products,
      scans: Scans,
      live: LiveNodes,
    },
    env: {
      MAX_POLICY_ROUNDS,
      count: rows,
      hasBarriers,
      pinHeldRows: pinHeldRows(rows),
      total: groupReduction("add"),
      boundAt,
      factorSegment: factorSegment(team, rows, { policy, reusesFactors: false, scaled: false, summed: false }),
      scanRounds: scanRounds(team),
      eliminateSegment: eliminateSegment(team, rows, false, "refactorised"),
      substituteSegment: substituteSegment(team, rows),
      valuesBeside: valuesBeside(team, rows),
      improvePolicy: improvePolicy(rows, policy === "varying"),
    },
    *body({ rows, diagonal, right, bound, z, factors, products, scans, live }, _gpu, env) {
      const { scratch, counter, result } = scans;
      const { active, decays, decay } = diagonal;
      const system = { nodes: env.count, diagonal: decays, decay, a: rows.a, c: rows.c, right };
      let unconverged = 1;
      for (let round = 0; round < env.MAX_POLICY_ROUNDS; round++) {
        const of = { rows, diagonal, numerator: 1, near: false, factors, products, scans };
        const reach = env.scanRounds(yield* env.factorSegment(of));
        if (env.hasBarriers) env.pinHeldRows(factors.gain, live, 1);
        for (let k = 0; k < env.count; k++) z[k] = active[k] > 0.5 ? env.boundAt(bound, k) : right[k];
        yield* env.eliminateSegment({ rhs: z, z, factors, products, scans, reach });
        yield* env.substituteSegment({ z, lower: factors.lower, scans, reach });
        const { below, beyond } = yield* env.valuesBeside(z, scratch);
        const changes = env.improvePolicy({ system, bound, y: z, active, below, beyond });
        if ((yield* env.total(changes, counter, result)) === 0) {
          unconverged = 0;
          break;
        }
      }
      return unconverged;
    },
  });
}
