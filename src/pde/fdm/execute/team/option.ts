import { fn, type Precision } from "../../../../kernel/index.ts";
import { AHEAD_WORDS, begin, layNodes, layWeights, runAt } from "./begin.ts";
import { computeRowMetrics, END_WORDS, holdRuns } from "./rows.ts";
import { placeOf, type TeamPlan } from "../option/plan.ts";
import { Place } from "../rollback.ts";
import { MAX_RESIDENT_ROWS, multipliers, multiplierWords, scratchWords, type Team } from "./team.ts";
import { EVENTS, FLAGS, STEPS_SHIFT } from "../../time/time-grid.ts";
import { iterateRuns } from "./policy.ts";
import { atRun, atStart, Cursor } from "./records.ts";
import { advanceRuns } from "./step.ts";
import { advanceSums } from "./sums.ts";
import { barrierWords } from "../../conditions/barrier.ts";
import { valueAt } from "../../operator/state.ts";
import { applyDividend, readValues, settle } from "../option/values.ts";
import { exerciseRuns, obstacleRuns } from "./exercise.ts";
import { factor } from "./factor.ts";

/** The number of arrays of a word a node: what the state was multiplied by, and the first rows' a and c. */
const KEPT = 3;

/**
 * The maximum number of reals and integers of workgroup memory: nodes and values, or four metrics, of each instance,
 * kept factors of running sums, the memory of scans, coefficients, and two counters.
 */
export function teamWords(team: Team, capacity: number, precision: Precision): number {
  const kept = precision === "f64" && capacity > MAX_RESIDENT_ROWS * team.items ? KEPT : 0;
  const lasting = (2 + kept) * capacity + 2 * multiplierWords(team, true);
  const refactorised = 4 * capacity + 2 * multiplierWords(team, false) + team.items + END_WORDS;
  return team.options * Math.max(lasting, refactorised) + scratchWords(team) + team.options * AHEAD_WORDS + 2;
}

/**
 * Returns the function that allocates the memory of a team. Workgroup memory limits the number of resident subgroups
 * under WebGPU. Where items need more than their own nodes, mesh weights therefore share arrays with the solution, and
 * metrics with nodes and solution.
 */
function allocate({ team, variant, rows, parts, lasting, policy, metrics, summed }: TeamPlan) {
  const { capacity } = variant;
  const byNeighbours = lasting && !policy;
  return fn({
    name: "allocate",
    params: [Place],
    env: {
      options: team.options,
      items: team.items,
      capacity,
      rows,
      parts,
      metricWords: metrics ? capacity : 1,
      boundWords: metrics ? team.items : 1,
      END_WORDS,
      aheadWords: lasting ? AHEAD_WORDS : 1,
      scratchWords: scratchWords(team),
      isSummed: summed,
      throughRows: byNeighbours ? rows : 1,
      policyRows: policy ? rows : 1,
      multipliers: multipliers(team, byNeighbours),
      multiplierWords: multiplierWords(team, byNeighbours),
    },
    body([{ item, option }], gpu, env) {
      const { options, items, capacity, rows, metricWords, boundWords, aheadWords, multiplierWords, END_WORDS } = env;
      const summed = env.isSummed && gpu.precision === "f64";
      const keptWords = summed ? options * items * rows : 1;
      const ownKept = summed ? (option * items + item) * rows : 0;
      const keptRows = summed ? rows : 1;
      const ofScan = option * multiplierWords;
      const above =
        gpu.precision === "f32"
          ? gpu.privateReal(env.multipliers)
          : gpu.part(gpu.sharedReal(options * multiplierWords), ofScan, multiplierWords);
      const below =
        gpu.precision === "f32"
          ? gpu.privateReal(env.multipliers)
          : gpu.part(gpu.sharedReal(options * multiplierWords), ofScan, multiplierWords);
      return {
        mesh: {
          x: gpu.part(gpu.sharedReal(options * capacity), option * capacity, capacity),
          values: gpu.part(gpu.sharedReal(options * capacity), option * capacity, capacity),
          third: gpu.part(gpu.sharedReal(options * metricWords), option * metricWords, metricWords),
          fourth: gpu.part(gpu.sharedReal(options * metricWords), option * metricWords, metricWords),
          bounds: gpu.part(gpu.sharedReal(options * boundWords), option * boundWords, boundWords),
          ends: gpu.part(gpu.sharedReal(options * END_WORDS), option * END_WORDS, END_WORDS),
        },
        ahead: gpu.part(gpu.sharedReal(options * aheadWords), option * aheadWords, aheadWords),
        state: { u: gpu.privateReal(rows), z: gpu.privateReal(rows) },
        rows: { a: gpu.privateReal(rows), c: gpu.privateReal(rows) },
        factors: { gain: gpu.privateReal(rows), lower: gpu.privateReal(rows), upper: gpu.privateReal(rows) },
        products: {
          downProduct: gpu.privateReal(env.parts),
          upProduct: gpu.privateReal(env.parts),
          downTo: gpu.privateReal(env.throughRows),
          upTo: gpu.privateReal(env.throughRows),
        },
        scans: {
          above,
          below,
          scratch: gpu.sharedReal(env.scratchWords),
          counter: gpu.sharedI32(1),
          result: gpu.sharedI32(1),
        },
        paid: gpu.privateReal(rows),
        active: gpu.privateReal(env.policyRows),
        kept: {
          multiple: gpu.part(gpu.sharedReal(keptWords), ownKept, keptRows),
          rows: {
            a: gpu.part(gpu.sharedReal(keptWords), ownKept, keptRows),
            c: gpu.part(gpu.sharedReal(keptWords), ownKept, keptRows),
          },
        },
      };
    },
  });
}

/** Returns the function that makes a series of equal time steps. */
function advance(plan: TeamPlan) {
  const { team, rows, lasting, early, dates, timeDependent, policy, hasBarriers, held, scaled, summed } = plan;
  return fn({
    name: "advance",
    params: atRun,
    env: {
      ...FLAGS,
      STEPS_SHIFT,
      lasting,
      dates,
      policy,
      isSummed: summed,
      count: rows,
      iterateRuns: iterateRuns(team, rows, "same", hasBarriers),
      advanceRuns: advanceRuns(team, rows, { early, scaled, lasting, weighted: dates, timeDependent }),
      advanceSums: advanceSums(team, rows, held),
    },
    *body({ launch, place, memory, cursor, step }, gpu, env) {
      const { state, rows, factors, products, scans, paid, active } = memory;
      const { u, z } = state;
      const { factored, slice, live, obstacle } = cursor;
      const { hRate, signOfFirst, reach } = factored;
      const { flag } = step;
      const crankNicolson = (flag & env.CRANK_NICOLSON) !== 0;
      const count = env.lasting ? flag >> env.STEPS_SHIFT : 1;
      let { moves } = cursor;
      if (env.policy) {
        const diagonal = { active, decays: rows.a, decay: 1 + hRate };
        const bound = { u, obstacle: paid, weightOfOld: crankNicolson ? 0.5 : 0.0 };
        for (let step = 0; step < count; step++) {
          yield* env.iterateRuns({ rows, diagonal, right: u, bound, z, factors, products, scans, live });
          for (let k = 0; k < env.count; k++) u[k] = Math.max(crankNicolson ? z[k] + z[k] - u[k] : z[k], paid[k]);
        }
      } else {
        const alexander = env.dates && (flag & env.ALEXANDER) !== 0;
        const steps = {
          count,
          extrapolated: crankNicolson || alexander,
          over: alexander ? Math.SQRT2 : 1.0,
          reach,
          moves,
        };
        if (env.isSummed && gpu.precision === "f64")
          yield* env.advanceSums({ state, factors, doubled: paid, products, scans, steps, signOfFirst });
        else yield* env.advanceRuns({ state, factors, products, scans, obstacle, steps, table: place.table });
        moves += 2 * launch.pitch * count;
      }
      return { row: step.row, next: step.next, factored, slice, live, obstacle, moves };
    },
  });
}

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
function applyEvents(plan: TeamPlan) {
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

/**
 * Returns the function that copies the solution into workgroup memory and reads the windows and points from there, with
 * the work divided among the items (`solverKernel`).
 */
function readSolution(plan: TeamPlan) {
  const { team, rows, timeDependent, held, scaled, summed, metrics, variant } = plan;
  const { closed, points = false } = variant;
  return fn({
    name: "readSolution",
    params: { ...atStart, cursor: Cursor },
    env: {
      count: rows,
      held,
      scaled,
      isSummed: summed,
      metrics,
      hasMoves: timeDependent && points,
      layNodes: layNodes(team, closed),
      obstacleRuns: obstacleRuns(rows, { closed, laid: true }),
      readValues: readValues(plan),
    },
    *body({ launch, place, memory, cursor }, gpu, env) {
      const { pitch, nodes, runs } = launch;
      const { table, first } = place;
      const { mesh, state, factors, paid, kept } = memory;
      const { x, values } = mesh;
      const { u, z } = state;
      const summed = env.isSummed && gpu.precision === "f64";
      const premium = env.held && summed;
      yield; // the last metrics or weights have been read
      if (env.metrics) env.layNodes(x, table, nodes);
      if (premium) env.obstacleRuns(launch, place, x, z);
      for (let k = 0; k < env.count; k++) {
        if (premium && runs > 0) u[k] -= 0.5 * paid[k];
        const value =
          env.scaled && runs > 0 ? u[k] * gpu.reciprocal(summed ? kept.multiple[k] : factors.gain[k]) : u[k];
        if (first + k < nodes) values[first + k] = premium ? z[k] + value : value;
      }
      yield;
      // What exercise pays is φ·(slope·x) − kink where the obstacle moves: that of the last step.
      let slope = 1.0;
      let kink = 0.0;
      if (env.hasMoves && runs > 0) {
        slope = table.values[cursor.moves - 2 * pitch];
        kink = table.values[cursor.moves - pitch];
      }
      env.readValues({ launch, place, x, u: values, dormant: values, row: cursor.row, slope, kink });
    },
  });
}

/** Returns the functions of the time loop (`RollbackParts`) with which a team of items solves an instance. */
export const teamParts = (plan: TeamPlan) => ({
  placeOf: placeOf(plan),
  allocate: allocate(plan),
  begin: begin(plan),
  runAt: runAt(plan),
  factor: factor(plan),
  advance: advance(plan),
  applyEvents: applyEvents(plan),
  read: readSolution(plan),
});
