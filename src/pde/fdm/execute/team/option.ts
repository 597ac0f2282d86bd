import { fn, type Precision } from "../../../../kernel/index.ts";
import { PREFETCHED_REALS, begin, writeNodes, writeWeights, stepSeriesAt } from "./begin.ts";
import { computeRowMetrics, END_REALS, writeHeldValues } from "./rows.ts";
import { contextOf, type TeamPlan } from "../option/plan.ts";
import { ItemContext } from "../rollback.ts";
import { MAX_RESIDENT_ROWS, multiplierCount, multiplierReals, scratchReals, type Team } from "./team.ts";
import { EVENT_FLAGS, FLAGS, STEPS_SHIFT } from "../../time/time-grid.ts";
import { iteratePolicyOnSegment } from "./policy.ts";
import { atSeries, atStart, LoopState } from "./records.ts";
import { advanceSegment } from "./step.ts";
import { advanceSums } from "./sums.ts";
import { barrierReals } from "../../conditions/barrier.ts";
import { valueAt } from "../../operator/state.ts";
import { applyDividend, readValues, applyBarrierDate } from "../option/values.ts";
import { exerciseSegment, obstacleOfSegment } from "./exercise.ts";
import { factor } from "./factor.ts";

/** The number of arrays of a word a node: what the state was multiplied by, and the first rows' a and c. */
const KEPT = 3;

/**
 * Returns the maximum number of words (reals and integers) of workgroup memory that a team needs: nodes and values, or
 * four metrics, of each instance, kept factors of running sums, the memory of scans, coefficients, and two counters.
 */
export function teamWords(team: Team, capacity: number, precision: Precision): number {
  const kept = precision === "f64" && capacity > MAX_RESIDENT_ROWS * team.items ? KEPT : 0;
  const reusesFactors = (2 + kept) * capacity + 2 * multiplierReals(team, true);
  const refactorised = 4 * capacity + 2 * multiplierReals(team, false) + team.items + END_REALS;
  return (
    team.options * Math.max(reusesFactors, refactorised) + scratchReals(team) + team.options * PREFETCHED_REALS + 2
  );
}

/**
 * Returns the function that allocates the memory of a team. Workgroup memory limits the number of resident subgroups
 * under WebGPU. Where items need more than their own nodes, mesh weights therefore share arrays with the solution, and
 * metrics with nodes and solution.
 */
function allocate({ team, variant, rows, parts, reusesFactors, policy, metrics, summed }: TeamPlan) {
  const { capacity } = variant;
  const byNeighbours = reusesFactors && !policy;
  return fn({
    name: "allocate",
    params: [ItemContext],
    env: {
      options: team.options,
      items: team.items,
      capacity,
      rows,
      parts,
      metricReals: metrics ? capacity : 1,
      boundReals: metrics ? team.items : 1,
      END_REALS,
      aheadReals: reusesFactors ? PREFETCHED_REALS : 1,
      scratchReals: scratchReals(team),
      isSummed: summed,
      throughRows: byNeighbours ? rows : 1,
      policyRows: policy ? rows : 1,
      multiplierCount: multiplierCount(team, byNeighbours),
      multiplierReals: multiplierReals(team, byNeighbours),
    },
    body([{ item, option }], gpu, env) {
      const { options, items, capacity, rows, metricReals, boundReals, aheadReals, multiplierReals, END_REALS } = env;
      const summed = env.isSummed && gpu.precision === "f64";
      const keptReals = summed ? options * items * rows : 1;
      const ownKept = summed ? (option * items + item) * rows : 0;
      const keptRows = summed ? rows : 1;
      const ofScan = option * multiplierReals;
      const above =
        gpu.precision === "f32"
          ? gpu.privateReal(env.multiplierCount)
          : gpu.part(gpu.sharedReal(options * multiplierReals), ofScan, multiplierReals);
      const below =
        gpu.precision === "f32"
          ? gpu.privateReal(env.multiplierCount)
          : gpu.part(gpu.sharedReal(options * multiplierReals), ofScan, multiplierReals);
      return {
        mesh: {
          x: gpu.part(gpu.sharedReal(options * capacity), option * capacity, capacity),
          values: gpu.part(gpu.sharedReal(options * capacity), option * capacity, capacity),
          third: gpu.part(gpu.sharedReal(options * metricReals), option * metricReals, metricReals),
          fourth: gpu.part(gpu.sharedReal(options * metricReals), option * metricReals, metricReals),
          bounds: gpu.part(gpu.sharedReal(options * boundReals), option * boundReals, boundReals),
          ends: gpu.part(gpu.sharedReal(options * END_REALS), option * END_REALS, END_REALS),
        },
        ahead: gpu.part(gpu.sharedReal(options * aheadReals), option * aheadReals, aheadReals),
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
          scratch: gpu.sharedReal(env.scratchReals),
          counter: gpu.sharedI32(1),
          result: gpu.sharedI32(1),
        },
        paid: gpu.privateReal(rows),
        active: gpu.privateReal(env.policyRows),
        kept: {
          multiple: gpu.part(gpu.sharedReal(keptReals), ownKept, keptRows),
          rows: {
            a: gpu.part(gpu.sharedReal(keptReals), ownKept, keptRows),
            c: gpu.part(gpu.sharedReal(keptReals), ownKept, keptRows),
          },
        },
      };
    },
  });
}

/** Returns the function that makes a series of equal time steps. */
function advance(plan: TeamPlan) {
  const { team, rows, reusesFactors, early, dates, timeDependent, policy, hasBarriers, held, scaled, summed } = plan;
  return fn({
    name: "advance",
    params: atSeries,
    env: {
      ...FLAGS,
      STEPS_SHIFT,
      reusesFactors,
      dates,
      policy,
      isSummed: summed,
      count: rows,
      iteratePolicyOnSegment: iteratePolicyOnSegment(team, rows, "same", hasBarriers),
      advanceSegment: advanceSegment(team, rows, { early, scaled, reusesFactors, weighted: dates, timeDependent }),
      advanceSums: advanceSums(team, rows, held),
    },
    *body({ launch, context, memory, loopState, programRow }, gpu, env) {
      const { state, rows, factors, products, scans, paid, active } = memory;
      const { u, z } = state;
      const { factored, slice, live, obstacle } = loopState;
      const { hRate, signOfFirst, reach } = factored;
      const { flag } = programRow;
      const crankNicolson = (flag & env.CRANK_NICOLSON) !== 0;
      const count = env.reusesFactors ? flag >> env.STEPS_SHIFT : 1;
      let { moves } = loopState;
      if (env.policy) {
        const diagonal = { active, decays: rows.a, decay: 1 + hRate };
        const bound = { u, obstacle: paid, weightOfOld: crankNicolson ? 0.5 : 0.0 };
        for (let step = 0; step < count; step++) {
          yield* env.iteratePolicyOnSegment({ rows, diagonal, right: u, bound, z, factors, products, scans, live });
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
        else yield* env.advanceSegment({ state, factors, products, scans, obstacle, steps, table: context.table });
        moves += 2 * launch.pitch * count;
      }
      return { row: programRow.row, next: programRow.next, factored, slice, live, obstacle, moves };
    },
  });
}

/** V(S) ← V(S − dividend), through workgroup memory, into u; returns the row of coefficients after the dividend's. */
function payDividendOnSegment(plan: TeamPlan) {
  const { team, rows, early, hasBarriers, eventful, scaled, metrics, variant } = plan;
  return fn({
    name: "payDividendOnSegment",
    params: { ...atStart, loopState: LoopState },
    env: {
      count: rows,
      // After an event that may end a segment the solution is as it is already.
      rescales: scaled && !eventful,
      metrics,
      exercises: early && !hasBarriers,
      exerciseSegment: exerciseSegment(team, rows, { closed: variant.closed, laid: true }, false),
      writeNodes: writeNodes(team, variant.closed),
      writeWeights: writeWeights(team),
      computeRowMetrics: computeRowMetrics(plan),
      applyDividend: applyDividend(plan),
      valueAt,
    },
    *body({ launch, context, memory, loopState: { live, row } }, gpu, env) {
      const { nodes } = launch;
      const { table, parameters: coefficients, first } = context;
      const { mesh, state, factors, scans, paid } = memory;
      const { x, values } = mesh;
      const { u } = state;
      const keep = env.valueAt(coefficients, row);
      const cash = env.valueAt(coefficients, row + 1);
      if (env.rescales) for (let k = 0; k < env.count; k++) u[k] *= gpu.reciprocal(factors.gain[k]);
      yield; // the last metrics or weights have been read
      if (env.metrics) env.writeNodes(x, table, nodes);
      for (let k = 0; k < env.count; k++) if (first + k < nodes) values[first + k] = u[k];
      yield;
      const of = { launch, context, x, values, u, paid, dormant: u, scratch: u, dormantRow: 0, live, row, keep, cash };
      const next = env.applyDividend(of);
      if (env.exercises)
        yield* env.exerciseSegment({ launch, context, x, u, obstacle: state.z, scratch: scans.scratch });
      if (env.rescales) for (let k = 0; k < env.count; k++) u[k] *= factors.gain[k];
      yield;
      if (env.metrics) yield* env.computeRowMetrics(mesh, launch, context);
      else {
        env.writeWeights(x, values, nodes);
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
    params: atSeries,
    env: {
      ...FLAGS,
      EVENT_FLAGS,
      count: rows,
      dates,
      dividends,
      policy,
      hasBarriers,
      unscales: scaled && eventful,
      exerciseSegment: exerciseSegment(team, rows, { closed, laid: !metrics }),
      payDividendOnSegment: payDividendOnSegment(plan),
      applyBarrierDate: applyBarrierDate(plan),
      writeHeldValues: writeHeldValues(barriers, rows),
      barrierReals: barrierReals(barriers),
    },
    *body({ launch, context, memory, loopState, programRow: { flag } }, gpu, env) {
      const { mesh, state, factors, scans, paid } = memory;
      const { u, z } = state;
      let { row, live } = loopState;
      if (env.unscales && (flag & env.EVENT_FLAGS) !== 0)
        for (let k = 0; k < env.count; k++) u[k] *= gpu.reciprocal(factors.gain[k]);
      if (env.dates && (flag & env.EXERCISE) !== 0)
        yield* env.exerciseSegment({ launch, context, x: mesh.x, u, obstacle: z, scratch: scans.scratch });
      if (env.dividends && (flag & env.DIVIDEND) !== 0)
        row = yield* env.payDividendOnSegment({ launch, context, memory, loopState });
      if (env.hasBarriers && (flag & env.BARRIERS) !== 0) {
        live = env.applyBarrierDate({ launch, context, row, u, paid });
        if (env.policy) for (let k = 0; k < env.count; k++) u[k] = Math.max(u[k], paid[k]);
        env.writeHeldValues(context.parameters, row, live, u);
        row += env.barrierReals;
      }
      const { next, factored, slice, obstacle, moves } = loopState;
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
    params: { ...atStart, loopState: LoopState },
    env: {
      count: rows,
      held,
      scaled,
      isSummed: summed,
      metrics,
      hasMoves: timeDependent && points,
      writeNodes: writeNodes(team, closed),
      obstacleOfSegment: obstacleOfSegment(rows, { closed, laid: true }),
      readValues: readValues(plan),
    },
    *body({ launch, context, memory, loopState }, gpu, env) {
      const { pitch, nodes, programRows } = launch;
      const { table, first } = context;
      const { mesh, state, factors, paid, kept } = memory;
      const { x, values } = mesh;
      const { u, z } = state;
      const summed = env.isSummed && gpu.precision === "f64";
      const premium = env.held && summed;
      yield; // the last metrics or weights have been read
      if (env.metrics) env.writeNodes(x, table, nodes);
      if (premium) env.obstacleOfSegment(launch, context, x, z);
      for (let k = 0; k < env.count; k++) {
        if (premium && programRows > 0) u[k] -= 0.5 * paid[k];
        const value =
          env.scaled && programRows > 0 ? u[k] * gpu.reciprocal(summed ? kept.multiple[k] : factors.gain[k]) : u[k];
        if (first + k < nodes) values[first + k] = premium ? z[k] + value : value;
      }
      yield;
      // What exercise pays is φ·(slope·x) − kink where the obstacle moves: that of the last step.
      let slope = 1.0;
      let kink = 0.0;
      if (env.hasMoves && programRows > 0) {
        slope = table.values[loopState.moves - 2 * pitch];
        kink = table.values[loopState.moves - pitch];
      }
      env.readValues({ launch, context, x, u: values, dormant: values, row: loopState.row, slope, kink });
    },
  });
}

/** Returns the functions of the time loop (`RollbackParts`) with which a team of items solves an instance. */
export const teamParts = (plan: TeamPlan) => ({
  contextOf: contextOf(plan),
  allocate: allocate(plan),
  begin: begin(plan),
  rowAt: stepSeriesAt(plan),
  factor: factor(plan),
  advance: advance(plan),
  applyEvents: applyEvents(plan),
  read: readSolution(plan),
});
