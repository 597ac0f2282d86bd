import { fn } from "../../../../kernel/index.ts";
import { barrierWords, NEVER_EXERCISED } from "../../conditions/barrier.ts";
import { valueAt } from "../../operator/column.ts";
import { CLOSED_WORDS, readClosed, readCoefficients } from "../../operator/read-coefficients.ts";
import { readSurface } from "../../operator/read-surface.ts";
import { prefetchCoefficients } from "./ahead.ts";
import { settle } from "../option/events.ts";
import type { TeamPlan } from "../option/plan.ts";
import { holdRuns } from "./barrier.ts";
import { computeRowMetrics } from "./metrics.ts";
import { layNodes, layWeights } from "./nodes.ts";
import { atStart } from "./records.ts";
import { FAR } from "./scan.ts";

/** The payoff on a run in closed form, into u and `paid`; returns what is paid before the run and after it. */
const expireClosed = ({ rows, timeDependent, held, summed }: TeamPlan) =>
  fn({
    name: "expireClosed",
    params: atStart,
    env: { rows, timeDependent, isSummed: held && summed, readClosed, NEVER_EXERCISED },
    body({ launch: { nodes }, place: { table, first }, memory: { mesh, state, paid } }, gpu, env) {
      const { x } = mesh;
      const { u } = state;
      const { kink, sign } = env.readClosed(table);
      for (let k = 0; k < env.rows; k++) {
        u[k] = first + k < nodes ? Math.max(sign * (x[Math.min(first + k, nodes - 1)] - kink), 0) : 0.0;
        paid[k] = u[k];
        // Nobody exercises beyond the last node.
        if (env.timeDependent)
          paid[k] = first + k < nodes ? sign * x[Math.min(first + k, nodes - 1)] : env.NEVER_EXERCISED;
      }
      const price = sign * x[Math.min(Math.max(first - 1, 0), nodes - 1)];
      const before = env.timeDependent ? price : Math.max(price - sign * kink, 0);
      let after = 0.0;
      if (env.isSummed && gpu.precision === "f64")
        after = Math.max(sign * (x[Math.min(first + env.rows, nodes - 1)] - kink), 0);
      return { before, after };
    },
  });

/** The payoff on a run from the table, where V(S, T) may have a column of its own. */
const expireTable = ({ rows, early, held, summed }: TeamPlan) =>
  fn({
    name: "expireTable",
    params: atStart,
    env: { rows, early, isSummed: held && summed, valueAt },
    body({ launch, place: { table, first }, memory: { state, paid } }, gpu, env) {
      const { nodes, obstacleColumn } = launch;
      const { u } = state;
      const { values, pitch, instance } = table;
      for (let k = 0; k < env.rows; k++) {
        const i = first + k;
        u[k] = i < nodes ? values[(nodes + Math.min(i, nodes - 1)) * pitch + instance] : 0.0;
        paid[k] = 0.0;
        if (env.early && i < nodes) paid[k] = values[(obstacleColumn * nodes + i) * pitch + instance];
      }
      let before = 0.0;
      let after = 0.0;
      if (env.early) before = env.valueAt(table, obstacleColumn * nodes + Math.min(Math.max(first - 1, 0), nodes - 1));
      if (env.isSummed && gpu.precision === "f64")
        after = env.valueAt(table, obstacleColumn * nodes + Math.min(first + env.rows, nodes - 1));
      return { before, after };
    },
  });

/**
 * Returns the function that sets the nodes, the terminal values and the knock-outs at expiry, and reads the first
 * integers of the time program.
 */
export function begin(plan: TeamPlan) {
  const { team, rows, lasting, policy, hasBarriers, metrics, held, summed, variant } = plan;
  const { shape, closed, barriers = 0 } = variant;
  return fn({
    name: "begin",
    params: atStart,
    env: {
      rows,
      lasting,
      policy,
      metrics,
      hasBarriers,
      isSummed: held && summed,
      closed,
      closedWords: CLOSED_WORDS,
      FAR,
      layNodes: layNodes(team, closed),
      layWeights: layWeights(team),
      computeRowMetrics: computeRowMetrics(plan),
      prefetchCoefficients: prefetchCoefficients(team),
      expireClosed: expireClosed(plan),
      expireTable: expireTable(plan),
      readSurface: readSurface(shape),
      settle: settle(plan),
      holdRuns: holdRuns(barriers, rows),
      barrierWords: barrierWords(barriers),
      readCoefficients: readCoefficients(shape === "formula"),
    },
    *body({ launch, place, memory }, gpu, env) {
      const { pitch, nodes, runs, obstacleColumn, firstExercised, flags } = launch;
      const { instance, table, parameters: coefficients, first } = place;
      const { mesh, ahead, state, scans, paid, active } = memory;
      const { x } = mesh;
      const { u } = state;
      env.layNodes(x, table, nodes);
      if (env.lasting) env.prefetchCoefficients(ahead, coefficients);
      yield;
      let before = 0.0;
      let after = 0.0;
      if (env.closed) {
        const beside = env.expireClosed({ launch, place, memory });
        before = beside.before;
        after = beside.after;
      } else {
        const beside = env.expireTable({ launch, place, memory });
        before = beside.before;
        after = beside.after;
      }
      // A call's first node is exercised whatever the rate: its row would let it grow where the rate is negative, which
      // the others would feel.
      const isFirstExercised = firstExercised && first === 0 && x[0] > x[1] && paid[0] > paid[1] && paid[1] > 0;
      if (env.isSummed && gpu.precision === "f64") for (let k = 0; k < env.rows; k++) u[k] -= paid[k];
      if (env.policy) for (let k = 0; k < env.rows; k++) active[k] = 0.0;
      if (env.metrics) {
        yield;
        yield* env.computeRowMetrics(mesh, launch, place);
      } else env.layWeights(x, mesh.values, nodes);
      if (gpu.localId() === 0) gpu.atomicStore(scans.counter, 0, 0);
      yield;
      const tail = (env.closed ? env.closedWords : (obstacleColumn + 1) * nodes) * pitch;
      const slice = env.readSurface(table, tail);
      let live = { low: -1, high: env.rows, lowHeld: -1, highHeld: -1 };
      if (env.hasBarriers) {
        live = env.settle({ launch, place, row: 0, u, paid });
        env.holdRuns(coefficients, 0, live, u);
      }
      let next = { h: 0.0, hVariance: 0.0, hDrift: 0.0, hRate: 0.0, time: 0.0, shift: 0.0 };
      if (!env.lasting) next = env.readCoefficients(coefficients, env.barrierWords);
      return {
        row: env.barrierWords,
        next: { flag: flags[0], flagAfter: runs > 1 ? flags[1] : 0, coefficients: next },
        factored: { hRate: 0.0, hLast: 1.0, signOfFirst: 1.0, needed: env.FAR, reach: 0 },
        slice,
        live,
        obstacle: { paid, before, after, isFirstExercised },
        moves: env.closedWords * pitch + instance,
      };
    },
  });
}
