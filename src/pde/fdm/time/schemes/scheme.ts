/**
 * One stage of a time step, backward from t + Δt to t: it solves one linear system and extrapolates. With F(u) = Lu +
 * d:
 *
 *   y  = fromU·u + fromV·v + implicit·Δt·F(y; t_at)        solved for y
 *   v ← u,   u ← u + extrapolation·(y − u)
 *
 * so that L is never applied, whatever the scheme. Before the first stage of a step u is the solution at t + Δt, and
 * after the last one at t.
 */
export interface Stage {
  /** The ratio h/Δt, where I − hL is the matrix of the linear system. */
  readonly implicit: number;
  /** The time at which F is evaluated, as a fraction of the step: t_at = t + Δt − at·Δt. */
  readonly at: number;
  /** The time to which u belongs after the stage, as a fraction of the step: t + Δt − end·Δt. */
  readonly end: number;
  /** The weight of u on the right-hand side. */
  readonly fromU: number;
  /** The weight of v, the solution before the previous stage, on the right-hand side. */
  readonly fromV: number;
  /** The factor of y − u in the new u. */
  readonly extrapolation: number;
}

/**
 * The second sweep of an alternating-direction scheme, after a first one of increments D: with F = F₀ + F₁ + … + F_d,
 * F₀ the mixed derivatives, L and L₀ their linear parts, and P = (I − θΔtL₁)·…·(I − θΔtL_d),
 *
 *   D₀ = Δt·F(u),   P·D = D₀                                                (sweep 1)
 *   E₀ = D₀ − keep·D + Δt·(mixed·L₀ + full·L)·D,   P·E = E₀                 (sweep 2)
 *   u′ = u + keep·D + E.
 */
export interface Correction {
  readonly keep: 0 | 1;
  readonly mixed: number;
  readonly full: number;
}

/** A time-stepping scheme: its order of convergence and its stages. */
export interface TimeScheme {
  /** The order of convergence in time. */
  readonly order: 1 | 2;
  readonly stages: readonly Stage[];
  /** The second sweep of an alternating-direction scheme; without one, u′ = u + D. */
  readonly correction?: Correction;
}
