import { fn } from "../../../../kernel/index.ts";
import { barrierWords } from "../../conditions/barrier.ts";
import { valueAt } from "../../operator/column.ts";
import { EVENTS, FLAGS } from "../../time/flags.ts";
import { applyDividend, settle } from "../option/events.ts";
import type { TeamPlan } from "../option/plan.ts";
import { holdRuns } from "./barrier.ts";
import { exerciseRuns } from "./exercise.ts";
import { computeRowMetrics } from "./metrics.ts";
import { layNodes, layWeights } from "./nodes.ts";
import { atRun, atStart, Cursor } from "./records.ts";

/** V(S) ← V(S − dividend), through workgroup memory, into u; returns the row of coefficients after the dividend's. */
function payRuns(plan: TeamPlan) {
  const { team, rows, early, hasBarriers, eventful, scaled, metrics, variant } = plan;
  return fn({
    name: "payRuns",
    params: { ...atStart, cursor: Cursor },
    env: {
      count: rows,
      // After an event that may end a segment the solution is as it is already.
      rescales: scaled && !eventful,
      metrics,
      exercises: early && !hasBarriers,
      exerciseRuns: exerciseRuns(team, rows, { closed: variant.closed, laid: true }, false),
      layNodes: layNodes(team, variant.closed),
      layWeights: layWeights(team),
      computeRowMetrics: computeRowMetrics(plan),
      applyDividend: applyDividend(plan),
      valueAt,
    },
    *body({ launch, place, memory, cursor: { live, row } }, gpu, env) {
      const { nodes } = launch;
      const { table, parameters: coefficients, first } = place;
      const { mesh, state, factors, scans, paid } = memory;
      const { x, values } = mesh;
      const { u } = state;
      const keep = env.valueAt(coefficients, row);
      const cash = env.valueAt(coefficients, row + 1);
      if (env.rescales) for (let k = 0; k < env.count; k++) u[k] *= gpu.reciprocal(factors.gain[k]);
      yield; // the last metrics or weights have been read
      if (env.metrics) env.layNodes(x, table, nodes);
      for (let k = 0; k < env.count; k++) if (first + k < nodes) values[first + k] = u[k];
      yield;
      const of = { launch, place, x, values, u, paid, dormant: u, scratch: u, dormantRow: 0, live, row, keep, cash };
      const next = env.applyDividend(of);
      if (env.exercises) yield* env.exerciseRuns({ launch, place, x, u, obstacle: state.z, scratch: scans.scratch });
      if (env.rescales) for (let k = 0; k < env.count; k++) u[k] *= factors.gain[k];
      yield;
      if (env.metrics) yield* env.computeRowMetrics(mesh, launch, place);
      else {
        env.layWeights(x, values, nodes);
        yield;
      }
      return next;
    },
  });
}

/**
 * Returns the function that applies the events of a date backward in time: exercise, the dividend, then knock-outs. An
 * event that ends a segment of the time grid is followed by a factorisation, so the solution is then not scaled by the
 * factors.
 */
export function applyEvents(plan: TeamPlan) {
  const { team, rows, dates, policy, hasBarriers, eventful, scaled, metrics, variant } = plan;
  const { closed, dividends, barriers = 0 } = variant;
  return fn({
    name: "applyEvents",
    params: atRun,
    env: {
      ...FLAGS,
      EVENTS,
      count: rows,
      dates,
      dividends,
      policy,
      hasBarriers,
      unscales: scaled && eventful,
      exerciseRuns: exerciseRuns(team, rows, { closed, laid: !metrics }),
      payRuns: payRuns(plan),
      settle: settle(plan),
      holdRuns: holdRuns(barriers, rows),
      barrierWords: barrierWords(barriers),
    },
    *body({ launch, place, memory, cursor, step: { flag } }, gpu, env) {
      const { mesh, state, factors, scans, paid } = memory;
      const { u, z } = state;
      let { row, live } = cursor;
      if (env.unscales && (flag & env.EVENTS) !== 0)
        for (let k = 0; k < env.count; k++) u[k] *= gpu.reciprocal(factors.gain[k]);
      if (env.dates && (flag & env.EXERCISE) !== 0)
        yield* env.exerciseRuns({ launch, place, x: mesh.x, u, obstacle: z, scratch: scans.scratch });
      if (env.dividends && (flag & env.DIVIDEND) !== 0) row = yield* env.payRuns({ launch, place, memory, cursor });
      if (env.hasBarriers && (flag & env.BARRIERS) !== 0) {
        live = env.settle({ launch, place, row, u, paid });
        if (env.policy) for (let k = 0; k < env.count; k++) u[k] = Math.max(u[k], paid[k]);
        env.holdRuns(place.parameters, row, live, u);
        row += env.barrierWords;
      }
      const { next, factored, slice, obstacle, moves } = cursor;
      return { row, next, factored, slice, live, obstacle, moves };
    },
  });
}
