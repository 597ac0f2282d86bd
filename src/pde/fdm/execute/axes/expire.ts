import { NEVER_EXERCISED } from "../../conditions/dates.ts";
import { fn, i32, read, real } from "../../../../kernel/index.ts";
import { EquationState, valueAt } from "../../operator/state.ts";
import { type AxesVariant, slotsOf } from "../../operator/axes-variant.ts";
import { FAULT } from "../../operator/status.ts";
import { atNode, nodeCountsOf, eachNode, axisNumbers, valuesAt } from "./node.ts";
import {
  AXES_STATUS,
  AXES_STATUS_INTEGERS,
  AxesContext,
  EXPONENT_OFFSET,
  Findings,
  Launch,
  meshOffset,
  withFault,
  OFFSET_COUNT,
  SUMMARY,
  SUMMARY_INTEGERS,
} from "./context.ts";

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
 * Tells whether a function has a kink or a jump in a cell, by its second differences over the cell, half and a quarter
 * of it. Each is four times the next of a smooth function. With a kink this holds of one pair at most, wherever the
 * kink is. They are taken along the axes together, in all directions. `reach`: the distance from the cell's node to its
 * ends along each axis; 0 along those that the terminal values do not depend on.
 */
function hasKink(terminal: AxesVariant["terminal"], axes: number) {
  const each = axisNumbers(axes);
  const curvature = fn({
    name: "curvature",
    params: { state: EquationState, to: read(real), part: real, here: real },
    env: { terminal, axes, each },
    body({ state: { t, x, parameters }, to, part, here }, gpu, { terminal, axes, each }) {
      const up = gpu.privateReal(axes);
      const down = gpu.privateReal(axes);
      for (const k of each) {
        up[k] = x[k] + part * to[k];
        down[k] = x[k] - part * to[k];
      }
      return terminal({ t, x: up, parameters }) + terminal({ t, x: down, parameters }) - 2 * here;
    },
  });
  return fn({
    name: "hasKink",
    params: { state: EquationState, reach: read(real), here: real, directions: i32 },
    env: { curvature, axes, each },
    body({ state, reach, here, directions }, gpu, { curvature, axes, each }) {
      // A kink of less than rounding is none.
      const tolerance = (gpu.precision === "f32" ? 1e-5 : 1e-12) * Math.abs(here);
      const to = gpu.privateReal(axes);
      let found = false;
      for (let direction = 0; direction < directions; direction++) {
        // The diagonals of the cell: a bit for the sign on each axis but the first.
        for (const k of each) to[k] = ((2 * direction) & (1 << k)) === 0 ? reach[k] : -reach[k];
        const whole = curvature({ state, to, part: 1.0, here });
        const half = curvature({ state, to, part: 0.5, here });
        const quarter = curvature({ state, to, part: 0.25, here });
        found = found || Math.abs(whole - 4 * half) > 0.3 * Math.abs(whole) + tolerance;
        found = found || Math.abs(half - 4 * quarter) > 0.3 * Math.abs(half) + tolerance;
      }
      return found;
    },
  });
}

/** The mean of the terminal values over a cell, by the midpoint rule in `SAMPLES` parts of each of the `on` axes. */
function meanOver({ terminal, axes }: AxesVariant) {
  const samples = axes.map(({ averaged }, k) => ({ k, n: averaged ? SAMPLES[axes.length - 2] : 1 }));
  return fn({
    name: "meanOver",
    params: { state: EquationState, reach: read(real) },
    env: { terminal, axes: axes.length, samples, all: samples.reduce((product, { n }) => product * n, 1) },
    body({ state: { t, x, parameters }, reach }, gpu, { terminal, axes, samples, all }) {
      const y = gpu.privateReal(axes);
      let sum = 0.0;
      for (let sample = 0; sample < all; sample++) {
        let rest = sample;
        for (const { k, n } of samples) {
          y[k] = x[k] + reach[k] * ((2 * gpu.real(rest % n) + 1) / gpu.real(n) - 1);
          rest = (rest / n) | 0;
        }
        sum += terminal({ t, x: y, parameters });
      }
      return sum / gpu.real(all);
    },
  });
}

/** Returns the function that sets the terminal values, as means over cells where the payoff has a kink or a jump. */
export function setTerminalValues(variant: AxesVariant) {
  const { axes, terminal, obstacle, parameters } = variant;
  const slots = slotsOf(variant);
  const averaged = axes.filter((axis) => axis.averaged).length;
  const atEach = fn({
    name: "setTerminalValues",
    params: atNode,
    env: {
      terminal,
      averages: averaged > 0,
      directions: [1, 1, 2, 4][averaged],
      count: axes.length,
      axes: axes.map(({ averaged }, k) => ({ k, averaged, meshOffset: meshOffset(k) })),
      hasKink: hasKink(terminal, axes.length),
      meanOver: meanOver(variant),
      reachAt,
      dates: parameters,
      early: obstacle !== undefined,
      u: slots.u,
      obstacle: slots.obstacle,
      lambda: slots.lambda,
      badTerminal: FAULT.terminal,
      NEVER_EXERCISED,
      nodeCountsOf: nodeCountsOf(axes.length),
      valuesAt: valuesAt(axes.length),
      valueAt,
      withFault,
    },
    body({ launch, context, found, at: { index, isNode, number: node, k: to } }, gpu, env) {
      const { work, size, dates } = launch;
      const { mesh, parameters } = context;
      const t = env.valueAt(parameters, env.dates + dates - 1);
      const state = { t, x: env.valuesAt({ launch, mesh, index }), parameters };
      let value = env.terminal(state);
      if (env.averages) {
        const counts = env.nodeCountsOf(launch);
        const reach = gpu.privateReal(env.count);
        for (const { k, averaged, meshOffset } of env.axes) {
          reach[k] = 0.0;
          if (averaged) reach[k] = env.reachAt({ launch, at: meshOffset({ launch, mesh }), i: index[k], n: counts[k] });
        }
        if (env.hasKink({ state, reach, here: value, directions: env.directions }))
          value = env.meanOver({ state, reach });
      }
      work[env.u * size + to] = isNode ? value : 0.0;
      if (env.early) {
        work[env.lambda * size + to] = 0.0;
        work[env.obstacle * size + to] = env.NEVER_EXERCISED;
      }
      return env.withFault({ found, isBad: !Number.isFinite(value), fault: env.badTerminal, node, row: 0 });
    },
  });
  return eachNode(variant, atEach);
}

/**
 * Returns the function that writes the solution at the nodes to be read, marks the nodes at which immediate exercise is
 * optimal today, and computes a bound of the solution over all nodes.
 */
export function readSolution(variant: AxesVariant) {
  const slots = slotsOf(variant);
  const atEach = fn({
    name: "readSolution",
    params: atNode,
    env: {
      u: slots.u,
      obstacle: slots.obstacle,
      early: variant.obstacle !== undefined,
      badSolution: FAULT.solution,
      offset: EXPONENT_OFFSET,
      offsets: OFFSET_COUNT,
      axes: axisNumbers(variant.axes.length),
      extentsOf: extentsOf(variant.axes.length),
      withFault,
    },
    body({ launch, context: { instance }, found, at: { index, isNode, number, k } }, gpu, env) {
      const { work, out, m0, m1, m2, offsets, size } = launch;
      const nodes = m0 * m1 * m2;
      const results = env.early ? 2 * nodes : nodes;
      const extents = env.extentsOf(launch);
      let isIn = isNode;
      let to = 0;
      let step = 1;
      for (const axis of env.axes) {
        const own = index[axis] - offsets[env.offsets * instance + 1 + axis];
        isIn = isIn && own >= 0 && own < extents[axis];
        to += own * step;
        step *= extents[axis];
      }
      const value = work[env.u * size + k];
      if (isIn) {
        out[instance * results + to] = value;
        if (env.early) out[instance * results + nodes + to] = value <= work[env.obstacle * size + k] ? 1.0 : 0.0;
      }
      const isBad = isNode && !Number.isFinite(value);
      const { fault, node, row, growth } = env.withFault({
        found,
        isBad,
        fault: env.badSolution,
        node: number,
        row: found.row,
      });
      let { exponent } = found;
      if (isNode && !isBad && value !== 0) exponent = Math.max(exponent, gpu.exponent(value) + 1 + env.offset);
      return { fault, node, row, growth, exponent };
    },
  });
  return eachNode(variant, atEach);
}

/** Returns the function that computes the numbers of nodes of the window of each axis. */
const extentsOf = (axes: number) =>
  fn({
    name: "extentsOf",
    params: [Launch],
    env: { axes },
    body([{ m0, m1, m2 }], gpu, { axes }) {
      const extents = gpu.privateI32(axes);
      extents[0] = m0;
      extents[1] = m1;
      if (axes > 2) extents[2] = m2;
      return extents;
    },
  });

/**
 * Returns the function that writes the findings of a work item into its status. Of several faults only the first is
 * kept.
 */
export const writeStatus = ({ groupSize }: AxesVariant) =>
  fn({
    name: "writeStatus",
    params: { launch: Launch, context: AxesContext, found: Findings },
    env: {
      ...AXES_STATUS,
      words: AXES_STATUS_INTEGERS,
      group: groupSize,
      ...SUMMARY,
      summaryIntegers: SUMMARY_INTEGERS,
    },
    body(
      { launch: { status, summary }, context: { item, instance }, found: { fault, node, row, growth, exponent } },
      gpu,
      env,
    ) {
      const at = (gpu.groupId() * env.group + item) * env.words;
      if (fault !== 0 && status[at + env.fault] === 0) {
        status[at + env.fault] = fault;
        status[at + env.node] = node;
        status[at + env.row] = row;
      }
      if (growth !== 0) status[at + env.growth] = 1;
      const endless = gpu.endlessLoop();
      if (endless !== 0) status[at + env.endless] = endless;
      if (fault !== 0 || growth !== 0 || endless !== 0)
        gpu.atomicMax(summary, env.summaryIntegers * instance + env.found, 1);
      if (exponent !== 0) gpu.atomicMax(summary, env.summaryIntegers * instance + env.exponent, exponent);
    },
  });
