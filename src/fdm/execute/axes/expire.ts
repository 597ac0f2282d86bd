import { fn, i32, real, record } from "../../../kernel/index.ts";
import { valueAt } from "../../operator/column.ts";
import { type AxesVariant, slotsOf } from "../../operator/axes-variant.ts";
import { AxesState } from "../../operator/state.ts";
import { FAULT } from "../../operator/status.ts";
import { NEVER_EXERCISED } from "../../conditions/barrier.ts";
import { nodeAt, valuesAt } from "./factor.ts";
import { meshOf, nodeIn, roundsOf, shapeOf } from "./place.ts";
import { inPhase, Launch } from "./records.ts";

/** Samples along an axis of a mean over a cell, on two axes and on three: all of them are a function's value each. */
const SAMPLES = [8, 5];

/** Half of the narrower of the two cells' halves beside node i of n, in the axis' values; 0 at the ends. */
const reachAt = fn({
  name: "reachAt",
  params: { launch: Launch, at: i32, i: i32, n: i32 },
  body({ launch: { table }, at, i, n }) {
    const here = table[at + i];
    const below = here - table[at + Math.max(i - 1, 0)];
    const above = table[at + Math.min(i + 1, n - 1)] - here;
    return 0.25 * (below + above) * (i > 0 && i < n - 1 ? 1.0 : 0.0);
  },
});

/**
 * The distance from a cell's node to its ends along each axis; 0 along those that the terminal values do not depend on.
 */
const Reach = record({ w0: real, w1: real, w2: real });

/**
 * Tells whether a function has a kink or a jump in a cell, by its second differences over the cell, half and a quarter
 * of it. Each is four times the next of a smooth function. With a kink this holds of one pair at most, wherever the
 * kink is. They are taken along the axes together, in all directions.
 */
function hasKink(terminal: AxesVariant["terminal"]) {
  const curvature = fn({
    name: "curvature",
    params: { state: AxesState, s0: real, s1: real, s2: real, here: real },
    env: { terminal },
    body({ state: { t, x0, x1, x2, parameters }, s0, s1, s2, here }, _gpu, { terminal }) {
      const up = terminal({ t, x0: x0 + s0, x1: x1 + s1, x2: x2 + s2, parameters });
      const down = terminal({ t, x0: x0 - s0, x1: x1 - s1, x2: x2 - s2, parameters });
      return up + down - 2 * here;
    },
  });
  return fn({
    name: "hasKink",
    params: { state: AxesState, reach: Reach, here: real, count: i32 },
    env: { curvature },
    body({ state, reach: { w0, w1, w2 }, here, count }, gpu, { curvature }) {
      // A kink of less than rounding is none.
      const tolerance = (gpu.precision === "f32" ? 1e-5 : 1e-12) * Math.abs(here);
      let found = false;
      for (let k = 0; k < count; k++) {
        // Signs 1, −1 of the second and third axis: the diagonals of the cell.
        const s1 = (k & 1) === 0 ? w1 : -w1;
        const s2 = (k & 2) === 0 ? w2 : -w2;
        const whole = curvature({ state, s0: w0, s1, s2, here });
        const half = curvature({ state, s0: 0.5 * w0, s1: 0.5 * s1, s2: 0.5 * s2, here });
        const quarter = curvature({ state, s0: 0.25 * w0, s1: 0.25 * s1, s2: 0.25 * s2, here });
        found = found || Math.abs(whole - 4 * half) > 0.3 * Math.abs(whole) + tolerance;
        found = found || Math.abs(half - 4 * quarter) > 0.3 * Math.abs(half) + tolerance;
      }
      return found;
    },
  });
}

/** The mean of the terminal values over a cell, by the midpoint rule in `SAMPLES` parts of each of the `on` axes. */
function meanOver({ terminal, axes }: AxesVariant) {
  const samples = (axis: number): number => (axes[axis]?.averaged ? SAMPLES[axes.length - 2] : 1);
  return fn({
    name: "meanOver",
    params: { state: AxesState, reach: Reach },
    env: { terminal, n0: samples(0), n1: samples(1), n2: samples(2) },
    body({ state: { t, x0, x1, x2, parameters }, reach: { w0, w1, w2 } }, gpu, { terminal, n0, n1, n2 }) {
      let sum = 0.0;
      for (let k = 0; k < n0 * n1 * n2; k++) {
        const k0 = k % n0;
        const k1 = ((k / n0) | 0) % n1;
        const k2 = (k / (n0 * n1)) | 0;
        sum += terminal({
          t,
          x0: x0 + w0 * ((2 * gpu.real(k0) + 1) / gpu.real(n0) - 1),
          x1: x1 + w1 * ((2 * gpu.real(k1) + 1) / gpu.real(n1) - 1),
          x2: x2 + w2 * ((2 * gpu.real(k2) + 1) / gpu.real(n2) - 1),
          parameters,
        });
      }
      return sum / gpu.real(n0 * n1 * n2);
    },
  });
}

/** The values at expiry, means over cells where they have a kink or a jump. */
export function expire(variant: AxesVariant) {
  const { axes, terminal, obstacle, parameters } = variant;
  const slots = slotsOf(variant);
  const averaged = axes.filter((axis) => axis.averaged).length;
  return fn({
    name: "expire",
    params: inPhase,
    env: {
      terminal,
      averages: averaged > 0,
      directions: [1, 1, 2, 4][averaged],
      on0: axes[0].averaged,
      on1: axes[1].averaged,
      on2: axes[2]?.averaged ?? false,
      hasKink: hasKink(terminal),
      meanOver: meanOver(variant),
      reachAt,
      dates: parameters,
      early: obstacle !== undefined,
      u: slots.u,
      obstacle: slots.obstacle,
      lambda: slots.lambda,
      badTerminal: FAULT.terminal,
      NEVER_EXERCISED,
      nodeAt,
      valuesAt: valuesAt(axes.length),
      nodeIn: nodeIn(variant),
      rounds: roundsOf(variant),
      mesh1: meshOf(1),
      mesh2: meshOf(2),
      shapeOf,
      valueAt,
    },
    *body({ launch, place, found }, _gpu, env) {
      const { work, n0, n1, n2, stride, size, dates } = launch;
      const { item, base, mesh, parameters, firstRound, everyRound } = place;
      const shape = env.shapeOf(launch);
      let { fault, node } = found;
      {
        const t = env.valueAt(parameters, env.dates + dates - 1);
        const rounds = env.rounds(size);
        for (let r = firstRound; r < rounds; r += everyRound) {
          const { line, first, lane, inside } = env.nodeIn(r, item, stride, size);
          if (inside) {
            const { i0, i1, i2, isNode } = env.nodeAt({ line, lane, shape });
            const { x0, x1, x2 } = env.valuesAt({ launch, mesh, shape, node: { i0, i1, i2 } });
            const state = { t, x0, x1, x2, parameters };
            let value = env.terminal(state);
            if (env.averages) {
              let w0 = 0.0;
              let w1 = 0.0;
              let w2 = 0.0;
              if (env.on0) w0 = env.reachAt({ launch, at: mesh, i: i0, n: n0 });
              if (env.on1) w1 = env.reachAt({ launch, at: env.mesh1({ mesh, shape }), i: i1, n: n1 });
              if (env.on2) w2 = env.reachAt({ launch, at: env.mesh2({ mesh, shape }), i: i2, n: n2 });
              const reach = { w0, w1, w2 };
              if (env.hasKink({ state, reach, here: value, count: env.directions }))
                value = env.meanOver({ state, reach });
            }
            if (!Number.isFinite(value) && fault === 0) {
              fault = env.badTerminal;
              node = (i2 * n1 + i1) * n0 + i0;
            }
            const k = base + first + lane;
            work[env.u * size + k] = isNode ? value : 0.0;
            if (env.early) {
              work[env.lambda * size + k] = 0.0;
              work[env.obstacle * size + k] = env.NEVER_EXERCISED;
            }
          }
        }
      }
      return { fault, node, row: 0, growth: 0 };
    },
  });
}
