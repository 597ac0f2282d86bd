import { fn, i32, real, write } from "../../../kernel/index.ts";
import { Column } from "./column.ts";
import { diffusionUnit, equationRow } from "./equation-row.ts";
import type { EquationVariant } from "./equation-variant.ts";
import { Stage } from "./right-hand-side.ts";
import { FAULT, STATUS } from "./status.ts";

/**
 * Returns the function that assembles the matrix I − hL at time t, for a stage that ends at time `tEnd`, from the rows
 * of `equationRow`. With `direct` it eliminates from the last node to the first and stores 1/pivot, a/pivot and c/pivot
 * in `inverse`, `lower`, `upper`; otherwise it stores the entries 1 + hcᵢ, a and c there. `source` gets h·(d + the
 * slope of a Neumann end). Elimination carries row sums (Grassmann, Taksar & Heyman 1985), as `solverKernel` does, so
 * that nothing is subtracted where c ≤ 0.
 *
 * Coefficients must be finite, and a must be nonnegative up to rounding: a negative value of a few units of rounding of
 * its largest value on the mesh counts as 0.
 *
 * The function updates the status of the instance and returns the `FAULT`, if any, and its node.
 */
export function assemble(variant: EquationVariant) {
  const { exercise, first, last, hasSource } = variant;
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
      hasSlopes: first.kind === "neumann" || last.kind === "neumann",
      equationRow: equationRow(variant),
      diffusionUnit,
      badSlope: FAULT.slope,
      negative: FAULT.negative,
    },
    body({ nodes, table, parameters, inverse, lower, upper, source, status, mask, stage }, _gpu, env) {
      const { pitch, instance } = parameters;
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
        const row = env.equationRow({ i, nodes, table, parameters, mask, stage });
        const { below, above, decay } = row;
        if (row.fault !== 0) {
          fault = row.fault;
          node = i;
        }
        if (row.a < lowest) {
          lowest = row.a;
          lowestNode = i;
        }
        largest = Math.max(largest, row.a);
        if (decay <= -1) growth = 1;
        if (env.hasSlopes && row.badSlope && fault === 0) {
          fault = env.badSlope;
          node = i;
        }
        if (env.hasSource) source[i] = row.source;
        if (row.cut) {
          cuts++;
          cutLow = Math.min(cutLow, i);
          cutHigh = Math.max(cutHigh, i);
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
      if (fault === 0 && lowest < -env.diffusionUnit() * largest) {
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
