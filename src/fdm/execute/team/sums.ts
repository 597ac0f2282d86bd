import { bool, fn, i32, type KernelFunction, read, real, write } from "../../../kernel/index.ts";
import { HOP, NEAR, type Reaching, scan } from "./scan.ts";
import { partsOf, type Team } from "./team.ts";

/**
 * Weights that make the recurrences of a step running sums (`stepSums`). Of a part's rows, first to last, let Pₖ be the
 * product of `upper` over those before row k, Qₖ that of `lower` over those behind it. `lower` becomes rₖ = Qₖ/Pₖ,
 * `upper` becomes gainₖ/rₖ, and the state w = gain·u, and twice the source of premiums, are multiplied by Pₖ.
 * `multiple` is what u was multiplied by in all.
 *
 * Cost: 8 flops a node and a reciprocal, a factorisation.
 */
export function weighRuns(rows: number, premium: boolean): KernelFunction<any, void> {
  const { count, size } = partsOf(rows);
  return fn({
    name: "weighRuns",
    params: [write(real), write(real), write(real), read(real), write(real), write(real)],
    env: { rows, parts: count, size, premium },
    body([u, doubled, multiple, gain, lower, upper], gpu, { rows, parts, size, premium }: any) {
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

/** What steps of running sums read and write, see `advanceSums`. */
const PARAMS = [
  i32,
  write(real),
  write(real),
  read(real),
  read(real),
  read(real),
  read(real),
  read(real),
  read(real),
  read(real),
  write(real),
  i32,
  bool,
  real,
] as const;

/**
 * Steps that are alike, one after another, as `stepRuns` makes them, of a state that `weighRuns` has weighted:
 * elimination z = w + upper·z and substitution y = z + lower·y are sums,
 *
 *   Sₖ = Σ_{j ≥ k} Pⱼwⱼ + what enters from above,   Tₖ = Σ_{j ≤ k} rⱼSⱼ + what enters from below, Pₖw ← (gainₖ/rₖ)·Tₖ −
 *                                                   Pₖw,
 *
 * over the rows of a part, and what leaves it is its last sum. In f64, where an H200 takes 2 cycles for an addition, or
 * a multiply-add that shares an operand with the one before, and 3 for one with three operands of its own; and what
 * enters a part is added to sums that wait for it, not at the start of a chain (design/splits.md). A mesh's first row
 * may have a negative `upper`, as values flow out of the mesh there: P is without its sign, which is `first`.
 *
 * `premium`: early exercise, of premiums (`sourceRuns`): Sₖ, which has the sign of z, is held above 0, and `doubled` is
 * added.
 *
 * Cost: 5 operations a node (`premium` 7, one of them on whole numbers), and the scans.
 */
export function advanceSums(team: Team, rows: number, premium: boolean): KernelFunction<any, any> {
  return fn({
    name: "advanceSums",
    params: PARAMS,
    env: {
      near: NEAR,
      hop: HOP,
      sumNear: sumSteps(team, rows, premium, "near"),
      sumHop: sumSteps(team, rows, premium, "hop"),
      sumFar: sumSteps(team, rows, premium, "far"),
      sumAny: sumSteps(team, rows, premium, "any"),
    },
    *body(
      [steps, u, z, ratio, gain, doubled, downProduct, upProduct, above, below, scratch, reach, crankNicolson, first],
      _gpu,
      { near, hop, sumNear, sumHop, sumFar, sumAny }: any,
    ) {
      if (!crankNicolson)
        yield* sumAny(
          steps,
          u,
          z,
          ratio,
          gain,
          doubled,
          downProduct,
          upProduct,
          above,
          below,
          scratch,
          reach,
          false,
          first,
        );
      else if (reach === near)
        yield* sumNear(
          steps,
          u,
          z,
          ratio,
          gain,
          doubled,
          downProduct,
          upProduct,
          above,
          below,
          scratch,
          near,
          true,
          first,
        );
      else if (reach === hop)
        yield* sumHop(
          steps,
          u,
          z,
          ratio,
          gain,
          doubled,
          downProduct,
          upProduct,
          above,
          below,
          scratch,
          hop,
          true,
          first,
        );
      else
        yield* sumFar(
          steps,
          u,
          z,
          ratio,
          gain,
          doubled,
          downProduct,
          upProduct,
          above,
          below,
          scratch,
          reach,
          true,
          first,
        );
    },
  });
}

/** Steps of one kind: Crank–Nicolson's, all with scans that reach as far; of "any" reach implicit Euler's. */
function sumSteps(
  team: Team,
  rows: number,
  premium: boolean,
  reaching: Exclude<Reaching, "refactorised">,
): KernelFunction<any, any> {
  const { count, size } = partsOf(rows);
  return fn({
    name: "sumSteps",
    params: PARAMS,
    env: {
      rows,
      parts: count,
      size,
      premium,
      scanDown: scan(team, "down", reaching),
      scanUp: scan(team, "up", reaching),
    },
    *body(
      [steps, u, z, ratio, gain, doubled, downProduct, upProduct, above, below, scratch, reach, crankNicolson, first],
      gpu,
      env: any,
    ) {
      const sums = gpu.privateReal(env.parts);
      const entering = gpu.privateReal(env.parts);
      for (let step = 0; step < steps; step++) {
        for (let p = 0; p < env.parts; p++) {
          const top = Math.min((p + 1) * env.size, env.rows) - 1;
          let sum = u[top];
          z[top] = sum;
          for (let k = top - 1; k >= p * env.size; k--) {
            sum = k === 0 ? u[k] + first * sum : u[k] + sum;
            z[k] = sum;
          }
          sums[p] = sum;
        }
        entering[env.parts - 1] = 0.0;
        for (let p = env.parts - 2; p >= 0; p--) {
          entering[p] = downProduct[p] * sums[p + 1];
          sums[p] += entering[p];
        }
        const fromAbove = yield* env.scanDown(sums[0], above, scratch, reach);
        let through = 1.0;
        for (let p = env.parts - 1; p >= 0; p--) {
          through *= downProduct[p];
          const enters = entering[p] + through * fromAbove;
          for (let k = p * env.size; k < Math.min((p + 1) * env.size, env.rows); k++) {
            const eliminated = k === 0 ? z[k] + first * enters : z[k] + enters;
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
          u[k] = crankNicolson ? gain[k] * z[k] - old : gain[k] * z[k];
        }
        const fromBelow = yield* env.scanUp(sums[env.parts - 1], below, scratch, reach);
        through = 1.0;
        for (let p = 0; p < env.parts; p++) {
          through *= upProduct[p];
          const enters = entering[p] + through * fromBelow;
          for (let k = p * env.size; k < Math.min((p + 1) * env.size, env.rows); k++) u[k] += gain[k] * enters;
        }
        if (!crankNicolson)
          for (let k = 0; k < env.rows; k++) u[k] = env.premium ? 0.5 * (u[k] + doubled[k]) : 0.5 * u[k];
      }
    },
  });
}
