/** The curve of Nelson & Siegel (1987) with Svensson's (1994) second hump. */

/** The names of Svensson's parameters. */
export const SVENSSON = ["beta0", "beta1", "beta2", "beta3", "tau1", "tau2"] as const;

/**
 * Returns −ln P = t·z(t) of the zero rates
 *
 *   z(t) = β₀ + β₁·h(t/τ₁) + β₂·(h(t/τ₁) − e^{−t/τ₁}) + β₃·(h(t/τ₂) − e^{−t/τ₂}),   h(x) = (1 − e^{−x})/x
 *
 * and calls `use` with its derivatives by the parameters.
 */
export function svenssonAt(
  parameters: ArrayLike<number>,
  time: number,
  use?: (parameter: number, slope: number) => void,
): number {
  if (time === 0) return 0;
  const [beta0, beta1, beta2, beta3, tau1, tau2] = Array.from(parameters);
  const [x, y] = [time / tau1, time / tau2];
  const [h, g] = [-Math.expm1(-x) / x, -Math.expm1(-y) / y];
  const [u, v] = [Math.exp(-x), Math.exp(-y)];
  if (use !== undefined) {
    // By τ: d(t/τ)/dτ = −x/τ, with h′(x) = (e^{−x} − h)/x.
    const [slope, other] = [u - h, v - g];
    [1, h, h - u, g - v].forEach((weight, k) => use(k, time * weight));
    use(4, (-time * (beta1 * slope + beta2 * (slope + x * u))) / tau1);
    use(5, (-time * beta3 * (other + y * v)) / tau2);
  }
  return time * (beta0 + beta1 * h + beta2 * (h - u) + beta3 * (g - v));
}
