import { bool, fn, i32, read, real, record, write } from "../../kernel/index.ts";
import { Rows } from "../operator/factor.ts";

/** The maximum number of rounds of policy iteration. */
export const MAX_ROUNDS = 30;

/**
 * Rows (−a, d + a + c, −c) of I − hL with their right-hand sides. d is `diagonal`, or the same `decay` at all nodes, in
 * which case `diagonal` is not looked at.
 */
const System = record({
  nodes: i32,
  diagonal: read(real),
  decay: real,
  a: read(real),
  c: read(real),
  right: read(real),
});

/**
 * The lower bound of a stage's solution y: obstacle + weightOfOld·(u − obstacle) with weightOfOld = 1 − 1/e. It is
 * equivalent to u ≥ obstacle after u ← u + e·(y − u), e the stage's extrapolation.
 */
export const Bound = record({ u: read(real), obstacle: read(real), weightOfOld: real });

/** Returns the lower bound of y at node i. */
export const boundAt = fn({
  name: "boundAt",
  params: [Bound, i32],
  body([{ u, obstacle, weightOfOld }, i]) {
    return obstacle[i] + weightOfOld * (u[i] - obstacle[i]);
  },
});

/**
 * Solves the rows where `active` is 0, and y = bound where it is 1; y is left in z. The row sums are carried along (see
 * `solverKernel`), so that nothing is subtracted.
 */
const solvePolicy = (varying: boolean) =>
  fn({
    name: "solvePolicy",
    params: { system: System, bound: Bound, z: write(real), active: read(real), factor: write(real) },
    env: { varying, boundAt },
    body({ system: { nodes, diagonal, decay, a, c, right }, bound, z, active, factor }, _gpu, { varying, boundAt }) {
      let excess = 1.0;
      let y = 0.0;
      for (let i = nodes - 1; i >= 0; i--) {
        if (active[i] > 0.5) {
          y = boundAt(bound, i);
          factor[i] = 0.0;
          excess = 1.0;
        } else {
          const rest = (varying ? diagonal[i] : decay) + c[i] * excess;
          const pivot = 1 / (rest + a[i]);
          y = (right[i] + c[i] * y) * pivot;
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
const improvePolicy = (varying: boolean) =>
  fn({
    name: "improvePolicy",
    params: { system: System, bound: Bound, y: read(real), active: write(real) },
    env: { varying, boundAt },
    body({ system: { nodes, diagonal, decay, a, c, right }, bound, y, active }, _gpu, { varying, boundAt }) {
      let changes = 0;
      for (let i = 0; i < nodes; i++) {
        if (active[i] > 0.5) {
          const below = y[Math.max(i - 1, 0)];
          const above = y[Math.min(i + 1, nodes - 1)];
          const own = y[i] * (varying ? diagonal[i] : decay);
          const multiplier = own + a[i] * (y[i] - below) + c[i] * (y[i] - above) - right[i];
          if (multiplier < 0) {
            active[i] = 0.0;
            changes++;
          }
        } else if (y[i] < boundAt(bound, i)) {
          active[i] = 1.0;
          changes++;
        }
      }
      return changes;
    },
  });

/**
 * Returns the function that solves one stage with early exercise anywhere. With A = I − hL and r the right-hand side,
 *
 *   Ay ≥ r,   y ≥ bound,   with equality in one of the two at every node,
 *
 * by Howard's policy iteration (primal–dual active set; Forsyth & Vetzal 2002 in the limit of an infinite penalty),
 * starting from the policy of the previous stage. It ends with the exact solution, nearly always after two or three
 * rounds, and stores it in z. It returns 1 if `MAX_ROUNDS` did not suffice. `varying`: see `System`.
 */
export const iteratePolicy = (varying: boolean) =>
  fn({
    name: "iteratePolicy",
    params: { system: System, bound: Bound, z: write(real), active: write(real), factor: write(real) },
    env: { MAX_ROUNDS, solvePolicy: solvePolicy(varying), improvePolicy: improvePolicy(varying) },
    body({ system, bound, z, active, factor }, _gpu, { MAX_ROUNDS, solvePolicy, improvePolicy }) {
      let unconverged = 1;
      for (let round = 0; round < MAX_ROUNDS; round++) {
        solvePolicy({ system, bound, z, active, factor });
        const changes = improvePolicy({ system, bound, y: z, active });
        if (changes === 0) {
          unconverged = 0;
          break;
        }
      }
      return unconverged;
    },
  });

/** Makes one time step with early exercise by `iteratePolicy`, for products of books. */
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
  env: { iteratePolicy: iteratePolicy(false) },
  body({ u, z, rows: { a, c, nodes, hRate }, obstacle, active, factor, crankNicolson }, _gpu, { iteratePolicy }) {
    const system = { nodes, diagonal: a, decay: 1 + hRate, a, c, right: u };
    const bound = { u, obstacle, weightOfOld: crankNicolson ? 0.5 : 0.0 };
    iteratePolicy({ system, bound, z, active, factor });
    for (let i = 0; i < nodes; i++) {
      const y = crankNicolson ? z[i] + z[i] - u[i] : z[i];
      u[i] = Math.max(y, obstacle[i]);
    }
  },
});
