import { fn } from "../../../../kernel/index.ts";
import type { EquationVariant } from "../../../operator/equation-variant.ts";
import { FAULT, STATUS } from "../../../operator/status.ts";
import { copyState } from "./begin.ts";
import { atStart, Cursor } from "./records.ts";

/** Returns the function that writes the solution at the nodes, or the state for the next launch, and the status. */
export function readSolution(variant: EquationVariant) {
  return fn({
    name: "readSolution",
    params: { ...atStart, cursor: Cursor },
    env: { ...STATUS, save: copyState(variant, false), badSolution: FAULT.solution },
    *body({ launch, place, memory, cursor }, gpu, env) {
      const { nodes, pitch, rows, end, out, status } = launch;
      const { instance } = place;
      const { u } = memory;
      const { row } = cursor.found;
      let { fault, node } = cursor.found;
      if (end < rows) env.save({ launch, place, memory });
      else {
        for (let i = 0; i < nodes; i++) {
          out[i * pitch + instance] = u[i];
          if (!Number.isFinite(u[i]) && fault === 0) {
            fault = env.badSolution;
            node = i;
          }
        }
      }
      if (fault !== 0 && status[env.fault * pitch + instance] === 0) {
        status[env.fault * pitch + instance] = fault;
        status[env.node * pitch + instance] = node;
        status[env.row * pitch + instance] = row;
      }
      const endless = gpu.endlessLoop();
      if (endless !== 0) status[env.endless * pitch + instance] = endless;
    },
  });
}
