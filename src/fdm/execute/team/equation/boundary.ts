import { fn, i32, read, real } from "../../../../kernel/index.ts";
import { boundaryBehind, isExercised, NOWHERE } from "../../../conditions/exercise-boundary.ts";
import { Launch } from "../../item/equation/records.ts";
import { largest } from "../counters.ts";
import { Scans } from "../records.ts";
import { onMesh } from "./memory.ts";
import type { EquationPlan } from "./plan.ts";
import { Place, Shared } from "./records.ts";

/**
 * The exercise boundary, see `exerciseBoundary`, to word `record` of the results. The region that is nearest to the
 * first node ends at the first node that is exercised while the next one is not. Cost: two words of workgroup memory
 * written and one read a node, four barriers.
 */
export function recordBoundary({ rows }: EquationPlan, smooth: boolean) {
  return fn({
    name: "recordBoundary",
    params: {
      launch: Launch,
      place: Place,
      shared: Shared,
      scans: Scans,
      u: read(real),
      obstacle: read(real),
      record: i32,
    },
    env: { rows, isExercised, boundaryBehind: boundaryBehind(smooth), NOWHERE, largest, onMesh },
    *body({ launch: { nodes, pitch, out }, place, shared, scans, u, obstacle, record }, _gpu, env) {
      const { item, instance, first } = place;
      const { mesh, values, beside } = shared;
      const last = nodes - 1;
      for (let k = 0; k < env.rows; k++)
        if (first + k <= last) {
          values[first + k] = u[k];
          beside[first + k] = obstacle[k];
        }
      yield;
      const after = Math.min(first + env.rows, last);
      let isNext = first + env.rows <= last && env.isExercised(values[after], beside[after]);
      let toEnd = 0; // nodes from the region's last on
      for (let k = env.rows - 1; k >= 0; k--) {
        const isHere = first + k <= last && env.isExercised(u[k], obstacle[k]);
        if (isHere && !isNext) toEnd = nodes - first - k;
        isNext = isHere;
      }
      const most = yield* env.largest(toEnd, scans.counter, scans.result);
      if (item === 0) {
        const at = record * pitch + instance;
        if (most === 0) out[at] = env.NOWHERE;
        else out[at] = env.boundaryBehind(values, beside, env.onMesh(mesh), nodes, nodes - most);
      }
      yield;
    },
  });
}
