import { fn, i32, read, real, record } from "../../../kernel/index.ts";
import type { EquationVariant } from "./equation-variant.ts";

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
