import { fn } from "../../../kernel/index.ts";
import { type AxesVariant, slotsOf } from "../../operator/axes-variant.ts";
import { FAULT } from "../../operator/status.ts";
import { nodeAt } from "./factor.ts";
import { nodeIn, roundsOf, shapeOf } from "./place.ts";
import { AXES_STATUS, AXES_STATUS_WORDS, Fault, inPhase, Launch, AxesPlace } from "./records.ts";

/**
 * Returns the function that stores the solution at the nodes and marks the nodes where immediate exercise is optimal
 * today.
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
      nodeAt: nodeAt(variant.axes.length),
      nodeIn: nodeIn(variant),
      rounds: roundsOf(variant),
      shapeOf,
    },
    *body({ launch, place, found }, _gpu, env) {
      const { work, out, n0, n1, n2, stride, size } = launch;
      const { item, base, instance, firstRound, everyRound } = place;
      const shape = env.shapeOf(launch);
      let { fault, node } = found;
      const nodes = n0 * n1 * n2;
      const results = env.early ? 2 * nodes : nodes;
      const rounds = env.rounds(size);
      for (let r = firstRound; r < rounds; r += everyRound) {
        const { line, first, lane, inside } = env.nodeIn(r, item, stride, size);
        if (inside) {
          const { isNode, number: i } = env.nodeAt({ line, lane, shape });
          const value = work[env.u * size + base + first + lane];
          if (isNode) {
            out[instance * results + i] = value;
            if (env.early) {
              const paid = work[env.obstacle * size + base + first + lane];
              out[instance * results + nodes + i] = value <= paid ? 1.0 : 0.0;
            }
            if (!Number.isFinite(value) && fault === 0) {
              fault = env.badSolution;
              node = i;
            }
          }
        }
      }
      return { fault, node, row: found.row, growth: found.growth };
    },
  });
}

/** Returns the function that writes an item's findings into its status; only the first fault is kept. */
export const report = ({ groupSize }: AxesVariant) =>
  fn({
    name: "report",
    params: { launch: Launch, place: AxesPlace, found: Fault },
    env: { ...AXES_STATUS, words: AXES_STATUS_WORDS, group: groupSize },
    body({ launch: { status }, place: { item }, found: { fault, node, row, growth } }, gpu, env) {
      const at = (gpu.groupId() * env.group + item) * env.words;
      if (fault !== 0 && status[at + env.fault] === 0) {
        status[at + env.fault] = fault;
        status[at + env.node] = node;
        status[at + env.row] = row;
      }
      if (growth !== 0) status[at + env.growth] = 1;
      const endless = gpu.endlessLoop();
      if (endless !== 0) status[at + env.endless] = endless;
    },
  });
