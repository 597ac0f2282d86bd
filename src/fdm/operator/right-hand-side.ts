import { fn, i32, type KernelFunction, read, real } from "../../kernel/index.ts";
import { isPinned, pinnedValue } from "./pinned.ts";
import type { EquationVariant } from "../execute/item/equation-variant.ts";

/**
 * Row i of a stage's right-hand side (`Stage`),
 *
 *   fromU·uᵢ + fromV·vᵢ + sourceᵢ + h·λᵢ,
 *
 * λ the multiplier of operator splitting; for a pinned node the y that the stage's extrapolation takes to its value at
 * the stage's end.
 */
export function rightHandSide(variant: EquationVariant): KernelFunction<any, number> {
  const { first, last, twoStages, hasSource, exercise, region } = variant;
  return fn({
    name: "rightHandSide",
    params: [
      read(real),
      read(real),
      read(real),
      read(real),
      read(real),
      read(real),
      i32,
      i32,
      i32,
      i32,
      i32,
      real,
      real,
      real,
      real,
      real,
    ],
    env: {
      twoStages,
      hasSource,
      splitting: exercise === "operator-splitting",
      pins: first.kind === "dirichlet" || last.kind === "dirichlet" || region !== undefined,
      isPinned: isPinned(variant),
      pinnedValue: pinnedValue(variant),
    },
    body(
      [u, v, source, lambda, table, parameters, i, nodes, pitch, instance, mask, tEnd, h, fromU, fromV, e],
      _gpu,
      env: any,
    ) {
      let value = fromU * u[i];
      if (env.twoStages) value += fromV * v[i];
      if (env.hasSource) value += source[i];
      if (env.splitting) value += h * lambda[i];
      if (env.pins) {
        const S = table[i * pitch + instance];
        if (env.isPinned(i, nodes - 1, tEnd, S, parameters, pitch, instance, mask)) {
          const end = env.pinnedValue(i, nodes - 1, tEnd, S, parameters, pitch, instance, mask);
          value = u[i] + (end - u[i]) / e;
        }
      }
      return value;
    },
  });
}
