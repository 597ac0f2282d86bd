import { fn } from "../../../../kernel/index.ts";
import { exerciseBoundary } from "../../../conditions/exercise-boundary.ts";
import { payJump } from "../../../conditions/jump.ts";
import { valueAt } from "../../../operator/column.ts";
import type { EquationVariant } from "../../../operator/equation-variant.ts";
import { stateOnAxis } from "../../../operator/state.ts";
import { FAULT } from "../../../operator/status.ts";
import { atRow } from "./records.ts";

/** Returns the function that applies a condition on its date: a jump, exercise, or a knock-out. */
export function applyEvents({ exercise, recordsEvents, obstacle, pointwise, jump, jumpAxis }: EquationVariant) {
  const early = exercise !== "none";
  return fn({
    name: "applyEvents",
    params: atRow,
    env: {
      early,
      jump,
      jumpAxis,
      payJump,
      pointwise,
      payoff: recordsEvents ? obstacle : undefined,
      exerciseBoundary: exerciseBoundary(early),
      stateOnAxis,
      badEvent: FAULT.event,
      valueAt,
    },
    *body({ launch, place, memory, cursor, step }, _gpu, env) {
      const { nodes, pitch, out } = launch;
      const { instance, table, parameters } = place;
      const { u, z, lower, spots, obstacle } = memory;
      const { condition, date: t } = step;
      let { fault, node, row } = cursor.found;
      let { record } = cursor;
      if (env.jump !== undefined && env.jumpAxis !== undefined && env.jumpAxis(condition) >= 0) {
        for (let i = 0; i < nodes; i++) {
          const state = env.stateOnAxis({ t, at: spots[i], parameters });
          z[i] = env.jump({ state, k: condition, u: 0.0 });
          if (!Number.isFinite(z[i]) && fault === 0) {
            fault = env.badEvent;
            node = i;
            row = step.run;
          }
        }
        env.payJump(spots, u, z, lower, nodes);
        for (let i = 0; i < nodes; i++) u[i] = lower[i];
      }
      if (env.payoff !== undefined && step.stepEnd) {
        for (let i = 0; i < nodes; i++)
          obstacle[i] = env.payoff(env.stateOnAxis({ t, at: env.valueAt(table, i), parameters }));
        out[record * pitch + instance] = env.exerciseBoundary(u, obstacle, table, nodes);
        record++;
      }
      if (env.pointwise !== undefined) {
        for (let i = 0; i < nodes; i++) {
          const state = env.stateOnAxis({ t, at: env.valueAt(table, i), parameters });
          const { value, ok } = env.pointwise({ state, k: condition, u: u[i] });
          u[i] = value;
          if (!ok && fault === 0) {
            fault = env.badEvent;
            node = i;
            row = step.run;
          }
        }
      }
      if (env.early) for (let i = 0; i < nodes; i++) u[i] = Math.max(u[i], obstacle[i]);
      return { found: { fault, node, row }, isNew: true, record };
    },
  });
}
