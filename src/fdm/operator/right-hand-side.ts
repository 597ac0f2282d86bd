import { fn, i32, read, real, record } from "../../kernel/index.ts";
import { Column, valueAt } from "./column.ts";
import type { EquationVariant } from "./equation-variant.ts";
import { isPinned, pinnedValue } from "./pinned.ts";

/**
 * A stage of a time step: (I − hL)·y = fromU·u + fromV·v + source, then u ← u + extrapolation·(y − u). `t`: the time of
 * the operator, `tEnd` that of the new u.
 */
export const Stage = record({ t: real, tEnd: real, h: real, fromU: real, fromV: real, extrapolation: real });

/**
 * Row i of a stage's right-hand side,
 *
 *   fromU·uᵢ + fromV·vᵢ + sourceᵢ + h·λᵢ,
 *
 * from arrays that have node i at `at`; λ the multiplier of operator splitting; for a pinned node the y that the stage's extrapolation takes to its value at
 * the stage's end.
 */
export function rightHandSide(variant: EquationVariant) {
  const { first, last, twoStages, hasSource, exercise, region } = variant;
  return fn({
    name: "rightHandSide",
    params: {
      i: i32,
      nodes: i32,
      at: i32,
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
      twoStages,
      hasSource,
      splitting: exercise === "operator-splitting",
      pins: first.kind === "dirichlet" || last.kind === "dirichlet" || region !== undefined,
      isPinned: isPinned(variant),
      pinnedValue: pinnedValue(variant),
      valueAt,
    },
    body({ i, nodes, at, u, v, source, lambda, table, parameters: { values, pitch, instance }, mask, stage }, _gpu, env) {
      const { tEnd } = stage;
      let value = stage.fromU * u[at];
      if (env.twoStages) value += stage.fromV * v[at];
      if (env.hasSource) value += source[at];
      if (env.splitting) value += stage.h * lambda[at];
      if (env.pins) {
        const S = env.valueAt(table, i);
        if (env.isPinned(i, nodes - 1, tEnd, S, values, pitch, instance, mask)) {
          const end = env.pinnedValue(i, nodes - 1, tEnd, S, values, pitch, instance, mask);
          value = u[at] + (end - u[at]) / stage.extrapolation;
        }
      }
      return value;
    },
  });
}
