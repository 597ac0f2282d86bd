import { fn, i32, read, real, record } from "../../kernel/index.ts";
import { Column, valueAt } from "./column.ts";
import { type EquationVariant, pinsOf } from "./equation-variant.ts";
import { isPinned, pinnedValue, sideOnAxis } from "./pinned.ts";
import { stateOnAxis } from "./state.ts";

/**
 * A stage of a time step: (I − hL)·y = fromU·u + fromV·v + source, then u ← u + extrapolation·(y − u). The operator is
 * taken at time `t`; the new u belongs to `tEnd`.
 */
export const Stage = record({ t: real, tEnd: real, h: real, fromU: real, fromV: real, extrapolation: real });

/**
 * Returns the function for a stage's right-hand side at one index of the node arrays,
 *
 *   fromU·u + fromV·v + source + h·λ,
 *
 * where λ is the multiplier of operator splitting.
 */
export function stageSum({ twoStages, hasSource, exercise }: EquationVariant) {
  return fn({
    name: "stageSum",
    params: { at: i32, u: read(real), v: read(real), source: read(real), lambda: read(real), stage: Stage },
    env: { twoStages, hasSource, splitting: exercise === "operator-splitting" },
    body({ at, u, v, source, lambda, stage }, _gpu, { twoStages, hasSource, splitting }) {
      let value = stage.fromU * u[at];
      if (twoStages) value += stage.fromV * v[at];
      if (hasSource) value += source[at];
      if (splitting) value += stage.h * lambda[at];
      return value;
    },
  });
}

/**
 * Returns the function for row i of a stage's right-hand side. It is `stageSum`, or, for a pinned node, the y from
 * which extrapolation gives the prescribed value at the end of the stage.
 */
export function rightHandSide(variant: EquationVariant) {
  const { first, last, region } = variant;
  return fn({
    name: "rightHandSide",
    params: {
      i: i32,
      nodes: i32,
      u: read(real),
      v: read(real),
      source: read(real),
      lambda: read(real),
      table: Column,
      parameters: Column,
      mask: i32,
      stage: Stage,
    },
    env: {
      stageSum: stageSum(variant),
      pins: first.kind === "dirichlet" || last.kind === "dirichlet" || region !== undefined,
      isPinned: isPinned(pinsOf(variant)),
      pinnedValue: pinnedValue(pinsOf(variant)),
      sideOnAxis,
      stateOnAxis,
      valueAt,
    },
    body({ i, nodes, u, v, source, lambda, table, parameters, mask, stage }, _gpu, env) {
      let value = env.stageSum({ at: i, u, v, source, lambda, stage });
      if (env.pins) {
        const state = env.stateOnAxis({ t: stage.tEnd, at: env.valueAt(table, i), parameters });
        const at = { state, side: env.sideOnAxis(i, nodes - 1), mask };
        if (env.isPinned(at)) value = u[i] + (env.pinnedValue(at) - u[i]) / stage.extrapolation;
      }
      return value;
    },
  });
}
