import { fn, i32, read, real } from "../../../kernel/index.ts";
import { Column, valueAt } from "../operator/column.ts";

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
 * Returns the function that locates the exercise boundary S* between nodes. Node j is the last one of the exercise
 * region that is nearest to the first node. With w = V − payoff,
 *
 *   at all times   w ≈ C·(S − S*)² beyond S* (smooth pasting): S* is the vertex of the parabola through nodes
 *                  j + 1, j + 2, j + 3. Node j itself is not used, because the scheme sets w = 0 there, off by O(h²).
 *   on a date      w crosses zero linearly: through nodes j and j + 1, with V before exercise
 *
 * The result is limited to lie between nodes j − 1 and j + 1, or j and j + 1; it is the last node if all are exercised.
 * With `stored` the first array holds w, and the second is not read.
 */
export function boundaryBehind(smooth: boolean, stored: boolean) {
  return fn({
    name: "boundaryBehind",
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
 * Returns the function that finds the exercise boundary of a whole solution (`boundaryBehind`), or `NOWHERE` if no node
 * is exercised.
 */
export function exerciseBoundary(smooth: boolean) {
  return fn({
    name: "exerciseBoundary",
    params: [read(real), read(real), Column, i32],
    env: { boundaryBehind: boundaryBehind(smooth, false), NOWHERE },
    body([u, payoff, table, nodes], gpu, { boundaryBehind, NOWHERE }) {
      // As `isExercised`, without a call, which would make branches of these loops' conditions.
      const tolerance = gpu.precision === "f32" ? 1e-6 : 1e-12;
      let j = 0;
      while (j < nodes && u[j] - payoff[j] > tolerance * Math.abs(payoff[j])) j++;
      let found = NOWHERE;
      if (j < nodes) {
        while (j < nodes - 1 && u[j + 1] - payoff[j + 1] <= tolerance * Math.abs(payoff[j + 1])) j++;
        found = boundaryBehind(u, payoff, table, nodes, j);
      }
      return found;
    },
  });
}
