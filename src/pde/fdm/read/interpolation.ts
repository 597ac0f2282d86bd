import type { Stencil } from "../mesh/grid.ts";
import { cellOf, type Mesh } from "../mesh/mesh.ts";

/**
 * The number of nodes from which a solution is interpolated. The polynomial of degree 5 through the six nodes about the
 * spot gives the value and two derivatives as weighted sums, with errors of O(h⁶), O(h⁵) and O(h⁴) where the solution
 * is smooth. The device reads values in the same way (`read/point.ts`).
 */
export const WINDOW = 6;

/** Returns the interpolation weights at a spot of the six `nodes` from index `first` on. */
export function stencil(nodes: ArrayLike<number>, first: number, spot: number): Stencil {
  // Plain arrays: of this length they are much cheaper to make than typed ones.
  const value = [0, 0, 0, 0, 0, 0];
  const delta = [0, 0, 0, 0, 0, 0];
  const gamma = [0, 0, 0, 0, 0, 0];
  for (let k = 0; k < WINDOW; k++) {
    // p = Π (S − xⱼ)/(xₖ − xⱼ) over j ≠ k, with p′ and p″ by the product rule, one factor at a time.
    let p = 1;
    let p1 = 0;
    let p2 = 0;
    for (let j = 0; j < WINDOW; j++) {
      if (j === k) continue;
      const scale = 1 / (nodes[first + k] - nodes[first + j]);
      const factor = (spot - nodes[first + j]) * scale;
      p2 = p2 * factor + 2 * p1 * scale;
      p1 = p1 * factor + p * scale;
      p *= factor;
    }
    value[k] = p;
    delta[k] = p1;
    gamma[k] = p2;
  }
  return { value, delta, gamma };
}

/**
 * Returns the index of the first of the six nodes that have the spot in their middle interval, as far as the ends of
 * the mesh, or of its live nodes, allow.
 */
export function windowStart(
  mesh: Mesh,
  spot: number,
  lowest = 0,
  highest = mesh.count - 1,
  cell = cellOf(mesh, spot),
): number {
  const first = Math.min(Math.max(cell - 2, lowest), highest + 1 - WINDOW);
  return Math.min(Math.max(first, 0), mesh.count - WINDOW);
}
