import { fn } from "../../../kernel/index.ts";
import { type AxesVariant, slotsOf } from "../../operator/axes-variant.ts";
import { FAULT } from "../../operator/status.ts";
import { nodeAt } from "./factor.ts";
import { nodeIn, roundsOf, shapeOf } from "./place.ts";
import {
  AXES_STATUS,
  AXES_STATUS_WORDS,
  AxesPlace,
  EXPONENT_OFFSET,
  Fault,
  inPhase,
  Launch,
  PLACES,
  SUMMARY,
  SUMMARY_WORDS,
} from "./records.ts";

/**
 * Returns the function that stores the solution at the nodes of the window, marks those where immediate exercise is
 * optimal today, and bounds the solution at all nodes.
 */
export function readSolution(variant: AxesVariant) {
  const slots = slotsOf(variant);
  return fn({
    name: "readSolution",
    params: inPhase,
    env: {
      u: slots.u,
      obstacle: slots.obstacle,
      early: variant.obstacle !== undefined,
      badSolution: FAULT.solution,
      ...SUMMARY,
      summaryWords: SUMMARY_WORDS,
      offset: EXPONENT_OFFSET,
      places: PLACES,
      axes: variant.axes.map((_, k) => k),
      extentsOf: extentsOf(variant.axes.length),
      nodeAt: nodeAt(variant.axes.length),
      nodeIn: nodeIn(variant),
      rounds: roundsOf(variant),
      shapeOf,
    },
    *body({ launch, place, found }, gpu, env) {
      const { work, out, m0, m1, m2, places, summary, stride, size } = launch;
      const { item, base, instance, firstRound, everyRound } = place;
      const shape = env.shapeOf(launch);
      let { fault, node } = found;
      let largest = 0.0;
      const extents = env.extentsOf(launch);
      const nodes = m0 * m1 * m2;
      const results = env.early ? 2 * nodes : nodes;
      const rounds = env.rounds(size);
      for (let r = firstRound; r < rounds; r += everyRound) {
        const { line, first, lane, inside } = env.nodeIn(r, item, stride, size);
        if (inside) {
          const { index, isNode, number } = env.nodeAt({ line, lane, shape });
          const value = work[env.u * size + base + first + lane];
          if (isNode) {
            let isIn = true;
            let at = 0;
            let step = 1;
            for (const k of env.axes) {
              const own = index[k] - places[env.places * instance + 1 + k];
              isIn = isIn && own >= 0 && own < extents[k];
              at += own * step;
              step *= extents[k];
            }
            if (isIn) out[instance * results + at] = value;
            if (env.early) {
              const paid = work[env.obstacle * size + base + first + lane];
              if (isIn) out[instance * results + nodes + at] = value <= paid ? 1.0 : 0.0;
            }
            if (Number.isFinite(value)) largest = Math.max(largest, Math.abs(value));
            else if (fault === 0) {
              fault = env.badSolution;
              node = number;
            }
          }
        }
      }
      if (largest > 0)
        gpu.atomicMax(summary, env.summaryWords * instance + env.exponent, gpu.exponent(largest) + 1 + env.offset);
      return { fault, node, row: found.row, growth: found.growth };
    },
  });
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

/** Returns the function that writes an item's findings into its status; only the first fault is kept. */
export const report = ({ groupSize }: AxesVariant) =>
  fn({
    name: "report",
    params: { launch: Launch, place: AxesPlace, found: Fault },
    env: { ...AXES_STATUS, words: AXES_STATUS_WORDS, group: groupSize, ...SUMMARY, summaryWords: SUMMARY_WORDS },
    body({ launch: { status, summary }, place: { item, instance }, found: { fault, node, row, growth } }, gpu, env) {
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
    },
  });
