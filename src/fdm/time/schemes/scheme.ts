/**
 * A time step, backward from t + Δt to t, as stages that each solve one linear system and extrapolate. With F(u) = Lu +
 * d:
 *
 *   y  = fromU·u + fromV·v + implicit·Δt·F(y; t_at)        solved for y
 *   v ← u,   u ← u + extrapolation·(y − u)
 *
 * so that L is never applied, whatever the scheme. Before a step's first stage u is the solution at t + Δt, after its
 * last at t.
 */
export interface Stage {
  /** The ratio h/Δt of the system's matrix I − hL. */
  readonly implicit: number;
  /** The place in time at which F is evaluated: t_at = t + Δt − at·Δt. */
  readonly at: number;
  /** The place in time that the stage's u belongs to: t + Δt − end·Δt. */
  readonly end: number;
  readonly fromU: number;
  readonly fromV: number;
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

/** A time-stepping scheme: its order and its stages. */
export interface TimeScheme {
  readonly order: 1 | 2;
  readonly stages: readonly Stage[];
  /** The second sweep, of alternating directions only; without one u′ = u + D. */
  readonly correction?: Correction;
}
