import { fn, i32, kernel, type Kernel, read, real, write } from "../../../kernel/index.ts";
import { memoize } from "../../../base/memoize.ts";
import { Column, valueAt } from "../../fdm/index.ts";
import { EVENT_REALS, HEADER_REALS, Memory, SERIES_REALS } from "./records.ts";
import { prepareRows, type LocalCoefficients, stepCash, stepValue } from "./step.ts";
import { exerciseAll, setStatus } from "./terms.ts";

/** The properties of a bond that the code of the rollback kernel depends on. */
interface RollbackVariant extends LocalCoefficients {
  /**
   * True where a cash-only part is solved as well, because cash is discounted with a spread (Tsiveriotis & Fernandes).
   */
  readonly split: boolean;
  /** The largest number of nodes of an instance. */
  readonly capacity: number;
}

/** The parameters of the rollback kernel. */
const rollbackParams = {
  instances: i32,
  pitch: i32,
  nodes: i32,
  /** Time steps of an instance, at most, and those that one of level 0 is divided into. */
  steps: i32,
  parts: i32,
  mesh: read(real),
  program: read(real),
  local: read(real),
  out: write(real),
};

/** V(S) ← V(S·keep − cash), and B likewise, by cubics through four nodes on one side of a kink. */
const payDividend = fn({
  name: "payDividend",
  params: { memory: Memory, nodes: i32, keep: real, cash: real, kink: real },
  body({ memory: { s, v, b, upper, rhs }, nodes, keep, cash, kink }) {
    // The last node at the kink or before it, where three more are on either side.
    let edge = 0;
    while (edge < nodes - 1 && s[edge + 1] <= kink * (1 + 1e-12)) edge++;
    const hasKink = edge > 3 && edge < nodes - 5;
    const isOnNode = s[edge] >= kink * (1 - 1e-12);
    let cell = 1;
    for (let i = 0; i < nodes; i++) {
      const x = Math.max(s[i] * keep - cash, s[0]);
      while (cell < nodes - 3 && s[cell + 1] <= x) cell++;
      const isBelow = x < kink;
      const highest = isBelow ? edge - 2 : nodes - 3;
      const lowest = isBelow ? 1 : isOnNode ? edge + 1 : edge + 2;
      const at = hasKink ? Math.min(Math.max(cell, lowest), highest) : cell;
      const x0 = s[at - 1];
      const x1 = s[at];
      const x2 = s[at + 1];
      const x3 = s[at + 2];
      const w0 = ((x - x1) * (x - x2) * (x - x3)) / ((x0 - x1) * (x0 - x2) * (x0 - x3));
      const w1 = ((x - x0) * (x - x2) * (x - x3)) / ((x1 - x0) * (x1 - x2) * (x1 - x3));
      const w2 = ((x - x0) * (x - x1) * (x - x3)) / ((x2 - x0) * (x2 - x1) * (x2 - x3));
      const w3 = ((x - x0) * (x - x1) * (x - x2)) / ((x3 - x0) * (x3 - x1) * (x3 - x2));
      upper[i] = w0 * v[at - 1] + w1 * v[at] + w2 * v[at + 1] + w3 * v[at + 2];
      rhs[i] = w0 * b[at - 1] + w1 * b[at] + w2 * b[at + 1] + w3 * b[at + 2];
    }
    for (let i = 0; i < nodes; i++) {
      v[i] = upper[i];
      b[i] = rhs[i];
    }
  },
});

/** The events of a date, backwards: a dividend, exercise on that date, the coupon, then continuous exercise. */
const applyEvent = fn({
  name: "applyEvent",
  params: { program: Column, row: i32, memory: Memory, nodes: i32, calledCash: real, kink: real },
  env: { valueAt, exerciseAll, setStatus, payDividend },
  body({ program, row, memory, nodes, calledCash, kink }, _gpu, env) {
    const { v, b } = memory;
    const keep = env.valueAt(program, row);
    const cash = env.valueAt(program, row + 1);
    const coupon = env.valueAt(program, row + 2);
    if (keep < 1 || cash > 0) env.payDividend({ memory, nodes, keep, cash, kink });
    const dated = {
      call: env.valueAt(program, row + 3),
      trigger: env.valueAt(program, row + 4),
      put: env.valueAt(program, row + 5),
      ratio: env.valueAt(program, row + 6),
    };
    env.exerciseAll({ memory, nodes, terms: dated, calledCash, whole: 0.0 });
    for (let i = 0; i < nodes; i++) {
      v[i] += coupon;
      b[i] += coupon;
    }
    const before = {
      call: env.valueAt(program, row + 7),
      trigger: env.valueAt(program, row + 8),
      put: env.valueAt(program, row + 9),
      ratio: env.valueAt(program, row + 10),
    };
    env.exerciseAll({ memory, nodes, terms: before, calledCash, whole: 1.0 });
    env.setStatus({ memory, nodes, terms: before });
  },
});

/**
 * Returns the kernel of the values of convertible bonds, which goes backward in time on a mesh of spots, with one work
 * item for each instance:
 *
 *   V_t + ½σ²S²V_SS + (r − q + pη)S V_S − (r + p)V − s·B + p·max(R, k(1 − η)S) = 0
 *   B_t + ½σ²S²B_SS + (r − q)S B_S − (r + s)B = 0
 *
 * Either there is a spread s, with the cash-only part B (Tsiveriotis & Fernandes 1998), or a hazard rate p, with the
 * jump η and the recovery R (Ayache, Forsyth & Vetzal 2003). Time steps are BDF2 with variable steps, which restarts at
 * each event with one implicit Euler step. Exercise at all times is part of `stepValue`; on dates it is
 * `applyExchange`.
 *
 * Layout: value i of instance l is at [i·pitch + l].
 *   mesh      the nodes; with a local hazard rate its factors at the nodes after them
 *   program   the number of time steps on level 0, the share of the call price that is cash, η, R, k(1 − η); the event
 *             at maturity; then each series of equal time steps: their number on level 0, Δt there, its ratio to the
 *             step before (0 at a restart), σ² (1 with a local volatility), r − q, r, s or p; call, trigger, put and
 *             ratio at its end; the interest that accrues in a year; and 1 if an event follows. An event has: keep and
 *             cash of a dividend, coupon, call on the date, trigger, put, ratio; then the four of continuous exercise
 *             just before
 *   local     with a local volatility, σ² at the nodes for each step
 *   out       V at the nodes, B at the nodes, and the number of policy iterations that did not converge
 */
export const rollbackKernel = memoize((variant: RollbackVariant): Kernel<typeof rollbackParams> => {
  const { split, capacity, localVolatility, localHazard } = variant;
  return kernel({
    name: `convertible-${split ? "split" : "whole"}-${localVolatility}-${localHazard}-${capacity}`,
    params: rollbackParams,
    env: {
      split,
      localVolatility,
      localHazard,
      capacity,
      cashCapacity: split ? capacity : 1,
      varianceCapacity: localVolatility ? capacity : 1,
      hazardCapacity: localHazard ? capacity : 1,
      HEADER_REALS,
      SERIES_REALS,
      EVENT_REALS,
      valueAt,
      applyEvent,
      prepareRows: prepareRows(variant),
      stepValue: stepValue(variant),
      stepCash: stepCash(variant),
    },
    body({ instances, pitch, nodes, steps, parts, mesh, program: words, local, out }, gpu, env) {
      const instance = gpu.globalId();
      if (instance >= instances) return;
      const program = { values: words, pitch, instance };
      const memory = {
        s: gpu.privateReal(env.capacity),
        low: gpu.privateReal(env.capacity),
        diagonal: gpu.privateReal(env.capacity),
        high: gpu.privateReal(env.capacity),
        recovered: gpu.privateReal(env.capacity),
        v: gpu.privateReal(env.capacity),
        vBefore: gpu.privateReal(env.capacity),
        vNext: gpu.privateReal(env.capacity),
        b: gpu.privateReal(env.capacity),
        bBefore: gpu.privateReal(env.capacity),
        right: gpu.privateReal(env.capacity),
        upper: gpu.privateReal(env.capacity),
        rhs: gpu.privateReal(env.capacity),
        varianceFactor: gpu.privateReal(env.varianceCapacity),
        hazardFactor: gpu.privateReal(env.hazardCapacity),
        status: gpu.privateReal(env.capacity),
      };
      const { s, v, vBefore, vNext, b, bBefore, varianceFactor, hazardFactor } = memory;
      for (let i = 0; i < nodes; i++) {
        s[i] = mesh[i * pitch + instance];
        if (env.localHazard) hazardFactor[i] = mesh[(nodes + i) * pitch + instance];
        v[i] = 0.0;
        b[i] = 0.0;
        vBefore[i] = 0.0;
        bBefore[i] = 0.0;
      }
      const own = env.valueAt(program, 0) * gpu.real(parts);
      const calledCash = env.valueAt(program, 1);
      const jump = env.valueAt(program, 2);
      const recovery = env.valueAt(program, 3);
      const ratioAtDefault = env.valueAt(program, 4);
      let row = env.HEADER_REALS;
      env.applyEvent({ program, row, memory, nodes, calledCash, kink: 0.0 });
      row += env.EVENT_REALS;
      let failures = 0;
      let left = 0.0;
      let elapsed = 0.0;
      for (let k = 0; k < steps; k++) {
        if (gpu.real(k) < own) {
          const isNewRun = left === 0;
          if (isNewRun) left = env.valueAt(program, row) * gpu.real(parts);
          const dt = env.valueAt(program, row + 1) / gpu.real(parts);
          const omega = isNewRun ? env.valueAt(program, row + 2) : 1.0;
          const isStart = omega === 0;
          if (isNewRun) elapsed = 0.0;
          elapsed += dt;
          left -= 1;
          if (env.localVolatility)
            for (let i = 0; i < nodes; i++) varianceFactor[i] = local[(k * nodes + i) * pitch + instance];
          const credit = dt * env.valueAt(program, row + 6);
          const step = {
            nodes,
            alpha0: isStart ? 1.0 : (1 + 2 * omega) / (1 + omega),
            alpha1: 1 + omega,
            alpha2: isStart ? 0.0 : (-omega * omega) / (1 + omega),
            variance: dt * env.valueAt(program, row + 3),
            drift: dt * env.valueAt(program, row + 4),
            discount: dt * env.valueAt(program, row + 5),
            spread: env.split ? credit : 0.0,
            hazard: env.split ? 0.0 : credit,
            jump,
            recovery,
            ratioAtDefault,
          };
          const accrued = elapsed * env.valueAt(program, row + 11);
          const terms = {
            call: env.valueAt(program, row + 7) - accrued,
            trigger: env.valueAt(program, row + 8),
            put: env.valueAt(program, row + 9) - accrued,
            ratio: env.valueAt(program, row + 10),
          };
          if (isNewRun || env.localVolatility) env.prepareRows({ memory, step });
          if (env.stepValue({ memory, step, terms }) > 0) failures++;
          if (env.split) env.stepCash({ memory, step, terms, calledCash });
          for (let i = 0; i < nodes; i++) {
            vBefore[i] = v[i];
            v[i] = vNext[i];
          }
          if (left === 0) {
            const hasEvent = env.valueAt(program, row + 12) > 0;
            row += env.SERIES_REALS;
            if (hasEvent) {
              const forced = terms.ratio > 0 ? terms.call / terms.ratio : 0.0;
              const kink = Math.max(terms.trigger, forced);
              env.applyEvent({ program, row, memory, nodes, calledCash, kink });
              row += env.EVENT_REALS;
            }
          }
        }
      }
      for (let i = 0; i < nodes; i++) {
        out[i * pitch + instance] = v[i];
        out[(nodes + i) * pitch + instance] = b[i];
      }
      out[2 * nodes * pitch + instance] = gpu.real(failures);
    },
  });
});
