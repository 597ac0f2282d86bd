/** The explicit part of a step: F at a node, of the values around it and the coefficients of its row. */
import { fn, i32, read, real, record } from "../../../../kernel/index.ts";
import { type AxesVariant, SHARED_INDEX, slotsOf } from "../../operator/axes-variant.ts";
import { LineSegment } from "./node.ts";
import { AxesContext, groupMatchesPadding, Launch, meshOffset } from "./context.ts";

/** Weights of ∂/∂x at a node: Dv = next·(v₊ − v) + before·(v − v₋). */
const Weights = record({ next: real, before: real });

/**
 * The data of explicit differences that are the same for all nodes of a line along the last axis: the weights of the
 * other axes, the distances to the neighbours on the second of three axes, and the positions of the line's values and
 * of the last axis' weights.
 */
export const Stencil = record({ w0: Weights, w1: Weights, south: i32, north: i32, values: i32, weights: i32 });

/** Returns the function that computes the `Stencil` of a line in the node array with number `from`. */
export function stencilOf({ axes }: AxesVariant, from: number) {
  return fn({
    name: "stencilOf",
    params: { launch: Launch, context: AxesContext, at: LineSegment },
    env: { from, three: axes.length > 2, meshOffset: meshOffset(1), meshOfLast: meshOffset(axes.length - 1) },
    body({ launch, context: { mesh, base }, at: { first, lane, line, part } }, _gpu, env) {
      const { table, stride, n1, size } = launch;
      const w0 = { next: table[mesh + 2 * stride + lane], before: table[mesh + 3 * stride + lane] };
      let w1 = { next: 0.0, before: 0.0 };
      let south = 0;
      let north = 0;
      if (env.three) {
        const on = env.meshOffset({ launch, mesh }) + line;
        w1 = { next: table[on + 2 * n1], before: table[on + 3 * n1] };
        south = line > 0 ? -stride : 0;
        north = line < n1 - 1 ? stride : 0;
      }
      const values = env.from * size + base + first;
      return { w0, w1, south, north, values, weights: env.meshOfLast({ launch, mesh }) + 2 * part.n };
    },
  });
}

/**
 * Returns the function that reads a node's value v and its neighbours in a plane, at index `at` + `lane`. It returns v,
 * the differences to the neighbours and, for mixed derivatives, D₀v, D₁v and D₁D₀v. On a CPU the west and east
 * neighbours are read again when needed (`westAndEast`), because vector registers are few.
 */
export function neighboursInPlane(variant: AxesVariant) {
  const {
    axes,
    mixed: [m01, m02, m12],
  } = variant;
  return fn({
    name: "slice",
    params: { values: read(real), at: i32, lane: i32, stencil: Stencil },
    env: { three: axes.length > 2, p0: axes.length === 2 ? m01 : m02, p1: m12, p01: axes.length > 2 && m01 },
    body({ values, at, lane, stencil: { w0, w1, south, north } }, _gpu, env) {
      // Its neighbour first: what is added to an index is then positive, and part of an instruction on a CPU.
      const from = at + lane - 1;
      const here = values[from + 1];
      const west = values[from] - here;
      const east = values[from + 2] - here;
      let p0 = 0.0;
      if (env.p0 || env.p01) p0 = w0.next * east - w0.before * west;
      let below = 0.0;
      let above = 0.0;
      let p1 = 0.0;
      let p01 = 0.0;
      if (env.three) {
        const low = values[at + south + lane];
        const high = values[at + north + lane];
        below = low - here;
        above = high - here;
        if (env.p1) p1 = w1.next * above - w1.before * below;
        if (env.p01) {
          const lowD =
            w0.next * (values[at + south + lane + 1] - low) - w0.before * (values[at + south + lane - 1] - low);
          const highD =
            w0.next * (values[at + north + lane + 1] - high) - w0.before * (values[at + north + lane - 1] - high);
          p01 = w1.next * (highD - p0) - w1.before * (lowD - p0);
        }
      }
      return { here, west, east, below, above, p0, p1, p01 };
    },
  });
}

/**
 * Returns the function that computes the differences between a node's value and those of its west and east neighbours.
 */
export const westAndEast = (variant: AxesVariant) =>
  fn({
    name: "beside",
    params: { values: read(real), from: i32, slice: Neighbours },
    env: { readAgain: groupMatchesPadding(variant) },
    body({ values, from, slice: { here, west, east } }, _gpu, { readAgain }) {
      if (!readAgain) return { west, east };
      return { west: values[from] - here, east: values[from + 2] - here };
    },
  });

/**
 * A node's value v, the differences to it of its neighbours on the first axis (west, east) and on the second (below,
 * above), and its mixed differences D₀v, D₁v and D₀D₁v.
 */
export const Neighbours = record({
  here: real,
  west: real,
  east: real,
  below: real,
  above: real,
  p0: real,
  p1: real,
  p01: real,
});

/** The differences of v, D₀v and D₁v at corresponding nodes of two successive planes. */
export const PlaneDifferences = record({ v: real, p0: real, p1: real });

/** Computes the differences of v, D₀v and D₁v from one plane to the other. */
export const planeDifferences = fn({
  name: "fall",
  params: { from: Neighbours, to: Neighbours },
  body({ from, to }) {
    return { v: to.here - from.here, p0: to.p0 - from.p0, p1: to.p1 - from.p1 };
  },
});

/**
 * The array indices of the coefficients of a node, and of the first node of its line along the first axis, which holds
 * `SHARED_INDEX`. Successive arrays are `pitch` apart. `axis0`, `of01`, `of02` and `of12` are the nodes that hold the
 * first axis' matrix row and the mixed derivatives, which this node shares with others.
 */
export const CoefficientIndices = record({
  own: i32,
  first: i32,
  pitch: i32,
  axis0: i32,
  of01: i32,
  of02: i32,
  of12: i32,
});

/**
 * Returns the function that computes the `CoefficientIndices` of a node from its offsets in its line, plane and grid.
 * On a GPU coefficients that several nodes share are read at the first of them, to save cache.
 */
export function coefficientIndices(variant: AxesVariant) {
  const [m01, m02, m12] = variant.isMixedUniform.map(
    (isUniform) => isUniform && variant.axes.length > 2 && !groupMatchesPadding(variant),
  );
  return fn({
    name: "coefficientIndices",
    params: { own: i32, first: i32, pitch: i32, toLine: i32, toPlane: i32 },
    env: { first0: variant.isFirstUniform && !groupMatchesPadding(variant), m01, m02, m12 },
    body({ own, first, pitch, toLine, toPlane }, _gpu, env) {
      return {
        own,
        first,
        pitch,
        axis0: env.first0 ? own - toPlane - toLine : own,
        of01: env.m01 ? own - toPlane : own,
        of02: env.m02 ? own - toLine : own,
        of12: env.m12 ? first : own,
      };
    },
  });
}

/**
 * Returns the function that computes the array indices of a matrix row along an axis. The entries a and c and the
 * factors are in separate arrays, or at the indices in `SHARED_INDEX`.
 */
export function matrixRowIndex(variant: AxesVariant, axis: number) {
  const slots = slotsOf(variant);
  const { isUniform } = variant.axes[axis];
  return fn({
    name: "matrixRowIndex",
    params: { own: i32, first: i32, pitch: i32 },
    env: { isUniform, common: slots.common[axis], row: isUniform ? SHARED_INDEX : slots.rows[axis] },
    body({ own, first, pitch }, _gpu, { isUniform, common, row }) {
      const at = isUniform ? first + common * pitch : own;
      const by = isUniform ? 1 : pitch;
      return {
        a: at + row.a * by,
        c: at + row.c * by,
        decay: at + row.decay * by,
        inverse: at + row.inverse * by,
        lower: at + row.lower * by,
        upper: at + row.upper * by,
      };
    },
  });
}

/**
 * Returns the function that computes h·F(u) without sources, and its part from mixed derivatives, at a node with the
 * neighbours `here`. F is the spatial operator, h the time step. Without `whole` only the mixed part is computed.
 * Planes are the slices of the grid across its last axis: `fell` are the differences of u from this plane to the next,
 * and `falls` those from the previous plane to this one.
 */
export function explicitAt(variant: AxesVariant, whole: boolean) {
  const { axes, mixed } = variant;
  const slots = slotsOf(variant);
  const last = axes.length - 1;
  return fn({
    name: "explicitAt",
    params: {
      launch: Launch,
      rows: CoefficientIndices,
      here: Neighbours,
      beside: record({ west: real, east: real }),
      falls: PlaneDifferences,
      fell: PlaneDifferences,
      w: Weights,
    },
    env: {
      whole,
      three: axes.length > 2,
      m0L: axes.length === 2 ? mixed[0] : mixed[1],
      m1L: mixed[2],
      m01: axes.length > 2 && mixed[0],
      slot0L: axes.length === 2 ? slots.mixed[0] : slots.mixed[1],
      two: axes.length === 2,
      slot1L: slots.mixed[2],
      slot01: slots.mixed[0],
      row0: slots.rows[0],
      row1: matrixRowIndex(variant, 1),
      rowL: matrixRowIndex(variant, last),
    },
    body({ launch: { work }, rows, here, beside, falls, fell, w }, _gpu, env) {
      const { own, first, pitch, axis0, of01, of02, of12 } = rows;
      // With the sign turned, which spares a vector unit an instruction.
      let mixed = 0.0;
      if (env.m0L)
        mixed = work[(env.two ? of01 : of02) + env.slot0L * pitch] * (w.next * fell.p0 + w.before * falls.p0);
      if (env.m1L) mixed += work[of12 + env.slot1L * pitch] * (w.next * fell.p1 + w.before * falls.p1);
      if (env.m01) mixed -= work[of01 + env.slot01 * pitch] * here.p01;
      let all = 0.0;
      if (env.whole) {
        const ofL = env.rowL({ own, first, pitch });
        let linear =
          work[axis0 + env.row0.a * pitch] * beside.west +
          work[axis0 + env.row0.c * pitch] * beside.east +
          work[ofL.a] * falls.v -
          work[ofL.c] * fell.v -
          work[ofL.decay] * here.here;
        if (env.three) {
          const of1 = env.row1({ own, first, pitch });
          linear += work[of1.a] * here.below + work[of1.c] * here.above;
        }
        all = linear - mixed;
      }
      return { all, mixed };
    },
  });
}
