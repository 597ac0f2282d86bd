import { bool, fn, read, real, write } from "../../kernel/index.ts";
import { Rows } from "../operator/factor.ts";

/**
 * Solves the rows (−a, 1 + hr + a + c, −c)·y = u where `active` is 0, and y = bound where it is 1; y is left in z. The
 * row sums are carried along (see `solverKernel`), so that nothing is subtracted. The bound is obstacle +
 * weightOfOld·(u − obstacle).
 */
const solvePolicy = fn({
  name: "solvePolicy",
  params: {
    u: read(real),
    z: write(real),
    rows: Rows,
    obstacle: read(real),
    active: read(real),
    factor: write(real),
    weightOfOld: real,
  },
  body({ u, z, rows: { a, c, nodes, hRate }, obstacle, active, factor, weightOfOld }) {
    let excess = 1.0;
    let y = 0.0;
    for (let i = nodes - 1; i >= 0; i--) {
      if (active[i] > 0.5) {
        y = obstacle[i] + weightOfOld * (u[i] - obstacle[i]);
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
 * Exercises where y is below its bound, and continues where exercise would need a negative multiplier; returns how many
 * rows changed.
 */
const improvePolicy = fn({
  name: "improvePolicy",
  params: {
    u: read(real),
    y: read(real),
    rows: Rows,
    obstacle: read(real),
    active: write(real),
    weightOfOld: real,
  },
  body({ u, y, rows: { a, c, nodes, hRate }, obstacle, active, weightOfOld }) {
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
      } else if (y[i] < obstacle[i] + weightOfOld * (u[i] - obstacle[i])) {
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
  params: {
    u: write(real),
    z: write(real),
    rows: Rows,
    obstacle: read(real),
    active: write(real),
    factor: write(real),
    crankNicolson: bool,
  },
  env: { solvePolicy, improvePolicy },
  body({ u, z, rows, obstacle, active, factor, crankNicolson }, _gpu, env) {
    // The bound is obstacle for u_new, so (obstacle + u)/2 for y = (u_new + u)/2.
    const weightOfOld = crankNicolson ? 0.5 : 0.0;
    for (let round = 0; round < 12; round++) {
      env.solvePolicy({ u, z, rows, obstacle, active, factor, weightOfOld });
      const changes = env.improvePolicy({ u, y: z, rows, obstacle, active, weightOfOld });
      if (changes === 0) break;
    }
    for (let i = 0; i < rows.nodes; i++) {
      const y = crankNicolson ? z[i] + z[i] - u[i] : z[i];
      u[i] = Math.max(y, obstacle[i]);
    }
  },
});
