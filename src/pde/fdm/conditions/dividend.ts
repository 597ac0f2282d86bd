import { fn, i32, read, real, write } from "../../../kernel/index.ts";

/**
 * V at the spot `target`: the cubic through four nodes from the m-th on, held between the values of the two about it, j
 * and j + 1, so that it cannot overshoot. x are the nodes, u their values.
 *
 * With distances in units of the middle cell, t = (S − x₁)/(x₂ − x₁), x₀ at −a and x₃ at 1 + c, it is the line less t(1
 * − t) times the mean of the two divided differences of second order, weighted by 1 + c − t and t + a. Over common
 * denominators: divisions cost more than all else here. Units keep products far from the ends of f32.
 */
const cubicThrough = fn({
  name: "cubicThrough",
  params: [read(real), read(real), i32, i32, real],
  body([x, u, m, j, target], gpu) {
    // In an order that leaves little to be remembered: on a CPU four vectors of each share sixteen registers.
    const x1 = x[m + 1];
    const x2 = x[m + 2];
    const unit = gpu.reciprocal(x2 - x1);
    const t = (target - x1) * unit;
    const a = (x1 - x[m]) * unit;
    const c = (x[m + 3] - x2) * unit;
    const below = a * (a + 1);
    const above = c * (c + 1);
    const u1 = u[m + 1];
    const u2 = u[m + 2];
    const rise = u2 - u1;
    const bend = (rise * a - (u1 - u[m])) * above * (1 + c - t) + (u[m + 3] - u2 - rise * c) * below * (t + a);
    const cubic = u1 + t * (rise - (1 - t) * bend * gpu.reciprocal(below * above * (a + 1 + c)));
    let value = Math.min(Math.max(cubic, Math.min(u1, u2)), Math.max(u1, u2));
    if (j !== m + 1) {
      // At an end of the mesh, or beyond it.
      const left = x[j];
      const right = x[j + 1];
      const uLeft = u[j];
      const uRight = u[j + 1];
      value = Math.min(Math.max(cubic, Math.min(uLeft, uRight)), Math.max(uLeft, uRight));
      if ((target - left) * (target - right) > 0) value = uLeft + ((uRight - uLeft) * (target - left)) / (right - left);
    }
    return value;
  },
});

/**
 * Returns V at the price `target`, to which the spot jumps, by cubic interpolation of the four nodes about it
 * (`cubicThrough`).
 */
const valueAfterJump = fn({
  name: "valueAfterJump",
  params: [read(real), read(real), i32, i32, real],
  env: { cubicThrough },
  body([x, u, nodes, j, target], _gpu, { cubicThrough }) {
    return cubicThrough(x, u, Math.min(Math.max(j - 1, 0), nodes - 4), j, target);
  },
});

/**
 * Returns V at the price `target`, to which the spot jumps, in the cell from node j to j + 1, where V has kinks at the
 * nodes `low` and `high` (`payDividend`).
 */
const valueAfterJumpBetween = fn({
  name: "valueAfterJumpBetween",
  params: [read(real), read(real), i32, i32, real, i32, i32],
  env: { cubicThrough },
  body([x, u, nodes, j, target, low, high], _gpu, { cubicThrough }) {
    const first = Math.max(low, 0);
    const end = Math.min(high, nodes - 1);
    const m = Math.max(Math.min(Math.max(j - 1, first), end - 3), 0);
    let value = cubicThrough(x, u, m, j, target);
    const below = Math.min(first, nodes - 2);
    const above = Math.max(end, 1);
    const k = j < low ? below : above - 1;
    const line = (u[k + 1] - u[k]) / (x[k + 1] - x[k]);
    if (j < low) value = u[below] + line * (target - x[below]);
    if (j >= high) value = u[above] + line * (target - x[above]);
    return value;
  },
});

/**
 * Returns the function that applies a dividend, V(S) ← V(max(S·keep − cash, 0)), to the nodes that an item holds,
 * `rows` of them from node `first` on or all: from the solution on all nodes, in `values`, into u. `keep` is 1 less the
 * proportional part. The first target is found by bisection; targets run as the nodes do, so the search goes on where
 * it stopped.
 *
 * With barriers the trade is knocked out after the date at nodes up to `low` and from `high` on. V has kinks at these
 * nodes, so it is interpolated from live nodes only and continued beyond them by a straight line. The barriers of the
 * date, applied next, set the values there (`knockOut` with `crossing`). Nodes ascend then.
 */
export function payDividend(rows: number | undefined, hasBarriers: boolean) {
  return fn({
    name: "payDividend",
    params: {
      x: read(real),
      values: read(real),
      first: i32,
      u: write(real),
      nodes: i32,
      keep: real,
      cash: real,
      low: i32,
      high: i32,
    },
    env: { rows, hasBarriers, valueAfterJump, valueAfterJumpBetween },
    body({ x, values, first, u, nodes, keep, cash, low, high }, _gpu, env) {
      const last = nodes - 1;
      const rows = env.rows ?? nodes;
      const sign = x[last] > x[0] ? 1.0 : -1.0;
      const start = Math.max(x[Math.min(first, last)] * keep - cash, 0);
      let j = 0; // the last cell that starts before the target, or the first
      let end = last;
      while (end - j > 1) {
        const middle = (j + end) >> 1;
        if (sign * (x[middle] - start) < 0) j = middle;
        else end = middle;
      }
      for (let k = 0; k < rows; k++) {
        const target = Math.max(x[Math.min(first + k, last)] * keep - cash, 0);
        while (j < last - 1 && sign * (x[j + 1] - target) < 0) j++;
        if (env.hasBarriers) {
          if (first + k <= last) u[k] = env.valueAfterJumpBetween(x, values, nodes, j, target, low, high);
        } else if (first + k <= last) u[k] = env.valueAfterJump(x, values, nodes, j, target);
      }
    },
  });
}

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
