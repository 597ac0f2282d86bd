import { fn } from "../../../../kernel/index.ts";
import { NEVER_EXERCISED } from "../../../conditions/barrier.ts";
import { obstacleAt } from "../../../conditions/obstacle.ts";
import { extrapolateAt } from "../../../operator/extrapolate.ts";
import { pinsOf } from "../../../operator/equation-variant.ts";
import { isPinned, pinnedValue, sideOnAxis } from "../../../operator/pinned.ts";
import { stageSum } from "../../../operator/right-hand-side.ts";
import { stateOnAxis } from "../../../operator/state.ts";
import { FAULT, STATUS } from "../../../operator/status.ts";
import { ZERO_VALUE_GUARD } from "../../../operator/zero-value-guard.ts";
import { iterateRuns } from "../policy.ts";
import { eliminateRuns, substituteRuns } from "../step.ts";
import { recordBoundary } from "./boundary.ts";
import { onMesh } from "./memory.ts";
import type { EquationPlan } from "./plan.ts";
import { atRow } from "./records.ts";
import { projectRuns } from "./step.ts";

/**
 * Sets the amount that exercise pays at the end of a stage, where it is another than before; nobody exercises beyond
 * the end.
 */
function setObstacle({ team, rows, variant }: EquationPlan) {
  return fn({
    name: "setObstacle",
    params: atRow,
    env: {
      rows,
      items: team.items,
      obstacleAt: obstacleAt(variant),
      badPayoff: FAULT.payoff,
      NEVER_EXERCISED,
      onMesh,
    },
    *body({ launch: { nodes }, place, memory, cursor: { found }, step }, _gpu, env) {
      const { parameters, item, first } = place;
      const { mesh, values } = memory.shared;
      const { obstacle } = memory.state;
      const table = env.onMesh(mesh);
      let { fault, node, row } = found;
      if (step.obstacleChanges) {
        for (let i = item; i < nodes; i += env.items) {
          const paid = env.obstacleAt({ i, nodes, table, parameters, mask: step.mask, t: step.stage.tEnd });
          values[i] = paid;
          if (!Number.isFinite(paid) && fault === 0) {
            fault = env.badPayoff;
            node = i;
            row = step.run;
          }
        }
        yield;
        for (let k = 0; k < env.rows; k++)
          obstacle[k] = first + k < nodes ? values[Math.min(first + k, nodes - 1)] : env.NEVER_EXERCISED;
        yield;
      }
      return { fault, node, row };
    },
  });
}

/** The right-hand side of pinned nodes, see `rightHandSide`, into z. */
function pinRuns({ team, rows, variant }: EquationPlan) {
  return fn({
    name: "pinRuns",
    params: atRow,
    env: {
      rows,
      items: team.items,
      isPinned: isPinned(pinsOf(variant)),
      pinnedValue: pinnedValue(pinsOf(variant)),
      sideOnAxis,
      stateOnAxis,
      badPinned: FAULT.pinned,
    },
    *body({ launch: { nodes }, place, memory, cursor: { found }, step }, gpu, env) {
      const { item, first } = place;
      const { parameters } = place;
      const { mesh, values, beside } = memory.shared;
      const { u, z } = memory.state;
      const { tEnd } = step.stage;
      const back = gpu.reciprocal(step.stage.extrapolation);
      const last = nodes - 1;
      let { fault, node, row } = found;
      for (let i = item; i < nodes; i += env.items) {
        const state = env.stateOnAxis({ t: tEnd, at: mesh[i], parameters });
        const at = { state, side: env.sideOnAxis(i, last), mask: step.mask };
        const pinned = env.isPinned(at);
        let end = 0.0;
        if (pinned) end = env.pinnedValue(at);
        values[i] = end;
        beside[i] = pinned ? 1.0 : 0.0;
      }
      yield;
      for (let k = 0; k < env.rows; k++) {
        const i = Math.min(first + k, last);
        if (first + k <= last && beside[i] > 0.5) z[k] = u[k] + (values[i] - u[k]) * back;
        if (first + k <= last && !Number.isFinite(z[k]) && fault === 0) {
          fault = env.badPinned;
          node = i;
          row = step.run;
        }
      }
      yield;
      return { fault, node, row };
    },
  });
}

/** Returns the function that makes one stage of a time step. */
export function advance(plan: EquationPlan) {
  const { team, rows, variant, early, penalty, pins } = plan;
  const { exercise, twoStages } = variant;
  const projected = exercise === "brennan-schwartz";
  return fn({
    name: "advance",
    params: atRow,
    env: {
      rows,
      projected,
      twoStages,
      isPenalty: penalty,
      setObstacle: early ? setObstacle(plan) : undefined,
      stageSum: stageSum(variant),
      pinRuns: pins ? pinRuns(plan) : undefined,
      iterateRuns: penalty ? iterateRuns(team, rows, "varying", false) : undefined,
      eliminateRuns: eliminateRuns(team, rows, false, "refactorised"),
      projectRuns: projected ? projectRuns(team, rows) : undefined,
      substituteRuns: substituteRuns(team, rows),
      extrapolateAt: extrapolateAt(variant),
      recordBoundary: early ? recordBoundary(plan, true) : undefined,
      unconverged: STATUS.unconverged,
      guard: ZERO_VALUE_GUARD,
    },
    *body({ launch, place, memory, cursor, step }, gpu, env) {
      const { pitch, status } = launch;
      const { item, instance } = place;
      const { shared, state, rows, factors, products, scans, penalty } = memory;
      const { u, v, z, source, obstacle, lambda } = state;
      const { reach } = cursor;
      let { fault, node, row } = cursor.found;
      let { isNew, record } = cursor;
      if (!step.event) {
        const { stage } = step;
        if (isNew) for (let k = 0; k < env.rows; k++) u[k] = u[k] + env.guard;
        isNew = false;
        if (env.setObstacle !== undefined) {
          const found = yield* env.setObstacle({ launch, place, memory, cursor, step });
          fault = found.fault;
          node = found.node;
          row = found.row;
        }
        for (let k = 0; k < env.rows; k++) z[k] = env.stageSum({ at: k, u, v, source, lambda, stage });
        if (env.pinRuns !== undefined) {
          const before = {
            found: { fault, node, row },
            isNew,
            record,
            reach,
            cuts: cursor.cuts,
          };
          const found = yield* env.pinRuns({ launch, place, memory, cursor: before, step });
          fault = found.fault;
          node = found.node;
          row = found.row;
        }
        const bound = gpu.privateReal(env.rows);
        // A division each would take as long as all else that a stage does with a node.
        const back = gpu.reciprocal(stage.extrapolation);
        if (env.projected) for (let k = 0; k < env.rows; k++) bound[k] = u[k] + (obstacle[k] - u[k]) * back;
        if (env.iterateRuns !== undefined) {
          const { decays, right, active } = penalty;
          for (let k = 0; k < env.rows; k++) right[k] = z[k];
          const diagonal = { active, decays, decay: 0.0 };
          const bound = { u, obstacle, weightOfOld: 1 - back };
          const live = { low: -1, high: env.rows, lowHeld: -1, highHeld: -1 };
          const of = { rows, diagonal, right, bound, z, factors, products, scans, live };
          const unconverged = yield* env.iterateRuns(of);
          const at = env.unconverged * pitch + instance;
          if (item === 0 && unconverged > 0) status[at] = status[at] + unconverged;
        } else {
          yield* env.eliminateRuns({ rhs: z, z, factors, products, scans, reach });
          if (env.projectRuns !== undefined) yield* env.projectRuns({ z, lower: factors.lower, bound, scans, reach });
          else yield* env.substituteRuns({ z, lower: factors.lower, scans, reach });
        }
        for (let k = 0; k < env.rows; k++) {
          const before = u[k];
          u[k] = env.extrapolateAt({ at: k, u, y: z, obstacle, lambda, stage });
          if (env.twoStages && step.keep) v[k] = before;
        }
        if (env.recordBoundary !== undefined && step.stepEnd) {
          yield* env.recordBoundary({ launch, place, shared, scans, u, obstacle, record });
          record++;
        }
      }
      return { found: { fault, node, row }, isNew, record, reach, cuts: cursor.cuts };
    },
  });
}
