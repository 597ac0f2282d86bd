/**
 * Elementary functions with bitwise identical results on all JavaScript engines, provided that `Math.exp` and
 * `Math.log` are identical. Engines differ in the last bits of `**`, `Math.sin` and `Math.cos`.
 */

/** Returns xʸ for x ≥ 0, as e^(y·ln x). The relative error is about |y·ln x| units in the last place. */
export function power(x: number, y: number): number {
  return y === 0 ? 1 : Math.exp(y * Math.log(x));
}

/** Returns cos(πx) by Taylor's series after reduction to |x| ≤ ¼, within a few units in the last place. */
export function cosPi(x: number): number {
  const r = Math.abs(x - 2 * Math.round(0.5 * x)); // cos is even, with period 2: 0 ≤ r ≤ 1
  if (r > 0.75) return -cosine(1 - r);
  if (r > 0.25) return sine(0.5 - r);
  return cosine(r);
}

/** The number of terms of the series. Further terms are below 2⁻⁵³ of the sum. */
const TERMS = 10;

function cosine(r: number): number {
  const square = Math.PI * r * (Math.PI * r);
  let sum = 1;
  for (let k = TERMS; k > 0; k--) sum = 1 - (square * sum) / ((2 * k - 1) * (2 * k));
  return sum;
}

function sine(r: number): number {
  const angle = Math.PI * r;
  let sum = 1;
  for (let k = TERMS; k > 0; k--) sum = 1 - (angle * angle * sum) / (2 * k * (2 * k + 1));
  return angle * sum;
}
