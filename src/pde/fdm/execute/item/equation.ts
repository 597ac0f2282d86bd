/** The parts of an equation's time loop that an item does in its own way where it solves an instance alone. */
import { fn, i32, read, real, write } from "../../../../kernel/index.ts";
import { exerciseBoundary } from "../../conditions/dates.ts";
import { iteratePolicy } from "../../conditions/policy.ts";
import { assemble, pinsOf, Stage, stageRightHandSide } from "../../operator/equation-row.ts";
import { pinnedOnAxis, valueAt } from "../../operator/state.ts";
import { FAULT } from "../../operator/status.ts";
import { atRow, atStart, type EquationPlan, FirstFault, firstFault, Launch, Memory } from "../equation/memory.ts";
import { ItemContext, ProgramRow } from "../rollback.ts";

/** Returns the function that assembles and factors I − hL. */
export function factor({ variant }: EquationPlan) {
  return fn({
    name: "factor",
    params: atRow,
    env: { assemble: assemble(variant), firstFault },
    *body({ launch, context, memory, loopState, programRow }, _gpu, env) {
      const { gain: inverse, lower, upper } = memory.factors;
      const made = env.assemble({
        nodes: launch.nodes,
        table: context.table,
        parameters: context.parameters,
        inverse,
        lower,
        upper,
        source: memory.state.source,
        status: launch.status,
        mask: programRow.mask,
        stage: programRow.stage,
      });
      const { fault, node } = made;
      const found = env.firstFault({ before: loopState.found, ok: fault === 0, fault, node, row: programRow.index });
      return {
        found,
        isNew: loopState.isNew,
        record: loopState.record,
        reach: loopState.reach,
        limitedRows: loopState.limitedRows,
      };
    },
  });
}

/** Returns the function that computes the right-hand side of a stage. */
export function rightHandSide({ variant, pins }: EquationPlan) {
  return fn({
    name: "rightHandSide",
    params: { ...atStart, found: FirstFault, programRow: ProgramRow },
    env: {
      pins,
      stageRightHandSide: stageRightHandSide(variant),
      pinnedOnAxis: pinnedOnAxis(pinsOf(variant)),
      firstFault,
      badPinned: FAULT.pinned,
      valueAt,
    },
    *body({ launch: { nodes }, context: { table, parameters }, memory, found: before, programRow }, _gpu, env) {
      const { u, v, source, lambda, right } = memory.state;
      const { mask, stage } = programRow;
      let found = before;
      for (let i = 0; i < nodes; i++) {
        let r = env.stageRightHandSide({ at: i, u, v, source, lambda, stage });
        if (env.pins) {
          const S = env.valueAt(table, i);
          const { pinned, value } = env.pinnedOnAxis({ i, nodes, S, parameters, mask, t: stage.tEnd });
          if (pinned) r = u[i] + (value - u[i]) / stage.extrapolation;
          const ok = Number.isFinite(r);
          found = env.firstFault({ before: found, ok, fault: env.badPinned, node: i, row: programRow.index });
        }
        right[i] = r;
      }
      return found;
    },
  });
}

/**
 * Returns the function that solves a stage and writes its solution into z. It returns 1 where the penalty method did
 * not converge within its rounds.
 */
export function solveStage({ variant: { exercise }, penalty }: EquationPlan) {
  return fn({
    name: "solveStage",
    params: { nodes: i32, memory: Memory, reach: i32, stage: Stage },
    env: {
      iteratePolicy: penalty ? iteratePolicy(true) : undefined,
      substitute: substitute(exercise === "brennan-schwartz"),
    },
    *body({ nodes, memory, stage: { extrapolation } }, _gpu, env) {
      const { gain, lower, upper } = memory.factors;
      const { u, z, right, obstacle } = memory.state;
      const { decays, active, factor } = memory.penalty;
      let unconverged = 0;
      if (env.iteratePolicy !== undefined) {
        const system = { nodes, diagonal: decays, decay: 0.0, a: lower, c: upper, right };
        const bound = { u, obstacle, weightOfOld: 1 - 1 / extrapolation };
        unconverged = env.iteratePolicy({ system, bound, z, active, factor });
      } else env.substitute(z, gain, lower, upper, u, obstacle, nodes, extrapolation);
      return unconverged;
    },
  });
}

/** Returns the function that writes the exercise boundary (`exerciseBoundary`) to index `record` of the results. */
export const recordBoundary = (smooth: boolean) =>
  fn({
    name: "recordBoundary",
    params: { launch: Launch, context: ItemContext, memory: Memory, record: i32 },
    env: { exerciseBoundary: exerciseBoundary(smooth) },
    *body({ launch: { nodes, pitch, out }, context: { instance }, memory, record }, _gpu, { exerciseBoundary }) {
      const { u, obstacle } = memory.state;
      out[record * pitch + instance] = exerciseBoundary(u, obstacle, memory.table, nodes);
    },
  });

/**
 * Returns the function that solves (I − hL)·y = z in place by back substitution, from the factors of `assemble`. With
 * `projected` (Brennan & Schwartz 1977), substitution starts in the exercise region and keeps y ≥ u + (obstacle −
 * u)/extrapolation, which is equivalent to u ≥ obstacle after the step. Cost: 5 flops and 7 reals of private memory a
 * node; projected, 4 flops and 2 reals more.
 */
function substitute(projected: boolean) {
  return fn({
    name: "substitute",
    params: [write(real), read(real), read(real), read(real), read(real), read(real), i32, real],
    env: { projected },
    body([z, inverse, lower, upper, u, obstacle, nodes, extrapolation], _gpu, { projected }) {
      let y = 0.0;
      for (let i = nodes - 1; i >= 0; i--) {
        y = z[i] * inverse[i] + upper[i] * y;
        z[i] = y;
      }
      y = 0.0;
      for (let i = 0; i < nodes; i++) {
        y = z[i] + lower[i] * y;
        if (projected) y = Math.max(y, u[i] + (obstacle[i] - u[i]) / extrapolation);
        z[i] = y;
      }
    },
  });
}
