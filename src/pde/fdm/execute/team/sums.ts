import { fn, real, write } from "../../../../kernel/index.ts";
import { Factors, Products, Scans, TeamState, StepSettings } from "./records.ts";
import { HOP, NEAR, type ScanReach, scan } from "./scan.ts";
import { partsOf, type Team } from "./team.ts";

/**
 * Returns the function that rescales, in place, the factors and the state of one segment of nodes, so that elimination
 * and substitution become running sums (`stepSums`). Let Pₖ be the product of `upper` over the segment's rows before k,
 * and Qₖ the product of `lower` over those after k. Then `lower` is overwritten by rₖ = Qₖ/Pₖ and `upper` by gainₖ/rₖ.
 * The state w = gain·u, and `doubled`, twice the source of premiums, are multiplied by Pₖ. `multiple` receives the
 * factor between u and the scaled state.
 *
 * Cost of a factorisation for each node: 8 flops and a reciprocal.
 */
export function scaleSegmentForSums(rows: number, premium: boolean) {
  const { count, size } = partsOf(rows);
  return fn({
    name: "weighSegment",
    params: { u: write(real), doubled: write(real), multiple: write(real), factors: Factors },
    env: { rows, parts: count, size, premium },
    body({ u, doubled, multiple, factors }, gpu, { rows, parts, size, premium }) {
      const { gain, lower, upper } = factors;
      for (let p = 0; p < parts; p++) {
        const from = p * size;
        const end = Math.min(from + size, rows);
        let weight = 1.0;
        for (let k = from; k < end; k++) {
          u[k] *= weight;
          if (premium) doubled[k] *= weight;
          multiple[k] = gain[k] * weight;
          if (k + 1 < end) weight *= upper[k];
        }
        let ratio = gpu.reciprocal(weight);
        for (let k = end - 1; k >= from; k--) {
          const next = k > from ? lower[k] * upper[Math.max(k - 1, 0)] : 1.0;
          lower[k] = ratio;
          upper[k] = gain[k] * gpu.reciprocal(ratio);
          ratio *= next;
        }
      }
    },
  });
}

/** The arguments of steps by running sums, see `advanceSums`. */
const ADVANCE = {
  state: TeamState,
  factors: Factors,
  doubled: write(real),
  products: Products,
  scans: Scans,
  steps: StepSettings,
  signOfFirst: real,
};

/**
 * Returns the function that makes equal steps, as `stepSegment` does, of a state weighted by `scaleSegmentForSums`.
 * Elimination z = w + upper·z and substitution y = z + lower·y are then sums over the rows of an interval of nodes,
 *
 *   Sₖ = Σ_{j ≥ k} Pⱼwⱼ + the value that enters from above,   Tₖ = Σ_{j ≤ k} rⱼSⱼ + the value that enters from below,
 *   Pₖw ← (gainₖ/rₖ)·Tₖ − Pₖw,
 *
 * and the last sum leaves the interval. They are used in f64, where an H200 takes 2 cycles for an addition and 3 for a
 * multiply-add with three new operands. The value that enters an interval is added to finished sums, not at the start
 * of a chain (design/splits.md). The first row of a mesh may have a negative `upper`, as values flow out of the mesh
 * there. P is without its sign, which is `signOfFirst`.
 *
 * `premium`: the state is premiums over the exercise payoff (`premiumSources`). Sₖ, which has the sign of z, is bounded
 * below by 0, and `doubled` is added.
 *
 * Cost: 5 operations a node (`premium` 7, one of them on integers), and the scans.
 */
export function advanceSums(team: Team, rows: number, premium: boolean) {
  return fn({
    name: "advanceSums",
    params: ADVANCE,
    env: {
      near: NEAR,
      hop: HOP,
      sumNear: sumSteps(team, rows, premium, "near"),
      sumHop: sumSteps(team, rows, premium, "hop"),
      sumFar: sumSteps(team, rows, premium, "far"),
      sumAny: sumSteps(team, rows, premium, "any"),
    },
    *body(of, _gpu, { near, hop, sumNear, sumHop, sumFar, sumAny }) {
      const { extrapolated, reach } = of.steps;
      if (!extrapolated) yield* sumAny(of);
      else if (reach === near) yield* sumNear(of);
      else if (reach === hop) yield* sumHop(of);
      else yield* sumFar(of);
    },
  });
}

/** Steps of one kind: Crank–Nicolson's, all with scans that reach as far; of "any" reach implicit Euler's. */
function sumSteps(team: Team, rows: number, premium: boolean, reaching: Exclude<ScanReach, "refactorised">) {
  const { count, size } = partsOf(rows);
  return fn({
    name: "sumSteps",
    params: ADVANCE,
    env: {
      rows,
      parts: count,
      size,
      premium,
      crankNicolson: reaching !== "any",
      scanDown: scan(team, "down", reaching),
      scanUp: scan(team, "up", reaching),
    },
    *body({ state, factors, doubled, products, scans, steps, signOfFirst }, gpu, env) {
      const { u, z } = state;
      // As `scaleSegmentForSums` leaves them.
      const { lower: ratio, upper: gain } = factors;
      const { downProduct, upProduct } = products;
      const sums = gpu.privateReal(env.parts);
      const entering = gpu.privateReal(env.parts);
      for (let step = 0; step < steps.count; step++) {
        for (let p = 0; p < env.parts; p++) {
          const top = Math.min((p + 1) * env.size, env.rows) - 1;
          let sum = u[top];
          z[top] = sum;
          for (let k = top - 1; k >= p * env.size; k--) {
            sum = k === 0 ? u[k] + signOfFirst * sum : u[k] + sum;
            z[k] = sum;
          }
          sums[p] = sum;
        }
        entering[env.parts - 1] = 0.0;
        for (let p = env.parts - 2; p >= 0; p--) {
          entering[p] = downProduct[p] * sums[p + 1];
          sums[p] += entering[p];
        }
        const fromAbove = yield* env.scanDown(sums[0], scans.above, scans.scratch, steps.reach);
        let through = 1.0;
        for (let p = env.parts - 1; p >= 0; p--) {
          through *= downProduct[p];
          const enters = entering[p] + through * fromAbove;
          for (let k = p * env.size; k < Math.min((p + 1) * env.size, env.rows); k++) {
            const eliminated = k === 0 ? z[k] + signOfFirst * enters : z[k] + enters;
            z[k] = env.premium ? gpu.positivePart(eliminated) : eliminated;
          }
        }
        for (let p = 0; p < env.parts; p++) {
          const from = p * env.size;
          let sum = 0.0;
          for (let k = from; k < Math.min(from + env.size, env.rows); k++) {
            sum = k === from ? ratio[k] * z[k] : ratio[k] * z[k] + sum;
            z[k] = sum;
          }
          sums[p] = sum;
        }
        entering[0] = 0.0;
        for (let p = 1; p < env.parts; p++) {
          entering[p] = upProduct[p] * sums[p - 1];
          sums[p] += entering[p];
        }
        // What does not need what enters is done while that is on its way.
        for (let k = 0; k < env.rows; k++) {
          const old = env.premium ? u[k] - doubled[k] : u[k];
          u[k] = env.crankNicolson ? gain[k] * z[k] - old : gain[k] * z[k];
        }
        const fromBelow = yield* env.scanUp(sums[env.parts - 1], scans.below, scans.scratch, steps.reach);
        through = 1.0;
        for (let p = 0; p < env.parts; p++) {
          through *= upProduct[p];
          const enters = entering[p] + through * fromBelow;
          for (let k = p * env.size; k < Math.min((p + 1) * env.size, env.rows); k++) u[k] += gain[k] * enters;
        }
        if (!env.crankNicolson)
          for (let k = 0; k < env.rows; k++) u[k] = env.premium ? 0.5 * (u[k] + doubled[k]) : 0.5 * u[k];
      }
    },
  });
}
