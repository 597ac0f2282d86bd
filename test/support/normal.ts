/**
 * The normal distribution to 1e-13 of itself: by its series near 0, and in the tails by the continued fraction of
 * Mills' ratio.
 */
export function normalCdf(x: number): number {
  const density = Math.exp(-0.5 * x * x) / Math.sqrt(2 * Math.PI);
  const distance = Math.abs(x);
  if (distance > 3) {
    let fraction = 0;
    for (let k = 100; k > 0; k--) fraction = k / (distance + fraction);
    const tail = density / (distance + fraction);
    return x < 0 ? tail : 1 - tail;
  }
  let term = x;
  let sum = x;
  for (let k = 3; Math.abs(term) > 1e-17 * Math.abs(sum); k += 2) sum += term *= (x * x) / k;
  return 0.5 + sum * density;
}
