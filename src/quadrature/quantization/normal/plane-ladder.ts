/** The sizes of quantizers of N(0, I₂) that the package ships, and how their points are written as text. */

const steps = (from: number, to: number, step: number): number[] =>
  Array.from({ length: (to - from) / step + 1 }, (_, k) => from + k * step);

/**
 * Returns the sizes of shipped plane quantizers: every size to 100, every tenth to 200, every twentieth to 300, every
 * fiftieth to 500.
 */
export const planeSizes = (): readonly number[] => [
  ...steps(1, 100, 1),
  ...steps(110, 200, 10),
  ...steps(220, 300, 20),
  ...steps(350, 500, 50),
];

/** Coordinates are multiples of 2⁻¹² from −8 to 8: near enough for Newton's method, which finds all their digits. */
export const COORDINATE_UNIT = 2 ** -12;
export const COORDINATE_OFFSET = 2 ** 15;

/** Returns the rounded points of one size. */
export function unpackPlane(text: string, size: number): Float64Array {
  const before = planeSizes()
    .filter((other) => other < size)
    .reduce((sum, other) => sum + other, 0);
  const bytes = atob(text);
  const at = (k: number): number => bytes.charCodeAt(4 * before + k);
  return Float64Array.from({ length: 2 * size }, (_, k) => (at(2 * k) + 256 * at(2 * k + 1) - COORDINATE_OFFSET) * COORDINATE_UNIT);
}
