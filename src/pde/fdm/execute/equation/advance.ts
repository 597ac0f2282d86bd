import { fn, i32, read, real, write } from "../../../../kernel/index.ts";
import { NEVER_EXERCISED } from "../../conditions/barrier.ts";
import { obstacleAt } from "../../conditions/obstacle.ts";
import { FAULT, STATUS } from "../../operator/status.ts";
import { ZERO_VALUE_GUARD } from "../../operator/zero-value-guard.ts";
import { recordBoundary, rightHandSide, solveStage } from "../item/equation.ts";
import { recordBoundaryRuns } from "../team/equation/boundary.ts";
import { rightHandSideRuns, solveStageRuns } from "../team/equation/stage.ts";
import { firstFault } from "./faults.ts";
import { gather } from "./memory.ts";
import { type EquationPlan, isTeam } from "./plan.ts";
import { atRow } from "./records.ts";
import type { EquationVariant } from "../../operator/equation-variant.ts";
import { Stage } from "../../operator/right-hand-side.ts";

/**
 * Sets the amount that exercise pays at the end of a stage, where it is another than before; nobody exercises beyond
 * the end.
 */
function setObstacle(plan: EquationPlan) {
  return fn({
    name: "setObstacle",
    params: atRow,
    env: {
      items: plan.items,
      obstacleAt: obstacleAt(plan.variant),
      badPayoff: FAULT.payoff,
      firstFault,
      NEVER_EXERCISED,
      gather: gather(plan),
    },
    *body({ launch: { nodes }, place, memory, cursor, step }, _gpu, env) {
      const { parameters, item } = place;
      const { table, all, state } = memory;
      let found = cursor.found;
      if (step.obstacleChanges) {
        for (let i = item; i < nodes; i += env.items) {
          const paid = env.obstacleAt({ i, nodes, table, parameters, mask: step.mask, t: step.stage.tEnd });
          all.obstacle[i] = paid;
          const ok = Number.isFinite(paid);
          found = env.firstFault({ before: found, ok, fault: env.badPayoff, node: i, row: step.run });
        }
        yield* env.gather({ place, nodes, all: all.obstacle, own: state.obstacle, beyond: env.NEVER_EXERCISED });
      }
      return found;
    },
  });
}

/** Returns the function that makes one stage of a time step. */
export function advance(plan: EquationPlan) {
  const { rows, variant, early, penalty } = plan;
  return fn({
    name: "advance",
    params: atRow,
    env: {
      rows,
      penalty,
      twoStages: variant.twoStages,
      setObstacle: early ? setObstacle(plan) : undefined,
      rightHandSide: isTeam(plan) ? rightHandSideRuns(plan) : rightHandSide(plan),
      solveStage: isTeam(plan) ? solveStageRuns(plan) : solveStage(plan),
      extrapolateAt: extrapolateAt(variant),
      recordBoundary: !early ? undefined : isTeam(plan) ? recordBoundaryRuns(plan, true) : recordBoundary(true),
      unconverged: STATUS.unconverged,
      guard: ZERO_VALUE_GUARD,
    },
    *body({ launch, place, memory, cursor, step }, _gpu, env) {
      const { nodes, pitch, status } = launch;
      const { u, v, z, obstacle, lambda } = memory.state;
      const rows = env.rows ?? nodes;
      let { found, isNew, record } = cursor;
      if (!step.event) {
        const { stage } = step;
        if (isNew) for (let k = 0; k < rows; k++) u[k] = u[k] + env.guard;
        isNew = false;
        if (env.setObstacle !== undefined) found = yield* env.setObstacle({ launch, place, memory, cursor, step });
        found = yield* env.rightHandSide({ launch, place, memory, found, step });
        const unconverged = yield* env.solveStage({ nodes, memory, reach: cursor.reach, stage });
        const at = env.unconverged * pitch + place.instance;
        if (env.penalty && place.item === 0 && unconverged > 0) status[at] = status[at] + unconverged;
        for (let k = 0; k < rows; k++) {
          const before = u[k];
          u[k] = env.extrapolateAt({ at: k, u, y: z, obstacle, lambda, stage });
          if (env.twoStages && step.keep) v[k] = before;
        }
        if (env.recordBoundary !== undefined && step.stepEnd) {
          yield* env.recordBoundary({ launch, place, memory, record });
          record++;
        }
      }
      return { found, isNew, record, reach: cursor.reach, cuts: cursor.cuts };
    },
  });
}

/**
 * Returns the function for u after a stage at one index of the node arrays, from the old u and the solution y of the
 * stage: u + extrapolation·(y − u), bounded below by the exercise payoff. With operator splitting it also updates the
 * multiplier λ.
 */
function extrapolateAt({ exercise }: EquationVariant) {
  return fn({
    name: "extrapolateAt",
    params: { at: i32, u: read(real), y: read(real), obstacle: read(real), lambda: write(real), stage: Stage },
    env: { early: exercise !== "none", splitting: exercise === "operator-splitting" },
    body({ at, u, y, obstacle, lambda, stage: { h, extrapolation: e } }, _gpu, { early, splitting }) {
      let after = u[at] + e * (y[at] - u[at]);
      if (splitting) {
        // Ikonen & Toivanen (2004): u′ − kλ′ = ũ − kλ, u′ ≥ payoff, λ′ ≥ 0, one of the two an equality; k = h·e.
        const held = Math.max(after - h * e * lambda[at], obstacle[at]);
        lambda[at] = lambda[at] + (held - after) / (h * e);
        after = held;
      } else if (early) after = Math.max(after, obstacle[at]);
      return after;
    },
  });
}
