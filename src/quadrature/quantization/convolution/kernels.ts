/** Kernels of dynamic programming on a grid: growth, weights, expectations along an axis, decisions. */
import { i32, kernel, read, real, write } from "../../../kernel/index.ts";
import { FRACTIONS } from "./steps.ts";

/** The kernel that computes exp(c₁·y₁ + c₂·y₂ − ½·variance) at each node (i, j), where y = start + spacing·(i, j). */
export const exponentialKernel = kernel({
  name: "convolution-growth",
  params: {
    columns: i32,
    firstAxis: i32,
    start: real,
    spacing: real,
    c1: real,
    c2: real,
    half: real,
    growth: write(real),
  },
  body({ columns, firstAxis, start, spacing, c1, c2, half, growth }, gpu) {
    const node = gpu.globalId();
    const i = (node / columns) | 0;
    const j = node % columns;
    const y1 = firstAxis > 0 ? start + spacing * gpu.real(i) : gpu.real(0);
    const y2 = start + spacing * gpu.real(j);
    growth[node] = Math.exp(c1 * y1 + c2 * y2 - half);
  },
});

/**
 * The kernel that computes the weights of each target (i, j), whose position on the source's axis is p₁·i + p₂·j + p₀
 * cells, by cubic interpolation in the table of fractions. Bases are the nodes of the first weights, and may lie
 * outside the grid.
 */
export const weightsKernel = kernel({
  name: "convolution-weights",
  params: {
    columns: i32,
    taps: i32,
    before: i32,
    p0: real,
    p1: real,
    p2: real,
    /** Positions are limited to [−limit, limit]. */
    limit: real,
    table: read(real),
    bases: write(i32),
    weights: write(real),
  },
  env: { FRACTIONS },
  body({ columns, taps, before, p0, p1, p2, limit, table, bases, weights }, gpu, { FRACTIONS: F }) {
    const node = gpu.globalId();
    const i = (node / columns) | 0;
    const j = node % columns;
    const position = Math.max(Math.min(p0 + p1 * gpu.real(i) + p2 * gpu.real(j), limit), -limit);
    const below = Math.floor(position);
    bases[node] = gpu.i32(below) - before;
    const at = (position - below) * gpu.real(F);
    const k = Math.max(Math.min(gpu.i32(at) - 1, F - 3), 0);
    const u = at - gpu.real(k);
    const a = ((u - 1) * (u - 2) * (u - 3)) / -6;
    const b = (u * (u - 2) * (u - 3)) / 2;
    const c = (u * (u - 1) * (u - 3)) / -2;
    const d = (u * (u - 1) * (u - 2)) / 6;
    for (let t = 0; t < taps; t++) {
      const row = t * (F + 1) + k;
      weights[node * taps + t] = a * table[row] + b * table[row + 1] + c * table[row + 2] + d * table[row + 3];
    }
  },
});

/**
 * Returns the kernel that computes, for each node (i, j) and each instance, the weighted sum out(i, j) = Σₜ w(i, j,
 * t)·values(line, base + t) along one axis. Beyond its ends the values of the last nodes are used. With `by` =
 * "instances" (CPU) a work item computes all nodes of one instance, with "nodes" (GPU) one node of one instance.
 *
 * Bytes per value: 8 written, 8 read per tap, mostly from the cache.
 */
export function weightedSumKernel(by: "instances" | "nodes") {
  return kernel({
    name: `convolution-gather-${by}`,
    params: {
      nodes: i32,
      columns: i32,
      /** The number of instances at each node, and those that count: the first, and their number. */
      width: i32,
      first: i32,
      active: i32,
      taps: i32,
      /** The source's strides to the line of i and of j and along the line, and the number of nodes on it. */
      lineI: i32,
      lineJ: i32,
      along: i32,
      length: i32,
      bases: read(i32),
      weights: read(real),
      values: read(real),
      out: write(real),
    },
    env: { BY_NODES: by === "nodes" },
    body(
      { nodes, columns, width, first, active, taps, lineI, lineJ, along, length, bases, weights, values, out },
      gpu,
      { BY_NODES },
    ): undefined {
      const item = gpu.globalId();
      const instance = first + (BY_NODES ? item % active : item);
      const from = BY_NODES ? (item / active) | 0 : 0;
      const to = BY_NODES ? from + 1 : nodes;
      for (let node = from; node < to; node++) {
        const line = ((node / columns) | 0) * lineI + (node % columns) * lineJ;
        const base = bases[node];
        let sum = gpu.real(0);
        for (let t = 0; t < taps; t++) {
          const source = line + Math.max(Math.min(base + t, length - 1), 0) * along;
          sum += weights[node * taps + t] * values[source * width + instance];
        }
        out[node * width + instance] = sum;
      }
    },
  });
}

/**
 * Returns the kernel that computes V(Q), the maximum of waiting, C(Q), and exercising, h + C(Q + 1), where the bounds
 * allow them. An instance is a pair (Q, swing), with swings contiguous.
 *
 * The maximum is represented not by its values at the nodes but by its projection on the cubics: C + ∫ψ(x)·max(g(x), 0)
 * dx for g = h + C(Q + 1) − C(Q), linear near a node, and ψ Lagrange's cubic of that node, along the axis where g is
 * the steeper. Expectations are then of fourth order although V has a kink. Where g has no zero within two cells that
 * is max(g, 0) itself.
 */
export function decideKernel(by: "instances" | "nodes") {
  return kernel({
    name: `convolution-decide-${by}`,
    params: {
      nodes: i32,
      /** The number of nodes of either axis. */
      rows: i32,
      columns: i32,
      width: i32,
      first: i32,
      active: i32,
      swings: i32,
      /** Dates after this one, and the place of this one's gains. */
      left: i32,
      date: i32,
      least: read(i32),
      most: read(i32),
      /** Per date and swing: h = slope·growth − fixed. */
      slopes: read(real),
      fixed: read(real),
      growth: read(real),
      continuation: read(real),
      values: write(real),
    },
    env: { BY_NODES: by === "nodes" },
    body(given, gpu, { BY_NODES }): undefined {
      const { nodes, rows, columns, width, first, active, swings, left, date } = given;
      const { least, most, slopes, fixed, growth, continuation, values } = given;
      const item = gpu.globalId();
      const instance = first + (BY_NODES ? item % active : item);
      const from = BY_NODES ? (item / active) | 0 : 0;
      const to = BY_NODES ? from + 1 : nodes;
      const swing = instance % swings;
      const used = (instance / swings) | 0;
      const canRest = used <= most[swing] && used + left >= least[swing];
      const canTake = used + 1 <= most[swing] && used + 1 + left >= least[swing];
      const next = used < most[swing] ? swings : 0;
      const slope = slopes[date * swings + swing];
      const cost = fixed[date * swings + swing];
      for (let node = from; node < to; node++) {
        const i = (node / columns) | 0;
        const j = node % columns;
        const at = node * width + instance;
        const resting = continuation[at];
        const taking = slope * growth[node] - cost + continuation[at + next];
        const g = taking - resting;
        const west = j > 0 ? node - 1 : node;
        const east = j < columns - 1 ? node + 1 : node;
        const south = i > 0 ? node - columns : node;
        const north = i < rows - 1 ? node + columns : node;
        const atW = west * width + instance;
        const atE = east * width + instance;
        const atS = south * width + instance;
        const atN = north * width + instance;
        const alongJ =
          slope * (growth[east] - growth[west]) +
          (continuation[atE + next] - continuation[atE]) -
          (continuation[atW + next] - continuation[atW]);
        const alongI =
          slope * (growth[north] - growth[south]) +
          (continuation[atN + next] - continuation[atN]) -
          (continuation[atS + next] - continuation[atS]);
        const steep = 0.5 * Math.max(Math.abs(alongJ), Math.abs(alongI));
        const size = Math.abs(g);
        // ∫ₓ^∞ (y − x)·ψ(y) dy at x = |g|/steep, a polynomial on [0, 1] and on [1, 2].
        const isNear = size < 2 * steep;
        const x = isNear ? size / steep : gpu.real(2);
        const inner = 11 / 90 + x * (-0.5 + x * (0.5 + x * (-1 / 12 + x * (-1 / 12 + x * (1 / 40)))));
        const z = 2 - x;
        const outer = z * z * z * (-1 / 36 + z * z * (1 / 120));
        const correction = isNear ? steep * (x < 1 ? inner : outer) : gpu.real(0);
        const best = resting + Math.max(g, 0) + correction;
        values[at] = canRest && canTake ? best : canTake ? taking : canRest ? resting : gpu.real(0);
      }
    },
  });
}
