import { bool, fn, i32, read, real, record, write } from "../../../../kernel/index.ts";
import { Factors } from "../../operator/factor.ts";

/** The exercise payoff at the nodes: `obstacle`, or slope·obstacle − kink where it depends on time. */
export const Obstacle = record({ obstacle: read(real), slope: real, kink: real });

/**
 * Returns the function that makes one time step by a factored matrix. It solves (I − hL)·y = u, then sets u ← y
 * (implicit Euler), u ← 2y − u (Crank–Nicolson, `extrapolated`), or u ← y + over·(y − u) (`weighted`; Crank–Nicolson is
 * over = 1).
 *
 * Elimination runs from the last node to the first, and substitution back. With `early` exercise y is kept above its
 * lower bound during substitution: the payoff, or for Crank–Nicolson the mean of payoff and old u, which is equivalent
 * to u_new ≥ payoff. This is the method of Brennan & Schwartz (1977), which is exact if the exercise region is at the
 * first nodes. Cost: 7 flops and 8 (early exercise 9) reals of private memory a node.
 */
export function projectedStep(early: boolean, weighted: boolean, timeDependent: boolean) {
  return fn({
    name: "projectedStep",
    params: {
      u: write(real),
      z: write(real),
      factors: Factors,
      paid: Obstacle,
      nodes: i32,
      extrapolated: bool,
      over: real,
    },
    env: { early, weighted, timeDependent },
    body(
      { u, z, factors: { inverse, lower, upper, start }, paid: { obstacle, slope, kink }, nodes, extrapolated, over },
      _gpu,
      env,
    ) {
      let y = 0.0;
      for (let i = nodes - 1; i >= 0; i--) {
        y = u[i] * inverse[start + i] + upper[start + i] * y;
        z[i] = y;
      }
      y = 0.0;
      if (extrapolated) {
        for (let i = 0; i < nodes; i++) {
          y = z[i] + lower[start + i] * y;
          const before = u[i];
          if (env.early) {
            const paid = env.timeDependent ? slope * obstacle[i] - kink : obstacle[i];
            y = Math.max(y, 0.5 * (paid + before));
          }
          u[i] = env.weighted ? y + over * (y - before) : y + y - before;
        }
      } else {
        for (let i = 0; i < nodes; i++) {
          y = z[i] + lower[start + i] * y;
          if (env.early) y = Math.max(y, env.timeDependent ? slope * obstacle[i] - kink : obstacle[i]);
          u[i] = y;
        }
      }
    },
  });
}
