/**
 * Dupire's equation forward in time for options out of the money, and its adjoint, as functions of the kernel language.
 *
 * With κ = K/F, D = κ²·∂²/∂κ² by three points, a = ½σ² on the nodes and u the undiscounted option out of the money in
 * units of the forward, u(0) = 0, a step of the θ-scheme from n to n + 1 is
 *
 *   (1 − θΔt·aₙ₊₁·D)·uₙ₊₁ = uₙ + (1 − θ)Δt·aₙ·wₙ + θΔt·aₙ₊₁·d,   w = D·u + d,
 *
 * where d, which is D of the payoff, is zero except at κ = 1. All terms are positive, so that small prices keep their
 * relative accuracy. The adjoint goes backward with the same factors: where λ is the derivative of the objective with
 * respect to u,
 *
 *   μ = (1 − θΔt·aₙ₊₁·D)⁻ᵀ·λₙ₊₁,   λₙ += (1 + (1 − θ)Δt·aₙ·D)ᵀ·μ,
 *   ∂/∂aₙ₊₁ += θΔt·μ·wₙ₊₁,   ∂/∂aₙ += (1 − θ)Δt·μ·wₙ.
 *
 * Source: Andreasen & Huge (2011); Achdou & Pironneau, *Computational Methods for Option Pricing*, SIAM 2005, ch. 8.
 * Cost per node and step: 4 words written and about 20 flops forward, and the same backward. Verified:
 * test/calibration/adjoint, gradients against differences.
 */
import { fn, i32, read, real, record, write } from "../../kernel/index.ts";

/** The numbers of nodes and steps. */
const Shape = record({ nodes: i32, steps: i32 });

/**
 * Solves Dupire's equation forward in time for out-of-the-money prices u, in units of the forward, as a function of
 * κ = strike / forward. `a` is ½σ² at all nodes, [step][node]. The function writes u, its `curvature` κ²·∂²u/∂κ²
 * and the factors of the tridiagonal matrix of each step, all of them [step][node].
 */
export const dupireForward = fn({
  name: "forwardSweep",
  params: {
    shape: Shape,
    lower: read(real),
    upper: read(real),
    source: read(real),
    elapsed: read(real),
    theta: read(real),
    a: read(real),
    u: write(real),
    curvature: write(real),
    inverse: write(real),
    factor: write(real),
  },
  body({ shape: { nodes, steps }, lower, upper, source, elapsed, theta, a, u, curvature, inverse, factor }) {
    for (let j = 0; j < nodes; j++) {
      u[j] = 0;
      curvature[j] = source[j];
    }
    for (let n = 0; n < steps; n++) {
      const before = n * nodes;
      const at = before + nodes;
      const implicit = theta[n] * elapsed[n];
      const explicit = elapsed[n] - implicit;
      // Thomas: at both ends u does not change.
      inverse[at] = 1;
      factor[at] = 0;
      u[at] = u[before];
      let above = 0.0;
      for (let j = 1; j < nodes; j++) {
        const weight = implicit * a[at + j];
        const share = -weight * lower[j] * inverse[at + j - 1];
        factor[at + j] = share;
        inverse[at + j] = 1 / (1 + weight * (lower[j] + upper[j]) - share * above);
        above = -weight * upper[j];
        u[at + j] =
          u[before + j] + explicit * a[before + j] * curvature[before + j] + weight * source[j] - share * u[at + j - 1];
      }
      u[at + nodes - 1] = u[at + nodes - 1] * inverse[at + nodes - 1];
      for (let j = nodes - 2; j >= 0; j--)
        u[at + j] = (u[at + j] + implicit * a[at + j] * upper[j] * u[at + j + 1]) * inverse[at + j];
      curvature[at] = 0;
      curvature[at + nodes - 1] = 0;
      for (let j = 1; j < nodes - 1; j++)
        curvature[at + j] = lower[j] * (u[at + j - 1] - u[at + j]) + upper[j] * (u[at + j + 1] - u[at + j]) + source[j];
    }
  },
});

/**
 * Solves the adjoint equation backward in time. From the derivatives of the objective with respect to u in `lambda`,
 * which it overwrites, it computes the derivatives with respect to a in `gradient`. Both are [step][node].
 */
export const dupireAdjoint = fn({
  name: "backwardSweep",
  params: {
    shape: Shape,
    lower: read(real),
    upper: read(real),
    elapsed: read(real),
    theta: read(real),
    a: read(real),
    curvature: read(real),
    inverse: read(real),
    factor: read(real),
    lambda: write(real),
    gradient: write(real),
  },
  body({ shape: { nodes, steps }, lower, upper, elapsed, theta, a, curvature, inverse, factor, lambda, gradient }) {
    for (let i = 0; i < (steps + 1) * nodes; i++) gradient[i] = 0;
    for (let n = steps - 1; n >= 0; n--) {
      const before = n * nodes;
      const at = before + nodes;
      const implicit = theta[n] * elapsed[n];
      const explicit = elapsed[n] - implicit;
      lambda[at] = lambda[at] * inverse[at];
      for (let j = 1; j < nodes; j++) {
        const above = -implicit * a[at + j - 1] * upper[j - 1];
        lambda[at + j] = (lambda[at + j] - above * lambda[at + j - 1]) * inverse[at + j];
      }
      for (let j = nodes - 2; j >= 0; j--) lambda[at + j] -= factor[at + j + 1] * lambda[at + j + 1];
      for (let j = 0; j < nodes; j++) {
        const mu = lambda[at + j];
        gradient[at + j] += implicit * mu * curvature[at + j];
        gradient[before + j] += explicit * mu * curvature[before + j];
        lambda[before + j] += mu;
        if (j > 0 && j < nodes - 1) {
          const moved = explicit * a[before + j] * mu;
          lambda[before + j - 1] += moved * lower[j];
          lambda[before + j] -= moved * (lower[j] + upper[j]);
          lambda[before + j + 1] += moved * upper[j];
        }
      }
    }
  },
});
