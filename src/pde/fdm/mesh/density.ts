import type { DensityKind } from "../problem/equation.ts";

/**
 * The density of nodes on an axis. A mesh is the image of equidistant ξ under the inverse of an increasing function
 * ξ(x), and dξ/dx is its density.
 *
 *   uniform   ξ = x
 *   sinh      ξ = Σₖ asinh((x − xₖ)/b): the spacing dx/dξ is b at a lone point and grows like |x − xₖ|
 *             (Tavella & Randall 2000, ch. 5.3)
 *   tanh      ξ = (x − x₀)/(x₁ − x₀) + ½Σₖ tanh((x − xₖ)/b): uniform, with as many nodes again within about 2b of
 *             each point
 *
 * x is the coordinate, xₖ the points, b the width in units of x, and x₀ and x₁ the ends of the axis.
 */
export interface Density {
  /** Returns ξ at a coordinate x. */
  readonly xi: (x: number) => number;
  /** Returns the density dξ/dx at a coordinate x. */
  readonly slope: (x: number) => number;
  /** The inverse of ξ, where it has a formula. */
  readonly inverse?: (xi: number) => number;
}

/** Returns the node density of a kind about given points; `width` is in units of the coordinate, as are the ends. */
export function density(
  kind: DensityKind,
  points: readonly number[],
  width: number,
  from: number,
  to: number,
): Density {
  const sum = (f: (distance: number) => number, x: number): number =>
    points.reduce((total, point) => total + f((x - point) / width), 0);
  if (kind === "uniform" || points.length === 0) return { xi: (x) => x, slope: () => 1, inverse: (xi) => xi };
  if (kind === "sinh") {
    const [point] = points;
    return {
      xi: (x) => sum(Math.asinh, x),
      slope: (x) => sum((y) => 1 / Math.sqrt(y * y + 1), x) / width,
      ...(points.length === 1 ? { inverse: (xi: number) => point + width * Math.sinh(xi) } : {}),
    };
  }
  const uniform = 1 / (to - from);
  return {
    xi: (x) => (x - from) * uniform + 0.5 * sum(Math.tanh, x),
    slope: (x) => uniform + (0.5 * sum((y) => 1 / Math.cosh(y) ** 2, x)) / width,
  };
}
