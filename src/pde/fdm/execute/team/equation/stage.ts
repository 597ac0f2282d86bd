/** A stage of an equation's time step, in which a team's items have a run of nodes each. */
import { fn, i32 } from "../../../../../kernel/index.ts";
import { pinsOf } from "../../../operator/equation-variant.ts";
import { pinnedOnAxis } from "../../../operator/pinned.ts";
import { stageSum, Stage } from "../../../operator/right-hand-side.ts";
import { FAULT } from "../../../operator/status.ts";
import { firstFault } from "../../equation/faults.ts";
import type { TeamEquationPlan } from "../../equation/plan.ts";
import { atStart, Fault, Memory } from "../../equation/records.ts";
import { Row } from "../../row.ts";
import { iterateRuns } from "../policy.ts";
import { eliminateRuns, substituteRuns } from "../step.ts";
import { projectRuns } from "./project.ts";

/** Returns the function that computes the right-hand side of a stage at an item's nodes (`rightHandSide`). */
export function rightHandSideRuns(plan: TeamEquationPlan) {
  const { rows, variant, pins } = plan;
  return fn({
    name: "rightHandSideRuns",
    params: { ...atStart, found: Fault, step: Row },
    env: { rows, stageSum: stageSum(variant), pinRuns: pins ? pinRuns(plan) : undefined },
    *body({ launch, place, memory, found: before, step }, _gpu, env) {
      const { u, v, source, lambda, right } = memory.state;
      const { stage } = step;
      let found = before;
      for (let k = 0; k < env.rows; k++) right[k] = env.stageSum({ at: k, u, v, source, lambda, stage });
      if (env.pinRuns !== undefined) found = yield* env.pinRuns({ launch, place, memory, found, step });
      return found;
    },
  });
}

/** The right-hand side of pinned nodes. */
function pinRuns({ team, rows, variant }: TeamEquationPlan) {
  return fn({
    name: "pinRuns",
    params: { ...atStart, found: Fault, step: Row },
    env: {
      rows,
      items: team.items,
      pinnedOnAxis: pinnedOnAxis(pinsOf(variant)),
      firstFault,
      badPinned: FAULT.pinned,
    },
    *body({ launch: { nodes }, place: { item, first, parameters }, memory, found: before, step }, gpu, env) {
      const { mesh, u: values, beside } = memory.all;
      const { u, right } = memory.state;
      const { tEnd: t, extrapolation } = step.stage;
      const back = gpu.reciprocal(extrapolation);
      const last = nodes - 1;
      let found = before;
      for (let i = item; i < nodes; i += env.items) {
        const end = env.pinnedOnAxis({ i, nodes, S: mesh[i], parameters, mask: step.mask, t });
        values[i] = end.value;
        beside[i] = end.pinned ? 1.0 : 0.0;
      }
      yield;
      for (let k = 0; k < env.rows; k++) {
        const i = Math.min(first + k, last);
        if (first + k <= last && beside[i] > 0.5) right[k] = u[k] + (values[i] - u[k]) * back;
        const ok = first + k > last || Number.isFinite(right[k]);
        found = env.firstFault({ before: found, ok, fault: env.badPinned, node: i, row: step.run });
      }
      yield;
      return found;
    },
  });
}

/** Returns the function that solves a stage at an item's nodes and writes the solution into z (`solveStage`). */
export function solveStageRuns({ team, rows, variant: { exercise }, penalty }: TeamEquationPlan) {
  const projected = exercise === "brennan-schwartz";
  return fn({
    name: "solveStageRuns",
    params: { nodes: i32, memory: Memory, reach: i32, stage: Stage },
    env: {
      rows,
      iterateRuns: penalty ? iterateRuns(team, rows, "varying", false) : undefined,
      eliminateRuns: eliminateRuns(team, rows, false, "refactorised"),
      projectRuns: projected ? projectRuns(team, rows) : undefined,
      substituteRuns: substituteRuns(team, rows),
    },
    *body({ memory, reach, stage }, gpu, env) {
      const { rows, factors, products, scans, penalty } = memory;
      const { u, z, right, obstacle } = memory.state;
      // A division each would take as long as all else that a stage does with a node.
      const back = gpu.reciprocal(stage.extrapolation);
      let unconverged = 0;
      if (env.iterateRuns !== undefined) {
        const diagonal = { active: penalty.active, decays: penalty.decays, decay: 0.0 };
        const bound = { u, obstacle, weightOfOld: 1 - back };
        const live = { low: -1, high: env.rows, lowHeld: -1, highHeld: -1 };
        unconverged = yield* env.iterateRuns({ rows, diagonal, right, bound, z, factors, products, scans, live });
      } else {
        const bound = gpu.privateReal(env.rows);
        if (env.projectRuns !== undefined)
          for (let k = 0; k < env.rows; k++) bound[k] = u[k] + (obstacle[k] - u[k]) * back;
        yield* env.eliminateRuns({ rhs: z, z, factors, products, scans, reach });
        if (env.projectRuns !== undefined) yield* env.projectRuns({ z, lower: factors.lower, bound, scans, reach });
        else yield* env.substituteRuns({ z, lower: factors.lower, scans, reach });
      }
      return unconverged;
    },
  });
}
