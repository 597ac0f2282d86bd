/** The places of the nodes of a grid, and the weights of the differences at them. */
import { bool, fn, i32, read, real, record, write } from "../../../kernel/index.ts";
import { AXIS_FIELD, Grid, type GridVariant, header, Launch, neighboursOf } from "./variant.ts";

const KINDS = { linear: 0, "zero-curvature": 1, dirichlet: 2, neumann: 3 } as const;

/**
 * Returns the boundary conditions and the logarithmic axes as bit fields for the environment of a kernel: two bits for
 * the kind of condition at an end of each axis, and one bit for the logarithm.
 */
export const axisBits = ({ axes }: GridVariant) => ({
  LOW_KINDS: axes.reduce((bits, { first }, k) => bits | (KINDS[first.kind] << (2 * k)), 0),
  HIGH_KINDS: axes.reduce((bits, { last }, k) => bits | (KINDS[last.kind] << (2 * k)), 0),
  LOGS: axes.reduce((bits, { log }, k) => bits | ((log ? 1 : 0) << k), 0),
  DIRICHLET: KINDS.dirichlet,
  NEUMANN: KINDS.neumann,
  ZERO_CURVATURE: KINDS["zero-curvature"],
});

/** A node of a grid: its index on each axis, and the values of the axes there. */
export const Node = record({ index: write(i32), x: write(real) });

/** Returns the function that finds the node of unknown i; for an i beyond the last unknown it finds the last one. */
export const nodeOf = ({ axes }: GridVariant) =>
  fn({
    name: "nodeOf",
    params: { launch: Launch, grid: Grid, i: i32, node: Node },
    env: { axes: axes.length, ...header, ...AXIS_FIELD },
    body({ launch: { table, meshes }, grid: { words, unknowns }, i, node: { index, x } }, _gpu, env) {
      let rest = Math.min(i, unknowns - 1);
      for (let k = 0; k < env.axes; k++) {
        const at = words + env.AXES + env.WORDS * k;
        const count = table[at + env.COUNT];
        const left = (rest / count) | 0;
        const slot = table[at + env.FIRST] + rest - left * count;
        index[k] = slot;
        x[k] = meshes[table[at + env.VALUES] + slot];
        rest = left;
      }
    },
  });

/**
 * Returns the function that computes the linear index of a node among all nodes of the grid, Dirichlet ends included.
 */
export const linearIndexOf = ({ axes }: GridVariant) =>
  fn({
    name: "linearIndexOf",
    params: { launch: Launch, grid: Grid, index: read(i32) },
    env: { axes: axes.length, ...header, ...AXIS_FIELD },
    body({ launch: { table }, grid: { words }, index }, _gpu, env) {
      let number = 0;
      for (let k = env.axes - 1; k >= 0; k--)
        number = number * table[words + env.AXES + env.WORDS * k + env.NODES] + index[k];
      return number;
    },
  });

/**
 * Computes the finite-difference weights of ∂/∂x (`f`) and ∂²/∂x² (`s`) on the previous node, the node itself and the
 * next one, where x is the coordinate. They are central between the ends (`inner`), and follow the boundary condition
 * at the ends. `ghost` is 2/dx at a Neumann end.
 */
export const weightsAt = fn({
  name: "weightsAt",
  params: { launch: Launch, values: i32, nodes: i32, slot: i32, log: bool, low: i32, high: i32 },
  env: { NEUMANN: KINDS.neumann, ZERO_CURVATURE: KINDS["zero-curvature"] },
  body({ launch: { meshes }, values, nodes, slot, log, low, high }, _gpu, { NEUMANN, ZERO_CURVATURE }) {
    const isFirst = slot === 0;
    const isLast = slot === nodes - 1;
    const before = Math.max(slot - 1, 0);
    const after = Math.min(slot + 1, nodes - 1);
    const x = values + nodes;
    const down = meshes[x + slot] - meshes[x + before];
    const up = meshes[x + after] - meshes[x + slot];
    let f0 = 0.0;
    let f2 = 0.0;
    let s0 = 0.0;
    let s2 = 0.0;
    let ghost = 0.0;
    if (isFirst || isLast) {
      const dx = isFirst ? up : down;
      const kind = isFirst ? low : high;
      if (kind === NEUMANN) {
        ghost = 2 / dx;
        if (isFirst) s2 = ghost / dx;
        else s0 = ghost / dx;
      } else {
        // Linear in the axis itself: ∂/∂x = S·∂/∂S where x = ln S.
        let slope = 1 / dx;
        if (log && kind !== ZERO_CURVATURE)
          slope = meshes[values + slot] / (meshes[values + after] - meshes[values + before]);
        if (isFirst) f2 = slope;
        else f0 = -slope;
      }
    } else {
      const both = down + up;
      f0 = -up / (down * both);
      f2 = down / (up * both);
      s0 = 2 / (down * both);
      s2 = 2 / (up * both);
    }
    return { f0, f1: -f0 - f2, f2, s0, s1: -s0 - s2, s2, down, up, ghost, inner: !(isFirst || isLast) };
  },
});

/**
 * Returns the index, among a grid's integers in the table, of the distances from a row to its neighbours. The pairs of
 * axes (`pairsAt`) follow them.
 */
export const offsetsAt = ({ axes }: GridVariant): number => header.AXES + AXIS_FIELD.WORDS * axes.length;
/** Returns the index, among a grid's integers in the table, of the pairs of axes with mixed derivatives. */
export const pairsAt = (variant: GridVariant): number => offsetsAt(variant) + neighboursOf(variant);
