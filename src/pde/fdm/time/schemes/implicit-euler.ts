import type { TimeScheme } from "./scheme.ts";

/**
 * The implicit Euler scheme, u′ = u + Δt·F(u′; t), of first order and L-stable. Its half steps are the Rannacher start
 * of the other schemes.
 */
export const implicitEuler: TimeScheme = {
  order: 1,
  stages: [{ implicit: 1, at: 1, end: 1, fromU: 1, fromV: 0, extrapolation: 1 }],
};
