import { fn, i32, real } from "../../kernel/index.ts";
import { Column, valueAt } from "../operator/column.ts";
import type { EquationVariant } from "../operator/equation-variant.ts";
import { isPinned } from "../operator/pinned.ts";
import { NEVER_EXERCISED } from "./barrier.ts";

/** The amount that exercise pays at node i at time t; a pinned node is not exercised. */
export function obstacleAt(variant: EquationVariant) {
  return fn({
    name: "obstacleAt",
    params: { i: i32, nodes: i32, table: Column, parameters: Column, mask: i32, t: real },
    env: { payoff: variant.obstacle, isPinned: isPinned(variant), NEVER_EXERCISED, valueAt },
    body({ i, nodes, table, parameters, mask, t }, _gpu, env) {
      const state = { t, x0: env.valueAt(table, i), x1: 0.0, x2: 0.0, parameters };
      const pinned = env.isPinned({ i, last: nodes - 1, state, mask });
      let paid = env.NEVER_EXERCISED;
      if (env.payoff !== undefined && !pinned) paid = env.payoff(state);
      return paid;
    },
  });
}
