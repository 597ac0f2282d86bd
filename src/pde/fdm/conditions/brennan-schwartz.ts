import { fn, i32, read, real, write } from "../../../kernel/index.ts";

/**
 * Returns the function that solves (I − hL)·y = z in place by back substitution, from the factors of `assemble`. With
 * `projected` (Brennan & Schwartz 1977), substitution starts in the exercise region and keeps y ≥ u + (obstacle −
 * u)/extrapolation, which is equivalent to u ≥ obstacle after the step. Cost: 5 flops and 7 reals of private memory a
 * node; projected, 4 flops and 2 reals more.
 */
export function substitute(projected: boolean) {
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
