import { fn } from "../../../../kernel/index.ts";
import { type AxesVariant, slotsOf } from "../../operator/axes-variant.ts";
import { FAULT } from "../../operator/status.ts";
import { atNode, eachNode, eachOf } from "./node.ts";
import {
  AXES_STATUS,
  AXES_STATUS_WORDS,
  AxesPlace,
  EXPONENT_OFFSET,
  Fault,
  Launch,
  noted,
  PLACES,
  SUMMARY,
  SUMMARY_WORDS,
} from "./records.ts";

/**
 * Returns the function that writes the solution at the nodes to be read, marks those where immediate exercise is
 * optimal today, and bounds the solution at all nodes.
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
      places: PLACES,
      axes: eachOf(variant.axes.length),
      extentsOf: extentsOf(variant.axes.length),
      noted,
    },
    body({ launch, place: { instance }, found, at: { index, isNode, number, k } }, gpu, env) {
      const { work, out, m0, m1, m2, places, size } = launch;
      const nodes = m0 * m1 * m2;
      const results = env.early ? 2 * nodes : nodes;
      const extents = env.extentsOf(launch);
      let isIn = isNode;
      let to = 0;
      let step = 1;
      for (const axis of env.axes) {
        const own = index[axis] - places[env.places * instance + 1 + axis];
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
      const { fault, node, row, growth } = env.noted({
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

/** Returns the function for the numbers of nodes of the window of each axis. */
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
 * Returns the function that writes what a work item has found into its status; of several faults only the first is
 * kept.
 */
export const report = ({ groupSize }: AxesVariant) =>
  fn({
    name: "report",
    params: { launch: Launch, place: AxesPlace, found: Fault },
    env: { ...AXES_STATUS, words: AXES_STATUS_WORDS, group: groupSize, ...SUMMARY, summaryWords: SUMMARY_WORDS },
    body(
      { launch: { status, summary }, place: { item, instance }, found: { fault, node, row, growth, exponent } },
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
        gpu.atomicMax(summary, env.summaryWords * instance + env.found, 1);
      if (exponent !== 0) gpu.atomicMax(summary, env.summaryWords * instance + env.exponent, exponent);
    },
  });
