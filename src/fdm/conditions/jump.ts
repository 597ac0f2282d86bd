import { fn, i32, read, real, write } from "../../kernel/index.ts";
import { valueAfterJump } from "./dividend.ts";

/**
 * V(S) ← V(target(S)), into `jumped`, by the cubic of `valueAfterJump`: error O(h⁴) where V is smooth, O(h²) at its
 * extremes, where the cubic is held between its neighbours; linear beyond the ends. Targets may run in any order: each
 * is searched for by bisection.
 */
export const payJump = fn({
  name: "payJump",
  params: [read(real), read(real), read(real), write(real), i32],
  env: { valueAfterJump },
  body([x, u, target, jumped, nodes], _gpu, { valueAfterJump }) {
    const sign = x[nodes - 1] > x[0] ? 1.0 : -1.0;
    for (let i = 0; i < nodes; i++) {
      let low = 0;
      let high = nodes - 1;
      while (high - low > 1) {
        const middle = (low + high) >> 1;
        if (sign * (x[middle] - target[i]) <= 0) low = middle;
        else high = middle;
      }
      jumped[i] = valueAfterJump(x, u, nodes, low, target[i]);
    }
  },
});
