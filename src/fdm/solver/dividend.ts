import { fn, i32, read, real, write } from "../../kernel/index.ts";

/**
 * V at the spot `target`: the cubic through four nodes from the m-th on, held between the values of the two about it, j and j + 1, so that it
 * cannot overshoot. x are the nodes, u their values.
 *
 * With distances in units of the middle cell, t = (S − x₁)/(x₂ − x₁), x₀ at −a and x₃ at 1 + c, it is the line less t(1 − t) times the mean of the two divided differences of second
 * order, weighted by 1 + c − t and t + a. Over common denominators: divisions cost more than all else here. Units keep products far from the ends of f32.
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

/** V at the spot `target`, after a jump, from the four nodes about it; see `cubicThrough`. */
export const valueAfterJump = fn({
  name: "valueAfterJump",
  params: [read(real), read(real), i32, i32, real],
  env: { cubicThrough },
  body([x, u, nodes, j, target], _gpu, { cubicThrough }) {
    return cubicThrough(x, u, Math.min(Math.max(j - 1, 0), nodes - 4), j, target);
  },
});

/** The jump over a dividend date, V(S) ← V(max(S·keep − cash, 0)), into z. */
export const payDividend = fn({
  name: "payDividend",
  params: [read(real), read(real), write(real), i32, real, real],
  env: { valueAfterJump },
  body([x, u, z, nodes, keep, cash], _gpu, { valueAfterJump }) {
    const last = nodes - 1;
    const sign = x[last] > x[0] ? 1.0 : -1.0;
    let j = 0;
    for (let i = 0; i < nodes; i++) {
      const target = Math.max(x[i] * keep - cash, 0);
      // Targets run as the nodes do, so the search goes on where it stopped.
      while (j < last - 1 && sign * (x[j + 1] - target) < 0) j++;
      z[i] = valueAfterJump(x, u, nodes, j, target);
    }
  },
});

/**
 * V after a jump to `target`, in the cell from node j on, where the trade is knocked out at nodes up to `low` and from `high` on; see `payDividendBetween`.
 */
export const valueAfterJumpBetween = fn({
  name: "valueAfterJumpBetween",
  params: [read(real), read(real), i32, i32, real, i32, i32],
  env: { cubicThrough },
  body([x, u, nodes, j, target, low, high], _gpu, { cubicThrough }) {
    const first = Math.max(low, 0);
    const end = Math.min(high, nodes - 1);
    const m = Math.max(Math.min(Math.max(j - 1, first), end - 3), 0);
    let value = cubicThrough(x, u, m, j, target);
    if (j < low) value = u[j];
    if (j >= high) value = u[j + 1];
    return value;
  },
});

/**
 * The same where the trade is knocked out at nodes up to `low` and from `high` on: it stays so whatever is paid, a spot that jumps there is knocked
 * out, and values between are read from live nodes only, for V bends at a barrier. Nodes ascend.
 */
export const payDividendBetween = fn({
  name: "payDividendBetween",
  params: [read(real), read(real), write(real), i32, real, real, i32, i32],
  env: { valueAfterJumpBetween },
  body([x, u, z, nodes, keep, cash, low, high], _gpu, { valueAfterJumpBetween }) {
    const last = nodes - 1;
    let j = 0;
    for (let i = 0; i < nodes; i++) {
      const target = Math.max(x[i] * keep - cash, 0);
      while (j < last - 1 && x[j + 1] < target) j++;
      const value = valueAfterJumpBetween(x, u, nodes, j, target, low, high);
      z[i] = i <= low || i >= high ? u[i] : value;
    }
  },
});

/**
 * After `payDividendBetween`, of early exercise: at a node which the dividend takes to the very level of a barrier below, V jumps from what exercise before the dividend pays
 * to what is held at the barrier. The node stands for its half cells on both sides, as at a date of watching (`barrier-rows.ts`).
 */
export const averageAtCrossing = fn({
  name: "averageAtCrossing",
  params: [read(real), write(real), read(real), i32, real, real, i32, i32],
  body([x, u, obstacle, nodes, keep, cash, low, high]) {
    const level = x[Math.max(low, 0)];
    const knockedOut = u[Math.max(low - 1, 0)];
    const end = Math.min(high, nodes - 1);
    for (let i = Math.max(low + 1, 1); i < end; i++) {
      const distance = Math.abs(x[i] * keep - cash - level);
      if (low > 0 && distance < 1e-6 * (x[i + 1] - x[i])) {
        const alive = (x[i + 1] - x[i]) / (x[i + 1] - x[i - 1]);
        u[i] = alive * Math.max(u[low], obstacle[i]) + (1 - alive) * Math.max(knockedOut, obstacle[i]);
      }
    }
  },
});
