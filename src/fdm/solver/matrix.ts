import { bool, fn, real } from "../../kernel/index.ts";

/**
 * One row of I − hL, off the diagonal: (−a, 1 + hr + a + c, −c), both scaled by h.
 *
 *   a = (hσ²S² − hμ·h₊)/(h₋(h₋ + h₊)),   c = (hσ²S² + hμ·h₋)/(h₊(h₋ + h₊)),   μ = (r − q)S,
 *
 * exact for quadratics on any mesh, whichever way it runs (h₋ and h₊ are signed). Where drift would make one of them negative the
 * diffusion is raised until it is zero, so that I − hL stays an M-matrix. At the ends ∂²V/∂S² = 0; where drift brings values in from
 * outside, only as far as diffusion keeps that stable. A `fixed` first node takes nothing from its neighbour.
 */
export const matrixRow = fn({
  name: "matrixRow",
  params: [real, real, real, real, bool, bool, bool],
  body([drift, variance, hDown, hUp, isFirst, isLast, fixed]) {
    let a = 0.0;
    let c = 0.0;
    if (isLast) {
      a = -drift / hDown;
      if (a < 0 && (variance < Math.abs(drift * hDown) || a < -0.5)) a = 0.0;
    } else if (isFirst) {
      c = drift / hUp;
      if (fixed || (c < 0 && (variance < Math.abs(drift * hUp) || c < -0.5))) c = 0.0;
    } else {
      const fitted = Math.max(variance, Math.max(drift * hUp, -drift * hDown));
      const scaled = 1 / (hDown * hUp * (hDown + hUp));
      a = (fitted - drift * hUp) * (hUp * scaled);
      c = (fitted + drift * hDown) * (hDown * scaled);
    }
    return { a, c };
  },
});
