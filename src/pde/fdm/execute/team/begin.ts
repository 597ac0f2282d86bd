import { NEVER_EXERCISED } from "../../conditions/dates.ts";
import { fn, i32, read, real, write } from "../../../../kernel/index.ts";
import { Column, valueAt } from "../../operator/state.ts";
import {
  CLOSED_FORM_REALS,
  closedFormNode,
  coefficientReals,
  readClosedForm,
  readCoefficients,
  readSurface,
} from "../../operator/coefficients.ts";
import { rowWeight } from "../../operator/matrix.ts";
import { itemIndex, type Team } from "./team.ts";
import { barrierReals, CROSSING_REALS } from "../../conditions/barrier.ts";
import { applyBarrierDate } from "../option/values.ts";
import type { TeamPlan } from "../option/plan.ts";
import { computeRowMetrics, writeHeldValues } from "./rows.ts";
import { atStart, LoopState } from "./records.ts";
import { FAR } from "./scan.ts";
import { FLAGS } from "../../time/time-grid.ts";

/**
 * Returns the function that writes the prices of an instance's nodes into workgroup memory. They come from the table or
 * from the closed form of the mesh, and the items share the work. A barrier must follow.
 */
export function writeNodes(team: Team, closed: boolean) {
  return fn({
    name: "writeNodes",
    params: [write(real), Column, i32],
    env: { items: team.items, itemIndex: itemIndex(team), closed, closedFormNode, readClosedForm, valueAt },
    body([x, table, nodes], _gpu, { items, itemIndex, closed, closedFormNode, readClosedForm, valueAt }) {
      const { item } = itemIndex();
      if (closed) {
        const { kink, width, meshStep, at, zeroAt } = readClosedForm(table);
        // Two at a time, for one exponential waits for the other.
        for (let i = item; i < nodes; i += 2 * items) {
          const here = closedFormNode(i, kink, width, meshStep, at, zeroAt);
          const further = closedFormNode(i + items, kink, width, meshStep, at, zeroAt);
          x[i] = here;
          if (i + items < nodes) x[i + items] = further;
        }
      } else for (let i = item; i < nodes; i += items) x[i] = valueAt(table, i);
    },
  });
}

/**
 * Returns the function that writes the mesh weight of each row (`rowWeight`) into workgroup memory. A barrier must
 * follow.
 */
export function writeWeights(team: Team) {
  return fn({
    name: "writeWeights",
    params: [read(real), write(real), i32],
    env: { items: team.items, itemIndex: itemIndex(team), rowWeight },
    body([x, weights, nodes], _gpu, { items, itemIndex, rowWeight }) {
      const { item } = itemIndex();
      for (let i = item; i < nodes; i += items) {
        const hDown = x[i] - x[Math.max(i - 1, 0)];
        const hUp = x[Math.min(i + 1, nodes - 1)] - x[i];
        weights[i] = rowWeight(hDown, hUp, i === 0, i === nodes - 1);
      }
    },
  });
}

/**
 * The number of coefficients of each instance that are read before the time loop if one factorisation serves several
 * steps. They are the coefficients of twelve factorisations, each of which would otherwise have to wait for memory.
 */
export const PREFETCHED_REALS = 48;

/**
 * Returns the function that copies an instance's first coefficients into workgroup memory, with the work divided among
 * the items. A barrier must follow.
 */
function prefetchCoefficients(team: Team) {
  return fn({
    name: "prefetchCoefficients",
    params: [write(real), Column],
    env: { items: team.items, itemIndex: itemIndex(team), words: PREFETCHED_REALS },
    body([ahead, { values, pitch, instance }], _gpu, { items, itemIndex, words }) {
      const { item } = itemIndex();
      for (let k = item; k < words; k += items) ahead[k] = values[Math.min(k * pitch + instance, values.length - 1)];
    },
  });
}

/**
 * Returns the function that reads the coefficients of a factorisation from workgroup memory; those of later
 * factorisations are read from device memory.
 */
function coefficientsAhead(formula: boolean) {
  return fn({
    name: "coefficientsAhead",
    params: [write(real), Column, i32],
    env: { words: PREFETCHED_REALS, own: coefficientReals(formula), readCoefficients: readCoefficients(formula) },
    body([ahead, coefficients, row], _gpu, { words, own, readCoefficients }) {
      if (row + own <= words) return readCoefficients({ values: ahead, pitch: 1, instance: 0 }, row);
      return readCoefficients(coefficients, row);
    },
  });
}

/** The payoff on a segment in closed form, into u and `paid`; returns what is paid before the segment and after it. */
const expireClosed = ({ rows, timeDependent, held, summed }: TeamPlan) =>
  fn({
    name: "expireClosed",
    params: atStart,
    env: { rows, timeDependent, isSummed: held && summed, readClosedForm, NEVER_EXERCISED },
    body({ launch: { nodes }, context: { table, first }, memory: { mesh, state, paid } }, gpu, env) {
      const { x } = mesh;
      const { u } = state;
      const { kink, sign } = env.readClosedForm(table);
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

/** The payoff on a segment from the table, where V(S, T) may have a column of its own. */
const expireTable = ({ rows, early, held, summed }: TeamPlan) =>
  fn({
    name: "expireTable",
    params: atStart,
    env: { rows, early, isSummed: held && summed, valueAt },
    body({ launch, context: { table, first }, memory: { state, paid } }, gpu, env) {
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
  const { team, rows, reusesFactors, policy, hasBarriers, metrics, held, summed, variant } = plan;
  const { shape, closed, barriers = 0 } = variant;
  return fn({
    name: "begin",
    params: atStart,
    env: {
      rows,
      reusesFactors,
      policy,
      metrics,
      hasBarriers,
      isSummed: held && summed,
      closed,
      closedReals: CLOSED_FORM_REALS,
      FAR,
      writeNodes: writeNodes(team, closed),
      writeWeights: writeWeights(team),
      computeRowMetrics: computeRowMetrics(plan),
      prefetchCoefficients: prefetchCoefficients(team),
      expireClosed: expireClosed(plan),
      expireTable: expireTable(plan),
      readSurface: readSurface(shape),
      applyBarrierDate: applyBarrierDate(plan),
      writeHeldValues: writeHeldValues(barriers, rows),
      barrierReals: barrierReals(barriers),
      readCoefficients: readCoefficients(shape === "formula"),
    },
    *body({ launch, context, memory }, gpu, env) {
      const { pitch, nodes, programRows, obstacleColumn, firstExercised, flags } = launch;
      const { instance, table, parameters: coefficients, first } = context;
      const { mesh, ahead, state, scans, paid, active } = memory;
      const { x } = mesh;
      const { u } = state;
      env.writeNodes(x, table, nodes);
      if (env.reusesFactors) env.prefetchCoefficients(ahead, coefficients);
      yield;
      let before = 0.0;
      let after = 0.0;
      if (env.closed) {
        const beside = env.expireClosed({ launch, context, memory });
        before = beside.before;
        after = beside.after;
      } else {
        const beside = env.expireTable({ launch, context, memory });
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
        yield* env.computeRowMetrics(mesh, launch, context);
      } else env.writeWeights(x, mesh.values, nodes);
      if (gpu.localId() === 0) gpu.atomicStore(scans.counter, 0, 0);
      yield;
      const tail = (env.closed ? env.closedReals : (obstacleColumn + 1) * nodes) * pitch;
      const slice = env.readSurface(table, tail);
      let live = { low: -1, high: env.rows, lowHeld: -1, highHeld: -1 };
      if (env.hasBarriers) {
        live = env.applyBarrierDate({ launch, context, row: 0, u, paid });
        env.writeHeldValues(coefficients, 0, live, u);
      }
      let next = { h: 0.0, hVariance: 0.0, hDrift: 0.0, hRate: 0.0, time: 0.0, shift: 0.0 };
      if (!env.reusesFactors) next = env.readCoefficients(coefficients, env.barrierReals);
      return {
        row: env.barrierReals,
        next: { flag: flags[0], flagAfter: programRows > 1 ? flags[1] : 0, coefficients: next },
        factored: { hRate: 0.0, hLast: 1.0, signOfFirst: 1.0, needed: env.FAR, reach: 0 },
        slice,
        live,
        obstacle: { paid, before, after, isFirstExercised },
        moves: env.closedReals * pitch + instance,
      };
    },
  });
}

/**
 * Returns the function that decodes an integer of the time program into a series of equal steps, and reads the
 * coefficients of its factorisation. The integers are read two series ahead, because the preparation of the next series
 * depends on its integer. Where every step has its own factorisation, coefficients are read one step ahead.
 */
export function stepSeriesAt({ reusesFactors, eventful, hasBarriers, variant }: TeamPlan) {
  const { shape, dividends, barriers = 0 } = variant;
  return fn({
    name: "stepSeriesAt",
    params: { ...atStart, loopState: LoopState, index: i32 },
    env: {
      ...FLAGS,
      reusesFactors,
      hasEvents: eventful || dividends,
      hasBarriers,
      barrierReals: barrierReals(barriers),
      crossReals: CROSSING_REALS * barriers,
      coefficientReals: coefficientReals(shape === "formula"),
      readCoefficients: readCoefficients(shape === "formula"),
      coefficientsAhead: coefficientsAhead(shape === "formula"),
    },
    body({ launch: { programRows, flags }, context, memory, loopState, index }, _gpu, env) {
      const { flag, flagAfter: nextFlag } = loopState.next;
      const flagAfter = index + 2 < programRows ? flags[index + 2] : 0;
      const refactor = (flag & env.REFACTOR) !== 0;
      let { coefficients } = loopState.next;
      if (env.reusesFactors && refactor)
        coefficients = env.coefficientsAhead(memory.ahead, context.parameters, loopState.row);
      let row = loopState.row;
      if (refactor) row += env.coefficientReals;
      let ahead = loopState.next.coefficients;
      if (!env.reusesFactors && (nextFlag & env.REFACTOR) !== 0) {
        const paid = (flag & env.DIVIDEND) === 0 ? 0 : 2 + env.crossReals;
        const settled = env.hasBarriers && (flag & env.BARRIERS) !== 0 ? env.barrierReals : 0;
        ahead = env.readCoefficients(context.parameters, row + paid + settled);
      }
      // Each event asks for itself: a branch around them all costs registers (sm_90: up to 60 bytes are spilled more).
      const next = { flag: nextFlag, flagAfter, coefficients: ahead };
      return { index, flag, refactor, event: env.hasEvents, row, next, coefficients };
    },
  });
}
