/** The normal distribution by Simpson's rule: 1e-12. */
export function normalCdf(x: number): number {
  const n = 4000;
  const h = (x + 12) / n;
  let sum = 0;
  for (let i = 0; i <= n; i++)
    sum += (i === 0 || i === n ? 1 : i % 2 === 1 ? 4 : 2) * Math.exp(-0.5 * (-12 + i * h) ** 2);
  return (sum * h) / (3 * Math.sqrt(2 * Math.PI));
}
