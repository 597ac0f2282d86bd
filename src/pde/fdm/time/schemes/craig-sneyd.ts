import { directions } from "./douglas.ts";
import type { TimeScheme } from "./scheme.ts";

/**
 * The scheme of Craig and Sneyd (1988), in the form of In 't Hout & Welfert (2009), (1.3): after Douglas' Y₀ … Y_d
 *
 *   Z₀ = Y₀ + ½Δt·(F₀(Y_d) − F₀(u)),   Zⱼ = Zⱼ₋₁ + θΔt·(Fⱼ(Zⱼ) − Fⱼ(u)),   u′ = Z_d.
 *
 * In increments E = Z − u: E₀ = D₀ + ½Δt·L₀·D. Of second order for θ = ½.
 */
export const craigSneyd = (theta: number): TimeScheme => ({
  order: theta === 0.5 ? 2 : 1,
  stages: directions(theta),
  correction: { keep: 0, mixed: 0.5, full: 0 },
});

/**
 * The modified scheme of In 't Hout & Welfert (2009), (1.4):
 *
 *   Ŷ₀ = Y₀ + θΔt·(F₀(Y_d) − F₀(u)),   Z₀ = Ŷ₀ + (½ − θ)Δt·(F(Y_d) − F(u)),
 *   Zⱼ = Zⱼ₋₁ + θΔt·(Fⱼ(Zⱼ) − Fⱼ(u)),   u′ = Z_d.
 *
 * Of second order for any θ.
 */
export const modifiedCraigSneyd = (theta: number): TimeScheme => ({
  order: 2,
  stages: directions(theta),
  correction: { keep: 0, mixed: theta, full: 0.5 - theta },
});

/**
 * The θ of the modified Craig–Sneyd scheme, by the number of axes, with which it is stable for all mixed derivatives
 * (In 't Hout & Mishra 2011 and 2013).
 */
export const MCS_THETA: Readonly<Record<number, number>> = { 2: 1 / 3, 3: 6 / 13 };
