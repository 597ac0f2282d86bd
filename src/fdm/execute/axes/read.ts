import { fn } from "../../../kernel/index.ts";
import { type AxesVariant, slotsOf } from "../../operator/axes-variant.ts";
import { FAULT } from "../../operator/status.ts";
import { atNode, eachNode } from "./node.ts";
import { AXES_STATUS, AXES_STATUS_WORDS, AxesPlace, Fault, Launch, noted } from "./records.ts";

/**
 * Returns the function that stores the solution at the nodes and marks the nodes where immediate exercise is optimal
 * today.
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
      noted,
    },
    body({ launch, place: { instance }, found, at: { isNode, number: i, k } }, _gpu, env) {
      const { work, out, n0, n1, n2, size } = launch;
      const nodes = n0 * n1 * n2;
      const results = env.early ? 2 * nodes : nodes;
      const value = work[env.u * size + k];
      if (isNode) {
        out[instance * results + i] = value;
        if (env.early) out[instance * results + nodes + i] = value <= work[env.obstacle * size + k] ? 1.0 : 0.0;
      }
      const isBad = isNode && !Number.isFinite(value);
      return env.noted({ found, isBad, fault: env.badSolution, node: i, row: found.row });
    },
  });
  return eachNode(variant, atEach);
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
