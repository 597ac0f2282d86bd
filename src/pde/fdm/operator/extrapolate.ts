import { fn, i32, read, real, write } from "../../../kernel/index.ts";
import type { EquationVariant } from "./equation-variant.ts";
import { Stage } from "./right-hand-side.ts";

/**
 * Returns the function for u after a stage at one index of the node arrays, from the old u and the solution y of the
 * stage: u + extrapolation·(y − u), bounded below by the exercise payoff. With operator splitting it also updates the
 * multiplier λ.
 */
export function extrapolateAt({ exercise }: EquationVariant) {
  return fn({
    name: "extrapolateAt",
    params: { at: i32, u: read(real), y: read(real), obstacle: read(real), lambda: write(real), stage: Stage },
    env: { early: exercise !== "none", splitting: exercise === "operator-splitting" },
    body({ at, u, y, obstacle, lambda, stage: { h, extrapolation: e } }, _gpu, { early, splitting }) {
      let after = u[at] + e * (y[at] - u[at]);
      if (splitting) {
        // Ikonen & Toivanen (2004): u′ − kλ′ = ũ − kλ, u′ ≥ payoff, λ′ ≥ 0, one of the two an equality; k = h·e.
        const held = Math.max(after - h * e * lambda[at], obstacle[at]);
        lambda[at] = lambda[at] + (held - after) / (h * e);
        after = held;
      } else if (early) after = Math.max(after, obstacle[at]);
      return after;
    },
  });
}
