import { fn, i32, type KernelFunction, read, real, write } from "../../../kernel/index.ts";
import { rightHandSide } from "./right-hand-side.ts";
import type { EquationVariant } from "./variant.ts";

/**
 * Solves (I − hL)·y = right-hand side by the factors of `assemble`, y in z. With `brennan-schwartz` y is held above the bound that u ≥ obstacle
 * is for it, u + (obstacle − u)/extrapolation, during substitution, which starts at the exercise region (Brennan & Schwartz 1977).
 * Cost: 5 flops and 6 words of private memory a node, and the right-hand side.
 */
export function substitute(variant: EquationVariant): KernelFunction<any, void> {
  return fn({
    name: "substitute",
    params: [
      read(real),
      read(real),
      write(real),
      read(real),
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
      real,
      real,
      real,
      real,
      real,
      real,
    ],
    env: { rightHandSide: rightHandSide(variant), projected: variant.exercise === "brennan-schwartz" },
    body(
      [
        u,
        v,
        z,
        inverse,
        lower,
        upper,
        obstacle,
        lambda,
        table,
        parameters,
        nodes,
        pitch,
        lane,
        mask,
        t,
        tEnd,
        h,
        fromU,
        fromV,
        e,
      ],
      _gpu,
      env: any,
    ) {
      let y = 0.0;
      for (let i = nodes - 1; i >= 0; i--) {
        const r = env.rightHandSide(
          u,
          v,
          lambda,
          table,
          parameters,
          i,
          nodes,
          pitch,
          lane,
          mask,
          t,
          tEnd,
          h,
          fromU,
          fromV,
          e,
        );
        y = r * inverse[i] + upper[i] * y;
        z[i] = y;
      }
      y = 0.0;
      for (let i = 0; i < nodes; i++) {
        y = z[i] + lower[i] * y;
        if (env.projected) y = Math.max(y, u[i] + (obstacle[i] - u[i]) / e);
        z[i] = y;
      }
    },
  });
}
