import { fn, i32, read, real, write } from "../../kernel/index.ts";
import { Column, valueAt } from "../operator/column.ts";

/**
 * The amounts by which the two nodes about a bend of V are to be lowered, from the premiums f at them, `below` and
 * `here`, and at the nodes beside them; see `exerciseOnDate`. The premiums about the bend are taken for a parabola in
 * the nodes' index.
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
 * Exercises on a date, V ← max(V, obstacle), with premium f = V − obstacle. Where f changes its sign between two nodes,
 * V bends between them by J = f′, and by κ = f″ in its second derivative, at a part θ of the way from the exercised
 * node to the other. The nodes alone put the bend on the two in proportion, which has the right mass and mean, but a
 * variance of θ(1 − θ)h² and a third moment of θ(1 − θ)(1 − 2θ)h³ too much; κ adds a variance of κh³·θ(1 − θ)(1 −
 * 2θ)/6. The exercised node less C(2 − θ)/3 and the other less C(1 + θ)/3, C = θ(1 − θ)·(½Jh + κh²(1 − 2θ)/12), have
 * the right ones, too: what is left is O(h⁴), and extrapolation in h² finds nothing in its way. `premium` is left with
 * f. Cost: 4 flops and 4 words of private memory a node, and 30 flops a bend.
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
        // At the ends premiums go on as they came.
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
 * Returns V at a node after exercise for what is `paid` in the part of its cell that V(S, T), on `mean`, says is
 * exercised; see `exerciseByHalves`.
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
 * Exercises on a date a payoff with columns of its own for V(S, T), its means over cells (`mean`), and for what
 * exercise brings. Where it jumps the node stands for its half cells on both sides, of which exercise on a date, like
 * expiry, changes one.
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
