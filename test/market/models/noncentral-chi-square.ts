/**
 * The noncentral chi-square distribution, as a Poisson mixture of central ones,
 *
 *   P(x; ν, λ) = Σⱼ e^{−λ/2}(λ/2)ʲ/j! · P(x; ν + 2j),      P(x; ν) = γ(ν/2, x/2)/Γ(ν/2),
 *
 * summed both ways from the largest weight with the recurrence of the incomplete gamma function (Benton &
 * Krishnamoorthy 2003). Returns the smaller of the two tails and its complement, each to about 1e-14 absolute.
 */
export function noncentralChiSquare(
  x: number,
  degrees: number,
  noncentrality: number,
): { readonly lower: number; readonly upper: number } {
  if (x <= 0) return { lower: 0, upper: 1 };
  const half = 0.5 * x;
  const mean = 0.5 * noncentrality;
  const shape = 0.5 * degrees;
  const mode = Math.floor(mean);
  const weight0 = Math.exp(-mean + mode * logOr0(mean) - logGamma(mode + 1));
  let lower = 0;
  let upper = 0;
  // Upwards: P(a + 1) = P(a) − t, Q(a + 1) = Q(a) + t, t = xᵃe⁻ˣ/Γ(a + 1).
  let { p, q } = incompleteGamma(shape + mode, half);
  const [pMode, qMode] = [p, q];
  let term = gammaTerm(shape + mode, half);
  let weight = weight0;
  for (let j = mode; j < mode + 10_000; j++) {
    lower += weight * p;
    upper += weight * q;
    p = Math.max(p - term, 0);
    q = Math.min(q + term, 1);
    term *= half / (shape + j + 1);
    weight *= mean / (j + 1);
    if (weight < 1e-18 && j > mean) break;
  }
  [p, q] = [pMode, qMode];
  term = gammaTerm(shape + mode, half);
  weight = weight0;
  for (let j = mode; j > 0; j--) {
    term *= (shape + j) / half;
    weight *= j / mean;
    p = Math.min(p + term, 1);
    q = Math.max(q - term, 0);
    lower += weight * p;
    upper += weight * q;
    if (weight < 1e-18) break;
  }
  return { lower: Math.min(lower, 1), upper: Math.min(upper, 1) };
}

const logOr0 = (x: number): number => (x > 0 ? Math.log(x) : 0);

/** xᵃ·e⁻ˣ/Γ(a + 1). */
function gammaTerm(a: number, x: number): number {
  return Math.exp(a * Math.log(x) - x - logGamma(a + 1));
}

/**
 * The regularised incomplete gamma functions P(a, x) and Q(a, x) = 1 − P: series below the mean, continued fraction
 * above.
 */
export function incompleteGamma(a: number, x: number): { readonly p: number; readonly q: number } {
  if (x <= 0) return { p: 0, q: 1 };
  if (x < a + 1) {
    let term = 1;
    let sum = 1;
    for (let n = 1; n < 10_000 && term > 1e-17 * sum; n++) {
      term *= x / (a + n);
      sum += term;
    }
    const p = sum * gammaTerm(a, x);
    return { p, q: 1 - p };
  }
  // Legendre's continued fraction by Lentz' method.
  let b = x + 1 - a;
  let c = 1e300;
  let d = 1 / b;
  let h = d;
  for (let n = 1; n < 10_000; n++) {
    const an = -n * (n - a);
    b += 2;
    d = 1 / (an * d + b);
    c = b + an / c;
    const factor = c * d;
    h *= factor;
    if (Math.abs(factor - 1) < 1e-16) break;
  }
  const q = h * gammaTerm(a, x) * a;
  return { p: 1 - q, q };
}

/** ln Γ(x) for x > 0: Stirling's series after shifting the argument above 12; absolute error about 1e-15·|ln Γ|. */
export function logGamma(x: number): number {
  let shift = 1;
  let y = x;
  while (y < 12) {
    shift *= y;
    y += 1;
  }
  const r = 1 / (y * y);
  const series =
    (1 / 12 - r * (1 / 360 - r * (1 / 1260 - r * (1 / 1680 - r * (1 / 1188 - r * (691 / 360360 - r / 156)))))) / y;
  return (y - 0.5) * Math.log(y) - y + 0.5 * Math.log(2 * Math.PI) + series - Math.log(shift);
}
