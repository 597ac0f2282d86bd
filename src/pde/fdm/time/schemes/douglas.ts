import type { Stage, TimeScheme } from "./scheme.ts";

/**
 * Returns the stages of an alternating-direction scheme, one sweep over all axes. The operator is evaluated in the
 * middle of the step, which is of second order, so that both sweeps of a scheme can share it. With L frozen, Yⱼ = Yⱼ₋₁
 * + θΔt(Fⱼ(Yⱼ) − Fⱼ(u)) is
 *
 *   (I − θΔtLⱼ)·(Yⱼ − u) = Yⱼ₋₁ − u,
 *
 * so that sweeps over the increments D = Y − u never need Fⱼ(u) separately.
 */
export const directions = (theta: number): readonly Stage[] => [
  { implicit: theta, at: 0.5, end: 1, fromU: 1, fromV: 0, extrapolation: 1 / theta },
];

/**
 * The Douglas scheme (Douglas 1962; In 't Hout & Welfert 2009, (1.2)):
 *
 *   Y₀ = u + Δt·F(u),   Yⱼ = Yⱼ₋₁ + θΔt·(Fⱼ(Yⱼ) − Fⱼ(u)), j = 1 … d,   u′ = Y_d.
 *
 * Of second order for θ = ½ without mixed derivatives, which it takes explicitly, and of first order otherwise.
 */
export const douglas = (theta: number, hasMixed: boolean): TimeScheme => ({
  order: theta === 0.5 && !hasMixed ? 2 : 1,
  stages: directions(theta),
});
