import { bool, fn, i32, read, real, record, write } from "../../../kernel/index.ts";
import { Rows } from "../operator/matrix.ts";

/** The maximum number of rounds of policy iteration in a stage. */
export const MAX_POLICY_ROUNDS = 30;

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
 * equivalent to u ≥ obstacle after u ← u + e·(y − u), where e is the stage's extrapolation.
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
 * Returns the function that improves the exercise policy at the `rows` nodes of an item, or at all nodes. It marks a
 * node as exercised where y is below its bound, and as not exercised where exercise would need a negative multiplier.
 * `below` and `beyond` are y at the nodes before and after the item's; at the ends of the mesh their weight is 0. The
 * result is the number of changed nodes.
 */
export const improvePolicy = (rows: number | undefined, varying: boolean) =>
  fn({
    name: "improvePolicy",
    params: { system: System, bound: Bound, y: read(real), active: write(real), below: real, beyond: real },
    env: { rows, alone: rows === undefined, varying, boundAt },
    body({ system, bound, y, active, below: before, beyond }, _gpu, env) {
      const { nodes, diagonal, decay, a, c, right } = system;
      const rows = env.rows ?? nodes;
      let below = before;
      let changes = 0;
      for (let k = 0; k < rows; k++) {
        if (active[k] > 0.5) {
          const above = !env.alone && k === rows - 1 ? beyond : y[Math.min(k + 1, rows - 1)];
          const under = env.alone ? y[Math.max(k - 1, 0)] : below;
          const own = y[k] * (env.varying ? diagonal[k] : decay);
          const multiplier = own + a[k] * (y[k] - under) + c[k] * (y[k] - above) - right[k];
          if (multiplier < 0) {
            active[k] = 0.0;
            changes++;
          }
        } else if (y[k] < env.boundAt(bound, k)) {
          active[k] = 1.0;
          changes++;
        }
        if (!env.alone) below = y[k];
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
 * rounds, and stores it in z. It returns 1 if `MAX_POLICY_ROUNDS` did not suffice. `varying`: see `System`.
 */
export const iteratePolicy = (varying: boolean) =>
  fn({
    name: "iteratePolicy",
    params: { system: System, bound: Bound, z: write(real), active: write(real), factor: write(real) },
    env: { MAX_POLICY_ROUNDS, solvePolicy: solvePolicy(varying), improvePolicy: improvePolicy(undefined, varying) },
    body({ system, bound, z, active, factor }, _gpu, { MAX_POLICY_ROUNDS, solvePolicy, improvePolicy }) {
      let unconverged = 1;
      for (let round = 0; round < MAX_POLICY_ROUNDS; round++) {
        solvePolicy({ system, bound, z, active, factor });
        const last = system.nodes - 1;
        const changes = improvePolicy({ system, bound, y: z, active, below: z[0], beyond: z[last] });
        if (changes === 0) {
          unconverged = 0;
          break;
        }
      }
      return unconverged;
    },
  });

/**
 * Returns the function that makes one time step with early exercise by `iteratePolicy`, for products of books. It
 * leaves y in z, and the exercised nodes in `active`.
 */
export const policyStep = () =>
  fn({
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
