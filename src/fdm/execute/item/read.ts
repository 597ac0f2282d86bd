import { fn } from "../../../kernel/index.ts";
import { pointValue, pointWords } from "../../read/point.ts";
import { WINDOW } from "../../read/interpolation.ts";
import type { SolverVariant } from "../variant.ts";
import { atStart, Cursor } from "./records.ts";

/**
 * Returns the function that writes the windows of six nodes about a spot, with their nodes where the mesh is made on
 * the device, and the values at points.
 */
export function readSolution({ closed, points = false, exercise, knockIns = 0 }: SolverVariant) {
  const hasKnockIns = knockIns > 0;
  return fn({
    name: "readSolution",
    params: { ...atStart, cursor: Cursor },
    env: {
      closed,
      hasKnockIns,
      hasPoints: points,
      WINDOW,
      pointWords: pointWords(closed),
      pointValue: pointValue({
        closed,
        american: exercise !== "none" && exercise !== "dates",
        timeDependent: exercise === "time-dependent",
        hasKnockIns,
      }),
    },
    *body({ launch, place, memory, cursor }, _gpu, env) {
      const { pitch, nodes, windows, points, obstacleColumn, start, out } = launch;
      const { instance, table, coefficients } = place;
      const { x, u, dormant } = memory;
      for (let window = 0; window < windows; window++) {
        const first = start[window * pitch + instance];
        for (let k = 0; k < env.WINDOW; k++) {
          const at = (window * env.WINDOW + k) * pitch + instance;
          if (env.hasKnockIns && first >= nodes) out[at] = dormant[first - nodes + k];
          else out[at] = u[first + k];
          if (env.closed) out[((windows + window) * env.WINDOW + k) * pitch + instance] = x[first + k];
        }
      }
      if (env.hasPoints) {
        const read = (env.closed ? 2 : 1) * windows * env.WINDOW;
        const { slope, kink } = cursor.exercise;
        const obstacleRow = obstacleColumn * nodes;
        const of = { table, coefficients, nodes, x, u, dormant, obstacleRow, slope, kink };
        for (let point = 0; point < points; point++)
          out[(read + point) * pitch + instance] = env.pointValue({ of, row: cursor.row + point * env.pointWords });
      }
    },
  });
}
