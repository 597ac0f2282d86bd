import { fn } from "../../../../kernel/index.ts";
import { substitute } from "../../../conditions/brennan-schwartz.ts";
import { exerciseBoundary } from "../../../conditions/exercise-boundary.ts";
import { obstacleAt } from "../../../conditions/obstacle.ts";
import { iteratePolicy } from "../../../conditions/policy.ts";
import { extrapolateAt } from "../../../operator/extrapolate.ts";
import type { EquationVariant } from "../../../operator/equation-variant.ts";
import { rightHandSide } from "../../../operator/right-hand-side.ts";
import { FAULT, STATUS } from "../../../operator/status.ts";
import { ZERO_VALUE_GUARD } from "../../../operator/zero-value-guard.ts";
import { atRow } from "./records.ts";

/** Sets the amount that exercise pays at the end of a stage, where it is another than before. */
function setObstacle(variant: EquationVariant) {
  return fn({
    name: "setObstacle",
    params: atRow,
    env: { obstacleAt: obstacleAt(variant), badPayoff: FAULT.payoff },
    body(
      { launch: { nodes }, place: { table, parameters }, memory: { obstacle }, cursor: { found }, step },
      _gpu,
      env,
    ) {
      let { fault, node, row } = found;
      if (step.obstacleChanges) {
        for (let i = 0; i < nodes; i++) {
          obstacle[i] = env.obstacleAt({ i, nodes, table, parameters, mask: step.mask, t: step.stage.tEnd });
          if (!Number.isFinite(obstacle[i]) && fault === 0) {
            fault = env.badPayoff;
            node = i;
            row = step.run;
          }
        }
      }
      return { fault, node, row };
    },
  });
}

/** u after a stage, from its y, which z holds. */
function extrapolate(variant: EquationVariant) {
  return fn({
    name: "extrapolate",
    params: atRow,
    env: { twoStages: variant.twoStages, extrapolateAt: extrapolateAt(variant) },
    body({ launch: { nodes }, memory: { u, v, z, obstacle, lambda }, step }, _gpu, env) {
      for (let i = 0; i < nodes; i++) {
        const before = u[i];
        u[i] = env.extrapolateAt({ at: i, u, y: z, obstacle, lambda, stage: step.stage });
        if (env.twoStages && step.keep) v[i] = before;
      }
    },
  });
}

/** Returns the function that makes one stage of a time step. */
export function advance(variant: EquationVariant) {
  const { exercise, first, last, region } = variant;
  const early = exercise !== "none";
  const penalty = exercise === "penalty";
  return fn({
    name: "advance",
    params: atRow,
    env: {
      penalty,
      pins: first.kind === "dirichlet" || last.kind === "dirichlet" || region !== undefined,
      setObstacle: early ? setObstacle(variant) : undefined,
      rightHandSide: rightHandSide(variant),
      iteratePolicy: penalty ? iteratePolicy(true) : undefined,
      substitute: penalty ? undefined : substitute(exercise === "brennan-schwartz"),
      extrapolate: extrapolate(variant),
      exerciseBoundary: early ? exerciseBoundary(true) : undefined,
      badPinned: FAULT.pinned,
      unconverged: STATUS.unconverged,
      guard: ZERO_VALUE_GUARD,
    },
    *body({ launch, place, memory, cursor, step }, _gpu, env) {
      const { nodes, pitch, status, out } = launch;
      const { instance, table, parameters } = place;
      const { u, v, z, inverse, lower, upper, source, obstacle, right, active, factor, lambda } = memory;
      let { fault, node, row } = cursor.found;
      let { isNew, record } = cursor;
      if (!step.event) {
        const { mask, stage } = step;
        if (isNew) for (let i = 0; i < nodes; i++) u[i] = u[i] + env.guard;
        isNew = false;
        if (env.setObstacle !== undefined) {
          const found = env.setObstacle({ launch, place, memory, cursor, step });
          fault = found.fault;
          node = found.node;
          row = found.row;
        }
        for (let i = 0; i < nodes; i++) {
          const r = env.rightHandSide({ i, nodes, u, v, source, lambda, table, parameters, mask, stage });
          if (env.penalty) right[i] = r;
          else z[i] = r;
          if (env.pins) {
            if (!Number.isFinite(r) && fault === 0) {
              fault = env.badPinned;
              node = i;
              row = step.run;
            }
          }
        }
        const { extrapolation } = stage;
        if (env.iteratePolicy !== undefined) {
          const system = { nodes, diagonal: inverse, decay: 0.0, a: lower, c: upper, right };
          const bound = { u, obstacle, weightOfOld: 1 - 1 / extrapolation };
          const unconverged = env.iteratePolicy({ system, bound, z, active, factor });
          const at = env.unconverged * pitch + instance;
          status[at] = status[at] + unconverged;
        }
        if (env.substitute !== undefined) env.substitute(z, inverse, lower, upper, u, obstacle, nodes, extrapolation);
        env.extrapolate({ launch, place, memory, cursor, step });
        if (env.exerciseBoundary !== undefined && step.stepEnd) {
          out[record * pitch + instance] = env.exerciseBoundary(u, obstacle, table, nodes);
          record++;
        }
      }
      return { found: { fault, node, row }, isNew, record };
    },
  });
}
