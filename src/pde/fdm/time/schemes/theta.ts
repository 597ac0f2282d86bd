import type { TimeScheme } from "./scheme.ts";

/**
 * The θ scheme in its one-leg form (Dahlquist 1975; Hairer & Wanner, *Solving ODEs II*, V.6),
 *
 *   y = u + θΔt·F(y; t + Δt − θΔt)                          (1)
 *   u′ = u + (y − u)/θ,   that is   u′ = u + Δt·F(θu′ + (1 − θ)u)   (2)
 *
 * the same as (I − θΔtL)u′ = (I + (1 − θ)ΔtL)u where L does not depend on time. A-stable for θ ≥ ½.
 */
export function theta(theta: number): TimeScheme {
  return {
    order: theta === 0.5 ? 2 : 1,
    stages: [{ implicit: theta, at: theta, end: 1, fromU: 1, fromV: 0, extrapolation: 1 / theta }],
  };
}

/**
 * The scheme of Crank and Nicolson (1947): θ = ½, of second order and only A-stable, so that rough data need
 * Rannacher's start (1984), which the time grid provides.
 */
export const crankNicolson: TimeScheme = theta(0.5);
