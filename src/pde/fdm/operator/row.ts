import { bool, fn, real } from "../../../kernel/index.ts";
import { matrixRow, rowWeight } from "./matrix.ts";
import type { BoundaryCode } from "./state.ts";

/** The boundary conditions at the ends of an axis. */
interface Ends {
  readonly first: Pick<BoundaryCode, "kind">;
  readonly last: Pick<BoundaryCode, "kind">;
}

/**
 * Returns the function that transforms the coefficients a and b of the equation from S to the coordinate x. For x = ln
 * S, by the chain rule ∂/∂S = (1/S)∂/∂x and ∂²/∂S² = (1/S²)(∂²/∂x² − ∂/∂x),
 *
 *   a_x = a/S²,   b_x = b/S − a/S².
 */
export const inCoordinate = (log: boolean) =>
  fn({
    name: "inCoordinate",
    params: [real, real, real],
    env: { log },
    body([a, b, S], _gpu, { log }) {
      let diffusion = a;
      let drift = b;
      if (log) {
        diffusion = a / (S * S);
        drift = b / S - diffusion;
      }
      return { diffusion, drift };
    },
  });

/**
 * Returns the function for the off-diagonal entry of the first or last row of hL. `dx` and `dS` are the differences of
 * coordinate and value between the end node and its neighbour: upper − lower at the first row, this − lower at the
 * last, in the order of the nodes.
 *
 *   linear          hb·(difference of V)/dS: exact for V linear in S; no second derivative
 *   zero-curvature  hb_x·(difference)/dx
 *   neumann         2ha_x/dx²·(difference), the ghost node eliminated by the slope; `slopeSource` has the other term
 *
 * Inflow from outside is limited to what diffusion keeps stable, and `cut` tells whether it was.
 */
export const endRow = ({ first, last }: Ends) =>
  fn({
    name: "endRow",
    params: [bool, real, real, real, real, real, real],
    env: {
      firstNeumann: first.kind === "neumann",
      lastNeumann: last.kind === "neumann",
      firstLinear: first.kind === "linear",
      lastLinear: last.kind === "linear",
    },
    body([isFirst, h, b, diffusion, drift, dx, dS], _gpu, env) {
      let flow = (h * drift) / dx;
      let cut = false;
      if ((isFirst && env.firstLinear) || (!isFirst && env.lastLinear)) flow = (h * b) / dS;
      if (!isFirst) flow = -flow;
      if (flow < 0 && (2 * h * diffusion < Math.abs(h * drift * dx) || flow < -0.5)) {
        flow = 0.0;
        cut = true;
      }
      if ((isFirst && env.firstNeumann) || (!isFirst && env.lastNeumann)) {
        flow = (2 * h * diffusion) / (dx * dx);
        cut = false;
      }
      return { flow, cut };
    },
  });

/**
 * Returns the function for a row between the ends, by the three-point differences of `matrixRow`, exact for quadratics
 * in x. `cut` tells whether drift dominates diffusion there. With `fitted` diffusion is then raised; otherwise
 * ("central") it is not.
 */
export const innerRow = (fitted: boolean) =>
  fn({
    name: "innerRow",
    params: [real, real, real, real, real],
    env: { fitted, matrixRow, rowWeight },
    body([h, diffusion, drift, hDown, hUp], _gpu, { fitted, matrixRow, rowWeight }) {
      const variance = 2 * h * diffusion;
      const hb = h * drift;
      const cut = variance < Math.max(hb * hUp, -hb * hDown);
      const weight = rowWeight(hDown, hUp, false, false);
      const row = matrixRow(hb, variance, hDown, hUp, weight, false, false, false);
      let { a, c } = row;
      if (!fitted) {
        a = (variance - hb * hUp) * (hUp * weight);
        c = (variance + hb * hDown) * (hDown * weight);
      }
      return { a, c, cut };
    },
  });

/**
 * Returns the function for the term that a Neumann end adds to the source: (∓2a_x/dx + b_x)·∂V/∂x, with ∂V/∂x = S·slope
 * for x = ln S.
 */
export const slopeSource = (log: boolean) =>
  fn({
    name: "slopeSource",
    params: [bool, real, real, real, real, real],
    env: { log },
    body([isFirst, diffusion, drift, dx, S, slope], _gpu, { log }) {
      const inX = log ? S * slope : slope;
      const ghost = (2 * diffusion) / dx;
      return (isFirst ? drift - ghost : drift + ghost) * inX;
    },
  });
