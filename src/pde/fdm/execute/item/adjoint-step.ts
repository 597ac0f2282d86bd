import { fn, i32, real, record } from "../../../../kernel/index.ts";
import type { SolverVariant } from "../option/plan.ts";
import { KeptLayer, stepInputs } from "../option/reversed.ts";
import { RowSlopes } from "./adjoint-rows.ts";
import { atStart, LoopState } from "./factor.ts";

/**
 * One time step on the way back: the layers of y and, of policy iteration, of exercised nodes, the number of the step,
 * and the factor e of u + e·(y − u).
 */
const BackwardStep = record({ y: KeptLayer, active: KeptLayer, step: i32, extrapolation: real });

/**
 * Returns the function that goes back through one time step. From λ = ∂V/∂u after the step, in `memory.u`, it makes
 * that before the step, and writes the derivatives of V by the step's inputs, on a fixed set of exercised nodes. With A
 * = I − hL on the others, y = A⁻¹u and u ← u + e·(y − u):
 *
 *   μ = A⁻ᵀ(e·λ),   λ ← (1 − e)·λ + μ,   ∂V/∂p = −μᵀ·(∂A/∂p)·y.
 *
 * Where exercised u is the payoff whatever it was, so that λ there only has what its part in a bound of y is to its
 * neighbours. Both sweeps are the step's own, transposed, with the same factors; policy iteration factors on the way.
 * Cost for each node: some 26 flops, and 13 reals of memory.
 */
export function stepBack(variant: SolverVariant) {
  const { exercise, shape } = variant;
  return fn({
    name: "stepBack",
    params: { ...atStart, loopState: LoopState, slopes: RowSlopes, hVariance: real, at: BackwardStep },
    env: {
      early: exercise !== "none" && exercise !== "dates",
      timeDependent: exercise === "time-dependent",
      policy: exercise === "policy",
      hasShift: shape === "formula" || shape === "surface",
      hasTable: shape === "table",
      perStep: stepInputs(shape),
    },
    body(
      { launch, context, memory, loopState, slopes, hVariance, at: { y: kept, active, step, extrapolation } },
      gpu,
      env,
    ) {
      const { nodes, pitch, out, flags, programRows } = launch;
      const { instance } = context;
      const { u: lambda, z, inverse, lower, upper, obstacle, factor } = memory;
      const { varianceDown, varianceUp, driftDown, driftUp, shift } = slopes;
      const { hRate } = loopState.rates;
      const last = nodes - 1;
      const to = (flags[programRows + 1] + step * env.perStep) * pitch + instance;
      const weight = 1 / extrapolation;
      const exercised = out[to];
      // Substitution, transposed.
      let carried = 0.0;
      let excess = 1.0;
      let bySlope = 0.0;
      let byKink = 0.0;
      for (let i = last; i >= 0; i--) {
        const own = lambda[i];
        let total = extrapolation * own + carried;
        let rest = (1 - extrapolation) * own;
        let below = 0.0;
        let isExercised = false;
        if (env.policy) isExercised = active.values[active.at + i * active.apart] > 0.5;
        else if (env.early) isExercised = gpu.real(i) < exercised;
        if (env.policy) {
          const sum = 1 + hRate + upper[i] * excess;
          const pivot = isExercised ? 0.0 : 1 / (sum + lower[i]);
          excess = isExercised ? 1.0 : sum * pivot;
          inverse[i] = pivot;
          factor[i] = upper[i] * pivot;
          below = lower[i] * pivot;
        } else below = lower[i];
        if (env.timeDependent) {
          const bound = isExercised ? weight * total : 0.0;
          bySlope += bound * obstacle[i];
          byKink -= bound;
        }
        if (env.early) {
          rest = isExercised ? (1 - weight) * carried : rest;
          total = isExercised ? 0.0 : total;
        }
        carried = below * total;
        z[i] = total;
        lambda[i] = rest;
      }
      // Elimination, transposed, and the derivatives.
      let byVariance = 0.0;
      let byDrift = 0.0;
      let byRate = 0.0;
      let byShift = 0.0;
      const columns = flags[programRows + 1] + flags[programRows + 2] - nodes;
      let pushed = 0.0;
      let y = kept.values[kept.at];
      let down = 0.0;
      for (let i = 0; i < nodes; i++) {
        const above = kept.values[kept.at + Math.min(i + 1, last) * kept.apart];
        const up = y - above;
        const sum = z[i] + pushed;
        const mu = inverse[i] * sum;
        // Policy iteration takes a bound of y to the nodes on both sides of it.
        let bound = 0.0;
        if (env.policy) bound = inverse[i] === 0 ? (1 - weight) * pushed : 0.0;
        pushed = (env.policy ? factor[i] : upper[i]) * sum;
        lambda[i] = lambda[i] + mu + bound;
        byRate -= mu * y;
        const ofDown = mu * down;
        const ofUp = mu * up;
        const ofVariance = varianceDown[i] * ofDown + varianceUp[i] * ofUp;
        byVariance -= ofVariance;
        byDrift -= driftDown[i] * ofDown + driftUp[i] * ofUp;
        if (env.hasShift) byShift -= ofVariance * shift[i];
        if (env.hasTable) {
          const cell = (columns + i) * pitch + instance;
          out[cell] = out[cell] - hVariance * ofVariance;
        }
        down = -up;
        y = above;
      }
      out[to] = env.hasTable ? 0.0 : byVariance;
      if (env.timeDependent) {
        out[to + pitch] = bySlope;
        out[to + 2 * pitch] = byKink;
      } else {
        out[to + pitch] = byDrift;
        out[to + 2 * pitch] = byRate;
      }
      if (env.hasShift) out[to + 3 * pitch] = byShift;
    },
  });
}
