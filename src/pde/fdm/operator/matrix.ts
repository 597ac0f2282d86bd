import { bool, fn, i32, read, real, record, write } from "../../../kernel/index.ts";
import type { BoundaryCode } from "./state.ts";

/**
 * A small constant that is added to all values at expiry and to values set on dates, in units of the spot (in `solve`:
 * in the values' own units). It is below the rounding error of every value but zero.
 *
 * It keeps values from becoming subnormal numbers, which are slow on a CPU. Away from the payoff's support each
 * implicit step gives a node a fraction of its neighbour's value, which is subnormal after some tens of nodes. Without
 * the constant American options on a Xeon took 27.6 µs instead of 13.3 in f32 on 201 nodes, and 15 % longer in f64 on
 * 513 nodes. Every step preserves a constant, so that no value falls below it.
 */
export const SUBNORMAL_GUARD = 1e-30;

/**
 * The ends of the live nodes, counted from the first node of an item. Nodes up to `low` and from `high` on are knocked
 * out. `lowHeld` and `highHeld` are those end nodes whose values are prescribed, −1 where the item has none. An end
 * value that is not prescribed is discounted. All four numbers may lie far outside the item's nodes.
 */
export const LiveNodes = record({ low: i32, high: i32, lowHeld: i32, highHeld: i32 });

/**
 * Tells whether node i is at or beyond an end of the live nodes, so that its equation is decoupled from its neighbours.
 */
export const isDecoupled = fn({
  name: "isDecoupled",
  params: [LiveNodes, i32],
  body([{ low, high }, i]) {
    return i <= low || i >= high;
  },
});

/**
 * Returns the factor of a row of `matrixRow` that depends on the mesh only: 1/(h₋h₊(h₋ + h₊)), at the first node 1/h₊,
 * at the last 1/h₋.
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

/** The most inflow that a row at an end may have, see `matrixRow`. */
const MAX_INFLOW = -0.5;

/** The matrix I − hL before factoring, with rows (−a, 1 + hr + a + c, −c). */
export const Rows = record({ a: read(real), c: read(real), nodes: i32, hRate: real });

/** The factors of I − hL from node `start` on: 1/pivot in `inverse`, a/pivot in `lower` and c/pivot in `upper`. */
export const Factors = record({ inverse: write(real), lower: write(real), upper: write(real), start: i32 });

/**
 * Returns the function that factors I − hL from the rows (−a, 1 + h′r + a + c, −c) of another step h′, where h =
 * `ratio`·h′; `hRate` is h·r of the new step. Row sums are carried along (see `solverKernel`). With barriers the rows
 * at and beyond the ends of the live nodes are decoupled from their neighbours. Cost for each node: 9 flops, one of
 * them a division, and 5 reals of private memory.
 */
export function factorRows(hasBarriers: boolean) {
  return fn({
    name: "factorRows",
    params: { rows: Rows, ratio: real, live: LiveNodes, factors: Factors },
    env: { hasBarriers, max: MAX_INFLOW, isDecoupled },
    body({ rows, ratio, live, factors }, _gpu, { hasBarriers, max, isDecoupled }) {
      const { nodes, hRate } = rows;
      let excess = 1.0; // 1 − lower[i + 1]
      for (let i = nodes - 1; i >= 0; i--) {
        let a = rows.a[i] * ratio;
        let c = rows.c[i] * ratio;
        if (i === 0 || i === nodes - 1) {
          a = a < max ? 0.0 : a;
          c = c < max ? 0.0 : c;
        }
        if (hasBarriers && isDecoupled(live, i)) {
          a = 0.0;
          c = 0.0;
        }
        const rest = 1 + hRate + c * excess;
        const pivot = 1 / (rest + a);
        excess = rest * pivot;
        const at = factors.start + i;
        factors.inverse[at] = pivot;
        factors.lower[at] = a * pivot;
        factors.upper[at] = c * pivot;
      }
    },
  });
}

/** The boundary conditions at the ends of an axis. */
interface Ends {
  readonly first: Pick<BoundaryCode, "kind">;
  readonly last: Pick<BoundaryCode, "kind">;
}

/**
 * Returns the function that transforms the coefficients a of ∂²/∂S² and b of ∂/∂S to the coordinate x, which is S
 * itself or, with `log`, ln S. For x = ln S, by the chain rule ∂/∂S = (1/S)∂/∂x and ∂²/∂S² = (1/S²)(∂²/∂x² − ∂/∂x),
 *
 *   a_x = a/S²,   b_x = b/S − a/S².
 */
export const coefficientsInCoordinate = (log: boolean) =>
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
 * Returns the function that computes the off-diagonal entry of the first or last row of hL. `dx` and `dS` are the
 * differences of coordinate and value between the end node and its neighbour: upper − lower at the first row, this −
 * lower at the last, in the order of the nodes.
 *
 *   linear          hb·(difference of V)/dS: exact for V linear in S; no second derivative
 *   zero-curvature  hb_x·(difference)/dx
 *   neumann         2ha_x/dx²·(difference), the ghost node eliminated by the slope; `slopeSource` has the other term
 *
 * Inflow from outside is limited to what diffusion keeps stable, and `limited` tells whether it was.
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
      let limited = false;
      if ((isFirst && env.firstLinear) || (!isFirst && env.lastLinear)) flow = (h * b) / dS;
      if (!isFirst) flow = -flow;
      if (flow < 0 && (2 * h * diffusion < Math.abs(h * drift * dx) || flow < -0.5)) {
        flow = 0.0;
        limited = true;
      }
      if ((isFirst && env.firstNeumann) || (!isFirst && env.lastNeumann)) {
        flow = (2 * h * diffusion) / (dx * dx);
        limited = false;
      }
      return { flow, limited };
    },
  });

/**
 * Returns the function that computes the off-diagonal entries a and c of a row between the ends by the three-point
 * differences of `matrixRow`, which are exact for quadratics in x. Its result `limited` tells whether drift dominates
 * diffusion in the row. If so, `fitted` raises the diffusion; without it ("central") nothing is changed.
 */
export const interiorRow = (fitted: boolean) =>
  fn({
    name: "interiorRow",
    params: [real, real, real, real, real],
    env: { fitted, matrixRow, rowWeight },
    body([h, diffusion, drift, hDown, hUp], _gpu, { fitted, matrixRow, rowWeight }) {
      const variance = 2 * h * diffusion;
      const hb = h * drift;
      const limited = variance < Math.max(hb * hUp, -hb * hDown);
      const weight = rowWeight(hDown, hUp, false, false);
      const row = matrixRow(hb, variance, hDown, hUp, weight, false, false, false);
      let { a, c } = row;
      if (!fitted) {
        a = (variance - hb * hUp) * (hUp * weight);
        c = (variance + hb * hDown) * (hDown * weight);
      }
      return { a, c, limited };
    },
  });

/**
 * Returns the function that computes the term that a Neumann end adds to the source: (∓2a_x/dx + b_x)·∂V/∂x, with ∂V/∂x
 * = S·slope for x = ln S.
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
