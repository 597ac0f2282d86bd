import type { TimeScheme } from "./scheme.ts";

/** γ = 2 − √2 gives both stages the same matrix, and the least error constant (Bank et al. 1985). */
const gamma = 2 - Math.SQRT2;

/**
 * The scheme TR-BDF2 (Bank, Coughran, Fichtner, Grosse, Rose & Smith 1985; Hosea & Shampine 1996): second order,
 * L-stable.
 *
 *   trapezoidal rule to t + Δt − γΔt     y = u + (γ/2)Δt·F(y),   u_γ = u + 2(y − u)                        (1)
 *   BDF2 from u and u_γ                  u′ = u_γ/(γ(2 − γ)) − u·(1 − γ)²/(γ(2 − γ)) + ((1 − γ)/(2 − γ))Δt·F(u′)   (2)
 *
 * with (1 − γ)/(2 − γ) = γ/2. Stage (1) is in one-leg form; its F is taken in the middle of its interval.
 */
export const trBdf2: TimeScheme = {
  order: 2,
  stages: [
    { implicit: gamma / 2, at: gamma / 2, end: gamma, fromU: 1, fromV: 0, extrapolation: 2 },
    {
      implicit: gamma / 2,
      at: 1,
      end: 1,
      fromU: 1 / (gamma * (2 - gamma)),
      fromV: -((1 - gamma) ** 2) / (gamma * (2 - gamma)),
      extrapolation: 1,
    },
  ],
};
