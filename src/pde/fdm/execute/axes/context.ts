/** The records that the functions of an instance on several axes hand each other. */
import { bool, fn, i32, read, real, record, write } from "../../../../kernel/index.ts";
import { ProgramRow, readProgramRow } from "../rollback.ts";
import { Column } from "../../operator/state.ts";
import type { AxisMesh } from "../../mesh/axis-mesh.ts";
import { type AxesVariant, type AxisCode, slotsOf } from "../../operator/axes-variant.ts";
import type { Grid, PlannedInstance } from "../plan.ts";

/** The launch parameters of every kernel on several axes (`axesKernel` describes their layout). */
export const axesParams = {
  instances: i32,
  /** The number of workgroups that share an instance. */
  parts: i32,
  /** The number of nodes of each axis; 1 for an axis that does not exist. */
  n0: i32,
  n1: i32,
  n2: i32,
  /** The nodes of the first axis, those of the first two, the lines along the first, and all nodes, with padding. */
  stride: i32,
  plane: i32,
  lines: i32,
  size: i32,
  rows: i32,
  dates: i32,
  first: i32,
  end: i32,
  /** The row of a launch for one phase. */
  row: i32,
  table: read(real),
  parameters: read(real),
  words: read(i32),
  reals: read(real),
  work: write(real),
  /** The numbers of nodes on each axis of the window that is read. */
  m0: i32,
  m1: i32,
  m2: i32,
  /**
   * `OFFSET_COUNT` of each instance: the start of its meshes in the table, and the first node of its window on each
   * axis.
   */
  offsets: read(i32),
  out: write(real),
  status: write(i32),
  summary: write(i32),
} as const;

/**
 * The number of integers of an instance in the launch parameter `offsets`: the index at which its meshes start in the
 * table, and the first node of its window on each axis.
 */
export const OFFSET_COUNT = 4;

/** The launch parameters of every kernel on several axes as one record. */
export const Launch = record(axesParams);

/**
 * The context of a work item on several axes: its instance, that instance's columns in the launch's buffers, and the
 * start of the instance's arrays.
 */
export const AxesContext = record({
  isActive: bool,
  firstRow: i32,
  endRow: i32,
  instance: i32,
  item: i32,
  /** The rounds of loops over nodes and lines: the first of this workgroup, and the rounds to its next. */
  firstRound: i32,
  everyRound: i32,
  /** The index in the table at which the instance's meshes start, and that of its arrays in the work memory. */
  mesh: i32,
  base: i32,
  parameters: Column,
  /**
   * The numbers that the items of a workgroup tell each other (`sweep.ts`); of one word where they solve whole lines.
   */
  tile: write(real),
});

/**
 * The findings of a work item: its first fault (0 for none) with the node and the row of the time program, whether the
 * solution grew too fast, and `SUMMARY.exponent` for the nodes that it has read.
 */
export const Findings = record({ fault: i32, node: i32, row: i32, growth: i32, exponent: i32 });

/** Returns the findings of an item with a fault added, unless they have one already. */
export const withFault = fn({
  name: "withFault",
  params: { found: Findings, isBad: bool, fault: i32, node: i32, row: i32 },
  body({ found, isBad, fault: now, node: at, row: atRow }) {
    let { fault, node, row } = found;
    if (isBad && fault === 0) {
      fault = now;
      node = at;
      row = atRow;
    }
    return { fault, node, row, growth: found.growth, exponent: found.exponent };
  },
});

/** The start of an instance's node arrays in device memory. */
const Memory = record({ base: i32 });

/** The parameters of functions that run before the first row of the time program. */
export const atStart = { launch: Launch, context: AxesContext, memory: Memory };
/** The parameters of functions that run for each row of the time program. */
export const atRow = { ...atStart, loopState: Findings, programRow: ProgramRow };

/** The parameters of all phases of the time loop (`kernel.ts`). */
export const inPhase = { launch: Launch, context: AxesContext, programRow: ProgramRow, found: Findings };

/**
 * The index of each field in the status of a work item: `FAULT`, its node, its row of the program, too fast growth, and
 * the number of a loop that did not end.
 */
export const AXES_STATUS = { fault: 0, node: 1, row: 2, growth: 3, endless: 4 } as const;
/** The number of 32-bit integers in the status of a work item. */
export const AXES_STATUS_INTEGERS = 5;

/**
 * The index of each field in the summary of an instance: `found` is not 0 where an item's status has a finding, and the
 * solution is bounded by 2^(`exponent` − `EXPONENT_OFFSET`).
 */
export const SUMMARY = { found: 0, exponent: 1 } as const;
/** The number of 32-bit integers in the summary of an instance. */
export const SUMMARY_INTEGERS = 2;
/** The number added to binary exponents so that those of all finite numbers are positive. */
export const EXPONENT_OFFSET = 2048;

/**
 * The multiple to which the nodes of the first axis and the lines along it are padded: the number of lanes that a CPU
 * processes together.
 */
export const PADDING = 8;

/** The number of neighbouring lines in a tile, each of which is solved by one work item for each of its intervals. */
export const LINES_PER_TILE = 16;

/** The number of nodes of which the lengths of a line's intervals are multiples (`LineDivision`). */
export const SEGMENT_MULTIPLE = 8;

/**
 * The number of arrays of an axis in the table: its values, the distances to the next node's coordinate, and two arrays
 * of weights of ∂/∂x (`Weights`).
 */
export const AXIS_ARRAYS = 4;

/** Returns the number of node arrays of an instance in device memory. */
export function workArrays(variant: AxesVariant): number {
  const { states, coefficients } = slotsOf(variant);
  return states + coefficients;
}

/**
 * The number of words of a workgroup's memory: `SEGMENT_MULTIPLE` nodes of each line of a segment, and one that spreads
 * them over its banks.
 */
const tileReals = ({ segments }: AxesVariant): number =>
  segments === undefined ? 1 : segments.count * LINES_PER_TILE * (SEGMENT_MULTIPLE + 1);

/**
 * Returns the function that finds the instance of a work item: there is one workgroup for each instance or, if
 * `shared`, several that take turns.
 */
export function contextOf(variant: AxesVariant, shared: boolean) {
  return fn({
    name: "contextOf",
    params: { launch: Launch, globalId: i32 },
    env: { OFFSET_COUNT, slots: workArrays(variant), PADDING, shared, words: tileReals(variant) },
    body({ launch: { instances, parts, size, first, end, parameters, offsets } }, gpu, env) {
      const { OFFSET_COUNT, slots, PADDING, shared, words } = env;
      const group = gpu.groupId();
      const instance = shared ? (group / parts) | 0 : group;
      const isActive = instance < instances;
      return {
        isActive,
        firstRow: first,
        endRow: end,
        instance,
        item: gpu.localId(),
        firstRound: shared ? group - instance * parts : 0,
        everyRound: shared ? parts : 1,
        mesh: offsets[OFFSET_COUNT * (isActive ? instance : 0)],
        // The words before the first node are read, and count for nothing.
        base: PADDING + instance * (slots * size + PADDING),
        parameters: { values: parameters, pitch: instances, instance },
        tile: gpu.sharedReal(words),
      };
    },
  });
}

/** Finds the start of an instance's node arrays in device memory. */
export const allocate = fn({
  name: "allocate",
  params: [AxesContext],
  body([{ base }]) {
    return { base };
  },
});

/** Returns the function that reads a row of the time program (`TimeProgram`). */
export function rowAt({ parameters }: AxesVariant) {
  return fn({
    name: "rowAt",
    params: { ...atStart, loopState: Findings, index: i32 },
    env: { readProgramRow: readProgramRow(parameters) },
    body({ launch: { words, reals }, context: { parameters }, index }, _gpu, { readProgramRow }) {
      return readProgramRow({ words, reals, parameters, index });
    },
  });
}

/**
 * Tells whether the work items of a group are exactly as many as the nodes that are padded together (`PADDING`), as on
 * a CPU.
 */
export const groupMatchesPadding = ({ groupSize }: AxesVariant): boolean => groupSize === PADDING;

/**
 * Returns the function that computes the array index of the coefficients of node `node` + `own`: coefficient s is at
 * index `at` + s·`pitch`. On a CPU, where all items of a group have the same `node`, the arrays of `PADDING`
 * neighbouring nodes are interleaved, so that one address serves all of them at constant offsets. On other devices each
 * array is contiguous.
 */
export function coefficientsAt(variant: AxesVariant) {
  const { states, coefficients } = slotsOf(variant);
  return fn({
    name: "coefficientsAt",
    params: { base: i32, size: i32, node: i32, own: i32 },
    env: { states, tiled: groupMatchesPadding(variant), arrays: coefficients, PADDING },
    body({ base, size, node, own }, _gpu, { states, tiled, arrays, PADDING }) {
      return {
        at: base + states * size + (tiled ? node * arrays : node) + own,
        pitch: tiled ? PADDING : size,
      };
    },
  });
}

/**
 * Returns the function that computes the distance between the coefficients of two nodes whose numbers differ by
 * `nodes`, a multiple of `PADDING`.
 */
export function coefficientStride(variant: AxesVariant) {
  return fn({
    name: "coefficientStride",
    params: [i32],
    env: { tiled: groupMatchesPadding(variant), arrays: slotsOf(variant).coefficients },
    body([nodes], _gpu, { tiled, arrays }) {
      return tiled ? nodes * arrays : nodes;
    },
  });
}

/**
 * Returns the function that finds the node of a work item in round r of a loop over the first `count` nodes, `first` +
 * `lane`, and its index on the first axis. In groups of `PADDING` items `first` is the same for all, so that they read
 * neighbouring numbers. The node is also `node` + `own`, as `coefficientsAt` takes it.
 */
export function nodeIn(variant: AxesVariant) {
  return fn({
    name: "nodeIn",
    params: [i32, i32, i32, i32],
    env: { exact: groupMatchesPadding(variant), size: variant.groupSize },
    body([r, item, stride, count], _gpu, { exact, size }) {
      const from = exact ? r * size : r * size + item;
      const line = (from / stride) | 0;
      return {
        line,
        first: line * stride,
        lane: from - line * stride + (exact ? item : 0),
        node: from,
        own: exact ? item : 0,
        inside: exact ? true : from < count,
      };
    },
  });
}

/**
 * Returns the function that computes the number of rounds that a group needs to process `count` nodes or lines, one for
 * each item and round: ⌈count / groupSize⌉. `count` includes the padding (`PADDING`).
 */
export const roundsOf = ({ groupSize }: Pick<AxesVariant, "groupSize">) =>
  fn({
    name: "roundsOf",
    params: [i32],
    env: { size: groupSize },
    body([count], _gpu, { size }) {
      return ((count + size - 1) / size) | 0;
    },
  });

/** Returns the function that computes the index in the table at which the arrays of an axis start. */
export const meshOffset = (axis: number) =>
  fn({
    name: "meshOffset",
    params: { launch: Launch, mesh: i32 },
    env: { axis, arrays: AXIS_ARRAYS },
    body({ launch: { n1, stride }, mesh }, _gpu, { axis, arrays }) {
      return mesh + (axis === 0 ? 0 : axis === 1 ? arrays * stride : arrays * (stride + n1));
    },
  });

/** The numbers of nodes of each axis, and the strides and sizes of the padded node arrays. */
export interface AxesShape {
  readonly n0: number;
  readonly n1: number;
  readonly n2: number;
  readonly stride: number;
  readonly plane: number;
  readonly lines: number;
  readonly size: number;
}

/** Not a multiple of 4·`PADDING`, for which the nodes of a line along another axis would share few sets of a cache. */
function padded(count: number): number {
  const tiles = Math.ceil(count / PADDING);
  return (tiles % 4 === 0 ? tiles + 1 : tiles) * PADDING;
}

/** Returns the shape of the padded node arrays of a grid with given numbers of nodes. */
export function shapeOfGrid([n0, n1, n2 = 1]: readonly number[]): AxesShape {
  const stride = padded(n0);
  const lines = padded(n1 * n2);
  return { n0, n1, n2, stride, plane: stride * n1, lines, size: stride * lines };
}

/** Returns the number of reals of device memory that an instance needs. */
export const workReals = (variant: AxesVariant, { size }: AxesShape): number => workArrays(variant) * size + PADDING;

/**
 * Returns the meshes in the layout of the launch, once for all instances on equal meshes, and the offsets at which each
 * instance's meshes and window start.
 */
export function packedMeshes(
  axes: readonly AxisCode[],
  { n1, n2, stride }: AxesShape,
  instances: readonly PlannedInstance[],
): { readonly table: Float64Array; readonly offsets: Int32Array } {
  const lengths = [stride, n1, n2];
  const words = AXIS_ARRAYS * (stride + n1 + n2);
  const starts = new Map<Grid, number>();
  const packed: Float64Array[] = [];
  const offsets = new Int32Array(OFFSET_COUNT * instances.length);
  instances.forEach(({ grid }, l) => {
    let start = starts.get(grid);
    if (start === undefined) {
      starts.set(grid, (start = words * packed.length));
      const own = new Float64Array(words);
      grid.meshes.reduce((at, mesh, k) => {
        own.set(packedMesh(axes[k], lengths[k], mesh), at);
        return at + AXIS_ARRAYS * lengths[k];
      }, 0);
      packed.push(own);
    }
    offsets[OFFSET_COUNT * l] = start;
    offsets.set(grid.window.starts, OFFSET_COUNT * l + 1);
  });
  const table = new Float64Array(words * packed.length);
  packed.forEach((own, i) => table.set(own, words * i));
  return { table, offsets };
}

/**
 * The arrays of one axis, of `length` numbers each: the values, the steps to the next node's coordinate, and the
 * weights of ∂/∂x to the next node and to the one before. They are made in f64 here, for differences of rounded
 * coordinates are not those of f32.
 *
 * ∂v/∂x ≈ next·(v₊ − v) + before·(v − v₋) in mixed derivatives: of second order between the ends, one-sided at an end
 * of zero curvature, and 0 at other ends. V is a straight line at a linear end, the same for all values of the other
 * axes: a mixed derivative beside no second derivative is not well posed, and explicit steps of it grow
 * (design/alternating-directions.md).
 */
function packedMesh(
  { first, last: end }: AxisCode,
  length: number,
  { values, coordinates: x }: AxisMesh,
): Float64Array {
  const packed = new Float64Array(AXIS_ARRAYS * length);
  const last = x.length - 1;
  for (let i = 0; i < length; i++) {
    packed[i] = values[Math.min(i, last)];
    packed[length + i] = i < last ? x[i + 1] - x[i] : 1;
  }
  for (let i = 0; i <= last; i++) {
    const down = i > 0 ? x[i] - x[i - 1] : 0;
    const up = i < last ? x[i + 1] - x[i] : 0;
    const isFree = (i === 0 ? first : end).kind === "zero-curvature";
    let [next, before] = [down / (up * (down + up)), up / (down * (down + up))];
    if (i === 0) [next, before] = [isFree ? 1 / up : 0, 0];
    if (i === last) [next, before] = [0, isFree ? 1 / down : 0];
    packed[2 * length + i] = next;
    packed[3 * length + i] = before;
  }
  return packed;
}
