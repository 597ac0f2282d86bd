import { fn } from "../../../../kernel/index.ts";
import { NEVER_EXERCISED } from "../../conditions/barrier.ts";
import { valueAtTarget } from "../../conditions/jump.ts";
import { valueAt } from "../../operator/column.ts";
import { stateOnAxis } from "../../operator/state.ts";
import { FAULT } from "../../operator/status.ts";
import { recordBoundary } from "../item/equation.ts";
import { recordBoundaryRuns } from "../team/equation/boundary.ts";
import { firstFault } from "./faults.ts";
import { gather, spread } from "./memory.ts";
import { type EquationPlan, isTeam } from "./plan.ts";
import { atRow } from "./records.ts";

/**
 * Returns the function that applies a condition on its date: a jump, exercise, or a knock-out. Where a team of items
 * solves the instance, it copies the solution to workgroup memory, where its items process it node by node.
 */
export function applyEvents(plan: EquationPlan) {
  const { items, rows, variant, early } = plan;
  const { recordsEvents, obstacle, pointwise, jump, jumpAxis } = variant;
  return fn({
    name: "applyEvents",
    params: atRow,
    env: {
      items,
      rows,
      early,
      jump,
      jumpAxis,
      valueAtTarget,
      pointwise,
      payoff: recordsEvents ? obstacle : undefined,
      recordBoundary: isTeam(plan) ? recordBoundaryRuns(plan, false) : recordBoundary(false),
      stateOnAxis,
      badEvent: FAULT.event,
      firstFault,
      NEVER_EXERCISED,
      gather: gather(plan),
      spread: spread(plan),
      valueAt,
    },
    *body({ launch, place, memory, cursor, step }, _gpu, env) {
      const { nodes } = launch;
      const { item, parameters } = place;
      const { table, all } = memory;
      const { mesh, beside } = all;
      const { u, obstacle } = memory.state;
      const { condition, date: t } = step;
      const rows = env.rows ?? nodes;
      let { found, record } = cursor;
      if (env.jump !== undefined && env.jumpAxis !== undefined && env.jumpAxis(condition) >= 0) {
        yield* env.spread({ place, nodes, own: u, all: all.u });
        const sign = mesh[nodes - 1] > mesh[0] ? 1.0 : -1.0;
        for (let i = item; i < nodes; i += env.items) {
          const state = env.stateOnAxis({ t, at: mesh[i], parameters });
          const target = env.jump({ state, k: condition, u: 0.0 });
          const ok = Number.isFinite(target);
          found = env.firstFault({ before: found, ok, fault: env.badEvent, node: i, row: step.run });
          beside[i] = env.valueAtTarget(mesh, all.u, nodes, sign, target);
        }
        if (env.rows === undefined) for (let k = 0; k < nodes; k++) u[k] = beside[k];
        yield* env.gather({ place, nodes, all: beside, own: u, beyond: 0 });
      }
      if (env.payoff !== undefined && step.stepEnd) {
        for (let i = item; i < nodes; i += env.items)
          all.obstacle[i] = env.payoff(env.stateOnAxis({ t, at: env.valueAt(table, i), parameters }));
        yield* env.gather({ place, nodes, all: all.obstacle, own: obstacle, beyond: env.NEVER_EXERCISED });
        yield* env.recordBoundary({ launch, place, memory, record });
        record++;
      }
      if (env.pointwise !== undefined) {
        yield* env.spread({ place, nodes, own: u, all: all.u });
        for (let i = item; i < nodes; i += env.items) {
          const state = env.stateOnAxis({ t, at: env.valueAt(table, i), parameters });
          const { value, ok } = env.pointwise({ state, k: condition, u: all.u[i] });
          all.u[i] = value;
          found = env.firstFault({ before: found, ok, fault: env.badEvent, node: i, row: step.run });
        }
        yield* env.gather({ place, nodes, all: all.u, own: u, beyond: 0 });
      }
      if (env.early) for (let k = 0; k < rows; k++) u[k] = Math.max(u[k], obstacle[k]);
      return { found, isNew: true, record, reach: cursor.reach, cuts: cursor.cuts };
    },
  });
}
