import { fn } from "../../../../kernel/index.ts";
import { FAULT, STATUS } from "../../operator/status.ts";
import { firstOfItems } from "../team/equation/faults.ts";
import { firstFault } from "./faults.ts";
import { type EquationPlan, isTeam } from "./plan.ts";
import { atStart, Cursor } from "./records.ts";
import { copyState } from "./state.ts";

/**
 * Returns the function that writes the solution at the nodes, or the state for the next launch, and the first fault.
 */
export function readSolution(plan: EquationPlan) {
  return fn({
    name: "readSolution",
    params: { ...atStart, cursor: Cursor },
    env: {
      ...STATUS,
      rows: plan.rows,
      save: copyState(plan, false),
      badSolution: FAULT.solution,
      firstFault,
      firstOfItems: isTeam(plan) ? firstOfItems(plan) : undefined,
    },
    *body({ launch, place, memory, cursor }, gpu, env) {
      const { nodes, pitch, rows, end, out, status } = launch;
      const { instance, item, first } = place;
      const { u } = memory.state;
      let { found } = cursor;
      if (end < rows) env.save({ launch, place, memory });
      else {
        const own = env.rows ?? nodes;
        for (let k = 0; k < own; k++) {
          const i = Math.min(first + k, nodes - 1);
          const inside = first + k < nodes;
          if (inside) out[i * pitch + instance] = u[k];
          const ok = !inside || Number.isFinite(u[k]);
          found = env.firstFault({ before: found, ok, fault: env.badSolution, node: i, row: found.row });
        }
      }
      let endless = gpu.endlessLoop();
      if (env.firstOfItems !== undefined) {
        const all = yield* env.firstOfItems({ place, memory, found, endless });
        found = all.found;
        endless = all.endless;
      }
      if (item === 0) {
        if (found.fault !== 0 && status[env.fault * pitch + instance] === 0) {
          status[env.fault * pitch + instance] = found.fault;
          status[env.node * pitch + instance] = found.node;
          status[env.row * pitch + instance] = found.row;
        }
        if (endless !== 0) status[env.endless * pitch + instance] = endless;
      }
    },
  });
}
