import { fn, i32, read, real, write } from "../../../kernel/index.ts";
import { Column, isPinned, sideOnAxis, stateOnAxis, valueAt } from "../operator/state.ts";
import { type EquationVariant, pinsOf } from "../operator/equation-row.ts";

/** The exercise payoff of a node that cannot be exercised; it is below every value. */
export const NEVER_EXERCISED = -1e30;

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
 * Returns the function that applies a dividend, V(S) ← V(max(S·keep − cash, 0)), to the nodes that an item holds:
 * `rows` nodes from node `first` on, or all. It reads the solution on all nodes from `values` and writes into u. `keep`
 * is 1 less the proportional part. The first target is found by bisection; targets run as the nodes do, so the search
 * goes on where it stopped.
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

/**
 * Returns the corrections of the values at the two nodes about a kink of V on an exercise date (`exerciseOnDate`).
 * `below` and `here` are the premiums V − obstacle at them, `before` and `above` those at the next nodes on either
 * side. Each pair is continued by a parabola in the node index.
 */
export const kinkCorrections = fn({
  name: "kinkCorrections",
  params: [real, real, real, real],
  body([before, below, here, above]) {
    const rise = Math.abs(here - below);
    const curved = 0.25 * (before - below - here + above); // ½κh²
    const bent = Math.min(Math.max(curved, -0.5 * rise), 0.5 * rise);
    const linear = (here > 0 ? -below : -here) / rise;
    const part = linear + (bent * linear * (1 - linear)) / rise;
    const skew = bent * (1 - 2 * part);
    const excess = (part * (1 - part) * (0.5 * (rise - skew) + skew / 6)) / 3;
    const exercised = excess * (2 - part);
    const held = excess * (1 + part);
    return { left: here > 0 ? exercised : held, right: here > 0 ? held : exercised };
  },
});

/**
 * Exercises on a date, V ← max(V, obstacle), with second-order treatment of the kink, and writes the premium f = V −
 * obstacle into `premium`.
 *
 * Where f changes its sign between two nodes, V has a kink there: V′ jumps by J = f′ and V″ by κ = f″, at a fraction θ
 * of the way from the exercised node to the other. Distributing the kink over the two nodes in proportion has the right
 * mass and mean, but adds a variance of θ(1 − θ)h² and a third moment of θ(1 − θ)(1 − 2θ)h³; κ adds a variance of
 * κh³·θ(1 − θ)(1 − 2θ)/6. Subtracting C(2 − θ)/3 from the exercised node and C(1 + θ)/3 from the other, C = θ(1 −
 * θ)·(½Jh + κh²(1 − 2θ)/12), corrects both and leaves O(h⁴), so that extrapolation in h² works. Cost: 4 flops and 4
 * reals of private memory for each node, and 30 flops for each kink.
 */
export const exerciseOnDate = fn({
  name: "exerciseOnDate",
  params: [write(real), read(real), write(real), i32],
  env: { kinkCorrections },
  body([u, obstacle, premium, nodes], _gpu, { kinkCorrections }) {
    let below = 0.0;
    for (let i = 0; i < nodes; i++) {
      const here = u[i] - obstacle[i];
      premium[i] = here;
      u[i] = Math.max(u[i], obstacle[i]);
      if (here * below < 0) {
        // Extrapolates the premium linearly at the ends.
        let before = below + below - here;
        let above = here + here - below;
        if (i > 1) before = premium[i - 2];
        if (i < nodes - 1) above = u[i + 1] - obstacle[i + 1];
        const { left, right } = kinkCorrections(before, below, here, above);
        u[i - 1] = u[i - 1] - left;
        u[i] = u[i] - right;
      }
      below = here;
    }
  },
});

/**
 * Returns V at a node after exercise where only part of its cell is exercised for the amount `paid`. The `mean` of the
 * terminal payoff over the cell determines this part (`exerciseByHalves`).
 */
export const exercisedByHalf = fn({
  name: "exercisedByHalf",
  params: [real, real, real],
  body([value, mean, paid]) {
    const part = Math.min(Math.max(mean / Math.max(paid, 1e-30), 0), 1);
    const share = paid > 0 ? part : 1.0;
    return value + share * Math.max(paid - value, 0);
  },
});

/**
 * Applies exercise on a date where the payoff is discontinuous in S. The node at a discontinuity represents half cells
 * on both sides, and exercise, like expiry, changes only one of them. The table of the payoff has separate columns for
 * the terminal value, for its means over cells (`mean`) and for the exercise value (`obstacle`).
 */
export const exerciseByHalves = fn({
  name: "exerciseByHalves",
  params: [write(real), Column, i32, i32, i32],
  env: { exercisedByHalf, valueAt },
  body([u, table, mean, obstacle, nodes], _gpu, { exercisedByHalf, valueAt }) {
    for (let i = 0; i < nodes; i++) {
      const paid = valueAt(table, obstacle * nodes + i);
      u[i] = exercisedByHalf(u[i], valueAt(table, mean * nodes + i), paid);
    }
  },
});

/**
 * Returns the function that computes the exercise payoff at node i at time t. A pinned node, whose value a boundary
 * condition prescribes, cannot be exercised.
 */
export function obstacleAt(variant: EquationVariant) {
  return fn({
    name: "obstacleAt",
    params: { i: i32, nodes: i32, table: Column, parameters: Column, mask: i32, t: real },
    env: {
      payoff: variant.obstacle,
      isPinned: isPinned(pinsOf(variant)),
      sideOnAxis,
      stateOnAxis,
      NEVER_EXERCISED,
      valueAt,
    },
    body({ i, nodes, table, parameters, mask, t }, _gpu, env) {
      const state = env.stateOnAxis({ t, at: env.valueAt(table, i), parameters });
      const pinned = env.isPinned({ state, side: env.sideOnAxis(i, nodes - 1), mask });
      let paid = env.NEVER_EXERCISED;
      if (env.payoff !== undefined && !pinned) paid = env.payoff(state);
      return paid;
    },
  });
}

/** The output value that means "no node is exercised"; NaN would be lost on some WebGPU devices. */
export const NOWHERE = -3e38;

/**
 * The vertex of the parabola through three points, by Newton's divided differences; the first point's x if it is no
 * parabola.
 */
const vertex = fn({
  name: "vertex",
  params: [real, real, real, real, real, real],
  body([x1, x2, x3, w1, w2, w3]) {
    const slope = (w2 - w1) / (x2 - x1);
    const bend = ((w3 - w2) / (x3 - x2) - slope) / (x3 - x1);
    return bend > 0 ? 0.5 * (x1 + x2 - slope / bend) : x1;
  },
});

/**
 * Tells whether a node is exercised: its value after exercise equals the payoff or, on an exercise date, its value
 * before exercise does not exceed the payoff.
 */
export const isExercised = fn({
  name: "isExercised",
  params: [real, real],
  body([value, payoff], gpu) {
    const tolerance = gpu.precision === "f32" ? 1e-6 : 1e-12;
    return value - payoff <= tolerance * Math.abs(payoff);
  },
});

/** w = V − payoff at node i. `stored`: the first array has w itself. */
const premiumAt = (stored: boolean) =>
  fn({
    name: "premiumAt",
    params: [read(real), read(real), i32],
    env: { stored },
    body([u, payoff, i], _gpu, { stored }) {
      let premium = u[i];
      if (!stored) premium = premium - payoff[i];
      return premium;
    },
  });

/**
 * Returns the function that computes the position of the exercise boundary S* between nodes. Its argument j is the last
 * node of the exercise region; if there are several regions, it is that of the one nearest to the first node. With w =
 * V − payoff,
 *
 *   at all times   w ≈ C·(S − S*)² beyond S* (smooth pasting): S* is the vertex of the parabola through nodes
 *                  j + 1, j + 2, j + 3. Node j itself is not used, because the scheme sets w = 0 there, off by O(h²).
 *   on a date      w crosses zero linearly: through nodes j and j + 1, with V before exercise
 *
 * The result is limited to lie between nodes j − 1 and j + 1, or j and j + 1; it is the last node if all are exercised.
 * With `stored` the first array holds w, and the second is not read.
 */
export function boundaryLocator(smooth: boolean, stored: boolean) {
  return fn({
    name: "boundaryLocator",
    params: [read(real), read(real), Column, i32, i32],
    env: { smooth, vertex, valueAt, premium: premiumAt(stored) },
    body([u, payoff, table, nodes, j], _gpu, { smooth, vertex, valueAt, premium }) {
      const here = valueAt(table, j);
      let found = here;
      if (smooth && j > 0 && j < nodes - 3) {
        const below = valueAt(table, j - 1);
        const x1 = valueAt(table, j + 1);
        const x2 = valueAt(table, j + 2);
        const x3 = valueAt(table, j + 3);
        const w1 = premium(u, payoff, j + 1);
        const edge = vertex(x1, x2, x3, w1, premium(u, payoff, j + 2), premium(u, payoff, j + 3));
        found = Math.min(Math.max(edge, Math.min(below, x1)), Math.max(below, x1));
      }
      if (!smooth && j < nodes - 1) {
        const x1 = valueAt(table, j + 1);
        const now = premium(u, payoff, j);
        const next = premium(u, payoff, j + 1);
        found = here - (now * (x1 - here)) / (next - now);
      }
      return found;
    },
  });
}

/**
 * Returns the function that finds the exercise boundary of a whole solution (`boundaryLocator`), or `NOWHERE` if no
 * node is exercised.
 */
export function exerciseBoundary(smooth: boolean) {
  return fn({
    name: "exerciseBoundary",
    params: [read(real), read(real), Column, i32],
    env: { boundaryLocator: boundaryLocator(smooth, false), NOWHERE },
    body([u, payoff, table, nodes], gpu, { boundaryLocator, NOWHERE }) {
      // As `isExercised`, without a call, which would make branches of these loops' conditions.
      const tolerance = gpu.precision === "f32" ? 1e-6 : 1e-12;
      let j = 0;
      while (j < nodes && u[j] - payoff[j] > tolerance * Math.abs(payoff[j])) j++;
      let found = NOWHERE;
      if (j < nodes) {
        while (j < nodes - 1 && u[j + 1] - payoff[j + 1] <= tolerance * Math.abs(payoff[j + 1])) j++;
        found = boundaryLocator(u, payoff, table, nodes, j);
      }
      return found;
    },
  });
}
