import { bool, fn, real } from "../../../kernel/index.ts";

/**
 * The factor of a row of `matrixRow` that depends on the mesh only: 1/(h₋h₊(h₋ + h₊)), at the first node 1/h₊, at the
 * last 1/h₋.
 */
export const rowWeight = fn({
  name: "rowWeight",
  params: [real, real, bool, bool],
  body([hDown, hUp, isFirst, isLast], gpu) {
    return gpu.reciprocal(isFirst ? hUp : isLast ? hDown : hDown * hUp * (hDown + hUp));
  },
});

/**
 * Returns the off-diagonal entries of one row of I − hL, (−a, 1 + hr + a + c, −c), with
 *
 *   a = (hσ²S² − hμ·h₊)/(h₋(h₋ + h₊)),   c = (hσ²S² + hμ·h₋)/(h₊(h₋ + h₊)),   μ = (r − q)S,
 *
 * where h is the time step, and h₋ and h₊ are the signed distances to the neighbouring nodes. The row is exact for
 * quadratics on any mesh, ascending or descending. Where drift would make an entry negative, diffusion is raised until
 * the entry is zero, so that I − hL stays an M-matrix. At the ends ∂²V/∂S² = 0, and inflow from outside is limited to
 * what diffusion keeps stable. A `firstExercised` first node is decoupled from its neighbour.
 */
export const matrixRow = fn({
  name: "matrixRow",
  params: [real, real, real, real, real, bool, bool, bool],
  body([drift, variance, hDown, hUp, weight, isFirst, isLast, firstExercised]) {
    let a = 0.0;
    let c = 0.0;
    if (isLast) {
      a = -drift * weight;
      if (a < 0 && (variance < Math.abs(drift * hDown) || a < -0.5)) a = 0.0;
    } else if (isFirst) {
      c = drift * weight;
      if (firstExercised || (c < 0 && (variance < Math.abs(drift * hUp) || c < -0.5))) c = 0.0;
    } else {
      const fitted = Math.max(variance, Math.max(drift * hUp, -drift * hDown));
      a = (fitted - drift * hUp) * (hUp * weight);
      c = (fitted + drift * hDown) * (hDown * weight);
    }
    return { a, c };
  },
});
