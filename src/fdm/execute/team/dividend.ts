import { fn, i32, type KernelFunction, read, real, write } from "../../../kernel/index.ts";
import { valueAfterJump, valueAfterJumpBetween } from "../../conditions/dividend.ts";
import { placeIn, type Team } from "./team.ts";

/**
 * The jump over a dividend date for an item's run, see `payDividend`: from `values`, the solution on all nodes x, into
 * u. An item searches for its first target by bisection, then goes on from there. `barred`: see `payDividendBetween`.
 */
export function payRuns(team: Team, rows: number, hasBarriers: boolean): KernelFunction<any, any> {
  return fn({
    name: "payRuns",
    params: [read(real), read(real), write(real), i32, real, real, i32, i32],
    env: { rows, hasBarriers, placeIn: placeIn(team), valueAfterJump, valueAfterJumpBetween },
    body([x, values, u, nodes, keep, cash, low, high], _gpu, env: any) {
      const last = nodes - 1;
      const sign = x[last] > x[0] ? 1.0 : -1.0;
      const first = env.placeIn().item * env.rows;
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
            u[k] = env.valueAfterJumpBetween(x, values, nodes, j, target, first + low, first + high);
        } else if (first + k <= last) u[k] = env.valueAfterJump(x, values, nodes, j, target);
      }
    },
  });
}
