import { fn, real } from "../../../../kernel/index.ts";
import { Coefficients, SLICE_WORDS } from "../../operator/coefficients.ts";
import { EVENTS } from "../../time/time-grid.ts";
import { assembleByMetrics, assembleRuns, cutRuns, pinRuns, rescaleRuns } from "./rows.ts";
import { sourceRuns, thresholdRuns } from "./exercise.ts";
import { factorRuns } from "./factor.ts";
import type { TeamPlan } from "../option/plan.ts";
import { atRun, atStart, Cursor, Step } from "./records.ts";
import { reachOf } from "./scan.ts";
import { weighRuns } from "./sums.ts";

/**
 * The rows of I − hL, times `rowScale`, which `coefficients` are already, by the shortest of the ways there are.
 * Returns the piece of a surface that the run's first node is in.
 */
function makeRows(plan: TeamPlan) {
  const { rows, hasBarriers, metrics, rescaled, summed } = plan;
  return fn({
    name: "makeRows",
    params: { ...atStart, cursor: Cursor, step: Step, coefficients: Coefficients, rowScale: real },
    env: {
      count: rows,
      hasBarriers,
      metrics,
      rescaled,
      isSummed: summed,
      assembleRuns: assembleRuns(plan),
      assembleByMetrics: assembleByMetrics(plan),
      rescaleRuns: rescaleRuns(plan),
      cutRuns: cutRuns(rows),
    },
    body({ launch, place, memory, cursor, step, coefficients, rowScale }, gpu, env) {
      const { mesh, rows, factors, kept } = memory;
      const { x, values: weights } = mesh;
      const { slice, live } = cursor;
      const summed = env.isSummed && gpu.precision === "f64";
      let piece = slice.piece;
      if (env.metrics) {
        const { hVariance, hDrift } = coefficients;
        env.assembleByMetrics({ place, mesh, rows, nodes: launch.nodes, hVariance, hDrift, scale: rowScale });
      } else if (env.rescaled && step.run > 0)
        env.rescaleRuns({
          launch,
          place,
          x,
          weights,
          rows,
          gain: factors.gain,
          before: { a: summed ? kept.rows.a : factors.lower, c: summed ? kept.rows.c : factors.upper },
          ratio: step.coefficients.h * gpu.reciprocal(cursor.factored.hLast) * rowScale,
          coefficients,
        });
      else piece = env.assembleRuns({ launch, place, x, weights, rows, coefficients, slice });
      if (env.hasBarriers) env.cutRuns(rows, live);
      if (env.rescaled && summed && step.run === 0)
        for (let k = 0; k < env.count; k++) {
          kept.rows.a[k] = rows.a[k];
          kept.rows.c[k] = rows.c[k];
        }
      return piece;
    },
  });
}

/** Returns the function that assembles and factors I − hL, and scales the state for the new factors. */
export function factor(plan: TeamPlan) {
  const { team, rows, lasting, policy, hasBarriers, eventful, held, scaled, summed, variant } = plan;
  return fn({
    name: "factor",
    params: atRun,
    env: {
      count: rows,
      lasting,
      policy,
      hasBarriers,
      eventful,
      EVENTS,
      held,
      scaled,
      isSummed: summed,
      isSurface: variant.shape === "surface",
      sliceWords: SLICE_WORDS,
      reachOf: reachOf(team),
      makeRows: makeRows(plan),
      factorRuns: factorRuns(team, rows, { lasting, scaled, summed }),
      pinRuns: pinRuns(rows),
      sourceRuns: sourceRuns(rows, variant.closed),
      thresholdRuns: thresholdRuns(rows, variant.closed),
      weighRuns: weighRuns(rows, held),
    },
    *body({ launch, place, memory, cursor, step }, gpu, env) {
      const { mesh, state, rows, factors, products, scans, paid, active, kept } = memory;
      const { obstacle, live, slice } = cursor;
      const { gain } = factors;
      const { u } = state;
      const { h, hVariance, hDrift, hRate, time, shift } = step.coefficients;
      const summed = env.isSummed && gpu.precision === "f64";
      const premium = env.held && summed;
      // Rows divided by 1 + hr spare pivots a product each; policy iteration wants them as they are.
      const rowScale = env.policy ? 1.0 : gpu.reciprocal(1 + hRate);
      // After an event the solution is as it is.
      const asItIs = env.eventful && (launch.flags[Math.max(step.run - 1, 0)] & env.EVENTS) !== 0;
      if (env.scaled && step.run > 0 && !asItIs)
        for (let k = 0; k < env.count; k++) {
          if (premium) u[k] -= 0.5 * paid[k];
          u[k] *= gpu.reciprocal(summed ? kept.multiple[k] : gain[k]);
        }
      let { needed, reach, hLast, signOfFirst } = cursor.factored;
      let found = slice.piece;
      let again = false;
      do {
        const coefficients = {
          h: h * rowScale,
          hVariance: hVariance * rowScale,
          hDrift: hDrift * rowScale,
          hRate,
          time,
          shift,
        };
        found = env.makeRows({ launch, place, memory, cursor, step, coefficients, rowScale });
        if (!env.policy) {
          // Neighbouring steps reach equally far: what the one before needed is tried first, and the whole scan only
          // where that proves too little.
          const near = !env.lasting && needed === 0;
          const numerator = 2.0 * rowScale;
          const diagonal = { active, decays: rows.a, decay: 1 }; // not looked at
          needed = yield* env.factorRuns({ rows, diagonal, numerator, near, factors, products, scans });
          again = near && needed !== 0;
          reach = env.lasting ? needed : env.reachOf(needed);
        }
      } while (again);
      if (!summed) hLast = h;
      else if (step.run === 0) hLast = h * rowScale;
      let { slice: sliceAt, piece } = slice;
      if (env.isSurface) {
        piece = found;
        sliceAt += slice.spots * env.sliceWords;
      }
      if (env.hasBarriers && !env.policy) env.pinRuns(gain, live, 2.0);
      if (summed) signOfFirst = rows.c[0] < 0 ? -1.0 : 1.0;
      if (premium) env.sourceRuns({ launch, place, x: mesh.x, factors, hRate, obstacle, signOfFirst, u });
      else if (env.held) env.thresholdRuns({ launch, place, x: mesh.x, lower: factors.lower, obstacle, u });
      if (env.scaled && !premium) for (let k = 0; k < env.count; k++) u[k] *= gain[k];
      if (summed) env.weighRuns({ u, doubled: paid, multiple: kept.multiple, factors });
      return {
        row: cursor.row,
        next: cursor.next,
        factored: { hRate, hLast, signOfFirst, needed, reach },
        slice: { move: slice.move, spots: slice.spots, first: slice.first, slice: sliceAt, piece },
        live,
        obstacle,
        moves: cursor.moves,
      };
    },
  });
}
