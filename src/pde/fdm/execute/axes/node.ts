import { bool, fn, type FunctionOf, i32, read, record, type ValueOf } from "../../../../kernel/index.ts";
import type { AxesVariant } from "../../operator/axes-variant.ts";
import {
  AxesContext,
  coefficientsAt,
  type Findings,
  inPhase,
  groupMatchesPadding,
  LINES_PER_TILE,
  Launch,
  meshOffset,
  nodeIn,
  roundsOf,
  SEGMENT_MULTIPLE,
  coefficientStride,
} from "./context.ts";
import type { ProgramRow } from "../rollback.ts";

/** Returns the axis numbers 0, 1, …, for use in a `for … of` loop of a kernel. */
export const axisNumbers = (axes: number): readonly number[] => Array.from({ length: axes }, (_, k) => k);

/**
 * Returns the function that finds a node's index on each axis and its index among all nodes, and tells whether it is a
 * node or only padding.
 */
export const nodeAt = (axes: number) =>
  fn({
    name: "nodeAt",
    params: { launch: Launch, line: i32, lane: i32 },
    env: { axes },
    body({ launch: { n0, n1, n2 }, line, lane }, gpu, { axes }) {
      const index = gpu.privateI32(axes);
      const i2 = Math.min((line / n1) | 0, n2 - 1);
      const i1 = Math.min(line - i2 * n1, n1 - 1);
      const i0 = Math.min(lane, n0 - 1);
      index[0] = i0;
      index[1] = i1;
      if (axes > 2) index[2] = i2;
      return { index, isNode: lane < n0 && line < n1 * n2, number: (i2 * n1 + i1) * n0 + i0 };
    },
  });

/** Returns the function that reads the number of nodes of each axis. */
export const nodeCountsOf = (axes: number) =>
  fn({
    name: "nodeCountsOf",
    params: [Launch],
    env: { axes },
    body([{ n0, n1, n2 }], gpu, { axes }) {
      const counts = gpu.privateI32(axes);
      counts[0] = n0;
      counts[1] = n1;
      if (axes > 2) counts[2] = n2;
      return counts;
    },
  });

/**
 * Returns the function that computes the position of a node on each axis: −1 for the first node, 1 for the last one, 0
 * between.
 */
export const sidesOf = (axes: number) =>
  fn({
    name: "sidesOf",
    params: { launch: Launch, index: read(i32) },
    env: { axes, each: axisNumbers(axes), nodeCountsOf: nodeCountsOf(axes) },
    body({ launch, index }, gpu, env) {
      const side = gpu.privateI32(env.axes);
      const counts = env.nodeCountsOf(launch);
      for (const k of env.each) side[k] = index[k] === 0 ? -1 : index[k] === counts[k] - 1 ? 1 : 0;
      return side;
    },
  });

/** Returns the function that computes the values of the axes at a node. */
export const valuesAt = (axes: number) =>
  fn({
    name: "valuesAt",
    params: { launch: Launch, mesh: i32, index: read(i32) },
    env: { axes, each: axisNumbers(axes).map((k) => ({ k, meshOffset: meshOffset(k) })) },
    body({ launch, mesh, index }, gpu, env) {
      const x = gpu.privateReal(env.axes);
      for (const { k, meshOffset } of env.each) x[k] = launch.table[meshOffset({ launch, mesh }) + index[k]];
      return x;
    },
  });

/**
 * The node at which a work item works: its index on each axis, and its index among all nodes. For nodes that only pad a
 * line, these are those of another node, and `isNode` is false. The node's value is number `k` of an array of values,
 * and its coefficient s is number `own` + s·`pitch` of the coefficients.
 */
const Node = record({ index: read(i32), number: i32, isNode: bool, k: i32, own: i32, pitch: i32 });

/** The parameters of a function that works at one node in a phase. */
export const atNode = { ...inPhase, at: Node };

type AtNode = FunctionOf<
  (of: {
    readonly launch: ValueOf<typeof Launch>;
    readonly context: ValueOf<typeof AxesContext>;
    readonly programRow: ValueOf<typeof ProgramRow>;
    readonly found: ValueOf<typeof Findings>;
    readonly at: ValueOf<typeof Node>;
  }) => ValueOf<typeof Findings>
>;

/** Returns the phase that calls `work` at each node, in any order, in the program rows for which `happens` is true. */
export function eachNode(
  variant: AxesVariant,
  work: AtNode,
  happens?: FunctionOf<(programRow: ValueOf<typeof ProgramRow>) => boolean>,
) {
  return fn({
    name: work.functionName,
    params: inPhase,
    env: {
      work,
      happens,
      nodeAt: nodeAt(variant.axes.length),
      nodeIn: nodeIn(variant),
      coefficientsAt: coefficientsAt(variant),
      rounds: roundsOf(variant),
    },
    *body({ launch, context, programRow, found }, _gpu, env) {
      const { stride, size } = launch;
      const { item, base } = context;
      let now: ValueOf<typeof Findings> = found;
      const rounds = env.happens === undefined || env.happens(programRow) ? env.rounds(size) : 0;
      for (let r = context.firstRound; r < rounds; r += context.everyRound) {
        const { line, first, lane, node, own: offset, inside } = env.nodeIn(r, item, stride, size);
        if (inside) {
          const { at: own, pitch } = env.coefficientsAt({ base, size, node, own: offset });
          const { index, isNode, number } = env.nodeAt({ launch, line, lane });
          const at = { index, isNode, number, k: base + first + lane, own, pitch };
          now = env.work({ launch, context, programRow, found: now, at });
        }
      }
      return now;
    },
  });
}

/**
 * The segment of a line's n nodes that a work item solves in all rounds: `length` nodes from `start` on. Where several
 * items share a line, `lane` is the number of the line in their tile, and `segment` the number of the segment.
 */
export const NodeSegment = record({ lane: i32, segment: i32, start: i32, length: i32, n: i32 });

/** The segment of one line along an axis that a work item solves, with the array indices of its nodes. */
export const LineSegment = record({
  inside: bool,
  part: NodeSegment,
  /** Node i of the line is `first` + `lane` + i·`step`, and `first` the first node of a line along the first axis. */
  first: i32,
  lane: i32,
  step: i32,
  /** The number of the line in a plane of three axes. */
  line: i32,
  /** Coefficients of node 0 and of `first`, array s of them s·`pitch` further, and the distance to the next node's. */
  own: i32,
  common: i32,
  pitch: i32,
  rowStep: i32,
});

/**
 * Returns the function that describes the lines of nodes along an axis: how many there are, the number of nodes of each
 * (`n`), the strides from node to node (`step`) and from line to line (`apart`), and the stride of their coefficients
 * (`rowStep`).
 */
export const linesAlong = ({ axes }: AxesVariant, axis: number) =>
  fn({
    name: "linesAlong",
    params: [Launch],
    env: { axis, isLast: axis === axes.length - 1 },
    body([{ n0, n1, n2, stride, plane, lines }], _gpu, { axis, isLast }) {
      return {
        count: axis === 0 ? lines : axis === 2 ? plane : isLast ? stride : stride * n2,
        n: axis === 0 ? n0 : axis === 1 ? n1 : n2,
        step: axis === 0 ? 1 : axis === 1 ? stride : plane,
        apart: isLast ? stride : plane,
        rowStep: axis === 0 ? lines : axis === 1 ? stride : plane,
      };
    },
  });

/**
 * Returns the function that computes the segment of a work item in round r of a loop over the lines along an axis. It
 * is a whole line or, with `cut`, a segment of one of the `LINES_PER_TILE` lines of a tile. An item without a line of
 * its own reads that of another.
 */
export function lineSegmentOf(variant: AxesVariant, axis: number, cut: boolean) {
  return fn({
    name: "lineSegmentOf",
    params: { launch: Launch, context: AxesContext, r: i32, part: NodeSegment },
    env: {
      isFirst: axis === 0,
      sharesRows: axis === 0 && cut && variant.isFirstUniform,
      exact: groupMatchesPadding(variant),
      abreast: cut ? LINES_PER_TILE : variant.groupSize,
      cut,
      linesAlong: linesAlong(variant, axis),
      coefficientsAt: coefficientsAt(variant),
      coefficientStride: coefficientStride(variant),
    },
    body({ launch, context: { item, base }, r, part }, _gpu, env) {
      const { stride, size } = launch;
      const { count, step, apart, rowStep } = env.linesAlong(launch);
      const offset = env.exact ? item : 0;
      const column = r * env.abreast + (env.exact ? 0 : env.cut ? part.lane : item);
      const from = env.cut ? Math.min(column, count - 1) : column;
      const line = (from / stride) | 0;
      const inLine = from - line * stride;
      const first = env.isFirst ? (from + offset) * stride : line * apart;
      const node = env.sharesRows ? 0 : env.isFirst ? from : first + inLine;
      const { at: own, pitch } = env.coefficientsAt({ base, size, node, own: offset });
      const { at: common } = env.coefficientsAt({ base, size, node: first, own: 0 });
      const lane = env.isFirst ? 0 : inLine + offset;
      const inside = env.exact || column < count;
      return { inside, part, first, lane, step, line, own, common, pitch, rowStep: env.coefficientStride(rowStep) };
    },
  });
}

/**
 * Returns the function that computes the segment of each line that a work item solves: the whole line, or a segment by
 * `LineDivision`.
 */
export const segmentOf = ({ segments }: AxesVariant) =>
  fn({
    name: "segmentOf",
    params: { item: i32, n: i32 },
    env: { cut: segments !== undefined, count: segments?.count ?? 1, LINES_PER_TILE, SEGMENT_MULTIPLE },
    body({ item, n }, _gpu, { cut, count, LINES_PER_TILE, SEGMENT_MULTIPLE }) {
      if (!cut) return { lane: 0, segment: 0, start: 0, length: n, n };
      const segment = (item / LINES_PER_TILE) | 0;
      const each = (((n + count * SEGMENT_MULTIPLE - 1) / (count * SEGMENT_MULTIPLE)) | 0) * SEGMENT_MULTIPLE;
      const start = segment * each;
      return {
        lane: item - segment * LINES_PER_TILE,
        segment,
        start,
        length: Math.max(0, Math.min(each, n - start)),
        n,
      };
    },
  });
