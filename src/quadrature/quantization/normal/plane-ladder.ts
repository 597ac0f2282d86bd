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

/**
 * The unit of the coordinates of stored points, which are multiples of it from −8 to 8. This is accurate enough for
 * Newton's method, which finds all further digits.
 */
export const COORDINATE_UNIT = 2 ** -12;
/** The number that is added to stored coordinates in units, so that they are positive. */
export const COORDINATE_OFFSET = 2 ** 15;

/** Returns the rounded points of one size from the text of `planeData`. */
export function unpackPlane(text: string, size: number): Float64Array {
  const before = planeSizes()
    .filter((other) => other < size)
    .reduce((sum, other) => sum + other, 0);
  const bytes = atob(text);
  const at = (k: number): number => bytes.charCodeAt(4 * before + k);
  return Float64Array.from(
    { length: 2 * size },
    (_, k) => (at(2 * k) + 256 * at(2 * k + 1) - COORDINATE_OFFSET) * COORDINATE_UNIT,
  );
}
