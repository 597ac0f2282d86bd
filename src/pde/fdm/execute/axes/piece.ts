import { bool, fn, i32, record } from "../../../../kernel/index.ts";
import type { AxesVariant } from "../../operator/axes-variant.ts";
import { coefficientsAt, isExact, strideOf } from "./place.ts";
import { AxesPlace, LANES, Launch, RUN_STEP } from "./records.ts";

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
