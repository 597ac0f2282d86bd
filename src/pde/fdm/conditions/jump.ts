import { fn, i32, read, real, write } from "../../../kernel/index.ts";
import { valueAfterJump } from "./dividend.ts";

/**
 * Returns V at the price `target` by the cubic of `valueAfterJump`. The error is O(h⁴) where V is smooth and O(h²) at
 * its extrema, where the cubic is limited to the range of its neighbours. Beyond the end nodes V is continued linearly.
 * The cell is found by bisection. `sign` is −1 where nodes descend, otherwise 1.
 */
export const valueAtTarget = fn({
  name: "valueAtTarget",
  params: [read(real), read(real), i32, real, real],
  env: { valueAfterJump },
  body([x, u, nodes, sign, target], _gpu, { valueAfterJump }) {
    let low = 0;
    let high = nodes - 1;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (sign * (x[middle] - target) <= 0) low = middle;
      else high = middle;
    }
    return valueAfterJump(x, u, nodes, low, target);
  },
});

/**
 * Applies a jump of the spot, V(S) ← V(target(S)), and writes the result into `jumped` (`valueAtTarget`). The targets,
 * one for each node, need not be monotone.
 */
export const payJump = fn({
  name: "payJump",
  params: [read(real), read(real), read(real), write(real), i32],
  env: { valueAtTarget },
  body([x, u, target, jumped, nodes], _gpu, { valueAtTarget }) {
    const sign = x[nodes - 1] > x[0] ? 1.0 : -1.0;
    for (let i = 0; i < nodes; i++) jumped[i] = valueAtTarget(x, u, nodes, sign, target[i]);
  },
});
