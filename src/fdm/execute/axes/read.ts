import { fn } from "../../../kernel/index.ts";
import { type AxesVariant, slotsOf } from "../../operator/axes-variant.ts";
import { FAULT } from "../../operator/status.ts";
import { nodeAt } from "./factor.ts";
import { nodeIn, roundsOf, shapeOf } from "./place.ts";
import { atStart, AXES_STATUS, AXES_STATUS_WORDS, Fault } from "./records.ts";

/** The solution at the nodes, and the nodes at which exercise pays as much today; what each item has found. */
export function readSolution(variant: AxesVariant) {
  const slots = slotsOf(variant);
  return fn({
    name: "readSolution",
    params: { ...atStart, cursor: Fault },
    env: {
      words: AXES_STATUS_WORDS,
      ...AXES_STATUS,
      u: slots.u,
      obstacle: slots.obstacle,
      early: variant.obstacle !== undefined,
      group: variant.groupSize,
      badSolution: FAULT.solution,
      nodeAt,
      nodeIn: nodeIn(variant),
      rounds: roundsOf(variant),
      shapeOf,
    },
    *body({ launch, place: { item, base, instance }, cursor }, gpu, env) {
      const { work, out, status, n0, n1, n2, stride, size, rows, end } = launch;
      const shape = env.shapeOf(launch);
      const { row, growth } = cursor;
      let { fault, node } = cursor;
      yield;
      if (end === rows) {
        const nodes = n0 * n1 * n2;
        const results = env.early ? 2 * nodes : nodes;
        const rounds = env.rounds(size);
        for (let r = 0; r < rounds; r++) {
          const { line, first, lane, inside } = env.nodeIn(r, item, stride, size);
          if (inside) {
            const { i0, i1, i2, isNode } = env.nodeAt({ line, lane, shape });
            const i = (i2 * n1 + i1) * n0 + i0;
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
      }
      const at = (instance * env.group + item) * env.words;
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
}
