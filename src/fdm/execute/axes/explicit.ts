/** The explicit part of a step: F at a node, of the values around it and the coefficients of its row. */
import { fn, i32, read, real, record } from "../../../kernel/index.ts";
import { type AxesVariant, COMMON, slotsOf } from "../../operator/axes-variant.ts";
import { Piece } from "./piece.ts";
import { isExact, meshOf } from "./place.ts";
import { AxesPlace, Launch } from "./records.ts";

/** Weights of ∂/∂x at a node: Dv = next·(v₊ − v) + before·(v − v₋). */
const Weights = record({ next: real, before: real });

/**
 * The numbers that all nodes of a line along the last axis share: the weights of the other axes, the distances to the
 * neighbours on the second of three, the place of the line in the array that is swept, that of the last axis' weights,
 * and, on a GPU, coefficients that all planes share (`sharedBy`).
 */
export const Stencil = record({
  w0: Weights,
  w1: Weights,
  south: i32,
  north: i32,
  values: i32,
  weights: i32,
  a0: real,
  c0: real,
  m01: real,
});

/**
 * The coefficients that nodes share on a GPU, where they are read at the first of the nodes, or once: the first axis'
 * row that all its lines share, and a mixed derivative that is the same for all values of the third axis.
 */
function sharedBy(variant: AxesVariant) {
  const isGpu = !isExact(variant);
  const [m01, m02, m12] = variant.isMixedUniform.map((shares) => shares && isGpu && variant.axes.length > 2);
  return { row0: variant.isFirstUniform && isGpu, m01, m02, m12 };
}

/** Returns the function for the stencil of a line in array `from`. */
export function stencilOf(variant: AxesVariant, from: number) {
  const { axes } = variant;
  const slots = slotsOf(variant);
  return fn({
    name: "stencilOf",
    params: { launch: Launch, place: AxesPlace, at: Piece },
    env: {
      from,
      three: axes.length > 2,
      shared: sharedBy(variant),
      row0: slots.rows[0],
      slot01: slots.mixed[0],
      meshOf: meshOf(1),
      meshOfLast: meshOf(axes.length - 1),
    },
    body({ launch, place: { mesh, base }, at: { first, lane, line, part, own, pitch } }, _gpu, env) {
      const { work, table, stride, n1, size } = launch;
      const w0 = { next: table[mesh + 2 * stride + lane], before: table[mesh + 3 * stride + lane] };
      let w1 = { next: 0.0, before: 0.0 };
      let south = 0;
      let north = 0;
      if (env.three) {
        const on = env.meshOf({ launch, mesh }) + line;
        w1 = { next: table[on + 2 * n1], before: table[on + 3 * n1] };
        south = line > 0 ? -stride : 0;
        north = line < n1 - 1 ? stride : 0;
      }
      let a0 = 0.0;
      let c0 = 0.0;
      let m01 = 0.0;
      if (env.shared.row0) {
        a0 = work[own - first + env.row0.a * pitch];
        c0 = work[own - first + env.row0.c * pitch];
      }
      if (env.shared.m01) m01 = work[own + env.slot01 * pitch];
      const values = env.from * size + base + first;
      const weights = env.meshOfLast({ launch, mesh }) + 2 * part.n;
      return { w0, w1, south, north, values, weights, a0, c0, m01 };
    },
  });
}

/**
 * Returns the function that reads node `at` + `lane` of an array and its neighbours in a plane: v, its differences to
 * them, and D₀v, D₁v and D₁D₀v for mixed derivatives. On a CPU west and east are read again when needed (`besideOf`),
 * because vector registers are few.
 */
export function sliceOf(variant: AxesVariant) {
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

/** Returns the function for the differences of a node's value to its west and east neighbours. */
export const besideOf = (variant: AxesVariant) =>
  fn({
    name: "beside",
    params: { values: read(real), from: i32, slice: Neighbours },
    env: { readAgain: isExact(variant) },
    body({ values, from, slice: { here, west, east } }, _gpu, { readAgain }) {
      if (!readAgain) return { west, east };
      return { west: values[from] - here, east: values[from + 2] - here };
    },
  });

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

/** The differences of v, D₀v and D₁v from one plane to the one before it. */
export const Fall = record({ v: real, p0: real, p1: real });

/** Computes the differences of v, D₀v and D₁v between two planes. */
export const fallOf = fn({
  name: "fall",
  params: { from: Neighbours, to: Neighbours },
  body({ from, to }) {
    return { v: to.here - from.here, p0: to.p0 - from.p0, p1: to.p1 - from.p1 };
  },
});

/**
 * The array positions of the coefficients of a node, and of those of the first node of its line along the first axis,
 * which holds `COMMON`; consecutive arrays are `pitch` apart. `of0` and `of1` are the nodes whose mixed derivatives of
 * the first or second axis and the last this node shares.
 */
export const Rows = record({ own: i32, first: i32, pitch: i32, of0: i32, of1: i32 });

/** Returns the function that computes `Rows` of a node, which is on line `toLine` of its plane. */
export function rowsOf(variant: AxesVariant) {
  return fn({
    name: "rowsOf",
    params: { own: i32, first: i32, pitch: i32, toLine: i32 },
    env: sharedBy(variant),
    body({ own, first, pitch, toLine }, _gpu, { m02, m12 }) {
      return { own, first, pitch, of0: m02 ? own - toLine : own, of1: m12 ? first : own };
    },
  });
}

/**
 * Returns the function for the position of a row along an axis: a, c and factors in separate arrays, or in the words of
 * `COMMON`.
 */
export function rowAt(variant: AxesVariant, axis: number) {
  const slots = slotsOf(variant);
  const { isUniform } = variant.axes[axis];
  return fn({
    name: "rowAt",
    params: { own: i32, first: i32, pitch: i32 },
    env: { isUniform, common: slots.common[axis], row: isUniform ? COMMON : slots.rows[axis] },
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
 * Returns the function that computes h·F without sources and its mixed-derivative part at a node whose plane is `here`.
 * `fell` holds the differences from this plane to the next, `falls` those from the previous plane to this one.
 */
export function explicitAt(variant: AxesVariant, whole: boolean) {
  const { axes, mixed } = variant;
  const slots = slotsOf(variant);
  const last = axes.length - 1;
  return fn({
    name: "explicitAt",
    params: {
      launch: Launch,
      stencil: Stencil,
      rows: Rows,
      here: Neighbours,
      beside: record({ west: real, east: real }),
      falls: Fall,
      fell: Fall,
      w: Weights,
    },
    env: {
      whole,
      three: axes.length > 2,
      shared: sharedBy(variant),
      m0L: mixed[last - 1],
      m1L: mixed[2],
      m01: axes.length > 2 && mixed[0],
      slot0L: slots.mixed[last - 1],
      slot1L: slots.mixed[2],
      slot01: slots.mixed[0],
      row0: slots.rows[0],
      row1: rowAt(variant, 1),
      rowL: rowAt(variant, last),
    },
    body({ launch: { work }, stencil, rows, here, beside, falls, fell, w }, _gpu, env) {
      const { own, first, pitch, of0, of1 } = rows;
      // With the sign turned, which spares a vector unit an instruction.
      let mixed = 0.0;
      if (env.m0L) mixed = work[of0 + env.slot0L * pitch] * (w.next * fell.p0 + w.before * falls.p0);
      if (env.m1L) mixed += work[of1 + env.slot1L * pitch] * (w.next * fell.p1 + w.before * falls.p1);
      if (env.m01) mixed -= (env.shared.m01 ? stencil.m01 : work[own + env.slot01 * pitch]) * here.p01;
      let all = 0.0;
      if (env.whole) {
        const ofL = env.rowL({ own, first, pitch });
        let linear =
          (env.shared.row0 ? stencil.a0 : work[own + env.row0.a * pitch]) * beside.west +
          (env.shared.row0 ? stencil.c0 : work[own + env.row0.c * pitch]) * beside.east +
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
