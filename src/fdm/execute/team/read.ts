import { fn } from "../../../kernel/index.ts";
import { WINDOW } from "../../read/interpolation.ts";
import { pointValue, pointWords } from "../../read/point.ts";
import { obstacleRuns } from "./exercise.ts";
import { layNodes } from "./nodes.ts";
import type { TeamPlan } from "./plan.ts";
import { atStart, Cursor } from "./records.ts";

/**
 * Returns the function that copies the solution into workgroup memory and reads windows and points from there, shared
 * among the items; see `solverKernel`.
 */
export function readSolution({ team, rows, early, timeDependent, held, scaled, summed, metrics, variant }: TeamPlan) {
  const { closed, points = false } = variant;
  return fn({
    name: "readSolution",
    params: { ...atStart, cursor: Cursor },
    env: {
      count: rows,
      items: team.items,
      held,
      scaled,
      isSummed: summed,
      metrics,
      timeDependent,
      closed,
      hasPoints: points,
      WINDOW,
      layNodes: layNodes(team, closed),
      obstacleRuns: obstacleRuns(rows, { closed, laid: true }),
      pointWords: pointWords(closed),
      pointValue: pointValue({ closed, american: early, timeDependent, hasKnockIns: false }),
    },
    *body({ launch, place, memory, cursor }, gpu, env) {
      const { pitch, nodes, runs, obstacleColumn, start, out } = launch;
      const { instance, isOwner, table, coefficients, item, first } = place;
      const { mesh, state, factors, paid, kept } = memory;
      const { x, values } = mesh;
      const { u, z } = state;
      const summed = env.isSummed && gpu.precision === "f64";
      const premium = env.held && summed;
      yield; // the last metrics or weights have been read
      if (env.metrics) env.layNodes(x, table, nodes);
      if (premium) env.obstacleRuns(launch, place, x, z);
      for (let k = 0; k < env.count; k++) {
        if (premium && runs > 0) u[k] -= 0.5 * paid[k];
        const value =
          env.scaled && runs > 0 ? u[k] * gpu.reciprocal(summed ? kept.multiple[k] : factors.gain[k]) : u[k];
        if (first + k < nodes) values[first + k] = premium ? z[k] + value : value;
      }
      yield;
      const windows = isOwner ? launch.windows : 0;
      for (let k = item; k < windows * env.WINDOW; k += env.items) {
        const window = (k / env.WINDOW) | 0;
        const i = start[window * pitch + instance] + k - window * env.WINDOW;
        out[k * pitch + instance] = values[i];
        if (env.closed) out[(launch.windows * env.WINDOW + k) * pitch + instance] = x[i];
      }
      if (env.hasPoints) {
        const points = isOwner ? launch.points : 0;
        // What exercise pays is φ·(slope·x) − kink where the obstacle moves: that of the last step.
        let slope = 1.0;
        let kink = 0.0;
        if (env.timeDependent && runs > 0) {
          slope = table.values[cursor.moves - 2 * pitch];
          kink = table.values[cursor.moves - pitch];
        }
        const read = (env.closed ? 2 : 1) * launch.windows * env.WINDOW;
        const obstacleRow = obstacleColumn * nodes;
        const of = { table, coefficients, nodes, x, u: values, dormant: values, obstacleRow, slope, kink };
        for (let point = item; point < points; point += env.items)
          out[(read + point) * pitch + instance] = env.pointValue({ of, row: cursor.row + point * env.pointWords });
      }
    },
  });
}
