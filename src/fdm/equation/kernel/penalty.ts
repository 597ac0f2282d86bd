import { fn, i32, type KernelFunction, read, real, write } from "../../../kernel/index.ts";
import { rightHandSide } from "./right-hand-side.ts";
import type { EquationVariant } from "./variant.ts";

/**
 * A stage with u ≥ obstacle by the penalty method (Forsyth & Vetzal 2002): with A = I − hL, r the right-hand side and P diagonal,
 *
 *   (A + Pᵏ)yᵏ⁺¹ = r + Pᵏ·bound,   Pᵢᵢ = large·Aᵢᵢ where yᵢ < boundᵢ, else 0,
 *
 * until P does not change: at most a few rounds, from the P of the stage before. yᵢ < boundᵢ in a penalised row means that (Ay − r)ᵢ > 0, which is
 * what is tested there: in f32 the difference of y and its bound is rounding. large is 1e10 (f64), 1e6 (f32): y misses its bound by
 * (Ay − r)ᵢ/(large·Aᵢᵢ) at most. The last y in z; returns 1 if 30 rounds were not enough.
 */
export function penalised(variant: EquationVariant): KernelFunction<any, any> {
  return fn({
    name: "penalised",
    params: [
      read(real),
      read(real),
      write(real),
      read(real),
      read(real),
      read(real),
      read(real),
      write(real),
      write(real),
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
    env: { rightHandSide: rightHandSide(variant) },
    body(
      [
        u,
        v,
        z,
        diagonal,
        a,
        c,
        obstacle,
        active,
        factor,
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
      gpu,
      env: any,
    ) {
      const large = gpu.precision === "f32" ? 1e6 : 1e10;
      const last = nodes - 1;
      let unconverged = 1;
      for (let round = 0; round < 30; round++) {
        let y = 0.0;
        let excess = 1.0;
        for (let i = last; i >= 0; i--) {
          const r = env.rightHandSide(
            u,
            v,
            v,
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
          const penalty = active[i] > 0.5 ? large * (diagonal[i] + a[i] + c[i]) : 0.0;
          const bound = u[i] + (obstacle[i] - u[i]) / e;
          const rest = diagonal[i] + penalty + c[i] * excess;
          const pivot = 1 / (rest + a[i]);
          y = (r + penalty * bound + c[i] * y) * pivot;
          factor[i] = a[i] * pivot;
          excess = rest * pivot;
          z[i] = y;
        }
        y = 0.0;
        for (let i = 0; i < nodes; i++) {
          y = z[i] + factor[i] * y;
          z[i] = y;
        }
        let changes = 0;
        for (let i = 0; i < nodes; i++) {
          if (active[i] > 0.5) {
            const r = env.rightHandSide(
              u,
              v,
              v,
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
            const below = z[Math.max(i - 1, 0)];
            const above = z[Math.min(i + 1, last)];
            if (diagonal[i] * z[i] + a[i] * (z[i] - below) + c[i] * (z[i] - above) < r) {
              active[i] = 0.0;
              changes++;
            }
          } else if (z[i] < u[i] + (obstacle[i] - u[i]) / e) {
            active[i] = 1.0;
            changes++;
          }
        }
        if (changes === 0) {
          unconverged = 0;
          break;
        }
      }
      return unconverged;
    },
  });
}
