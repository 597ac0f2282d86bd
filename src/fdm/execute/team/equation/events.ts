import { fn } from "../../../../kernel/index.ts";
import { valueAtTarget } from "../../../conditions/jump.ts";
import { stateOnAxis } from "../../../operator/state.ts";
import { FAULT } from "../../../operator/status.ts";
import { recordBoundary } from "./boundary.ts";
import type { EquationPlan } from "./plan.ts";
import { atRow } from "./records.ts";

/**
 * Returns the function that applies a condition on its date: a jump, exercise, or a knock-out. The solution is copied
 * to workgroup memory, where items process it node by node.
 */
export function applyEvents(plan: EquationPlan) {
  const { team, rows, variant, early } = plan;
  const { recordsEvents, obstacle, pointwise, jump, jumpAxis } = variant;
  return fn({
    name: "applyEvents",
    params: atRow,
    env: {
      rows,
      items: team.items,
      early,
      jump,
      jumpAxis,
      valueAtTarget,
      pointwise,
      payoff: recordsEvents ? obstacle : undefined,
      recordBoundary: recordsEvents ? recordBoundary(plan, false) : undefined,
      stateOnAxis,
      badEvent: FAULT.event,
    },
    *body({ launch, place, memory, cursor, step }, _gpu, env) {
      const { nodes } = launch;
      const { item, first } = place;
      const { parameters } = place;
      const { shared, state, scans } = memory;
      const { mesh, values, beside, third } = shared;
      const { u, obstacle } = state;
      const { condition, date: t } = step;
      let { fault, node, row } = cursor.found;
      let { record } = cursor;
      if (env.jump !== undefined && env.jumpAxis !== undefined && env.jumpAxis(condition) >= 0) {
        for (let k = 0; k < env.rows; k++) if (first + k < nodes) values[first + k] = u[k];
        yield;
        const sign = mesh[nodes - 1] > mesh[0] ? 1.0 : -1.0;
        for (let i = item; i < nodes; i += env.items) {
          const state = env.stateOnAxis({ t, at: mesh[i], parameters });
          const target = env.jump({ state, k: condition, u: 0.0 });
          if (!Number.isFinite(target) && fault === 0) {
            fault = env.badEvent;
            node = i;
            row = step.run;
          }
          beside[i] = env.valueAtTarget(mesh, values, nodes, sign, target);
        }
        yield;
        for (let k = 0; k < env.rows; k++) if (first + k < nodes) u[k] = beside[Math.min(first + k, nodes - 1)];
        yield;
      }
      if (env.payoff !== undefined && env.recordBoundary !== undefined && step.stepEnd) {
        for (let i = item; i < nodes; i += env.items)
          third[i] = env.payoff(env.stateOnAxis({ t, at: mesh[i], parameters }));
        yield;
        for (let k = 0; k < env.rows; k++) obstacle[k] = third[Math.min(first + k, nodes - 1)];
        yield* env.recordBoundary({ launch, place, shared, scans, u, obstacle, record });
        record++;
      }
      if (env.pointwise !== undefined) {
        for (let k = 0; k < env.rows; k++) if (first + k < nodes) values[first + k] = u[k];
        yield;
        for (let i = item; i < nodes; i += env.items) {
          const state = env.stateOnAxis({ t, at: mesh[i], parameters });
          const { value, ok } = env.pointwise({ state, k: condition, u: values[i] });
          values[i] = value;
          if (!ok && fault === 0) {
            fault = env.badEvent;
            node = i;
            row = step.run;
          }
        }
        yield;
        for (let k = 0; k < env.rows; k++) if (first + k < nodes) u[k] = values[Math.min(first + k, nodes - 1)];
        yield;
      }
      if (env.early) for (let k = 0; k < env.rows; k++) u[k] = Math.max(u[k], obstacle[k]);
      return { found: { fault, node, row }, isNew: true, record, reach: cursor.reach, cuts: cursor.cuts };
    },
  });
}
