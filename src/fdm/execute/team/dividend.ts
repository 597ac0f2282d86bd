import { fn, i32, real, write } from "../../../kernel/index.ts";
import { valueAfterJump, valueAfterJumpBetween } from "../../conditions/dividend.ts";
import { Live, Mesh } from "./records.ts";

/**
 * Returns the function that applies a dividend to an item's run, see `payDividend`: from the solution on all nodes, in
 * the mesh's `values`, into u. An item finds its first target by bisection and continues from there. With barriers see
 * `payDividendBetween`.
 */
export function payRuns(rows: number, hasBarriers: boolean) {
  return fn({
    name: "payRuns",
    params: { mesh: Mesh, first: i32, u: write(real), nodes: i32, keep: real, cash: real, live: Live },
    env: { rows, hasBarriers, valueAfterJump, valueAfterJumpBetween },
    body({ mesh: { x, values }, first, u, nodes, keep, cash, live }, _gpu, env) {
      const last = nodes - 1;
      const sign = x[last] > x[0] ? 1.0 : -1.0;
      const start = Math.max(x[Math.min(first, last)] * keep - cash, 0);
      let j = 0; // the last cell that starts before the target, or the first
      let end = last;
      while (end - j > 1) {
        const middle = (j + end) >> 1;
        if (sign * (x[middle] - start) < 0) j = middle;
        else end = middle;
      }
      for (let k = 0; k < env.rows; k++) {
        const target = Math.max(x[Math.min(first + k, last)] * keep - cash, 0);
        while (j < last - 1 && sign * (x[j + 1] - target) < 0) j++;
        if (env.hasBarriers) {
          if (first + k <= last)
            u[k] = env.valueAfterJumpBetween(x, values, nodes, j, target, first + live.low, first + live.high);
        } else if (first + k <= last) u[k] = env.valueAfterJump(x, values, nodes, j, target);
      }
    },
  });
}
