import { fn, i32, type ValueOf } from "../../../../kernel/index.ts";
import { type AxesVariant, slotsOf } from "../../operator/axes-variant.ts";
import { rowAt } from "./explicit.ts";
import { eachOf } from "./node.ts";
import { Part, pieceOf } from "./piece.ts";
import { type Fault, inPhase } from "./records.ts";
import type { RightHandSide } from "./right-hand-side.ts";

/**
 * Returns the function that solves the linear systems of a sweep in round r, with one line for each work item, by the
 * factors of `factorAxes`. Along the first axis an item reads and writes two neighbouring nodes at a time, which a CPU
 * takes as one vector. Cost: 5 flops a node.
 */
export function solveLines(variant: AxesVariant, axis: number, corrects: boolean, { begin, next }: RightHandSide) {
  const slots = slotsOf(variant);
  const nodes = eachOf(axis === 0 ? 2 : 1);
  return fn({
    name: "solveLines",
    params: { ...inPhase, r: i32, part: Part },
    env: {
      into: corrects ? slots.second : slots.z,
      nodes,
      fromLast: nodes.toReversed(),
      pieceOf: pieceOf(variant, axis, false),
      rowAt: rowAt(variant, axis),
      begin,
      next,
    },
    *body({ launch, place, step, r, part, found }, gpu, env) {
      const { work, size } = launch;
      const at = env.pieceOf({ launch, place, r, part });
      const { first, lane, own, common, pitch, rowStep } = at;
      const count = env.nodes.length;
      const z = gpu.privateReal(count);
      const solved = gpu.privateReal(count);
      let now: ValueOf<typeof Fault> = found;
      if (at.inside) {
        let carried = env.begin({ launch, place, at, found });
        const { inverse, lower, upper } = env.rowAt({ own, first: common, pitch });
        const into = env.into * size + place.base + first;
        const blocks = ((part.n + count - 1) / count) | 0;
        const apart = count * at.step;
        let k = (blocks - 1) * apart;
        let rows = (blocks * count - 1) * rowStep;
        let y = 0.0;
        for (let i = (blocks - 1) * count; i >= 0; i -= count) {
          const here = into + k + lane;
          for (const d of env.nodes) {
            const got = env.next({ launch, place, at, step, i, k, rows, stored: here, d, carried });
            z[d] = got.right;
            carried = got.carried;
          }
          for (const d of env.fromLast) {
            y = z[d] * work[inverse + rows] + work[upper + rows] * y;
            solved[d] = y;
            rows -= rowStep;
          }
          for (const d of env.nodes) work[here + d] = solved[d];
          k -= apart;
        }
        now = carried.found;
        k = 0;
        rows = 0;
        y = 0.0;
        for (let i = 0; i < blocks; i++) {
          const here = into + k + lane;
          for (const d of env.nodes) z[d] = work[here + d];
          for (const d of env.nodes) {
            y = z[d] + work[lower + rows] * y;
            solved[d] = y;
            rows += rowStep;
          }
          for (const d of env.nodes) work[here + d] = solved[d];
          k += apart;
        }
      }
      return now;
    },
  });
}
