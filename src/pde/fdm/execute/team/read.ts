import { fn } from "../../../../kernel/index.ts";
import type { TeamPlan } from "../option/plan.ts";
import { readValues } from "../option/read.ts";
import { obstacleRuns } from "./exercise.ts";
import { layNodes } from "./nodes.ts";

import { atStart, Cursor } from "./records.ts";

/**
 * Returns the function that copies the solution into workgroup memory and reads the windows and points from there, with
 * the work divided among the items (`solverKernel`).
 */
export function readSolution(plan: TeamPlan) {
  const { team, rows, timeDependent, held, scaled, summed, metrics, variant } = plan;
  const { closed, points = false } = variant;
  return fn({
    name: "readSolution",
    params: { ...atStart, cursor: Cursor },
    env: {
      count: rows,
      held,
      scaled,
      isSummed: summed,
      metrics,
      hasMoves: timeDependent && points,
      layNodes: layNodes(team, closed),
      obstacleRuns: obstacleRuns(rows, { closed, laid: true }),
      readValues: readValues(plan),
    },
    *body({ launch, place, memory, cursor }, gpu, env) {
      const { pitch, nodes, runs } = launch;
      const { table, first } = place;
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
      // What exercise pays is φ·(slope·x) − kink where the obstacle moves: that of the last step.
      let slope = 1.0;
      let kink = 0.0;
      if (env.hasMoves && runs > 0) {
        slope = table.values[cursor.moves - 2 * pitch];
        kink = table.values[cursor.moves - pitch];
      }
      env.readValues({ launch, place, x, u: values, dormant: values, row: cursor.row, slope, kink });
    },
  });
}
