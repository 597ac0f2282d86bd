import { fn, i32, read, real, record, write } from "../../kernel/index.ts";

/** Rows (−a, diagonal + a + c, −c) of I − hL with their right-hand sides. */
const System = record({ nodes: i32, diagonal: read(real), a: read(real), c: read(real), right: read(real) });

/** u ≥ obstacle after a stage: y ≥ u + (obstacle − u)/extrapolation. */
const Bound = record({ u: read(real), obstacle: read(real), extrapolation: real });

const boundAt = fn({
  name: "boundAt",
  params: [Bound, i32],
  body([{ u, obstacle, extrapolation }, i]) {
    return u[i] + (obstacle[i] - u[i]) / extrapolation;
  },
});

/** Rounds after which the method gives up. */
export const MAX_ROUNDS = 30;

/** What a penalised row weighs, relative to its diagonal element of A. */
export const penaltyWeight = fn({
  name: "penaltyWeight",
  params: [],
  body(_, gpu) {
    return gpu.precision === "f32" ? 1e6 : 1e10;
  },
});

/** Solves (A + P)·y = r + P·bound, Pᵢᵢ = large·Aᵢᵢ where `active`; y in z. Row sums are carried, as in `assemble`. */
const solvePenalised = fn({
  name: "solvePenalised",
  params: { system: System, bound: Bound, z: write(real), active: read(real), factor: write(real), large: real },
  env: { boundAt },
  body({ system: { nodes, diagonal, a, c, right }, bound, z, active, factor, large }, _gpu, { boundAt }) {
    let y = 0.0;
    let excess = 1.0;
    for (let i = nodes - 1; i >= 0; i--) {
      const penalty = active[i] > 0.5 ? large * (diagonal[i] + a[i] + c[i]) : 0.0;
      const rest = diagonal[i] + penalty + c[i] * excess;
      const pivot = 1 / (rest + a[i]);
      y = (right[i] + penalty * boundAt(bound, i) + c[i] * y) * pivot;
      factor[i] = a[i] * pivot;
      excess = rest * pivot;
      z[i] = y;
    }
    y = 0.0;
    for (let i = 0; i < nodes; i++) {
      y = z[i] + factor[i] * y;
      z[i] = y;
    }
  },
});

/**
 * Penalises where y is below its bound, and no longer where that would need (Ay − r)ᵢ < 0; returns how many rows
 * changed.
 */
const improvePenalties = fn({
  name: "improvePenalties",
  params: { system: System, bound: Bound, z: read(real), active: write(real) },
  env: { boundAt },
  body({ system: { nodes, diagonal, a, c, right }, bound, z, active }, _gpu, { boundAt }) {
    let changes = 0;
    for (let i = 0; i < nodes; i++) {
      if (active[i] > 0.5) {
        const below = z[Math.max(i - 1, 0)];
        const above = z[Math.min(i + 1, nodes - 1)];
        if (diagonal[i] * z[i] + a[i] * (z[i] - below) + c[i] * (z[i] - above) < right[i]) {
          active[i] = 0.0;
          changes++;
        }
      } else if (z[i] < boundAt(bound, i)) {
        active[i] = 1.0;
        changes++;
      }
    }
    return changes;
  },
});

/**
 * A stage with u ≥ obstacle by the penalty method (Forsyth & Vetzal 2002): with A = I − hL, r the right-hand side and P
 * diagonal,
 *
 *   (A + Pᵏ)yᵏ⁺¹ = r + Pᵏ·bound,   Pᵢᵢ = large·Aᵢᵢ where yᵢ < boundᵢ, else 0,
 *
 * until P does not change: a few rounds, from the P of the stage before. yᵢ < boundᵢ in a penalised row means that (Ay
 * − r)ᵢ > 0, which is what is tested there: in f32 the difference of y and its bound is rounding. large is 1e10 (f64),
 * 1e6 (f32): y misses its bound by (Ay − r)ᵢ/(large·Aᵢᵢ) at most. The last y in z; returns 1 if 30 rounds were not
 * enough.
 */
export const penalised = fn({
  name: "penalised",
  params: { system: System, bound: Bound, z: write(real), active: write(real), factor: write(real) },
  env: { MAX_ROUNDS, penaltyWeight, solvePenalised, improvePenalties },
  body({ system, bound, z, active, factor }, _gpu, env) {
    const large = env.penaltyWeight();
    let unconverged = 1;
    for (let round = 0; round < env.MAX_ROUNDS; round++) {
      env.solvePenalised({ system, bound, z, active, factor, large });
      const changes = env.improvePenalties({ system, bound, z, active });
      if (changes === 0) {
        unconverged = 0;
        break;
      }
    }
    return unconverged;
  },
});
