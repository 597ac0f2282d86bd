/** The normal distribution, independent of the library's. */

const TABLE = erfcTable();

/**
 * Φ(x) to 1e-15 relative, from Mills' ratio by a continued fraction far out, and Taylor's series about tabulated points
 * inside.
 */
export function cdf(x: number): number {
  if (x > 0) return 1 - cdf(-x);
  if (x < -8) return density(x) / mills(-x);
  const i = Math.round(-x * 16);
  const centre = -i / 16;
  return TABLE[i] + density(centre) * taylor(centre, x - centre);
}

export function density(x: number): number {
  return Math.exp(-0.5 * x * x) / Math.sqrt(2 * Math.PI);
}

/** φ(x)/Φ(−x) for x ≥ 8: Laplace's continued fraction. */
function mills(x: number): number {
  let fraction = x;
  for (let n = 60; n > 0; n--) fraction = x + n / fraction;
  return fraction;
}

/** (Φ(c + h) − Φ(c))/φ(c): terms aₙ·hⁿ⁺¹/(n + 1)! with aₙ₊₁ = −c·aₙ − n·aₙ₋₁, Hermite polynomials. */
function taylor(c: number, h: number): number {
  let [before, now] = [0, 1];
  let power = h;
  let sum = h;
  for (let n = 0; n < 18; n++) {
    [before, now] = [now, -c * now - n * before];
    power *= h / (n + 2);
    sum += now * power;
  }
  return sum;
}

/** Φ(−i/16), i = 0 … 128, from the tail inwards. */
function erfcTable(): number[] {
  const table: number[] = [];
  table[128] = density(8) / mills(8);
  for (let i = 128; i > 0; i--) table[i - 1] = table[i] + density(i / 16) * taylor(-i / 16, 1 / 16);
  return table;
}
