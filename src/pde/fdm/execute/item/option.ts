import { fn } from "../../../../kernel/index.ts";
import {
  barrierReals,
  dormantStep,
  holdEnds,
  knockInReals,
  readHeld,
  rowsStep,
  applyDormantDate,
} from "../../conditions/barrier.ts";
import { valueAt } from "../../operator/state.ts";
import { CLOSED_FORM_REALS, nodeFromGrowth, readClosedForm, readSurface } from "../../operator/coefficients.ts";
import { SUBNORMAL_GUARD } from "../../operator/matrix.ts";
import { FLAGS } from "../../time/time-grid.ts";
import { applyDividend, readValues, applyBarrierDate } from "../option/values.ts";
import { ItemContext } from "../rollback.ts";
import { itemPlan, KEPT_FACTORS, contextOf, type SolverVariant } from "../option/plan.ts";
import { keepLayer, layerOf, layersPerStep, readReversedRow, stepInputs } from "../option/reversed.ts";
import { reverse } from "./adjoint.ts";
import { atSeries, atStart, LoopState, factor, projectedStep, stepSeriesAt } from "./factor.ts";
import { policyStep } from "../../conditions/policy.ts";
import { exerciseByHalves, exerciseOnDate } from "../../conditions/dates.ts";

/**
 * Returns the function that allocates the arrays of a work item; those that a variant does not use have one element.
 */
function allocate({ exercise, knockIns = 0, homogeneous = false, privateLayers = 0, capacity }: SolverVariant) {
  const factorisations = homogeneous ? KEPT_FACTORS : 1;
  const onTheWay = exercise === "policy" || knockIns > 0;
  return fn({
    name: "allocate",
    params: [ItemContext],
    env: {
      capacity,
      early: exercise === "none" ? 1 : capacity,
      policy: exercise === "policy" ? capacity : 1,
      dormant: knockIns > 0 ? capacity : 1,
      inverse: knockIns > 0 ? 1 : factorisations * capacity,
      factors: factorisations * capacity,
      onTheWay: onTheWay ? capacity : 1,
      rows: homogeneous ? capacity : 1,
      layers: Math.max(privateLayers, 1),
    },
    body(_, gpu, env) {
      return {
        u: gpu.privateReal(env.capacity),
        z: gpu.privateReal(env.capacity),
        inverse: gpu.privateReal(env.inverse),
        lower: gpu.privateReal(env.factors),
        upper: gpu.privateReal(env.factors),
        x: gpu.privateReal(env.capacity),
        obstacle: gpu.privateReal(env.early),
        active: gpu.privateReal(env.policy),
        factor: gpu.privateReal(env.onTheWay),
        dormant: gpu.privateReal(env.dormant),
        rowLower: gpu.privateReal(env.rows),
        rowUpper: gpu.privateReal(env.rows),
        layers: gpu.privateReal(env.layers),
      };
    },
  });
}

/** The nodes and the payoff in closed form. */
const layClosed = (early: boolean, timeDependent: boolean) =>
  fn({
    name: "layClosed",
    params: atStart,
    env: { early, timeDependent, readClosedForm, nodeFromGrowth, guard: SUBNORMAL_GUARD },
    body({ launch, context, memory: { x, u, obstacle } }, gpu, env) {
      const { kink, width, meshStep, at, zeroAt, sign } = env.readClosedForm(context.table);
      const factor = Math.exp(meshStep);
      const inverseFactor = 1 / factor;
      let growth = 1.0; // e^{(i − at)·step}, evaluated again at every eighth node, lest rounding add up
      let decay = 1.0;
      for (let i = 0; i < launch.nodes; i++) {
        if ((i & 7) === 0) {
          growth = Math.exp((gpu.real(i) - at) * meshStep);
          decay = 1 / growth;
        }
        const node = env.nodeFromGrowth(i, kink, width, growth - decay, at, zeroAt);
        const payoff = Math.max(sign * (node - kink), 0);
        x[i] = node;
        u[i] = payoff + env.guard;
        if (env.early) obstacle[i] = env.timeDependent ? sign * node : payoff;
        growth = growth * factor;
        decay = decay * inverseFactor;
      }
    },
  });

/** The nodes and the payoff from the table. */
const layTable = (early: boolean) =>
  fn({
    name: "layTable",
    params: atStart,
    env: { early, guard: SUBNORMAL_GUARD, valueAt },
    body({ launch: { nodes, obstacleColumn }, context: { table }, memory: { x, u, obstacle } }, _gpu, env) {
      for (let i = 0; i < nodes; i++) {
        x[i] = env.valueAt(table, i);
        u[i] = env.valueAt(table, nodes + i) + env.guard;
        if (env.early) obstacle[i] = env.valueAt(table, obstacleColumn * nodes + i);
      }
    },
  });

/** Returns the function that sets the nodes, the terminal values, and the knock-outs and knock-ins at expiry. */
function begin(variant: SolverVariant) {
  const { exercise, shape, closed, barriers = 0, knockIns = 0 } = variant;
  const [early, timeDependent] = [exercise !== "none", exercise === "time-dependent"];
  return fn({
    name: "begin",
    params: atStart,
    env: {
      closed,
      closedReals: CLOSED_FORM_REALS,
      layClosed: layClosed(early, timeDependent),
      layTable: layTable(early),
      continuous: early && exercise !== "dates",
      policy: exercise === "policy",
      readSurface: readSurface(shape),
      hasKnockIns: knockIns > 0,
      applyDormantDate: applyDormantDate(barriers, knockIns),
      knockInReals: knockInReals(barriers, knockIns),
      hasBarriers: barriers > 0,
      applyBarrierDate: applyBarrierDate(itemPlan(variant)),
      readHeld: readHeld(barriers),
      barrierReals: barrierReals(barriers),
    },
    *body({ launch, context, memory }, _gpu, env) {
      const { nodes, pitch, obstacleColumn, firstExercised } = launch;
      const { instance, table, parameters: coefficients } = context;
      const { x, u, obstacle, active, dormant } = memory;
      if (env.closed) env.layClosed({ launch, context, memory });
      else env.layTable({ launch, context, memory });
      // A call's first node is exercised whatever the rate: its row would let it grow where the rate is negative.
      const isExercised =
        env.continuous && firstExercised && x[0] > x[1] && obstacle[0] > obstacle[1] && obstacle[1] > 0;
      if (env.policy) for (let i = 0; i < nodes; i++) active[i] = 0;
      const tail = (env.closed ? env.closedReals : (obstacleColumn + 1) * nodes) * pitch;
      const surface = env.readSurface(table, tail);
      let row = 0;
      if (env.hasKnockIns) {
        env.applyDormantDate(coefficients, row, u, dormant, nodes, true);
        row += env.knockInReals;
      }
      let live = { low: -1, high: nodes, lowHeld: -1, highHeld: -1 };
      let held = { lowValue: 0.0, highValue: 0.0 };
      if (env.hasBarriers) {
        live = env.applyBarrierDate({ launch, context, row, u, paid: obstacle });
        held = env.readHeld(coefficients, row);
        row += env.barrierReals;
      }
      return {
        row,
        rates: { hRate: 0.0, hFirst: 1.0, firstRate: 0.0 },
        exercise: { isExercised, next: env.closedReals * pitch + instance, slope: 1.0, kink: 0.0 },
        surface,
        live,
        held,
        dormantRow: 0,
      };
    },
  });
}

/** Returns the function that makes a series of equal time steps. */
function advance(variant: SolverVariant) {
  const { exercise, shape, barriers = 0, knockIns = 0, differentiated = false } = variant;
  const dates = exercise === "dates";
  const timeDependent = exercise === "time-dependent";
  return fn({
    name: "advance",
    params: atSeries,
    env: {
      hasBarriers: barriers > 0,
      hasKnockIns: knockIns > 0,
      timeDependent,
      differentiated,
      keepLayer,
      perStep: stepInputs(shape),
      layersPerStep: layersPerStep(exercise),
      layerOf: layerOf(variant),
      readReversedRow,
      holdEnds,
      policyStep: exercise === "policy" ? policyStep() : undefined,
      rowsStep,
      dormantStep: dormantStep(barriers, knockIns),
      projectedStep: projectedStep(exercise !== "none" && !dates, {
        weighted: dates,
        timeDependent,
        keeps: differentiated,
      }),
    },
    *body({ launch, context, memory, loopState, programRow }, _gpu, env) {
      const { nodes, pitch, table } = launch;
      const { u, z, inverse, lower, upper, obstacle, active, factor, dormant, layers } = memory;
      const { rates, live, held, dormantRow } = loopState;
      const { crankNicolson, alexander } = programRow;
      const rows = { a: lower, c: upper, nodes, hRate: rates.hRate };
      const factors = { inverse, lower, upper, start: programRow.start };
      let { next, slope, kink } = loopState.exercise;
      const { instance } = context;
      let layer = 0;
      let first = 0;
      let exercised = 0.0;
      if (env.differentiated) {
        const back = env.readReversedRow({ launch, index: programRow.index });
        layer = back.layer;
        first = (launch.flags[launch.programRows + 1] + back.step * env.perStep) * pitch + instance;
      }
      for (let k = 0; k < programRow.count; k++) {
        if (env.hasBarriers) env.holdEnds(u, nodes, live, held, rates.hRate);
        const kept = env.layerOf({ launch, layers, instance, layer });
        if (env.policyStep !== undefined) {
          env.policyStep({ u, z, rows, obstacle, active, factor, crankNicolson });
          if (env.differentiated) {
            env.keepLayer({ from: z, kept, nodes });
            const next = env.layerOf({ launch, layers, instance, layer: layer + 1 });
            env.keepLayer({ from: active, kept: next, nodes });
          }
        } else if (env.hasKnockIns) env.rowsStep({ v: u, z, rows, factor, low: -1, high: nodes, crankNicolson });
        else {
          if (env.timeDependent) {
            slope = table[next];
            kink = table[next + pitch];
            next += 2 * pitch;
          }
          exercised = env.projectedStep({
            u,
            z,
            factors,
            paid: { obstacle, slope, kink },
            nodes,
            extrapolated: crankNicolson || alexander,
            over: alexander ? Math.SQRT2 : 1.0,
            kept,
          });
        }
        if (env.differentiated) {
          layer += env.layersPerStep;
          launch.out[first + k * env.perStep * pitch] = exercised;
        }
        if (env.hasBarriers) env.holdEnds(u, nodes, live, held, 0.0);
        if (env.hasKnockIns)
          env.dormantStep({
            coefficients: context.parameters,
            row: dormantRow,
            v: dormant,
            u,
            z,
            rows,
            factor,
            crankNicolson,
          });
      }
      const { isExercised } = loopState.exercise;
      return {
        row: loopState.row,
        rates,
        exercise: { isExercised, next, slope, kink },
        surface: loopState.surface,
        live,
        held,
        dormantRow,
      };
    },
  });
}

/**
 * Returns the function that applies the events of a date backward in time: exercise, the dividend, then knock-ins and
 * knock-outs.
 */
function applyEvents(variant: SolverVariant) {
  const { dividends, barriers = 0, knockIns = 0, differentiated = false } = variant;
  const plan = itemPlan(variant);
  return fn({
    name: "applyEvents",
    params: atSeries,
    env: {
      ...FLAGS,
      dates: plan.dates,
      exerciseOnDate,
      exerciseByHalves,
      dividends,
      applyDividend: applyDividend(plan),
      hasKnockIns: knockIns > 0,
      applyDormantDate: applyDormantDate(barriers, knockIns),
      knockInReals: knockInReals(barriers, knockIns),
      hasBarriers: plan.hasBarriers,
      applyBarrierDate: applyBarrierDate(plan),
      readHeld: readHeld(barriers),
      barrierReals: barrierReals(barriers),
      policy: plan.policy,
      differentiated,
      layersPerStep: layersPerStep(variant.exercise),
      keepLayer,
      layerOf: layerOf(variant),
      readReversedRow,
      valueAt,
    },
    *body({ launch, context, memory, loopState, programRow: { index, flag, count } }, _gpu, env) {
      const { nodes, obstacleColumn } = launch;
      const { table, parameters: coefficients } = context;
      const { x, u, z, obstacle: paid, dormant, factor: scratch, layers } = memory;
      let { row, live, held, dormantRow } = loopState;
      const { instance } = context;
      let layer = 0;
      if (env.differentiated) {
        layer = env.readReversedRow({ launch, index }).layer + count * env.layersPerStep;
        env.keepLayer({ from: u, kept: env.layerOf({ launch, layers, instance, layer }), nodes });
      }
      if (env.dates && (flag & env.EXERCISE) !== 0) {
        if (obstacleColumn === 1) env.exerciseOnDate(u, paid, z, nodes);
        else env.exerciseByHalves(u, table, 1, obstacleColumn, nodes);
      }
      if (env.dividends && (flag & env.DIVIDEND) !== 0) {
        const keep = env.valueAt(coefficients, row);
        const cash = env.valueAt(coefficients, row + 1);
        for (let i = 0; i < nodes; i++) z[i] = u[i];
        const of = { launch, context, x, values: z, u, paid, dormant, scratch, dormantRow, live, row, keep, cash };
        row = env.applyDividend(of);
      }
      if (env.hasKnockIns && (flag & env.BARRIERS) !== 0) {
        env.applyDormantDate(coefficients, row, u, dormant, nodes, false);
        dormantRow = row;
        row += env.knockInReals;
      }
      if (env.hasBarriers && (flag & env.BARRIERS) !== 0) {
        live = env.applyBarrierDate({ launch, context, row, u, paid });
        held = env.readHeld(coefficients, row);
        row += env.barrierReals;
        if (env.differentiated)
          env.keepLayer({ from: u, kept: env.layerOf({ launch, layers, instance, layer: layer + 1 }), nodes });
        if (env.policy) for (let i = 0; i < nodes; i++) u[i] = Math.max(u[i], paid[i]);
      }
      return {
        row,
        rates: loopState.rates,
        exercise: loopState.exercise,
        surface: loopState.surface,
        live,
        held,
        dormantRow,
      };
    },
  });
}

/**
 * Returns the function that writes the values of the six nodes about a spot, with the nodes themselves where the device
 * made the mesh, and the values at points; then, if wanted, the derivatives of the value at the spot.
 */
const readSolution = (variant: SolverVariant) =>
  fn({
    name: "readSolution",
    params: { ...atStart, loopState: LoopState },
    env: {
      readValues: readValues(itemPlan(variant)),
      reverse: variant.differentiated === true ? reverse(variant) : undefined,
    },
    *body({ launch, context, memory, loopState }, _gpu, { readValues, reverse }) {
      const { x, u, dormant } = memory;
      const { row, exercise } = loopState;
      readValues({ launch, context, x, u, dormant, row, slope: exercise.slope, kink: exercise.kink });
      if (reverse !== undefined) yield* reverse({ launch, context, memory, loopState });
    },
  });

/** Returns the functions of the time loop (`RollbackParts`) with which a single item solves an instance. */
export const itemParts = (variant: SolverVariant) => ({
  contextOf: contextOf(itemPlan(variant)),
  allocate: allocate(variant),
  begin: begin(variant),
  rowAt: stepSeriesAt(variant),
  factor: factor(variant),
  advance: advance(variant),
  applyEvents: applyEvents(variant),
  read: readSolution(variant),
});
