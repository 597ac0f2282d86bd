import { fn, i32, read, real, write } from "../../kernel/index.ts";

/**
 * Exercise on a date, V ← max(V, obstacle), with premium f = V − obstacle. Where f changes its sign between two nodes, V bends between them by J = |f′|; the nodes
 * alone put that bend on the two in proportion, which has the right mass and mean, but a variance of θ(1 − θ)h² too much, θ the bend's place. The
 * node next to it less ½J·h·θ(1 − θ) = ½|f₀·f₁|/|f₁ − f₀| has the right one, too: what is left is O(h³), and extrapolation in h² finds nothing in
 * its way. `f` is overwritten.
 */
export const exerciseOnDate = fn({
  name: "exerciseOnDate",
  params: [write(real), write(real), read(real), i32],
  body([u, f, obstacle, nodes]) {
    let below = u[0] - obstacle[0];
    for (let i = 0; i < nodes; i++) {
      const next = Math.min(i + 1, nodes - 1);
      const here = u[i] - obstacle[i];
      const above = u[next] - obstacle[next];
      let bend = 0.0;
      if (here * below < 0 && Math.abs(here) <= Math.abs(below)) bend = (here * below) / Math.abs(here - below);
      if (here * above < 0 && Math.abs(here) < Math.abs(above)) bend = (here * above) / Math.abs(here - above);
      f[i] = Math.max(here, 0) + 0.5 * bend;
      below = here;
    }
    for (let i = 0; i < nodes; i++) u[i] = obstacle[i] + f[i];
  },
});
