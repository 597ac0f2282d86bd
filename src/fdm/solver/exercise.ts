import { fn, i32, read, real, write } from "../../kernel/index.ts";

/** What the node nearer to a bend of V gets, from the premiums on both sides of it; see `exerciseOnDate`. */
export const bendBetween = fn({
  name: "bendBetween",
  params: [real, real],
  body([premium, below]) {
    return (0.5 * premium * below) / Math.abs(premium - below);
  },
});

/**
 * Exercise on a date, V ← max(V, obstacle), with premium f = V − obstacle. Where f changes its sign between two nodes, V bends between them by J = |f′|; the nodes
 * alone put that bend on the two in proportion, which has the right mass and mean, but a variance of θ(1 − θ)h² too much, θ the bend's place. The
 * node next to it less ½J·h·θ(1 − θ) = ½|f₀·f₁|/|f₁ − f₀| has the right one, too: what is left is O(h³), and extrapolation in h² finds nothing in
 * its way. Cost: 3 flops and 3 words of private memory a node.
 */
export const exerciseOnDate = fn({
  name: "exerciseOnDate",
  params: [write(real), read(real), i32],
  env: { bendBetween },
  body([u, obstacle, nodes], _gpu, env) {
    let below = u[0] - obstacle[0];
    for (let i = 0; i < nodes; i++) {
      const premium = u[i] - obstacle[i];
      u[i] = Math.max(u[i], obstacle[i]);
      if (premium * below < 0) {
        const bend = env.bendBetween(premium, below);
        const at = Math.abs(premium) < Math.abs(below) ? i : i - 1;
        u[at] = u[at] + bend;
      }
      below = premium;
    }
  },
});

/** V at a node after exercise for what is `paid` in the part of its cell that V(S, T), on `mean`, says is exercised; see `exerciseByHalves`. */
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
 * The same of a payoff with columns of its own for V(S, T), its means over cells (`mean`), and for what exercise brings. Where it jumps the node stands
 * for its half cells on both sides, of which exercise on a date, like expiry, changes one.
 */
export const exerciseByHalves = fn({
  name: "exerciseByHalves",
  params: [write(real), read(real), i32, i32, i32, i32, i32],
  env: { exercisedByHalf },
  body([u, table, mean, obstacle, nodes, pitch, lane], _gpu, env) {
    for (let i = 0; i < nodes; i++) {
      const paid = table[(obstacle * nodes + i) * pitch + lane];
      u[i] = env.exercisedByHalf(u[i], table[(mean * nodes + i) * pitch + lane], paid);
    }
  },
});
