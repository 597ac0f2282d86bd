import { bool, fn, type FunctionOf, i32, read, record, type ValueOf } from "../../../../kernel/index.ts";
import type { AxesVariant } from "../../operator/axes-variant.ts";
import {
  AxesPlace,
  coefficientsAt,
  type Fault,
  inPhase,
  isExact,
  LANES,
  Launch,
  meshOf,
  nodeIn,
  roundsOf,
  RUN_STEP,
  strideOf,
} from "./place.ts";
import type { Row } from "../rollback.ts";

/** The axis numbers 0, 1, …, for use in a `for … of` loop of a kernel. */
export const eachOf = (axes: number): readonly number[] => Array.from({ length: axes }, (_, k) => k);

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

/** Returns the function for the number of nodes of each axis. */
export const countsOf = (axes: number) =>
  fn({
    name: "countsOf",
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
 * Returns the function for the position of a node on each axis: −1 for the first node, 1 for the last one, 0 between.
 */
export const sidesOf = (axes: number) =>
  fn({
    name: "sidesOf",
    params: { launch: Launch, index: read(i32) },
    env: { axes, each: eachOf(axes), countsOf: countsOf(axes) },
    body({ launch, index }, gpu, env) {
      const side = gpu.privateI32(env.axes);
      const counts = env.countsOf(launch);
      for (const k of env.each) side[k] = index[k] === 0 ? -1 : index[k] === counts[k] - 1 ? 1 : 0;
      return side;
    },
  });

/** Returns the function for the values of the axes at a node. */
export const valuesAt = (axes: number) =>
  fn({
    name: "valuesAt",
    params: { launch: Launch, mesh: i32, index: read(i32) },
    env: { axes, each: eachOf(axes).map((k) => ({ k, meshOf: meshOf(k) })) },
    body({ launch, mesh, index }, gpu, env) {
      const x = gpu.privateReal(env.axes);
      for (const { k, meshOf } of env.each) x[k] = launch.table[meshOf({ launch, mesh }) + index[k]];
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
    readonly place: ValueOf<typeof AxesPlace>;
    readonly step: ValueOf<typeof Row>;
    readonly found: ValueOf<typeof Fault>;
    readonly at: ValueOf<typeof Node>;
  }) => ValueOf<typeof Fault>
>;

/** Returns the phase that calls `work` at every node independently, in those steps for which `happens` is true. */
export function eachNode(
  variant: AxesVariant,
  work: AtNode,
  happens?: FunctionOf<(step: ValueOf<typeof Row>) => boolean>,
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
    *body({ launch, place, step, found }, _gpu, env) {
      const { stride, size } = launch;
      const { item, base } = place;
      let now: ValueOf<typeof Fault> = found;
      const rounds = env.happens === undefined || env.happens(step) ? env.rounds(size) : 0;
      for (let r = place.firstRound; r < rounds; r += place.everyRound) {
        const { line, first, lane, node, own: offset, inside } = env.nodeIn(r, item, stride, size);
        if (inside) {
          const { at: own, pitch } = env.coefficientsAt({ base, size, node, own: offset });
          const { index, isNode, number } = env.nodeAt({ launch, line, lane });
          const at = { index, isNode, number, k: base + first + lane, own, pitch };
          now = env.work({ launch, place, step, found: now, at });
        }
      }
      return now;
    },
  });
}

/**
 * The interval of a line's n nodes that a work item solves in all rounds: `length` nodes from `start` on. Where several
 * items share a line, `lane` is the number of the line in their tile, and `run` the number of the interval.
 */
export const Part = record({ lane: i32, run: i32, start: i32, length: i32, n: i32 });

/** A work item's interval of one line along an axis, with the array indices of its nodes. */
export const Piece = record({
  inside: bool,
  part: Part,
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
 * Returns the function for the lines of nodes along an axis: how many there are, the number of nodes of each, and the
 * array distances between nodes and between lines.
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
 * Returns the function for the interval of a work item in round r of a loop over the lines along an axis. It is a whole
 * line or, with `cut`, an interval of one of the `LANES` lines of a tile. An item without a line of its own reads that
 * of another.
 */
export function pieceOf(variant: AxesVariant, axis: number, cut: boolean) {
  return fn({
    name: "pieceOf",
    params: { launch: Launch, place: AxesPlace, r: i32, part: Part },
    env: {
      isFirst: axis === 0,
      sharesRows: axis === 0 && cut && variant.isFirstUniform,
      exact: isExact(variant),
      abreast: cut ? LANES : variant.groupSize,
      cut,
      linesAlong: linesAlong(variant, axis),
      coefficientsAt: coefficientsAt(variant),
      strideOf: strideOf(variant),
    },
    body({ launch, place: { item, base }, r, part }, _gpu, env) {
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
      return { inside, part, first, lane, step, line, own, common, pitch, rowStep: env.strideOf(rowStep) };
    },
  });
}

/** Returns the function for the interval of each line that a work item solves: all of it, or one of `Runs`. */
export const partOf = ({ runs }: AxesVariant) =>
  fn({
    name: "partOf",
    params: { item: i32, n: i32 },
    env: { cut: runs !== undefined, count: runs?.count ?? 1, LANES, RUN_STEP },
    body({ item, n }, _gpu, { cut, count, LANES, RUN_STEP }) {
      if (!cut) return { lane: 0, run: 0, start: 0, length: n, n };
      const run = (item / LANES) | 0;
      const each = (((n + count * RUN_STEP - 1) / (count * RUN_STEP)) | 0) * RUN_STEP;
      const start = run * each;
      return { lane: item - run * LANES, run, start, length: Math.max(0, Math.min(each, n - start)), n };
    },
  });
