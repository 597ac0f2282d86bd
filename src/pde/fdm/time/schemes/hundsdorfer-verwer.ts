import { directions } from "./douglas.ts";
import type { TimeScheme } from "./scheme.ts";

/**
 * The scheme of Hundsdorfer and Verwer (2003), in the form of In 't Hout & Welfert (2009), (1.5): after Douglas'
 * Y₀ … Y_d
 *
 *   Z₀ = Y₀ + μΔt·(F(Y_d) − F(u)),   Zⱼ = Zⱼ₋₁ + θΔt·(Fⱼ(Zⱼ) − Fⱼ(Y_d)),   u′ = Z_d.
 *
 * In increments D = Y_d − u and E = Z − Y_d: E₀ = D₀ − D + μΔt·L·D. Of second order for μ = ½ and any θ.
 */
export const hundsdorferVerwer = (theta: number, mu: number): TimeScheme => ({
  order: mu === 0.5 ? 2 : 1,
  stages: directions(theta),
  correction: { keep: 1, mixed: 0, full: mu },
});

/**
 * The θ of the scheme of Hundsdorfer and Verwer with which it is stable for mixed derivatives on two axes (In 't Hout &
 * Welfert 2007).
 */
export const HV_THETA = 0.5 + Math.sqrt(3) / 6;
