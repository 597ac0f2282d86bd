import { fn, i32 } from "../../../../../kernel/index.ts";
import { boundaryBehind, isExercised, NOWHERE } from "../../../conditions/exercise-boundary.ts";
import type { TeamEquationPlan } from "../../equation/plan.ts";
import { Launch, Memory } from "../../equation/records.ts";
import { Place } from "../../place.ts";

/**
 * Returns the function that writes the exercise boundary (`exerciseBoundary`) to index `record` of the results. The
 * region nearest to the first node ends at the first exercised node whose next node is not exercised. Mostly a single
 * item has such a node, and it alone accesses the counter, which is 0 before and after. Cost: 4 flops and one real of
 * workgroup memory a node, and three barriers.
 */
export function recordBoundaryRuns({ team, rows }: TeamEquationPlan, smooth: boolean) {
  return fn({
    name: "recordBoundaryRuns",
    params: { launch: Launch, place: Place, memory: Memory, record: i32 },
    env: {
      rows,
      items: team.items,
      isExercised,
      boundaryBehind: boundaryBehind(smooth, true),
      NOWHERE,
    },
    *body({ launch: { nodes, pitch, out }, place: { item, instance, first }, memory, record }, gpu, env) {
      const { u: premiums, faults: exercised } = memory.all;
      const { u, obstacle } = memory.state;
      const { counter } = memory.scans;
      const last = nodes - 1;
      for (let k = 0; k < env.rows; k++) if (first + k <= last) premiums[first + k] = u[k] - obstacle[k];
      exercised[item] = first <= last && env.isExercised(u[0], obstacle[0]) ? 1 : 0;
      yield;
      let isNext = item + 1 < env.items && exercised[Math.min(item + 1, env.items - 1)] === 1;
      let toEnd = 0; // nodes from the region's last on
      for (let k = env.rows - 1; k >= 0; k--) {
        const isHere = first + k <= last && env.isExercised(u[k], obstacle[k]);
        if (isHere && !isNext) toEnd = nodes - first - k;
        isNext = isHere;
      }
      if (toEnd > 0) gpu.atomicMax(counter, 0, toEnd);
      yield;
      if (item === 0) {
        const j = nodes - gpu.atomicLoad(counter, 0);
        gpu.atomicStore(counter, 0, 0);
        let found = env.NOWHERE;
        if (j <= last) found = env.boundaryBehind(premiums, premiums, memory.table, nodes, j);
        out[record * pitch + instance] = found;
      }
      yield;
    },
  });
}
