/** Prices of options on lognormal variables. */
import { hostNormalCdf } from "./normal.ts";

/**
 * Returns the undiscounted value E[max(φ·(e^X − strike), 0)] of an option by Black's formula, where X is normal with
 * the given mean and variance, and φ is +1 for a call and −1 for a put.
 */
export function logNormalOption(right: "call" | "put", strike: number, mean: number, variance: number): number {
  const sign = right === "call" ? 1 : -1;
  const forward = Math.exp(mean + 0.5 * variance);
  const width = Math.sqrt(variance);
  if (!(width > 0)) return Math.max(sign * (forward - strike), 0);
  const d = (mean - Math.log(strike)) / width;
  return sign * (forward * hostNormalCdf(sign * (d + width)) - strike * hostNormalCdf(sign * d));
}
