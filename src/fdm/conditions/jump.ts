import { fn, i32, read, real, write } from "../../kernel/index.ts";
import { valueAfterJump } from "./dividend.ts";

/**
 * Returns V at `target`, by the cubic of `valueAfterJump`: error O(h⁴) where V is smooth, O(h²) at its extremes, where
 * the cubic is held between its neighbours; linear beyond the ends. The cell is searched for by bisection. `sign`: −1
 * where nodes descend, else 1.
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

/** Sets V(S) ← V(target(S)), into `jumped`, see `valueAtTarget`. Targets may run in any order. */
export const payJump = fn({
  name: "payJump",
  params: [read(real), read(real), read(real), write(real), i32],
  env: { valueAtTarget },
  body([x, u, target, jumped, nodes], _gpu, { valueAtTarget }) {
    const sign = x[nodes - 1] > x[0] ? 1.0 : -1.0;
    for (let i = 0; i < nodes; i++) jumped[i] = valueAtTarget(x, u, nodes, sign, target[i]);
  },
});
