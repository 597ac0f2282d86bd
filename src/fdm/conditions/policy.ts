import { bool, fn, i32, read, real, write } from "../../kernel/index.ts";

/**
 * Solves the rows (−a, 1 + hr + a + c, −c)·y = u where `active` is 0, and y = bound where it is 1; y is left in z. The
 * row sums are carried along (see `solverKernel`), so that nothing is subtracted.
 */
const solvePolicy = fn({
  name: "solvePolicy",
  params: [read(real), write(real), read(real), read(real), read(real), read(real), write(real), i32, real, real],
  body([u, z, a, c, obstacle, active, factor, nodes, hRate, memory]) {
    let excess = 1.0;
    let y = 0.0;
    for (let i = nodes - 1; i >= 0; i--) {
      if (active[i] > 0.5) {
        y = obstacle[i] + memory * (u[i] - obstacle[i]);
        factor[i] = 0.0;
        excess = 1.0;
      } else {
        const rest = 1 + hRate + c[i] * excess;
        const pivot = 1 / (rest + a[i]);
        y = (u[i] + c[i] * y) * pivot;
        factor[i] = a[i] * pivot;
        excess = rest * pivot;
      }
      z[i] = y;
    }
    y = 0.0;
    for (let i = 0; i < nodes; i++) {
      y = z[i] + factor[i] * y;
      z[i] = y;
    }
  },
});

/**
 * Exercises where y is below its bound, holds on where exercise would need a negative multiplier; returns how many rows
 * changed.
 */
const improvePolicy = fn({
  name: "improvePolicy",
  params: [read(real), read(real), read(real), read(real), read(real), write(real), i32, real, real],
  body([u, y, a, c, obstacle, active, nodes, hRate, memory]) {
    let changes = 0;
    for (let i = 0; i < nodes; i++) {
      if (active[i] > 0.5) {
        const below = y[Math.max(i - 1, 0)];
        const above = y[Math.min(i + 1, nodes - 1)];
        const multiplier = y[i] * (1 + hRate) + a[i] * (y[i] - below) + c[i] * (y[i] - above) - u[i];
        if (multiplier < 0) {
          active[i] = 0.0;
          changes++;
        }
      } else if (y[i] < obstacle[i] + memory * (u[i] - obstacle[i])) {
        active[i] = 1.0;
        changes++;
      }
    }
    return changes;
  },
});

/**
 * One time step with early exercise wherever it is: Howard's policy iteration (Forsyth & Vetzal 2002; primal–dual
 * active set), from the policy of the step before. It ends with the exact solution of the complementarity problem,
 * nearly always after two or three rounds.
 */
export const policyStep = fn({
  name: "policyStep",
  params: [write(real), write(real), read(real), read(real), read(real), write(real), write(real), i32, real, bool],
  env: { solvePolicy, improvePolicy },
  body([u, z, a, c, obstacle, active, factor, nodes, hRate, crankNicolson], _gpu, env) {
    // The bound is obstacle for u_new, so (obstacle + u)/2 for y = (u_new + u)/2.
    const memory = crankNicolson ? 0.5 : 0.0;
    for (let round = 0; round < 12; round++) {
      env.solvePolicy(u, z, a, c, obstacle, active, factor, nodes, hRate, memory);
      const changes = env.improvePolicy(u, z, a, c, obstacle, active, nodes, hRate, memory);
      if (changes === 0) break;
    }
    for (let i = 0; i < nodes; i++) {
      const y = crankNicolson ? z[i] + z[i] - u[i] : z[i];
      u[i] = Math.max(y, obstacle[i]);
    }
  },
});
