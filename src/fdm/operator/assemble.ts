import { fn, i32, real, write } from "../../kernel/index.ts";
import { Column, valueAt } from "./column.ts";
import { Stage } from "./right-hand-side.ts";
import { isPinned } from "./pinned.ts";
import { endRow, inCoordinate, innerRow, slopeSource } from "./row.ts";
import { FAULT, STATUS } from "./status.ts";
import type { EquationVariant } from "./equation-variant.ts";

/**
 * The matrix I − hL at time t, of a stage that ends at `tEnd`: rows (−aᵢ, 1 + hcᵢ + aᵢ + cᵢ, −cᵢ), hcᵢ = −h·c(t, Sᵢ),
 * pinned nodes (0, 1, 0). `direct`: eliminated from the last node to the first, 1/pivot, a/pivot and c/pivot in
 * `inverse`, `lower`, `upper`; otherwise 1 + hcᵢ, a and c. `source` is h·(d + a Neumann end's slope). The only place
 * that evaluates the equation, so that its code is there once. Elimination carries row sums (Grassmann, Taksar & Heyman
 * 1985), as `solverKernel` does, so that nothing is subtracted where c ≤ 0.
 *
 * Coefficients must be finite, and a not negative: not by more than rounding makes of 0, a few units of its largest
 * value on the mesh, which counts as 0.
 *
 * `table`: S of node i at [i·pitch + instance], then x of node i + 1 less x of node i. Status words are updated;
 * `FAULT`, if any, and its node are the result.
 */
export function assemble(variant: EquationVariant) {
  const { log, fitted, exercise, first, last, coefficients, hasSource, region } = variant;
  return fn({
    name: "assemble",
    params: {
      nodes: i32,
      table: Column,
      parameters: Column,
      inverse: write(real),
      lower: write(real),
      upper: write(real),
      source: write(real),
      status: write(i32),
      mask: i32,
      stage: Stage,
    },
    env: {
      ...STATUS,
      direct: exercise !== "penalty",
      hasSource,
      firstSlope: first.kind === "neumann" ? first.number : undefined,
      lastSlope: last.kind === "neumann" ? last.number : undefined,
      slopeSource: slopeSource(log),
      coefficients,
      isPinned: isPinned(variant),
      inCoordinate: inCoordinate(log),
      endRow: endRow(variant),
      innerRow: innerRow(fitted),
      hasEdges: region?.hasEdges,
      badSlope: FAULT.slope,
      badEdge: FAULT.edge,
      negative: FAULT.negative,
      valueAt,
    },
    body({ nodes, table, parameters, inverse, lower, upper, source, status, mask, stage }, gpu, env) {
      const { values, pitch, instance } = parameters;
      const { t, tEnd, h } = stage;
      const last = nodes - 1;
      let fault = 0;
      let node = 0;
      let lowest = 0.0; // a
      let lowestNode = 0;
      let largest = 0.0;
      let excess = 1.0; // 1 − lower[i + 1]
      let cuts = 0;
      let cutLow = last;
      let cutHigh = 0;
      let growth = 0;
      for (let i = last; i >= 0; i--) {
        const S = env.valueAt(table, i);
        const pinned = env.isPinned(i, last, tEnd, S, values, pitch, instance, mask);
        let below = 0.0;
        let above = 0.0;
        let decay = 0.0;
        if (env.hasSource) source[i] = 0.0;
        if (env.hasEdges !== undefined && !env.hasEdges(tEnd, S, values, pitch, instance, mask)) {
          fault = env.badEdge;
          node = i;
        }
        if (!pinned) {
          const { a, b, c, d } = env.coefficients(t, S, values, pitch, instance);
          if (!(Number.isFinite(a) && Number.isFinite(b) && Number.isFinite(c) && Number.isFinite(d))) {
            fault =
              (Number.isFinite(a) ? 0 : 1) |
              (Number.isFinite(b) ? 0 : 2) |
              (Number.isFinite(c) ? 0 : 4) |
              (Number.isFinite(d) ? 0 : 8);
            node = i;
          }
          if (a < lowest) {
            lowest = a;
            lowestNode = i;
          }
          largest = Math.max(largest, a);
          const { diffusion, drift } = env.inCoordinate(Math.max(a, 0.0), b, S);
          decay = -h * c;
          if (decay <= -1) growth = 1;
          let cut = false;
          let slopes = 0.0;
          if (i === 0) {
            const dx = env.valueAt(table, nodes);
            const end = env.endRow(true, h, b, diffusion, drift, dx, env.valueAt(table, 1) - S);
            above = end.flow;
            cut = end.cut;
            if (env.firstSlope !== undefined) {
              const slope = env.firstSlope(t, S, values, pitch, instance);
              slopes = env.slopeSource(true, diffusion, drift, dx, S, slope);
            }
          } else if (i === last) {
            const dx = env.valueAt(table, nodes + last - 1);
            const end = env.endRow(false, h, b, diffusion, drift, dx, S - env.valueAt(table, last - 1));
            below = end.flow;
            cut = end.cut;
            if (env.lastSlope !== undefined) {
              const slope = env.lastSlope(t, S, values, pitch, instance);
              slopes = env.slopeSource(false, diffusion, drift, dx, S, slope);
            }
          } else {
            const hDown = env.valueAt(table, nodes + i - 1);
            const hUp = env.valueAt(table, nodes + i);
            const inner = env.innerRow(h, diffusion, drift, hDown, hUp);
            below = inner.a;
            above = inner.c;
            cut = inner.cut;
          }
          if (env.firstSlope !== undefined || env.lastSlope !== undefined) {
            if (!Number.isFinite(slopes) && fault === 0) {
              fault = env.badSlope;
              node = i;
            }
          }
          if (env.hasSource) source[i] = h * (d + slopes);
          if (cut) {
            cuts++;
            cutLow = Math.min(cutLow, i);
            cutHigh = Math.max(cutHigh, i);
          }
        }
        if (env.direct) {
          const rest = 1 + decay + above * excess;
          const pivot = 1 / (rest + below);
          excess = rest * pivot;
          inverse[i] = pivot;
          lower[i] = below * pivot;
          upper[i] = above * pivot;
        } else {
          inverse[i] = 1 + decay;
          lower[i] = below;
          upper[i] = above;
        }
      }
      const unit = gpu.precision === "f32" ? 1e-6 : gpu.precision === "f32x2" ? 1e-12 : 1e-14;
      if (fault === 0 && lowest < -unit * largest) {
        fault = env.negative;
        node = lowestNode;
      }
      if (cuts > status[env.cuts * pitch + instance]) {
        status[env.cuts * pitch + instance] = cuts;
        status[env.cutLow * pitch + instance] = cutLow;
        status[env.cutHigh * pitch + instance] = cutHigh;
      }
      if (growth > 0) status[env.growth * pitch + instance] = 1;
      return { fault, node };
    },
  });
}
