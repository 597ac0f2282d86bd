import { fn, i32, real } from "../../../kernel/index.ts";
import { Column, valueAt } from "../operator/column.ts";
import { type EquationVariant, pinsOf } from "../operator/equation-variant.ts";
import { isPinned, sideOnAxis } from "../operator/pinned.ts";
import { stateOnAxis } from "../operator/state.ts";
import { NEVER_EXERCISED } from "./barrier.ts";

/**
 * Returns the function for the exercise payoff at node i at time t. A pinned node, whose value a boundary condition
 * prescribes, cannot be exercised.
 */
export function obstacleAt(variant: EquationVariant) {
  return fn({
    name: "obstacleAt",
    params: { i: i32, nodes: i32, table: Column, parameters: Column, mask: i32, t: real },
    env: {
      payoff: variant.obstacle,
      isPinned: isPinned(pinsOf(variant)),
      sideOnAxis,
      stateOnAxis,
      NEVER_EXERCISED,
      valueAt,
    },
    body({ i, nodes, table, parameters, mask, t }, _gpu, env) {
      const state = env.stateOnAxis({ t, at: env.valueAt(table, i), parameters });
      const pinned = env.isPinned({ state, side: env.sideOnAxis(i, nodes - 1), mask });
      let paid = env.NEVER_EXERCISED;
      if (env.payoff !== undefined && !pinned) paid = env.payoff(state);
      return paid;
    },
  });
}
