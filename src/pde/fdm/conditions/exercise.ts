import { fn, i32, read, real, write } from "../../../kernel/index.ts";
import { Column, valueAt } from "../operator/column.ts";

/**
 * The corrections of the two nodes about a kink of V on an exercise date (`exerciseOnDate`). `below` and `here` are the
 * premiums V − obstacle at them, `before` and `above` those at the next nodes on either side. Each pair is continued by
 * a parabola in the node index.
 */
export const bendBetween = fn({
  name: "bendBetween",
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
 * reals of private memory a node, and 30 flops a kink.
 */
export const exerciseOnDate = fn({
  name: "exerciseOnDate",
  params: [write(real), read(real), write(real), i32],
  env: { bendBetween },
  body([u, obstacle, premium, nodes], _gpu, { bendBetween }) {
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
        const { left, right } = bendBetween(before, below, here, above);
        u[i - 1] = u[i - 1] - left;
        u[i] = u[i] - right;
      }
      below = here;
    }
  },
});

/**
 * Returns V at a node after exercise where only part of its cell is exercised for the amount `paid`. The `mean` of the
 * terminal payoff over the cell tells which part (`exerciseByHalves`).
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
